//! The expected contents of a store, and their comparison with every kind of read.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use fastrand::Rng;
use toposcope::store::{Direction, Entry, Facets, Key, Name, Order, Query, Record, Store, UniqueKey};
use uuid::Uuid;

use crate::contents::{Fault, entries, in_order};

/// The sort key that the tests use.
pub(crate) const RANK: Name = Name::new("rank");

/// The exact contents that a store must have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    pub(crate) records: BTreeMap<Key, Kept>,
    /// Unique keys that records had at some time. A lookup of one without a record must find nothing.
    pub(crate) unique_keys: BTreeSet<UniqueKey>,
}

/// A record as it was put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) facets: Facets,
    pub(crate) content: Content,
}

/// A body, or how to generate it. Large bodies are generated, because many of them are held at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Generated { seed: u64, length: usize },
    Given(Bytes),
}

/// Length of the pieces of a generated body that can be compressed, in bytes. The pieces differ only in their numbers.
const PIECE: usize = 4 << 10;

impl Content {
    pub(crate) fn body(&self) -> Bytes {
        match self {
            Self::Given(body) => body.clone(),
            Self::Generated { seed, length } => generated(*seed, *length).into(),
        }
    }
}

/// Generates a body that depends on the seed. A quarter of them can be compressed if they are long.
fn generated(seed: u64, length: usize) -> Vec<u8> {
    let mut piece = vec![0; if seed.is_multiple_of(4) { length.min(PIECE) } else { length }];
    Rng::with_seed(seed).fill(&mut piece);
    if piece.len() == length {
        return piece;
    }
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

/// Returns facets as a store must return them. Links, terms and unique keys have no duplicates, and no sort key is
/// empty.
fn normalized(facets: Facets) -> Facets {
    let mut facets = in_order(facets);
    facets.links.dedup();
    facets.terms.dedup();
    facets.unique_keys.dedup();
    facets.sort_keys.retain(|key| !key.value.is_empty());
    facets
}

fn wrong(text: impl Into<String>) -> Fault {
    Fault::Wrong(text.into())
}

/// Checks that the store holds the truth by every kind of read.
pub(crate) async fn compare(store: &impl Store, truth: &Truth) -> Result<(), String> {
    match faults(store, truth).await.first() {
        None => Ok(()),
        Some(fault) => Err(fault.to_string()),
    }
}

/// Returns all deviations found by every kind of read.
pub(crate) async fn faults(store: &impl Store, truth: &Truth) -> Vec<Fault> {
    let mut faults = Vec::new();
    let found = entries(store).await;
    faults.extend(found.and_then(|entries| compare_entries(&entries, truth)).err());
    let keys: Vec<Key> = truth.records.keys().copied().collect();
    for keys in keys.chunks(50) {
        if compare_records(store, keys, truth).await.is_err() {
            for key in keys {
                faults.extend(compare_records(store, &[*key], truth).await.err());
            }
        }
    }
    let holders = holders(truth);
    for unique_key in truth.unique_keys.iter().chain(holders.keys().copied()) {
        faults.extend(compare_unique_key(store, unique_key, holders.get(unique_key).copied()).await.err());
    }
    for query in queries(truth) {
        faults.extend(compare_list(store, &query, &expected_list(truth, &query)).await.err());
    }
    faults
}

pub(crate) fn compare_entries(entries: &BTreeMap<Key, Entry>, truth: &Truth) -> Result<(), Fault> {
    if let Some(key) = entries.keys().find(|key| !truth.records.contains_key(key)) {
        return Err(wrong(format!("{key} should not be there")));
    }
    for (key, kept) in &truth.records {
        let entry = entries.get(key).ok_or_else(|| wrong(format!("{key} is missing")))?;
        if entry.facets != normalized(kept.facets.clone()) {
            let (found, expected) = (&entry.facets, &kept.facets);
            return Err(wrong(format!("{key} has other facets: {found:?} instead of {expected:?}")));
        }
        compare_body(&entry.record, kept)?;
    }
    Ok(())
}

fn compare_body(record: &Record, kept: &Kept) -> Result<(), Fault> {
    let (key, found, expected) = (record.key, &record.body, kept.content.body());
    if *found == expected {
        return Ok(());
    }
    let place = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    let lengths = format!("{} bytes instead of {}", found.len(), expected.len());
    Err(wrong(format!("{key} has another body: {lengths}, different at {place:?}")))
}

async fn compare_records(store: &impl Store, keys: &[Key], truth: &Truth) -> Result<(), Fault> {
    for (key, record) in keys.iter().zip(store.get(keys).await?) {
        let record = record.ok_or_else(|| wrong(format!("{key} is not found by its key")))?;
        compare_body(&record, &truth.records[key])?;
    }
    Ok(())
}

async fn compare_unique_key(
    store: &impl Store,
    unique_key: &UniqueKey,
    expected: Option<Key>,
) -> Result<(), Fault> {
    let found = store.get_by_unique_key(unique_key).await?.map(|record| record.key);
    if found == expected {
        Ok(())
    } else {
        Err(wrong(format!("{unique_key:?} finds {found:?} instead of {expected:?}")))
    }
}

fn holders<'a>(truth: &'a Truth) -> BTreeMap<&'a UniqueKey, Key> {
    let of_record = |(key, kept): (&Key, &'a Kept)| {
        let (unique_keys, key) = (&kept.facets.unique_keys, *key);
        // Each lookup returns the body too, so of very many unique keys only some are checked.
        unique_keys.iter().step_by(1 + unique_keys.len() / 40).map(move |unique_key| (unique_key, key))
    };
    truth.records.iter().flat_map(of_record).collect()
}

/// Compares the keys of a list. Its bodies are checked elsewhere.
async fn compare_list(store: &impl Store, query: &Query, expected: &[Key]) -> Result<(), Fault> {
    let page = store.list(query).await?;
    let found: Vec<Key> = page.records.iter().map(|record| record.key).collect();
    if found == expected && page.total == expected.len() as u64 {
        return Ok(());
    }
    let totals = format!("{} of {} records, or in another order", page.total, expected.len());
    Err(wrong(format!("the list {query:?} has {totals}")))
}

/// Returns a query of each kind for each organization and each of its networks.
fn queries(truth: &Truth) -> Vec<Query> {
    let of_record = |(key, kept): (&Key, &Kept)| {
        let Facets { organization, network, .. } = kept.facets;
        [(key.kind, organization, network), (key.kind, organization, None), (key.kind, None, None)]
    };
    let lists: BTreeSet<(Name, Option<Uuid>, Option<Uuid>)> =
        truth.records.iter().flat_map(of_record).collect();
    let query = |(kind, organization, network): (Name, Option<Uuid>, Option<Uuid>)| {
        let mut query = Query::new(kind);
        query.organization = organization;
        query.networks = network.map(|network| vec![network]);
        query.order = vec![Order::new(RANK, Direction::Ascending)];
        query
    };
    lists.into_iter().map(query).collect()
}

fn expected_list(truth: &Truth, query: &Query) -> Vec<Key> {
    let is_on = |networks: &[Uuid], facets: &Facets| facets.network.is_some_and(|it| networks.contains(&it));
    let is_listed = |key: &Key, facets: &Facets| {
        key.kind == query.kind
            && query.organization.is_none_or(|organization| facets.organization == Some(organization))
            && query.networks.as_ref().is_none_or(|networks| is_on(networks, facets))
    };
    let listed = truth.records.iter().filter(|(key, kept)| is_listed(key, &kept.facets));
    let mut ranked: Vec<(&[u8], Key)> = listed.map(|(key, kept)| (rank(&kept.facets), *key)).collect();
    ranked.sort_unstable_by_key(|(rank, key)| (*rank, key.id));
    ranked.into_iter().map(|(_, key)| key).collect()
}

fn rank(facets: &Facets) -> &[u8] {
    facets.sort_keys.iter().find(|key| key.name == RANK).map_or(&[], |key| &key.value)
}
