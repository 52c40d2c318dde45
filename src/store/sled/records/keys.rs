//! Under which keys things stand in the one tree, and how long values are cut.
//!
//! sled keeps the values of up to sixteen neighbouring keys in one page, and puts a page that outgrows a quarter of a
//! segment (here 128 KiB) into a file of its own, which it never syncs. Values are cut so that no page ever does: with parts
//! of 7.5 KB some pages did after many replacements, with 6 KB none. Smaller ones keep down what a single read brings into
//! memory, which sled counts late; they take longer to write, and 2 KiB is where that begins to tell.

use std::ops::Range;

use uuid::Uuid;

use super::super::codec::{Place, Reader, put_key};
use crate::store::{Key, Name};

/// The longest value.
pub(super) const CHUNK: usize = 2 << 10;

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

/// Behind the keys of all heads of a kind.
pub(super) fn behind(kind: Name) -> Vec<u8> {
    behind_parts(head(Key::new(kind, Uuid::max())))
}

/// Behind the keys of all parts, which begin with this and continue with the number of the part.
pub(super) fn behind_parts(mut beginning: Vec<u8>) -> Vec<u8> {
    beginning.extend_from_slice(&[u8::MAX; 5]);
    beginning
}

/// The beginning of the keys of heads a little further on: by the 65,536th part of the ids of a kind, or with the next
/// kind. `None` where this is no beginning of a key.
pub(super) fn further(beginning: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = beginning.to_vec();
    let length = usize::from(*bytes.get(HEADS.len())?);
    let ids = HEADS.len() + 1 + length;
    bytes.resize(ids + 16, 0);
    let first = bytes.get_mut(ids..)?.first_chunk_mut::<2>()?;
    let next = u16::from_be_bytes(*first).checked_add(1);
    *first = next.unwrap_or(u16::MAX).to_be_bytes();
    let rest = if next.is_some() { 0 } else { u8::MAX };
    bytes.get_mut(ids + 2..)?.fill(rest);
    // Behind all ids of a kind the step does not lead any further by itself.
    if next.is_none() {
        bytes.push(u8::MAX);
    }
    (bytes.as_slice() > beginning).then_some(bytes)
}

/// Whose head a part belongs to, and which part it is.
pub(super) fn read_head(bytes: &[u8]) -> Option<(Key, u32)> {
    let (bytes, part) = bytes.split_last_chunk::<4>()?;
    let mut reader = Reader(bytes.strip_prefix(HEADS)?);
    let key = reader.key()?;
    reader.0.is_empty().then_some((key, u32::from_be_bytes(*part)))
}

/// Odd, so that no two numbers become one; its inverse brings the number back.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
const GATHER: u64 = 0xF1DE_83E1_9937_733D;

/// What the keys of all parts of a body begin with. The numbers are spread over all there are: where the newest stood side
/// by side behind all others, old pages would only grow emptier, and the file half as large again.
pub(super) fn body(id: u64) -> Vec<u8> {
    numbered(BODIES, id.wrapping_mul(SPREAD))
}

/// The number of the body that a part belongs to, and which part it is.
pub(super) fn read_body(bytes: &[u8]) -> Option<(u64, u32)> {
    let (id, part) = bytes.strip_prefix(BODIES)?.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*id).wrapping_mul(GATHER), u32::from_be_bytes(part.try_into().ok()?)))
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
pub(super) fn parts(length: usize) -> u32 {
    u32::try_from(length.div_ceil(CHUNK)).unwrap_or(u32::MAX)
}

/// The parts of a value.
pub(super) fn cut(value: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    (0..).zip(value.chunks(CHUNK))
}

impl Place {
    pub(in crate::store::sled) fn parts(self) -> Range<u32> {
        0..parts(self.length as usize)
    }

    pub(in crate::store::sled) fn cut(body: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
        cut(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_comes_back_out_of_the_key_it_is_spread_by() {
        for id in [0, 1, 2, 1 << 40, u64::MAX] {
            assert_eq!(read_body(&part(&body(id), 7)), Some((id, 7)));
        }
    }
    #[test]
    fn the_way_further_goes_through_all_ids_of_a_kind_and_ends() {
        let mut at = head(Key::new(Name::new("host"), Uuid::nil()));
        let mut steps = 0;
        while let Some(next) = further(&at) {
            assert!(next > at && next.starts_with(b"h\x04host"));
            at = next;
            steps += 1;
        }
        assert_eq!(steps, 65_536);
        assert_eq!(further(HEADS), None);
    }
}
