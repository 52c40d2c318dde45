//! Layout of the sled tree. It consists of the keys, the manifest, and the division of values into parts.
//!
//! sled stores the values of up to 16 adjacent keys in one page. It moves a page that exceeds a quarter of a segment
//! (here 128 KiB) to a separate file, which it never syncs. Values are split into parts so that no page ever exceeds
//! that: with parts of 7.5 KB some pages did after many replacements, with 6 KB none did. Smaller parts reduce the
//! memory that one read loads, which sled accounts for late, but take longer to write; 2 KiB is where that begins to
//! be measurable.

use std::ops::Range;

use uuid::Uuid;

use crate::store::log::body::BodyRef;
use crate::store::log::codec::{Decoder, put_key};
use crate::store::{Key, Name, StoreError};

/// Applied LSN, highest assigned numbers, and the record count of one copy.
///
/// It is written in the same atomic batch as the changes that it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// LSN of the last frame that is applied completely.
    pub(crate) applied_lsn: u64,
    /// Highest version assigned up to that frame.
    pub(crate) last_version: u64,
    /// Highest body number assigned up to that frame.
    pub(crate) last_body_id: u64,
    /// Number of headers.
    pub(crate) record_count: u64,
    /// Wrapping sum of the checksums of all headers; it reveals missing and outdated records.
    pub(crate) checksum_sum: u64,
}

impl Manifest {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let fields =
            [self.applied_lsn, self.last_version, self.last_body_id, self.record_count, self.checksum_sum];
        let mut bytes: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (content, checksum) = bytes.split_last_chunk::<4>()?;
        let mut decoder = Decoder(content);
        let mut field = || decoder.u64();
        let manifest = Self {
            applied_lsn: field()?,
            last_version: field()?,
            last_body_id: field()?,
            record_count: field()?,
            checksum_sum: field()?,
        };
        let is_intact = crc32fast::hash(content).to_le_bytes() == *checksum;
        (is_intact && decoder.0.is_empty()).then_some(manifest)
    }

    /// Checks that the records found are the ones that this manifest counts.
    pub(crate) fn check(self, found: Self) -> Result<Self, StoreError> {
        if found == self {
            return Ok(self);
        }
        Err(StoreError::corrupt(format!(
            "records are missing or outdated: found {} of {}",
            found.record_count, self.record_count
        )))
    }

    /// Returns the lower applied LSN of two manifests, with the higher of the assigned numbers.
    pub(crate) fn combine(self, other: Self) -> Self {
        Self {
            applied_lsn: self.applied_lsn.min(other.applied_lsn),
            last_version: self.last_version.max(other.last_version),
            last_body_id: self.last_body_id.max(other.last_body_id),
            ..self
        }
    }

    /// Adds a header to the count.
    pub(crate) fn count_in(&mut self, checksum: u32) {
        self.record_count = self.record_count.wrapping_add(1);
        self.checksum_sum = self.checksum_sum.wrapping_add(u64::from(checksum));
    }

    /// Removes a header from the count.
    pub(crate) fn count_out(&mut self, checksum: u32) {
        self.record_count = self.record_count.wrapping_sub(1);
        self.checksum_sum = self.checksum_sum.wrapping_sub(u64::from(checksum));
    }

    /// Adds the difference that a change has made to another manifest.
    pub(crate) const fn apply_delta(&mut self, before: &Self, after: &Self) {
        self.record_count =
            self.record_count.wrapping_add(after.record_count.wrapping_sub(before.record_count));
        self.checksum_sum =
            self.checksum_sum.wrapping_add(after.checksum_sum.wrapping_sub(before.checksum_sum));
    }

    /// Returns whether both manifests count the same records.
    pub(crate) const fn same_records(&self, other: &Self) -> bool {
        self.record_count == other.record_count && self.checksum_sum == other.checksum_sum
    }
}

/// Maximum length of a value, in bytes.
pub(super) const MAX_VALUE_BYTES: usize = 2 << 10;

/// Key of the manifest, and key prefixes of the other entries.
pub(super) const MANIFEST: &[u8] = b"s";
pub(super) const HEADERS: &[u8] = b"h";
pub(super) const BODIES: &[u8] = b"b";
pub(super) const PENDING_DELETES: &[u8] = b"g";

/// Returns the common prefix of the keys of a header's parts.
pub(super) fn header_key(key: Key) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADERS.len() + 1 + 16 + 16 + 4);
    bytes.extend_from_slice(HEADERS);
    put_key(&mut bytes, key);
    bytes
}

/// Returns a key after all headers of a kind.
pub(super) fn after_kind(kind: Name) -> Vec<u8> {
    after_parts(header_key(Key::new(kind, Uuid::max())))
}

/// Returns a key after all parts with this prefix.
pub(super) fn after_parts(mut prefix: Vec<u8>) -> Vec<u8> {
    prefix.extend_from_slice(&[u8::MAX; 5]);
    prefix
}

/// Returns a header prefix further on. It is 1/65,536 of the ids of a kind ahead, or at the next kind.
///
/// `None` if the argument is not a header prefix.
pub(super) fn skip_ahead(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = prefix.to_vec();
    let length = usize::from(*bytes.get(HEADERS.len())?);
    let ids = HEADERS.len() + 1 + length;
    bytes.resize(ids + 16, 0);
    let first = bytes.get_mut(ids..)?.first_chunk_mut::<2>()?;
    let next = u16::from_be_bytes(*first).checked_add(1);
    *first = next.unwrap_or(u16::MAX).to_be_bytes();
    let rest = if next.is_some() { 0 } else { u8::MAX };
    bytes.get_mut(ids + 2..)?.fill(rest);
    // Past the last id of a kind, the step alone does not advance.
    if next.is_none() {
        bytes.push(u8::MAX);
    }
    (bytes.as_slice() > prefix).then_some(bytes)
}

/// Returns the record that a header part belongs to, and the number of the part.
pub(super) fn decode_header_key(bytes: &[u8]) -> Option<(Key, u32)> {
    let (bytes, part) = bytes.split_last_chunk::<4>()?;
    let mut decoder = Decoder(bytes.strip_prefix(HEADERS)?);
    let key = decoder.key()?;
    decoder.0.is_empty().then_some((key, u32::from_be_bytes(*part)))
}

/// Multiplier of body numbers. It is odd, so that multiplication is a bijection; [`SPREAD_INVERSE`] reverses it.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
const SPREAD_INVERSE: u64 = 0xF1DE_83E1_9937_733D;

/// Returns the common prefix of the keys of a body's parts.
///
/// Body numbers are spread over the whole key space. If the newest were adjacent at the end, old pages would only
/// become emptier, and the file half as large again.
pub(super) fn body_key(id: u64) -> Vec<u8> {
    numbered(BODIES, place_of_body(id))
}

/// Returns the number that orders a body by its key, given the body number.
pub(crate) const fn place_of_body(id: u64) -> u64 {
    id.wrapping_mul(SPREAD)
}

/// Returns the number of a part's body, and the number of the part.
pub(super) fn decode_body_key(bytes: &[u8]) -> Option<(u64, u32)> {
    let (id, part) = bytes.strip_prefix(BODIES)?.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*id).wrapping_mul(SPREAD_INVERSE), u32::from_be_bytes(part.try_into().ok()?)))
}

/// Returns the key of a pending delete. A pending delete notes that a body is to be deleted.
pub(super) fn pending_delete_key(id: u64) -> Vec<u8> {
    numbered(PENDING_DELETES, id)
}

/// Returns the body of a pending delete; its checksum is not stored.
pub(super) fn decode_pending_delete(key: &[u8], value: &[u8]) -> Option<BodyRef> {
    let id = u64::from_be_bytes(key.strip_prefix(PENDING_DELETES)?.try_into().ok()?);
    Some(BodyRef::without_checksum(id, value.try_into().ok()?))
}

fn numbered(prefix: &[u8], id: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(prefix.len() + 8 + 4);
    bytes.extend_from_slice(prefix);
    bytes.extend_from_slice(&id.to_be_bytes());
    bytes
}

/// Returns the key of one part.
pub(super) fn part_key(prefix: &[u8], part: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(prefix.len() + 4);
    bytes.extend_from_slice(prefix);
    bytes.extend_from_slice(&part.to_be_bytes());
    bytes
}

/// Returns the number of parts of a value of this length.
pub(super) fn part_count(length: usize) -> u32 {
    u32::try_from(length.div_ceil(MAX_VALUE_BYTES)).unwrap_or(u32::MAX)
}

/// Splits a value into its numbered parts.
pub(super) fn split(value: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    (0..).zip(value.chunks(MAX_VALUE_BYTES))
}

impl BodyRef {
    pub(crate) fn parts(self) -> Range<u32> {
        0..part_count(self.length())
    }
}

/// A position between two entries, in key order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScanPosition(pub(super) Vec<u8>);

impl ScanPosition {
    /// Returns the position before the first header.
    pub(crate) fn before_headers() -> Self {
        Self(HEADERS.to_vec())
    }

    /// Returns the position before the header of a record.
    pub(crate) fn at_header(key: Key) -> Self {
        Self(header_key(key))
    }

    /// Returns the position after the header of a record.
    pub(crate) fn after_header(key: Key) -> Self {
        Self(after_parts(header_key(key)))
    }

    /// Returns the position before the first body.
    pub(crate) fn before_bodies() -> Self {
        Self(BODIES.to_vec())
    }

    /// Returns whether the header of a record is before this position.
    pub(crate) fn is_after(&self, key: Key) -> bool {
        self.0 > header_key(key)
    }

    /// Returns a position further on, so that a scan can skip unreadable entries.
    pub(crate) fn skip_ahead(&self) -> Option<Self> {
        skip_ahead(&self.0).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_key_decodes_to_its_number() {
        for id in [0, 1, 2, 1 << 40, u64::MAX] {
            assert_eq!(decode_body_key(&part_key(&body_key(id), 7)), Some((id, 7)));
        }
    }

    #[test]
    fn skip_ahead_passes_all_ids_of_a_kind_and_ends() {
        let mut at = header_key(Key::new(Name::new("host"), Uuid::nil()));
        let mut steps = 0;
        while let Some(next) = skip_ahead(&at) {
            assert!(next > at && next.starts_with(b"h\x04host"));
            at = next;
            steps += 1;
        }
        assert_eq!(steps, 65_536);
        assert_eq!(skip_ahead(HEADERS), None);
    }
}
