use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use toposcope::store::{Facets, Key, UniqueKey};

use super::random::SplitMix64;

/// What a store must hold, no more and no less.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    pub(crate) records: BTreeMap<Key, Kept>,
    /// Unique keys that records had at some time: those that none has now must find nothing.
    pub(crate) unique_keys: BTreeSet<UniqueKey>,
}

/// A record as it was put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) facets: Facets,
    pub(crate) content: Content,
}

/// A body, or how it is made: many large ones are remembered at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Made { seed: u64, length: usize },
    Given(Bytes),
}

/// What repeats in a made body, but for the number of the piece.
const PIECE: usize = 4 << 10;

impl Content {
    pub(crate) fn body(&self) -> Bytes {
        match self {
            Self::Given(body) => body.clone(),
            Self::Made { seed, length } => made(*seed, *length).into(),
        }
    }
}

/// Every piece is another one, and all are those of this seed.
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

/// As facets come out of a store: links and unique keys once each, sort keys only where they are not empty, all in order.
pub(crate) fn in_order(mut facets: Facets) -> Facets {
    facets.links.sort_unstable();
    facets.links.dedup();
    facets.unique_keys.sort_unstable();
    facets.unique_keys.dedup();
    facets.sort_keys.retain(|key| !key.value.is_empty());
    facets.sort_keys.sort_unstable_by_key(|key| key.name);
    facets
}
