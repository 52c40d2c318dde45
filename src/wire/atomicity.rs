/// The behavior of a bulk request when one of its hosts cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomicity {
    /// Stores no host at all: the request is one commit.
    AllOrNothing,
    /// Stores the other hosts.
    PerHost,
}
