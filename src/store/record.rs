use std::fmt;

use bytes::Bytes;
use uuid::Uuid;

use super::Name;
use crate::model::Timestamp;

/// What names a record: its kind and its id. Ids are unique within a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The kind of record.
    pub kind: Name,
    /// The record's id.
    pub id: Uuid,
}

impl Key {
    /// The key of a record.
    #[must_use]
    pub const fn new(kind: Name, id: Uuid) -> Self {
        Self { kind, id }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind, self.id)
    }
}

/// Which writing of a record this is. Every commit gives the records it puts a version greater than any before it in the
/// store, so a record that was deleted and made again is never taken for the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// A record as it is read: the body is the very bytes that were put.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// What names it.
    pub key: Key,
    /// Which writing of it this is.
    pub version: Version,
    /// Its content. A store never looks inside.
    pub body: Bytes,
}

/// Without the body: it may hold what verifies a secret.
impl fmt::Debug for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Record({}, {:?}, {} bytes)", self.key, self.version, self.body.len())
    }
}

/// What a store must know of a record in order to find it, without reading its body.
///
/// Facets go in with every put and come out again in a [`Snapshot`](super::Snapshot) alone: a backend may keep them as
/// columns, as keys or as an index in memory, in whatever shape serves its queries, as long as all of them can be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// The organization it belongs to; `None` for a record above all organizations.
    pub organization: Option<Uuid>,
    /// The network it belongs to; `None` for a record of the organization as a whole.
    pub network: Option<Uuid>,
    /// From when on it may be purged; `None`: never.
    pub expires_at: Option<Timestamp>,
    /// The records it refers to, each under the name of the relation. The same link twice counts once.
    pub links: Vec<Link>,
    /// What lists are ordered by, each name at most once. A name that is missing here counts as the empty key.
    pub sort_keys: Vec<SortKey>,
    /// Further unique names of the record; no two records of a store, of whatever kind, share one.
    pub unique_keys: Vec<UniqueKey>,
}

/// A reference to another record, under the name of the relation. The store does not ask whether the target exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// What the reference means.
    pub relation: Name,
    /// The id that is referred to.
    pub target: Uuid,
}

impl Link {
    /// A link to `target`.
    #[must_use]
    pub const fn new(relation: Name, target: Uuid) -> Self {
        Self { relation, target }
    }
}

/// A sort key: records are ordered by its bytes, compared as unsigned numbers, a prefix before what it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The name of the order.
    pub name: Name,
    /// The record's place in it.
    pub value: Vec<u8>,
}

impl SortKey {
    /// A sort key.
    #[must_use]
    pub fn new(name: Name, value: impl Into<Vec<u8>>) -> Self {
        Self { name, value: value.into() }
    }
}

/// A unique secondary name of a record: an e-mail address, the digest of a key, the id of an embedded port.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UniqueKey {
    /// What sort of name it is.
    pub name: Name,
    /// The name itself.
    pub value: Vec<u8>,
}

impl UniqueKey {
    /// The longest value of a unique key, in bytes.
    pub const MAX_LENGTH: usize = 1024;

    /// A unique key.
    #[must_use]
    pub fn new(name: Name, value: impl Into<Vec<u8>>) -> Self {
        Self { name, value: value.into() }
    }
}

/// Without the value: it may be the digest of a secret.
impl fmt::Debug for UniqueKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Unique key({}, {} bytes)", self.name, self.value.len())
    }
}
