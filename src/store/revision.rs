/// An identifier of the state of one organization's records of one kind.
///
/// As long as the revision is unchanged, so are the records. Revisions are only compared for equality: they have no order,
/// and reopening a store may change them although no record has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Revision(u128);

impl Revision {
    /// Creates a revision. A backend gives a number to one state of the records only, even across restarts.
    #[must_use]
    pub const fn new(number: u128) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub const fn number(self) -> u128 {
        self.0
    }
}
