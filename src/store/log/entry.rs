//! An entry of a log that several instances share. It holds the batches of one commit group, without their bodies.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::batch::{AcceptedBatch, Bodies, ReplayedBatch, decode_batches, put_batches};
use super::codec::Decoder;
use crate::store::index::Index;
use crate::store::{Key, Name, Version, Write};

const RENEWED_FLAG: u8 = 1;

/// A decoded entry.
#[derive(Debug, Default)]
pub(crate) struct LogEntry {
    pub(crate) batches: Vec<ReplayedBatch>,
    /// Contents of the store after the entry.
    pub(crate) contents: Contents,
    /// Whether all revisions change.
    pub(crate) is_renewal: bool,
}

impl LogEntry {
    pub(crate) fn encode(batches: &[AcceptedBatch], contents: Contents, is_renewal: bool) -> Vec<u8> {
        let mut bytes = vec![if is_renewal { RENEWED_FLAG } else { 0 }];
        bytes.extend_from_slice(&contents.records.to_le_bytes());
        bytes.extend_from_slice(&contents.digest.to_le_bytes());
        put_batches(&mut bytes, batches, Bodies::Apart);
        bytes
    }

    /// Decodes an entry; the first one of a log has no bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::default());
        }
        let (flags, contents, batches) = Self::split(bytes)?;
        let batches = decode_batches(batches, Bodies::Apart)?;
        Some(Self { batches, contents, is_renewal: flags & RENEWED_FLAG != 0 })
    }

    /// Decodes only the contents of the store after an entry.
    pub(crate) fn decode_contents(bytes: &[u8]) -> Option<Contents> {
        if bytes.is_empty() {
            Some(Contents::default())
        } else {
            Self::split(bytes).map(|(_, contents, _)| contents)
        }
    }

    fn split(bytes: &[u8]) -> Option<(u8, Contents, &[u8])> {
        let mut decoder = Decoder(bytes);
        let flags = decoder.u8()?;
        let contents = Contents { records: decoder.u64()?, digest: decoder.u64()? };
        Some((flags, contents, decoder.0))
    }
}

/// Number of records in a store, and a digest of their keys and versions. Two instances compare their states by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    records: u64,
    /// Exclusive or of the hash of each record.
    digest: u64,
}

impl Contents {
    pub(crate) fn add(&mut self, key: Key, version: Version) {
        self.records = self.records.wrapping_add(1);
        self.digest ^= hash(key, version);
    }

    fn remove(&mut self, key: Key, version: Version) {
        self.records = self.records.wrapping_sub(1);
        self.digest ^= hash(key, version);
    }
}

/// Returns a hash that is the same in every process and version.
fn hash(key: Key, version: Version) -> u64 {
    let (high, low) = key.id.as_u64_pair();
    let kind = key.kind.as_str().bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)));
    [high, low, version.0].into_iter().fold(kind, |hash, word| mix(hash ^ word))
}

/// Applies the output function of SplitMix64. Every bit of the input changes half of the bits of the output.
const fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// The changes that a group of batches makes beside those to the records.
#[derive(Debug)]
pub(crate) struct Effect {
    pub(crate) contents: Contents,
    /// Organizations that gain, change or lose records of a kind.
    pub(crate) touched: BTreeSet<(Uuid, Name)>,
}

impl Effect {
    /// Returns the effect on the state before the group. No two batches write the same record.
    pub(crate) fn new<'b>(
        index: &Index,
        mut contents: Contents,
        batches: impl Iterator<Item = (&'b AcceptedBatch, &'b [Write])>,
    ) -> Self {
        let mut touched = BTreeSet::new();
        for (accepted, writes) in batches {
            for write in writes {
                let key = write.key();
                if let Some((row, (_, version))) =
                    index.find(key).and_then(|row| Some((row, index.key(row)?)))
                {
                    contents.remove(key, version);
                    touched.extend(index.organization(row).map(|organization| (organization, key.kind)));
                }
                if let Write::Put { facets, .. } = write {
                    contents.add(key, accepted.version);
                    touched.extend(facets.organization.map(|organization| (organization, key.kind)));
                }
            }
        }
        Self { contents, touched }
    }
}
