//! Under which keys things stand in the one tree, and how long values are cut.
//!
//! sled keeps the values of up to sixteen neighbouring keys in one page, and puts a page that outgrows a quarter of a
//! segment into a file of its own, which it never syncs. Values are cut so that no page ever does.

use crate::store::Key;

use super::super::codec::{Place, Reader, put_key};

/// The longest value.
pub(super) const CHUNK: usize = 4 << 10;

pub(super) const BASE: &[u8] = b"s";
pub(super) const HEADS: &[u8] = b"h";
pub(super) const BODIES: &[u8] = b"b";
pub(super) const GRAVES: &[u8] = b"g";

/// What the keys of all parts of a head begin with.
pub(super) fn head(key: Key) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADS.len() + 1 + 16 + 16 + 4);
    bytes.extend_from_slice(HEADS);
    put_key(&mut bytes, key);
    bytes
}

/// Whose head a part belongs to, and which part it is.
pub(super) fn read_head(bytes: &[u8]) -> Option<(Key, u32)> {
    let (bytes, part) = bytes.split_last_chunk::<4>()?;
    let mut reader = Reader(bytes.strip_prefix(HEADS)?);
    let key = reader.key()?;
    reader.0.is_empty().then_some((key, u32::from_be_bytes(*part)))
}

/// What the keys of all parts of a body begin with. Bodies stand in the order in which they were written, so that the
/// newest go side by side into the last page.
pub(super) fn body(id: u64) -> Vec<u8> {
    numbered(BODIES, id)
}

/// The number of the body that a part belongs to, and which part it is.
pub(super) fn read_body(bytes: &[u8]) -> Option<(u64, u32)> {
    let (id, part) = bytes.strip_prefix(BODIES)?.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*id), u32::from_be_bytes(part.try_into().ok()?)))
}

/// Where it is noted that a body is to be removed.
pub(super) fn grave(id: u64) -> Vec<u8> {
    numbered(GRAVES, id)
}

pub(super) fn read_grave(key: &[u8], value: &[u8]) -> Option<Place> {
    let id = u64::from_be_bytes(key.strip_prefix(GRAVES)?.try_into().ok()?);
    Some(Place { id, length: u32::from_le_bytes(value.try_into().ok()?), checksum: 0 })
}

fn numbered(prefix: &[u8], id: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(prefix.len() + 8 + 4);
    bytes.extend_from_slice(prefix);
    bytes.extend_from_slice(&id.to_be_bytes());
    bytes
}

/// The key of a part.
pub(super) fn part(beginning: &[u8], part: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(beginning.len() + 4);
    bytes.extend_from_slice(beginning);
    bytes.extend_from_slice(&part.to_be_bytes());
    bytes
}

/// How many parts a value of this length has.
pub(super) fn parts(length: u32) -> u32 {
    length.div_ceil(CHUNK as u32)
}
