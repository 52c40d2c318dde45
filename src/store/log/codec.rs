//! Encoding of records: little endian, variable parts prefixed by their length, checksum last.

use bytes::Bytes;
use crc32fast::Hasher;
use uuid::Uuid;

use super::body::BodyRef;
use crate::model::Timestamp;
use crate::store::{Facets, Key, Link, Name, SortKey, StoreError, Term, UniqueKey, Version};

/// A record without its key and body. This part is read when a store is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    pub(crate) version: Version,
    pub(crate) body: BodyRef,
    pub(crate) facets: Facets,
}

const ORGANIZATION: u8 = 1;
const NETWORK: u8 = 2;
const EXPIRES_AT: u8 = 4;
/// Terms follow the unique keys. Headers without terms are encoded as before there were terms.
const TERMS: u8 = 8;

impl RecordHeader {
    /// Encodes a header. The checksum covers the key too, so that it is never mistaken for another record's.
    pub(crate) fn encode(key: Key, version: Version, body: BodyRef, facets: &Facets) -> Vec<u8> {
        let Facets { organization, network, expires_at, links, terms, sort_keys, unique_keys } = facets;
        let values = links.len() + unique_keys.len() + terms.len();
        let mut bytes = Vec::with_capacity(256 + values * 24);
        bytes.extend_from_slice(&version.0.to_le_bytes());
        bytes.extend_from_slice(&body.id.to_le_bytes());
        bytes.extend_from_slice(&body.length.to_le_bytes());
        bytes.extend_from_slice(&body.checksum.to_le_bytes());
        let has = |there: bool, flag| if there { flag } else { 0 };
        bytes.push(
            has(organization.is_some(), ORGANIZATION)
                | has(network.is_some(), NETWORK)
                | has(expires_at.is_some(), EXPIRES_AT)
                | has(!terms.is_empty(), TERMS),
        );
        for id in [organization, network].into_iter().flatten() {
            bytes.extend_from_slice(id.as_bytes());
        }
        if let Some(time) = expires_at {
            bytes.extend_from_slice(&time.unix_micros().to_le_bytes());
        }
        put_length(&mut bytes, links.len());
        for link in links {
            put_name(&mut bytes, link.relation);
            bytes.extend_from_slice(link.target.as_bytes());
        }
        put_length(&mut bytes, sort_keys.len());
        for sort_key in sort_keys {
            put_name(&mut bytes, sort_key.name);
            put_bytes(&mut bytes, &sort_key.value);
        }
        put_length(&mut bytes, unique_keys.len());
        for unique_key in unique_keys {
            put_name(&mut bytes, unique_key.name);
            put_bytes(&mut bytes, &unique_key.value);
        }
        if !terms.is_empty() {
            put_terms(&mut bytes, terms);
        }
        let checksum = header_checksum(key, &bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Decodes a header. Returns `None` if the bytes are not those that were encoded for this key.
    pub(crate) fn decode(key: Key, bytes: &[u8]) -> Option<Self> {
        let (content, checksum) = bytes.split_last_chunk::<4>()?;
        if header_checksum(key, content) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let mut decoder = Decoder(content);
        let version = Version(decoder.u64()?);
        let body = BodyRef { id: decoder.u64()?, length: decoder.u32()?, checksum: decoder.u32()? };
        let facets = decoder.facets()?;
        decoder.0.is_empty().then_some(Self { version, body, facets })
    }

    /// Returns the checksum at the end of an encoded header.
    #[cfg(feature = "sled")]
    pub(crate) fn checksum(encoded: &[u8]) -> u32 {
        encoded.last_chunk().map_or(0, |checksum| u32::from_le_bytes(*checksum))
    }
}

fn header_checksum(key: Key, content: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(key.kind.as_str().as_bytes());
    hasher.update(key.id.as_bytes());
    hasher.update(content);
    hasher.finalize()
}

pub(crate) fn put_key(bytes: &mut Vec<u8>, key: Key) {
    put_name(bytes, key.kind);
    bytes.extend_from_slice(key.id.as_bytes());
}

/// Appends a length. It fits into 32 bits: `check_facets` in `store/index/write/check.rs` limits the facets of a
/// record.
pub(crate) fn put_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
}

pub(crate) fn put_bytes(bytes: &mut Vec<u8>, content: &[u8]) {
    put_length(bytes, content.len());
    bytes.extend_from_slice(content);
}

/// Appends terms. The name of adjacent terms is written once, and the length of a value takes one byte.
fn put_terms(bytes: &mut Vec<u8>, terms: &[Term]) {
    let alike = || terms.chunk_by(|left, right| left.name == right.name);
    put_length(bytes, alike().count());
    for terms in alike() {
        let Some(first) = terms.first() else { continue };
        put_name(bytes, first.name);
        put_length(bytes, terms.len());
        for term in terms {
            bytes.push(term.value.len() as u8);
            bytes.extend_from_slice(&term.value);
        }
    }
}

fn put_name(bytes: &mut Vec<u8>, name: Name) {
    let text = name.as_str().as_bytes();
    bytes.push(text.len() as u8);
    bytes.extend_from_slice(text);
}

/// Decodes values from the front of a slice. Every method returns `None` at its end and for invalid contents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoder<'b>(pub(crate) &'b [u8]);

impl<'b> Decoder<'b> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.first_chunk().copied()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = self.u32()?;
        self.take(length as usize)
    }

    pub(crate) fn key(&mut self) -> Option<Key> {
        Some(Key::new(self.name()?, self.id()?))
    }

    fn id(&mut self) -> Option<Uuid> {
        self.array().map(Uuid::from_bytes)
    }

    fn name(&mut self) -> Option<Name> {
        let length = self.u8()?;
        Name::parse(std::str::from_utf8(self.take(usize::from(length))?).ok()?)
    }

    fn facets(&mut self) -> Option<Facets> {
        let flags = self.u8()?;
        let mut facets = Facets::default();
        if flags & ORGANIZATION != 0 {
            facets.organization = Some(self.id()?);
        }
        if flags & NETWORK != 0 {
            facets.network = Some(self.id()?);
        }
        if flags & EXPIRES_AT != 0 {
            facets.expires_at = Some(Timestamp::from_unix_micros(self.u64()?.cast_signed()).ok()?);
        }
        for _ in 0..self.u32()? {
            facets.links.push(Link::new(self.name()?, self.id()?));
        }
        for _ in 0..self.u32()? {
            facets.sort_keys.push(SortKey::new(self.name()?, self.bytes()?));
        }
        for _ in 0..self.u32()? {
            facets.unique_keys.push(UniqueKey::new(self.name()?, self.bytes()?));
        }
        if flags & TERMS != 0 {
            facets.terms = self.terms()?;
        }
        Some(facets)
    }

    fn terms(&mut self) -> Option<Vec<Term>> {
        let mut terms = Vec::new();
        for _ in 0..self.u32()? {
            let name = self.name()?;
            for _ in 0..self.u32()? {
                let length = usize::from(self.u8()?);
                terms.push(Term::new(name, self.take(length)?));
            }
        }
        Some(terms)
    }
}

/// The effect of a write on a record.
#[derive(Clone, Debug)]
pub(crate) enum RecordChange {
    /// The header is encoded once, for both the log and the database. The body is in its stored form.
    Put {
        header: Bytes,
        body_ref: BodyRef,
        body: Bytes,
    },
    Delete,
}

impl RecordChange {
    /// Returns how many bytes the change writes to a tree.
    #[cfg(feature = "sled")]
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Put { header, body, .. } => header.len() + body.len(),
            Self::Delete => 0,
        }
    }
}

/// Decodes a header, or returns an error that names the record.
pub(crate) fn decode_header(key: Key, bytes: &[u8]) -> Result<RecordHeader, StoreError> {
    RecordHeader::decode(key, bytes).ok_or_else(|| damaged(key))
}

/// Returns the error for a record whose data are not those that were written.
pub(crate) fn damaged(key: Key) -> StoreError {
    StoreError::corrupt(format!("{key} is damaged"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(key: Key, header: &RecordHeader) -> Vec<u8> {
        RecordHeader::encode(key, header.version, header.body, &header.facets)
    }

    fn header() -> (Key, RecordHeader) {
        let id = Uuid::from_u128;
        let facets = Facets {
            organization: Some(id(1)),
            network: Some(id(2)),
            expires_at: Some(Timestamp::UNIX_EPOCH.plus_micros(-3)),
            links: vec![Link::new(Name::new("tag"), id(4)), Link::new(Name::new("tag"), id(5))],
            terms: vec![
                Term::new(Name::new("ip"), vec![255; Term::MAX_LENGTH]),
                Term::new(Name::new("word"), "core"),
                Term::new(Name::new("word"), vec![]),
                Term::new(Name::new("ip"), vec![0]),
            ],
            sort_keys: vec![
                SortKey::new(Name::new("name"), vec![0, 255]),
                SortKey::new(Name::new("x"), vec![]),
            ],
            unique_keys: vec![UniqueKey::new(Name::new("a_sixteen_letter"), vec![7; UniqueKey::MAX_LENGTH])],
        };
        let body = BodyRef { id: 8, length: 9, checksum: 10 };
        (Key::new(Name::new("host"), id(11)), RecordHeader { version: Version(12), body, facets })
    }

    #[test]
    fn header_roundtrips_with_and_without_optional_facets() {
        let (key, full) = header();
        let of_network = Facets { network: full.facets.network, ..Facets::default() };
        for facets in [full.facets, of_network, Facets::default()] {
            let header = RecordHeader { version: full.version, body: full.body, facets };
            assert_eq!(RecordHeader::decode(key, &encode(key, &header)), Some(header));
        }
    }

    #[test]
    fn header_from_before_there_were_terms_is_decoded() {
        let key = Key::new(Name::new("host"), Uuid::from_u128(1));
        let mut old: Vec<u8> = Vec::new();
        [3_u64, 4].iter().for_each(|number| old.extend(number.to_le_bytes()));
        // Length and checksum of the body, no flags, and no links, sort keys and unique keys.
        old.resize(old.len() + 8 + 1 + 3 * 4, 0);
        old.extend(header_checksum(key, &old).to_le_bytes());
        let header = RecordHeader::decode(key, &old).unwrap();
        assert_eq!((header.version, &header.facets), (Version(3), &Facets::default()));
        assert_eq!(encode(key, &header), old);
    }

    #[test]
    fn header_truncated_changed_or_under_another_key_is_rejected() {
        let (key, header) = header();
        let encoded = encode(key, &header);
        let other = Key::new(key.kind, Uuid::nil());
        assert_eq!(RecordHeader::decode(other, &encoded), None);
        for index in 0..encoded.len() {
            assert_eq!(RecordHeader::decode(key, &encoded[..index]), None, "cut at {index}");
            let mut changed = encoded.clone();
            changed[index] ^= 1;
            assert_eq!(RecordHeader::decode(key, &changed), None, "changed at {index}");
        }
    }
}
