//! Records and their parts: names, keys, versions and facets. A revision identifies the state of a set of records.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use uuid::Uuid;

use crate::model::Timestamp;

/// The key of a record: its kind and its id. The id is unique within the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Kind of the record.
    pub kind: Name,
    /// Id of the record, unique within its kind.
    pub id: Uuid,
}

impl Key {
    /// Creates a key.
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

/// The version of a record: its write sequence number in the store.
///
/// Every commit assigns the records it puts a version greater than any before it in the store, so a record that is
/// deleted and created again never has an old version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// A stored record: its key, its version and its body.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// Key of the record.
    pub key: Key,
    /// Version that the latest put of the record was assigned.
    pub version: Version,
    /// Content, exactly as it was put. A store never interprets it.
    pub body: Bytes,
}

/// Omits the body, which may contain the digest of a secret.
impl fmt::Debug for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Record({}, {:?}, {} bytes)", self.key, self.version, self.body.len())
    }
}

/// The indexed attributes stored beside a record's body.
///
/// A store filters and orders by them, since it never interprets a body. Every put sets them, and only a
/// [`Snapshot`](super::Snapshot) returns them. A backend may store them as columns, as keys or as an index in memory,
/// in any form that serves its queries, as long as it can return all of them.
///
/// ```
/// use toposcope::store::{Facets, Name, SortKey};
/// use uuid::Uuid;
///
/// let facets = Facets::default()
///     .with_organization(Uuid::nil())
///     .with_sort_keys([SortKey::new(Name::new("name"), "gateway")]);
/// assert_eq!(facets.network, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facets {
    /// Organization the record belongs to; `None`: the record belongs to no organization.
    pub organization: Option<Uuid>,
    /// Network the record belongs to; `None`: the record belongs to no network.
    pub network: Option<Uuid>,
    /// Time from which [`purge_expired`](super::Store::purge_expired) deletes the record; `None`: never.
    pub expires_at: Option<Timestamp>,
    /// References to other records. The same link twice counts once.
    pub links: Vec<Link>,
    /// Values that lists are filtered by, any number per name. The same term twice counts once.
    pub terms: Vec<Term>,
    /// Values that lists are ordered by, at most one per name. A missing name counts as an empty value.
    pub sort_keys: Vec<SortKey>,
    /// Secondary keys. No two records of a store share one, even if their kinds differ.
    pub unique_keys: Vec<UniqueKey>,
}

impl Facets {
    /// Sets the organization.
    #[must_use]
    pub fn with_organization(mut self, organization: impl Into<Option<Uuid>>) -> Self {
        self.organization = organization.into();
        self
    }

    /// Sets the network.
    #[must_use]
    pub fn with_network(mut self, network: impl Into<Option<Uuid>>) -> Self {
        self.network = network.into();
        self
    }

    /// Sets the time from which the record may be purged.
    #[must_use]
    pub fn with_expires_at(mut self, expires_at: impl Into<Option<Timestamp>>) -> Self {
        self.expires_at = expires_at.into();
        self
    }

    /// Adds links.
    #[must_use]
    pub fn with_links(mut self, links: impl IntoIterator<Item = Link>) -> Self {
        self.links.extend(links);
        self
    }

    /// Adds terms.
    #[must_use]
    pub fn with_terms(mut self, terms: impl IntoIterator<Item = Term>) -> Self {
        self.terms.extend(terms);
        self
    }

    /// Adds sort keys.
    #[must_use]
    pub fn with_sort_keys(mut self, sort_keys: impl IntoIterator<Item = SortKey>) -> Self {
        self.sort_keys.extend(sort_keys);
        self
    }

    /// Returns the facets of a record with this version: the sort keys [with a version](SortKey::with_version) are complete.
    ///
    /// A backend calls it once it knows the version that a put gets, and stores what it returns.
    #[must_use]
    pub fn completed(&self, version: Version) -> Cow<'_, Self> {
        if !self.have_version() {
            return Cow::Borrowed(self);
        }
        let mut completed = self.clone();
        for sort_key in completed.sort_keys.iter_mut().filter(|sort_key| sort_key.with_version) {
            sort_key.value.extend_from_slice(&version.0.to_be_bytes());
            sort_key.with_version = false;
        }
        Cow::Owned(completed)
    }

    /// Returns whether a sort key is complete only with the version.
    pub(super) fn have_version(&self) -> bool {
        self.sort_keys.iter().any(|sort_key| sort_key.with_version)
    }

    /// Adds unique keys.
    #[must_use]
    pub fn with_unique_keys(mut self, unique_keys: impl IntoIterator<Item = UniqueKey>) -> Self {
        self.unique_keys.extend(unique_keys);
        self
    }
}

/// A named reference from one record to another.
///
/// A store does not check whether the target exists; a [`Guard`](super::Guard) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// Name of the relation: the meaning of the reference.
    pub relation: Name,
    /// Id of the record that is referred to.
    pub target: Uuid,
}

impl Link {
    /// Creates a link to `target`.
    #[must_use]
    pub const fn new(relation: Name, target: Uuid) -> Self {
        Self { relation, target }
    }
}

/// A named value that lists can be filtered by.
///
/// A [`TermFilter`](super::TermFilter) names ranges of values. Values are compared as unsigned bytes, a prefix before
/// its extensions, so that ranges express exact values, prefixes, and blocks of addresses in every backend. Examples
/// are an address of 16 bytes, a port number, and a word of a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    /// Name that a [`TermFilter`](super::TermFilter) refers to.
    pub name: Name,
    /// Value, at most [`MAX_LENGTH`](Self::MAX_LENGTH) bytes.
    pub value: Vec<u8>,
}

impl Term {
    /// Maximum length of the value of a term, in bytes. Longer values can be represented by a prefix and a digest.
    pub const MAX_LENGTH: usize = 64;

    /// Creates a term.
    #[must_use]
    pub fn new(name: Name, value: impl Into<Vec<u8>>) -> Self {
        Self { name, value: value.into() }
    }
}

/// A named value that lists can be ordered by.
///
/// Values are compared as unsigned bytes, a prefix before its extensions, so that every backend orders alike.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SortKey {
    /// Name that an [`Order`](super::Order) refers to.
    pub name: Name,
    /// Value in an order-preserving encoding.
    pub value: Vec<u8>,
    /// Whether the store appends the version of the record to the value, as 8 bytes, the most significant first.
    ///
    /// It is false in facets that a store returns: their values are complete.
    pub with_version: bool,
}

impl SortKey {
    /// Creates a sort key.
    #[must_use]
    pub fn new(name: Name, value: impl Into<Vec<u8>>) -> Self {
        Self { name, value: value.into(), with_version: false }
    }

    /// Creates a sort key by which records with equal prefixes are ordered as they were committed.
    ///
    /// ```
    /// use toposcope::store::{Facets, Name, SortKey, Version};
    ///
    /// let facets = Facets::default().with_sort_keys([SortKey::with_version(Name::new("written"), [7])]);
    /// let completed = facets.completed(Version(258));
    /// assert_eq!(completed.sort_keys[0].value, [7, 0, 0, 0, 0, 0, 0, 1, 2]);
    /// ```
    #[must_use]
    pub fn with_version(name: Name, prefix: impl Into<Vec<u8>>) -> Self {
        Self { with_version: true, ..Self::new(name, prefix) }
    }
}

/// A secondary key that at most one record of a store has.
///
/// Examples are an e-mail address, the digest of an API key, and the id of an embedded port.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UniqueKey {
    /// Name of the namespace in which the value is unique.
    pub name: Name,
    /// Value, at most [`MAX_LENGTH`](Self::MAX_LENGTH) bytes.
    pub value: Vec<u8>,
}

impl UniqueKey {
    /// Maximum length of the value of a unique key, in bytes.
    pub const MAX_LENGTH: usize = 1024;

    /// Creates a unique key.
    #[must_use]
    pub fn new(name: Name, value: impl Into<Vec<u8>>) -> Self {
        Self { name, value: value.into() }
    }
}

/// Omits the value, which may be the digest of a secret.
impl fmt::Debug for UniqueKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "UniqueKey({}, {} bytes)", self.name, self.value.len())
    }
}

/// The short name of a record kind, relation, term, sort key or unique key.
///
/// It has 1 to [`Name::MAX_LENGTH`] bytes of visible ASCII, stored inline, so that a name is as cheap to copy and to
/// compare as a number.
///
/// ```
/// use toposcope::store::Name;
///
/// const HOST: Name = Name::new("host");
/// assert_eq!(HOST.as_str(), "host");
/// assert_eq!(Name::parse("host"), Some(HOST));
/// assert_eq!(Name::parse("not a name"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name([u8; Self::MAX_LENGTH]);

impl Name {
    /// Maximum length of a name, in bytes.
    pub const MAX_LENGTH: usize = 16;

    /// Creates a name from a constant.
    ///
    /// # Panics
    /// If the text is not a valid name. In a `const`, where this function belongs, that is a compile error.
    #[must_use]
    #[allow(clippy::panic, reason = "a constant that is not a valid name must not compile")]
    pub const fn new(text: &'static str) -> Self {
        match Self::from_bytes(text.as_bytes()) {
            Some(name) => name,
            None => panic!("a name must have 1 to 16 bytes of visible ASCII"),
        }
    }

    /// Parses a name. Returns `None` if the text is empty, too long, or not visible ASCII.
    #[must_use]
    pub const fn parse(text: &str) -> Option<Self> {
        Self::from_bytes(text.as_bytes())
    }

    /// Returns the name as text.
    #[must_use]
    #[allow(clippy::indexing_slicing, reason = "the index stays below the length that is checked")]
    pub const fn as_str(&self) -> &str {
        let mut length = 0;
        while length < Self::MAX_LENGTH && self.0[length] != 0 {
            length += 1;
        }
        match std::str::from_utf8(self.0.split_at(length).0) {
            Ok(text) => text,
            Err(_) => {
                debug_assert!(false, "a name is ASCII");
                ""
            }
        }
    }

    /// Returns whether the name belongs to a host application: it begins with `x.` and is longer than that.
    pub(crate) const fn is_of_application(&self) -> bool {
        matches!(self.0, [b'x', b'.', next, ..] if next != 0)
    }

    #[allow(clippy::indexing_slicing, reason = "both indices stay below the checked length")]
    const fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() || bytes.len() > Self::MAX_LENGTH {
            return None;
        }
        let mut name = [0; Self::MAX_LENGTH];
        let mut index = 0;
        while index < bytes.len() {
            if !bytes[index].is_ascii_graphic() {
                return None;
            }
            name[index] = bytes[index];
            index += 1;
        }
        Some(Self(name))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.as_str())
    }
}

/// An identifier of the state of one organization's records of one kind.
///
/// As long as the revision is unchanged, so are the records. Revisions are only compared for equality: they have no
/// order, and reopening a store may change them although no record has changed.
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
