//! What stands in a journal: groups of batches, each group in a frame that is there whole or not at all.

use bytes::Bytes;
use crc32fast::Hasher;

use super::super::codec::{Head, Place, Reader, put_bytes, put_key, put_length};
use crate::store::{Facets, Key, Version};

/// A batch that was accepted, with what was decided on the way: its version, and where each body is to be.
#[derive(Debug)]
pub(in crate::store::sled) struct Accepted {
    pub(in crate::store::sled) version: Version,
    pub(in crate::store::sled) changes: Vec<(Key, Change)>,
}

impl Accepted {
    /// The greatest number of a body that is put.
    pub(in crate::store::sled) fn last_body(&self) -> u64 {
        let places = self.changes.iter().filter_map(|(_, change)| match change {
            Change::Put { place, .. } => Some(place.id),
            Change::Delete => None,
        });
        places.max().unwrap_or(0)
    }
}

/// What becomes of a record.
#[derive(Clone, Debug)]
pub(in crate::store::sled) enum Change {
    /// The head is encoded once, for the journal and for the records alike.
    Put {
        head: Bytes,
        place: Place,
        body: Bytes,
    },
    Delete,
}

impl Change {
    /// How many bytes it puts into the records.
    pub(in crate::store::sled) fn size(&self) -> usize {
        match self {
            Self::Put { head, body, .. } => head.len() + body.len(),
            Self::Delete => 0,
        }
    }
}

const DELETE: u8 = 0;
const PUT: u8 = 1;

/// The head of a frame: salt, sequence, length, checksum.
const HEADER: usize = 8 + 8 + 8 + 4;

/// Appends a frame. The salt is unknown to whoever writes records, so that no body can be made to look like a frame.
pub(super) fn write(bytes: &mut Vec<u8>, salt: u64, sequence: u64, group: &[Accepted]) {
    let start = bytes.len();
    bytes.resize(start + HEADER, 0);
    put_length(bytes, group.len());
    for accepted in group {
        bytes.extend_from_slice(&accepted.version.0.to_le_bytes());
        put_length(bytes, accepted.changes.len());
        for (key, change) in &accepted.changes {
            write_change(bytes, *key, change);
        }
    }
    let Some((header, payload)) = bytes.get_mut(start..).and_then(|frame| frame.split_at_mut_checked(HEADER))
    else {
        return;
    };
    let length = payload.len() as u64;
    let checksum = checksum(salt, sequence, length, payload);
    let fields =
        [&salt.to_le_bytes()[..], &sequence.to_le_bytes(), &length.to_le_bytes(), &checksum.to_le_bytes()];
    for (place, byte) in header.iter_mut().zip(fields.concat()) {
        *place = byte;
    }
}

fn write_change(bytes: &mut Vec<u8>, key: Key, change: &Change) {
    match change {
        Change::Delete => {
            bytes.push(DELETE);
            put_key(bytes, key);
        }
        Change::Put { head, body, .. } => {
            bytes.push(PUT);
            put_key(bytes, key);
            put_bytes(bytes, head);
            bytes.extend_from_slice(body);
        }
    }
}

fn checksum(salt: u64, sequence: u64, length: u64, payload: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    for number in [salt, sequence, length] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(payload);
    hasher.finalize()
}

/// The payload of the frame that stands in front, if it is whole and has this salt and this sequence.
pub(super) fn read<'b>(reader: &mut Reader<'b>, salt: u64, sequence: u64) -> Option<&'b [u8]> {
    if reader.u64()? != salt || reader.u64()? != sequence {
        return None;
    }
    let length = reader.u64()?;
    let expected = reader.u32()?;
    let payload = reader.take(usize::try_from(length).ok()?)?;
    (checksum(salt, sequence, length, payload) == expected).then_some(payload)
}

/// A batch as it is read back, with the facets of what it puts.
#[derive(Debug)]
pub(in crate::store::sled) struct Replayed {
    pub(in crate::store::sled) accepted: Accepted,
    pub(in crate::store::sled) facets: Vec<Facets>,
}

/// The batches of a frame's payload; `None` where it is not one that was written.
pub(in crate::store::sled) fn decode(payload: &[u8]) -> Option<Vec<Replayed>> {
    let mut reader = Reader(payload);
    let mut group = Vec::new();
    for _ in 0..reader.u32()? {
        let version = Version(reader.u64()?);
        let (mut changes, mut facets) = (Vec::new(), Vec::new());
        for _ in 0..reader.u32()? {
            let tag = reader.u8()?;
            let key = reader.key()?;
            if tag == DELETE {
                changes.push((key, Change::Delete));
                continue;
            }
            let encoded = reader.bytes()?;
            let head = Head::decode(key, encoded)?;
            // Copied, so that a record that is kept does not keep the whole journal in memory.
            let body = Bytes::copy_from_slice(reader.take(head.body.length as usize)?);
            let encoded = Bytes::copy_from_slice(encoded);
            changes.push((key, Change::Put { head: encoded, place: head.body, body }));
            facets.push(head.facets);
        }
        group.push(Replayed { accepted: Accepted { version, changes }, facets });
    }
    reader.0.is_empty().then_some(group)
}
