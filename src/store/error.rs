use std::error::Error;

use uuid::Uuid;

use super::{Key, Link, UniqueKey};

/// The error of every [`Store`](super::Store) method.
///
/// Its text is meant for logs. Programs decide by [`kind`](Self::kind) and [`is_retryable`](Self::is_retryable).
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

/// The category of a [`StoreError`], by the possible reactions of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// This record does not satisfy the precondition of a write or a guard. Read again, decide again, commit again.
    Conflict(Key),
    /// A record outside the batch has this link; see [`Guard::LinkedWithin`](super::Guard::LinkedWithin).
    Linked(Link),
    /// A record outside the batch is on this network; see [`Guard::NetworkEmpty`](super::Guard::NetworkEmpty).
    NetworkInUse(Uuid),
    /// This unique key has an unexpected holder. Another record has the key, two records of the batch claim it, or
    /// its holder is not the one that [`Guard::UniqueKey`](super::Guard::UniqueKey) expects.
    UniqueKeyTaken(UniqueKey),
    /// The query or the batch violates the contract of [`Store`](super::Store). This is a bug in the calling code.
    Invalid,
    /// The store cannot answer at the moment; the same call may succeed later.
    Unavailable,
    /// The stored data is damaged.
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
        let text = match &self.kind {
            StoreErrorKind::Conflict(key) => format!("the precondition on record {key} failed"),
            StoreErrorKind::Linked(link) => {
                format!("other records still refer to {} by the relation {}", link.target, link.relation)
            }
            StoreErrorKind::NetworkInUse(network) => {
                format!("other records are still on the network {network}")
            }
            StoreErrorKind::UniqueKeyTaken(unique_key) => {
                format!("a unique key named {} has an unexpected holder", unique_key.name)
            }
            StoreErrorKind::Invalid => "the request violates the store's contract".to_owned(),
            StoreErrorKind::Unavailable => "the store is unavailable".to_owned(),
            StoreErrorKind::Corrupt => "the stored data is damaged".to_owned(),
        };
        if self.detail.is_empty() { text } else { format!("{text}: {}", self.detail) }
    }
}

impl StoreError {
    /// Creates a [`Conflict`](StoreErrorKind::Conflict) error: this record does not satisfy a precondition.
    #[must_use]
    pub fn conflict(key: Key) -> Self {
        Self::new(StoreErrorKind::Conflict(key), String::new())
    }

    /// Creates a [`Linked`](StoreErrorKind::Linked) error: a record outside the batch has this link.
    #[must_use]
    pub fn linked(link: Link) -> Self {
        Self::new(StoreErrorKind::Linked(link), String::new())
    }

    /// Creates a [`NetworkInUse`](StoreErrorKind::NetworkInUse) error: a record outside the batch is on this network.
    #[must_use]
    pub fn network_in_use(network: Uuid) -> Self {
        Self::new(StoreErrorKind::NetworkInUse(network), String::new())
    }

    /// Creates a [`UniqueKeyTaken`](StoreErrorKind::UniqueKeyTaken) error: this unique key has an unexpected holder.
    #[must_use]
    pub fn unique_key_taken(unique_key: UniqueKey) -> Self {
        Self::new(StoreErrorKind::UniqueKeyTaken(unique_key), String::new())
    }

    /// Creates an [`Invalid`](StoreErrorKind::Invalid) error: the request violates the contract.
    #[must_use]
    pub fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Invalid, detail.into())
    }

    /// Creates an [`Unavailable`](StoreErrorKind::Unavailable) error: the store cannot answer at the moment.
    #[must_use]
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Unavailable, detail.into())
    }

    /// Creates a [`Corrupt`](StoreErrorKind::Corrupt) error: the stored data is damaged.
    #[must_use]
    pub fn corrupt(detail: impl Into<String>) -> Self {
        Self::new(StoreErrorKind::Corrupt, detail.into())
    }

    /// Sets the backend's own error as the source.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Returns the category of the error.
    #[must_use]
    pub fn kind(&self) -> &StoreErrorKind {
        &self.0.kind
    }

    /// Returns whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self.0.kind, StoreErrorKind::Unavailable)
    }

    /// Returns the same error for another caller, with the text of its source.
    #[cfg(any(feature = "sled", feature = "postgres"))]
    pub(crate) fn copy(&self) -> Self {
        let Inner { kind, detail, source } = &*self.0;
        let source = source.as_ref().map(|source| source.to_string().into());
        Self(Box::new(Inner { kind: kind.clone(), detail: detail.clone(), source }))
    }

    fn new(kind: StoreErrorKind, detail: String) -> Self {
        Self(Box::new(Inner { kind, detail, source: None }))
    }
}
