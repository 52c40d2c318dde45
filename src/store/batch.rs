use std::fmt;

use bytes::Bytes;
use uuid::Uuid;

use super::{Facets, Key, Link, UniqueKey, Version};

/// What a write or a check expects of the record it names, at the moment of the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// There is no such record.
    Absent,
    /// There is one, whichever its version.
    Present,
    /// There is one, and it has this version.
    Version(Version),
    /// Anything.
    Any,
}

/// One change of a [`Batch`].
#[derive(Clone)]
pub enum Write {
    /// Creates the record or replaces it whole: body, facets, unique keys.
    Put {
        /// What names it.
        key: Key,
        /// What it expects of the record it replaces.
        precondition: Precondition,
        /// How it is found.
        facets: Facets,
        /// Its content.
        body: Bytes,
    },
    /// Deletes the record. With [`Precondition::Any`] it is no error that there is none.
    Delete {
        /// What names it.
        key: Key,
        /// What it expects of the record.
        precondition: Precondition,
    },
}

impl Write {
    /// The record it changes.
    #[must_use]
    pub const fn key(&self) -> Key {
        match self {
            Self::Put { key, .. } | Self::Delete { key, .. } => *key,
        }
    }

    /// What it expects of the record it changes.
    #[must_use]
    pub const fn precondition(&self) -> Precondition {
        match self {
            Self::Put { precondition, .. } | Self::Delete { precondition, .. } => *precondition,
        }
    }
}

/// Without the body: it may hold what verifies a secret.
impl fmt::Debug for Write {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Put { key, precondition, facets, body } => {
                write!(formatter, "Put({key}, {precondition:?}, {facets:?}, {} bytes)", body.len())
            }
            Self::Delete { key, precondition } => write!(formatter, "Delete({key}, {precondition:?})"),
        }
    }
}

/// A condition on records that the batch itself need not change: how a reference stays true under concurrency.
#[derive(Clone, Debug)]
pub enum Guard {
    /// This record is as expected before the batch.
    Record {
        /// Which record.
        key: Key,
        /// What is expected of it.
        precondition: Precondition,
    },
    /// Before the batch, this unique key belongs to this record, or to none.
    UniqueKey {
        /// Which unique key.
        unique_key: UniqueKey,
        /// Whose it is.
        holder: Option<Key>,
    },
    /// Every record of the organization with this link before the batch is put or deleted by the batch: nobody has begun
    /// to refer to the target since the referring records were listed.
    LinkedWithin {
        /// Whose records; `None`: all, as in a [`Query`](super::Query).
        organization: Option<Uuid>,
        /// Which link.
        link: Link,
    },
    /// Every record of the organization on this network before the batch, of whatever kind, is put or deleted by the
    /// batch: nobody has come to the network since those on it were listed.
    NetworkEmpty {
        /// Whose records; `None`: all, as in a [`Query`](super::Query).
        organization: Option<Uuid>,
        /// Which network, as in [`Facets::network`].
        network: Uuid,
    },
}

/// Changes that happen together or not at all, with what they expect of the records as they are.
///
/// ```
/// use toposcope::store::{Batch, Precondition, Facets, Key, Name};
/// use uuid::Uuid;
///
/// let key = Key::new(Name::new("note"), Uuid::nil());
/// let mut batch = Batch::new();
/// batch.put(key, Precondition::Absent, Facets::default(), "a body");
/// assert_eq!(batch.writes().len(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    writes: Vec<Write>,
    guards: Vec<Guard>,
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the creation or replacement of a record.
    pub fn put(
        &mut self,
        key: Key,
        precondition: Precondition,
        facets: Facets,
        body: impl Into<Bytes>,
    ) -> &mut Self {
        self.writes.push(Write::Put { key, precondition, facets, body: body.into() });
        self
    }

    /// Adds the deletion of a record.
    pub fn delete(&mut self, key: Key, precondition: Precondition) -> &mut Self {
        self.writes.push(Write::Delete { key, precondition });
        self
    }

    /// Adds a guard.
    pub fn guard(&mut self, guard: Guard) -> &mut Self {
        self.guards.push(guard);
        self
    }

    /// The changes, in the order they were added.
    #[must_use]
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// The guards, in the order they were added.
    #[must_use]
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// The changes and the guards, for a backend that carries them out.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Write>, Vec<Guard>) {
        (self.writes, self.guards)
    }
}
