use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use toposcope::store::{Facets, Key, UniqueKey};

use super::random::SplitMix64;

/// The exact contents that a store must have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    pub(crate) records: BTreeMap<Key, Kept>,
    /// Unique keys that records had at some time: those without a record now must find nothing.
    pub(crate) unique_keys: BTreeSet<UniqueKey>,
}

/// A record as it was put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) facets: Facets,
    pub(crate) content: Content,
}

/// A body, or how to generate it: many large ones are held at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Made { seed: u64, length: usize },
    Given(Bytes),
}

/// Length of the pieces of a generated body, in bytes; pieces differ only in their numbers.
const PIECE: usize = 4 << 10;

impl Content {
    pub(crate) fn body(&self) -> Bytes {
        match self {
            Self::Given(body) => body.clone(),
            Self::Made { seed, length } => made(*seed, *length).into(),
        }
    }
}

/// Generates a body whose pieces all differ and depend on the seed.
fn made(seed: u64, length: usize) -> Vec<u8> {
    let mut random = SplitMix64(seed);
    let piece: Vec<u8> =
        (0..length.min(PIECE).div_ceil(8)).flat_map(|_| random.next().to_le_bytes()).collect();
    let mut body = Vec::with_capacity(length + PIECE);
    for number in 0..length.div_ceil(PIECE) {
        let start = body.len();
        body.extend_from_slice(&piece);
        if number > 0 {
            body[start..start + 8].copy_from_slice(&(number as u64).to_le_bytes());
        }
    }
    body.truncate(length);
    body
}

/// Normalizes facets as a store returns them: ordered, links and unique keys without duplicates, sort keys
/// without empty ones.
pub(crate) fn in_order(mut facets: Facets) -> Facets {
    facets.links.sort_unstable();
    facets.links.dedup();
    facets.unique_keys.sort_unstable();
    facets.unique_keys.dedup();
    facets.sort_keys.retain(|key| !key.value.is_empty());
    facets.sort_keys.sort_unstable_by_key(|key| key.name);
    facets
}
