//! Encoding of the batches in one entry of a log.

use bytes::Bytes;

use super::body::BodyRef;
use super::codec::{Decoder, RecordChange, RecordHeader, put_bytes, put_key, put_length};
use crate::store::index::{Index, Packs, ReplacedRows, RowId};
use crate::store::{Key, Precondition, Version, Write};

/// A batch that passed its preconditions, with its version and body numbers assigned.
#[derive(Debug)]
pub(crate) struct AcceptedBatch {
    pub(crate) version: Version,
    pub(crate) changes: Vec<(Key, RecordChange)>,
}

impl AcceptedBatch {
    /// Returns the references to the bodies of the puts, in the order of the changes.
    pub(crate) fn body_refs(&self) -> impl Iterator<Item = BodyRef> + '_ {
        self.changes.iter().filter_map(|(_, change)| match change {
            RecordChange::Put { body_ref, .. } => Some(*body_ref),
            RecordChange::Delete => None,
        })
    }

    /// Applies the batch to an index. `writes` are the writes of the batch, and `packs` holds their facets as far as
    /// they are packed. Calls `set_body` with the row of each put and its body, and with the row of each deleted
    /// record. The caller drops the returned values after it has released the lock.
    pub(crate) fn apply(
        &self,
        writes: &[Write],
        packs: Packs,
        index: &mut Index,
        mut set_body: impl FnMut(RowId, Option<(BodyRef, Bytes)>),
    ) -> ReplacedRows {
        // `Index::apply` calls back for every put, in the order of the writes.
        let mut body_refs = self.body_refs();
        index.apply(self.version, writes, packs, |row, body| {
            set_body(row, body.and_then(|body| Some((body_refs.next()?, body))));
        })
    }
}

/// A batch read from a log, with its writes.
#[derive(Debug)]
pub(crate) struct ReplayedBatch {
    pub(crate) accepted: AcceptedBatch,
    /// One write for each change, without precondition.
    pub(crate) writes: Vec<Write>,
}

/// Where the bodies of the records in an entry are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "each backend uses one of them")]
pub(crate) enum Bodies {
    /// In the entry.
    Inline,
    /// In a table of their own. A decoded entry has empty bodies.
    Apart,
}

const DELETE: u8 = 0;
const PUT: u8 = 1;

/// Appends the batches of an entry to a buffer.
pub(crate) fn put_batches(bytes: &mut Vec<u8>, group: &[AcceptedBatch], bodies: Bodies) {
    put_length(bytes, group.len());
    for accepted in group {
        bytes.extend_from_slice(&accepted.version.0.to_le_bytes());
        put_length(bytes, accepted.changes.len());
        for (key, change) in &accepted.changes {
            put_change(bytes, *key, change, bodies);
        }
    }
}

fn put_change(bytes: &mut Vec<u8>, key: Key, change: &RecordChange, bodies: Bodies) {
    match change {
        RecordChange::Delete => {
            bytes.push(DELETE);
            put_key(bytes, key);
        }
        RecordChange::Put { header, body, .. } => {
            bytes.push(PUT);
            put_key(bytes, key);
            put_bytes(bytes, header);
            match bodies {
                Bodies::Inline => bytes.extend_from_slice(body),
                Bodies::Apart => {}
            }
        }
    }
}

/// Decodes the batches of an entry; `None` if the bytes are not valid.
pub(crate) fn decode_batches(payload: &[u8], bodies: Bodies) -> Option<Vec<ReplayedBatch>> {
    let mut decoder = Decoder(payload);
    let mut group = Vec::new();
    for _ in 0..decoder.u32()? {
        let version = Version(decoder.u64()?);
        let (mut changes, mut writes) = (Vec::new(), Vec::new());
        for _ in 0..decoder.u32()? {
            let (change, write) = decode_change(&mut decoder, bodies)?;
            changes.push((write.key(), change));
            writes.push(write);
        }
        group.push(ReplayedBatch { accepted: AcceptedBatch { version, changes }, writes });
    }
    decoder.0.is_empty().then_some(group)
}

fn decode_change(decoder: &mut Decoder<'_>, bodies: Bodies) -> Option<(RecordChange, Write)> {
    let (tag, precondition) = (decoder.u8()?, Precondition::Any);
    let key = decoder.key()?;
    if tag == DELETE {
        return Some((RecordChange::Delete, Write::Delete { key, precondition }));
    }
    let encoded = decoder.bytes()?;
    let RecordHeader { body: body_ref, facets, .. } = RecordHeader::decode(key, encoded)?;
    // Copied, so that a cached record does not keep the whole log file in memory.
    let (stored, body) = match bodies {
        #[cfg(feature = "sled")]
        Bodies::Inline => {
            let stored = Bytes::copy_from_slice(decoder.take(body_ref.length())?);
            (stored.clone(), body_ref.open(stored)?)
        }
        #[cfg(not(feature = "sled"))]
        Bodies::Inline => return None,
        Bodies::Apart => (Bytes::new(), Bytes::new()),
    };
    let header = Bytes::copy_from_slice(encoded);
    let change = RecordChange::Put { header, body_ref, body: stored };
    Some((change, Write::Put { key, precondition, facets, body }))
}
