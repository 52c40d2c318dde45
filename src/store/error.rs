use std::error::Error;

use uuid::Uuid;

use super::{Key, Link, UniqueKey};

/// What a store has to say when it cannot do as told.
///
/// The text is for logs. What a caller may act on is [`kind`](Self::kind) and [`is_retryable`](Self::is_retryable).
///
/// ```
/// use toposcope::store::{StoreError, StoreErrorKind};
///
/// let error = StoreError::unavailable("the connection was lost").with_source(std::io::Error::other("reset"));
/// assert!(error.is_retryable());
/// assert!(matches!(error.kind(), StoreErrorKind::Unavailable));
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct StoreError(Box<Inner>);

/// What went wrong, by what the caller can do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// A record was not as a write or a check expected it. Read again, decide again, commit again.
    Conflict(Key),
    /// A link was found on a record outside the batch, against [`Guard::LinkedWithin`](super::Guard::LinkedWithin).
    Linked(Link),
    /// A record outside the batch was found on a network, against [`Guard::NetworkEmpty`](super::Guard::NetworkEmpty).
    NetworkInUse(Uuid),
    /// A unique key belongs to another record, or two records of the batch claim it; or it was not as a guard expected it.
    UniqueKeyTaken(UniqueKey),
    /// The query or the batch breaks the contract of [`Store`](super::Store): an error of whoever made it.
    Invalid,
    /// The store cannot do it now.
    Unavailable,
    /// What the store holds is damaged.
    Corrupt,
}

#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
struct Inner {
    kind: StoreErrorKind,
    detail: String,
    #[source]
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Inner {
    fn text(&self) -> String {
        let what = match &self.kind {
            StoreErrorKind::Conflict(key) => format!("{key} is not as expected"),
            StoreErrorKind::Linked(link) => format!("others link to {} as {}", link.target, link.relation),
            StoreErrorKind::NetworkInUse(network) => format!("others are on the network {network}"),
            StoreErrorKind::UniqueKeyTaken(unique_key) => {
                format!("a unique key of the sort {} is not free", unique_key.name)
            }
            StoreErrorKind::Invalid => "the request breaks the store's contract".to_owned(),
            StoreErrorKind::Unavailable => "the store is unavailable".to_owned(),
            StoreErrorKind::Corrupt => "the store is damaged".to_owned(),
        };
        if self.detail.is_empty() { what } else { format!("{what}: {}", self.detail) }
    }
}

impl StoreError {
    /// A record is not as expected.
    #[must_use]
    pub fn conflict(key: Key) -> Self {
        Self::new(StoreErrorKind::Conflict(key), String::new())
    }

    /// A record outside the batch has this link.
    #[must_use]
    pub fn linked(link: Link) -> Self {
        Self::new(StoreErrorKind::Linked(link), String::new())
    }

    /// A record outside the batch is on this network.
    #[must_use]
    pub fn network_in_use(network: Uuid) -> Self {
        Self::new(StoreErrorKind::NetworkInUse(network), String::new())
    }

    /// A unique key is not free, or not whose it was expected to be.
    #[must_use]
    pub fn unique_key_taken(unique_key: UniqueKey) -> Self {
        Self::new(StoreErrorKind::UniqueKeyTaken(unique_key), String::new())
    }

    /// The request breaks the contract.
    #[must_use]
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Invalid, detail.into())
    }

    /// The store cannot do it now.
    #[must_use]
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Unavailable, detail.into())
    }

    /// What the store holds is damaged.
    #[must_use]
    pub fn corrupt(detail: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Corrupt, detail.into())
    }

    /// The same error with what it comes from: the backend's own.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &StoreErrorKind {
        &self.0.kind
    }

    /// Whether the very same call may succeed a little later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.0.kind, StoreErrorKind::Unavailable)
    }

    fn new(kind: StoreErrorKind, detail: String) -> Self {
        Self(Box::new(Inner { kind, detail, source: None }))
    }
}
