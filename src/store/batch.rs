use std::fmt;

use bytes::Bytes;
use uuid::Uuid;

use super::{Facets, Key, Link, Name, UniqueKey, Version};

/// The state that a record must be in for a batch to be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precondition {
    /// The record does not exist.
    Absent,
    /// The record exists, with any version.
    Present,
    /// The record exists with exactly this version.
    Version(Version),
    /// No condition.
    Any,
}

/// A put or a delete in a [`Batch`].
#[derive(Clone)]
#[non_exhaustive]
pub enum Write {
    /// Creates the record or replaces it completely: body, facets and unique keys.
    #[non_exhaustive]
    Put {
        /// Key of the record.
        key: Key,
        /// Required state of the record before the batch.
        precondition: Precondition,
        /// Indexed attributes of the new record.
        facets: Facets,
        /// Content of the new record.
        body: Bytes,
    },
    /// Deletes the record. With [`Precondition::Any`], deleting a missing record is not an error.
    #[non_exhaustive]
    Delete {
        /// Key of the record.
        key: Key,
        /// Required state of the record before the batch.
        precondition: Precondition,
    },
}

impl Write {
    /// Returns the key of the record that is written.
    #[must_use]
    pub const fn key(&self) -> Key {
        match self {
            Self::Put { key, .. } | Self::Delete { key, .. } => *key,
        }
    }

    /// Returns the precondition on the record that is written.
    #[must_use]
    pub const fn precondition(&self) -> Precondition {
        match self {
            Self::Put { precondition, .. } | Self::Delete { precondition, .. } => *precondition,
        }
    }

    /// Returns the content of the record that is written; `None` for a deletion.
    #[must_use]
    pub const fn body(&self) -> Option<&Bytes> {
        match self {
            Self::Put { body, .. } => Some(body),
            Self::Delete { .. } => None,
        }
    }
}

/// Omits the body, which may contain the digest of a secret.
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

/// A condition on records that the batch need not write itself.
///
/// Guards keep references valid under concurrency: a batch that creates a reference guards the existence of its target,
/// and a batch that deletes the target guards that nothing refers to it.
///
/// A backend that does not know a guard must reject the batch as [`Invalid`](super::StoreErrorKind::Invalid).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Guard {
    /// The record satisfies the precondition before the batch.
    #[non_exhaustive]
    Record {
        /// Key of the record.
        key: Key,
        /// Required state of the record.
        precondition: Precondition,
    },
    /// The unique key belongs to this record before the batch, or to no record.
    #[non_exhaustive]
    UniqueKey {
        /// The unique key.
        unique_key: UniqueKey,
        /// Key of the record that has the unique key; `None`: no record has it.
        holder: Option<Key>,
    },
    /// The batch writes every record of the organization that has this link before the batch.
    ///
    /// Ensures that no record has started to refer to the target since the referring records were listed.
    #[non_exhaustive]
    LinkedWithin {
        /// Organization whose records are considered; `None`: all records, as in a [`Query`](super::Query).
        organization: Option<Uuid>,
        /// The link.
        link: Link,
    },
    /// The batch writes every record that is on this network before the batch.
    ///
    /// Records of all kinds but those in `except` are considered. Ensures that no record has been added to the network since
    /// its records were listed.
    #[non_exhaustive]
    NetworkEmpty {
        /// Organization whose records are considered; `None`: all records, as in a [`Query`](super::Query).
        organization: Option<Uuid>,
        /// Id of the network, as in [`Facets::network`].
        network: Uuid,
        /// Kinds whose records are not considered.
        except: Vec<Name>,
    },
}

impl Guard {
    /// Creates a [`Record`](Self::Record) guard.
    #[must_use]
    pub const fn record(key: Key, precondition: Precondition) -> Self {
        Self::Record { key, precondition }
    }

    /// Creates a [`UniqueKey`](Self::UniqueKey) guard.
    #[must_use]
    pub const fn unique_key(unique_key: UniqueKey, holder: Option<Key>) -> Self {
        Self::UniqueKey { unique_key, holder }
    }

    /// Creates a [`LinkedWithin`](Self::LinkedWithin) guard.
    #[must_use]
    pub const fn linked_within(organization: Option<Uuid>, link: Link) -> Self {
        Self::LinkedWithin { organization, link }
    }

    /// Creates a [`NetworkEmpty`](Self::NetworkEmpty) guard.
    #[must_use]
    pub const fn network_empty(organization: Option<Uuid>, network: Uuid) -> Self {
        Self::NetworkEmpty { organization, network, except: Vec::new() }
    }

    /// Creates a [`NetworkEmpty`](Self::NetworkEmpty) guard that does not consider records of some kinds.
    #[must_use]
    pub const fn network_empty_except(organization: Option<Uuid>, network: Uuid, except: Vec<Name>) -> Self {
        Self::NetworkEmpty { organization, network, except }
    }
}

/// Writes that are applied together or not at all, with their preconditions and guards.
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
    /// Creates an empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a write that creates the record or replaces it completely.
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

    /// Adds a write that deletes the record.
    pub fn delete(&mut self, key: Key, precondition: Precondition) -> &mut Self {
        self.writes.push(Write::Delete { key, precondition });
        self
    }

    /// Adds a guard.
    pub fn guard(&mut self, guard: Guard) -> &mut Self {
        self.guards.push(guard);
        self
    }

    /// Returns the writes, in the order they were added.
    #[must_use]
    pub fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// Returns the guards, in the order they were added.
    #[must_use]
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// Replaces the body of every put; everything else stays.
    ///
    /// A [`Wrapper`](super::Wrapper) that encrypts or compresses bodies calls it. Unlike code outside the crate, it knows
    /// all kinds of writes.
    ///
    /// ```
    /// use toposcope::store::{Batch, Facets, Key, Name, Precondition};
    /// use uuid::Uuid;
    ///
    /// let mut batch = Batch::new();
    /// batch.put(Key::new(Name::new("note"), Uuid::nil()), Precondition::Any, Facets::default(), "a body");
    /// let batch = batch.map_bodies(|_key, body| body.to_ascii_uppercase());
    /// assert!(format!("{batch:?}").contains("6 bytes"));
    /// ```
    #[must_use]
    pub fn map_bodies<B: Into<Bytes>>(mut self, mut map: impl FnMut(Key, Bytes) -> B) -> Self {
        for write in &mut self.writes {
            if let Write::Put { key, body, .. } = write {
                *body = map(*key, std::mem::take(body)).into();
            }
        }
        self
    }

    /// Replaces the preconditions [`Any`](Precondition::Any) and [`Present`](Precondition::Present) of writes by stricter ones.
    pub(crate) fn require(&mut self, mut stricter: impl FnMut(Key) -> Option<Precondition>) {
        for write in &mut self.writes {
            let (Write::Put { key, precondition, .. } | Write::Delete { key, precondition }) = write;
            let stricter = match precondition {
                Precondition::Any => stricter(*key),
                // A record that is missing must stay a conflict.
                Precondition::Present => stricter(*key).filter(|known| *known != Precondition::Absent),
                Precondition::Absent | Precondition::Version(_) => None,
            };
            *precondition = stricter.unwrap_or(*precondition);
        }
    }

    /// Splits the batch into its writes and its guards, for the backend that applies it.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Write>, Vec<Guard>) {
        (self.writes, self.guards)
    }
}
