//! The fixture of a case. It has a store, keys that nothing else uses, and the entries of snapshots.

use std::array;
use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::fault::{CaseOutcome, Violation, expect, expect_equal, expect_error};
use crate::model::Timestamp;
use crate::store::Precondition::{Any, Present};
use crate::store::{
    Batch, Entry, Facets, Guard, Key, Link, Name, Precondition, Query, Record, Snapshot, SortKey, Store,
    StoreErrorKind, Term, UniqueKey, Version, Write,
};

pub(super) const RANK: Name = Name::new("rank");
pub(super) const GROUP: Name = Name::new("group");
pub(super) const OWNER: Name = Name::new("owner");
pub(super) const PARENT: Name = Name::new("parent");
pub(super) const MAIL: Name = Name::new("mail");
pub(super) const WORD: Name = Name::new("word");

const YEAR_ONE: i64 = -62_135_596_800_000_000;
const THOUSAND_YEARS: i64 = 31_556_952_000_000_000;

/// The store under test, two record kinds of the case's own, and random numbers.
pub(super) struct Fixture {
    pub(super) store: Arc<dyn Store>,
    pub(super) random: Rng,
    pub(super) kind: Name,
    pub(super) other_kind: Name,
}

impl Fixture {
    pub(super) fn new(store: Arc<dyn Store>, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let (kind, other_kind) = (fresh_kind(&mut random), fresh_kind(&mut random));
        Self { store, random, kind, other_kind }
    }

    /// Returns new keys, in ascending order.
    pub(super) fn keys<const N: usize>(&mut self) -> [Key; N] {
        let mut keys = array::from_fn(|_| self.key());
        keys.sort_unstable();
        keys
    }

    pub(super) fn key(&mut self) -> Key {
        Key::new(self.kind, self.uuid())
    }

    pub(super) fn other_key(&mut self) -> Key {
        Key::new(self.other_kind, self.uuid())
    }

    pub(super) fn uuid(&mut self) -> Uuid {
        random_uuid(&mut self.random)
    }

    pub(super) fn bytes(&mut self, length: usize) -> Vec<u8> {
        random_bytes(&mut self.random, length)
    }

    pub(super) fn ids<const N: usize>(&mut self) -> [Uuid; N] {
        array::from_fn(|_| self.uuid())
    }

    pub(super) fn unique_key(&mut self) -> UniqueKey {
        UniqueKey::new(MAIL, self.bytes(16))
    }

    pub(super) fn link(&mut self) -> Link {
        Link::new(OWNER, self.uuid())
    }

    /// Returns a time before the year 1000. A purge at this time deletes only records of this suite.
    pub(super) fn ancient_time(&mut self) -> Timestamp {
        let since = self.random.i64(0..THOUSAND_YEARS);
        Timestamp::UNIX_EPOCH.plus_micros(YEAR_ONE + since)
    }

    pub(super) fn query(&self) -> Query {
        Query::new(self.kind)
    }

    pub(super) async fn read(&self, key: Key) -> CaseOutcome<Option<Record>> {
        let mut answers = self.store.get(&[key]).await?;
        expect_equal("the number of elements for one key", &answers.len(), &1)?;
        Ok(answers.pop().flatten())
    }

    /// Puts a record unconditionally and reads it back.
    pub(super) async fn put(&self, key: Key, facets: Facets, body: &'static str) -> CaseOutcome<Record> {
        let mut batch = Batch::new();
        batch.put(key, Any, facets, body);
        self.store.commit(batch).await?;
        let record = self.read(key).await?;
        record.ok_or_else(|| Violation::new(format!("{key} does not exist although its put succeeded")))
    }

    pub(super) async fn delete(&self, key: Key) -> CaseOutcome {
        Ok(self.store.commit(delete(key, Present)).await?)
    }

    /// Returns the record that has this unique key.
    pub(super) async fn record_of(&self, unique_key: &UniqueKey) -> CaseOutcome<Option<Record>> {
        Ok(self.store.get_by_unique_key(unique_key).await?)
    }

    pub(super) async fn holder(&self, unique_key: &UniqueKey) -> CaseOutcome<Option<Key>> {
        Ok(self.record_of(unique_key).await?.map(|record| record.key))
    }

    /// Returns the versions that the store assigned to the records put by the batch.
    pub(super) async fn versions(&self, batch: &Batch) -> CaseOutcome<BTreeMap<Key, Version>> {
        let put = batch.writes().iter().filter(|write| matches!(write, Write::Put { .. }));
        let keys: Vec<Key> = put.map(Write::key).collect();
        let records = self.store.get(&keys).await?.into_iter().flatten();
        let versions: BTreeMap<_, _> = records.map(|record| (record.key, record.version)).collect();
        expect_equal("the number of records put by the batch", &versions.len(), &keys.len())?;
        Ok(versions)
    }

    /// Expects the batch to fail with this error. All records of the case must stay unchanged.
    pub(super) async fn expect_rejected(
        &self,
        what: &str,
        batch: Batch,
        expected: StoreErrorKind,
    ) -> CaseOutcome {
        let before = self.all_records().await?;
        expect_error(what, &self.store.commit(batch).await, &expected)?;
        expect_equal(&format!("{what}: the records afterwards"), &self.all_records().await?, &before)
    }

    async fn all_records(&self) -> CaseOutcome<Vec<Record>> {
        let mut records = self.store.list(&Query::new(self.kind)).await?.records;
        records.append(&mut self.store.list(&Query::new(self.other_kind)).await?.records);
        Ok(records)
    }
}

fn fresh_kind(random: &mut Rng) -> Name {
    Name::parse(&format!("k{:015x}", random.u64(..) >> 4)).unwrap_or(const { Name::new("kind") })
}

pub(super) fn put(key: Key, precondition: Precondition, facets: Facets) -> Batch {
    let mut batch = Batch::new();
    batch.put(key, precondition, facets, "put");
    batch
}

pub(super) fn delete(key: Key, precondition: Precondition) -> Batch {
    let mut batch = Batch::new();
    batch.delete(key, precondition);
    batch
}

pub(super) fn guard_only(guard: Guard) -> Batch {
    let mut batch = Batch::new();
    batch.guard(guard);
    batch
}

pub(super) fn of(organization: Option<Uuid>, network: Option<Uuid>) -> Facets {
    Facets { organization, network, ..Facets::default() }
}

pub(super) fn with_links(links: &[Link]) -> Facets {
    Facets { links: links.to_vec(), ..Facets::default() }
}

pub(super) fn with_terms(name: Name, values: &[&[u8]]) -> Facets {
    Facets::default().with_terms(values.iter().map(|value| Term::new(name, *value)))
}

pub(super) fn with_rank(value: &[u8]) -> Facets {
    Facets { sort_keys: vec![SortKey::new(RANK, value)], ..Facets::default() }
}

pub(super) fn with_unique_keys(unique_keys: &[&UniqueKey]) -> Facets {
    Facets { unique_keys: unique_keys.iter().copied().cloned().collect(), ..Facets::default() }
}

pub(super) fn with_expiry(expires_at: Timestamp) -> Facets {
    Facets { expires_at: Some(expires_at), ..Facets::default() }
}

/// Returns 16 random bytes, not a versioned UUID. A store must order ids that begin with any byte.
pub(super) fn random_uuid(random: &mut Rng) -> Uuid {
    Uuid::from_u128(random.u128(..))
}

pub(super) fn random_bytes(random: &mut Rng, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    random.fill(&mut bytes);
    bytes
}

/// Returns `true` with this probability, in percent.
pub(super) fn chance(random: &mut Rng, percent: u8) -> bool {
    random.u8(..100) < percent
}

/// Runs this number of tasks, started at the same moment, and collects their results.
pub(super) async fn run_concurrently<T, F>(tasks: usize, task: impl Fn(usize) -> F) -> CaseOutcome<Vec<T>>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let barrier = Arc::new(Barrier::new(tasks));
    let mut running = JoinSet::new();
    for number in 0..tasks {
        let (barrier, task) = (barrier.clone(), task(number));
        running.spawn(async move {
            barrier.wait().await;
            task.await
        });
    }
    let mut results = Vec::new();
    while let Some(result) = running.join_next().await {
        results.push(result?);
    }
    Ok(results)
}

pub(super) type Entries = BTreeMap<Key, Entry>;

/// A limit at which most cases read a snapshot in one chunk.
pub(super) const CHUNK: usize = 1000;

impl Fixture {
    /// Puts a record unconditionally and returns its expected snapshot entry.
    pub(super) async fn put_entry(&self, key: Key, facets: Facets, body: &'static str) -> CaseOutcome<Entry> {
        let record = self.put(key, facets.clone(), body).await?;
        Ok(Entry { record, facets: as_returned(facets) })
    }

    /// Returns the fixture's records in a new snapshot.
    pub(super) async fn entries(&self) -> CaseOutcome<Entries> {
        let mut snapshot = self.store.snapshot().await?;
        read_all(&mut *snapshot, CHUNK, self.kinds()).await
    }

    pub(super) const fn kinds(&self) -> [Name; 2] {
        [self.kind, self.other_kind]
    }
}

/// Reads a snapshot to its end with this limit. Returns the records of these kinds.
pub(super) async fn read_all(
    snapshot: &mut dyn Snapshot,
    limit: usize,
    kinds: [Name; 2],
) -> CaseOutcome<Entries> {
    let mut entries = Entries::new();
    while read_chunk(snapshot, limit, kinds, &mut entries).await? {}
    Ok(entries)
}

/// Reads one chunk. Returns `false` at the end.
pub(super) async fn read_chunk(
    snapshot: &mut dyn Snapshot,
    limit: usize,
    kinds: [Name; 2],
    entries: &mut Entries,
) -> CaseOutcome<bool> {
    let chunk = snapshot.next(limit).await?;
    expect(chunk.len() <= limit, &format!("a chunk with limit {limit} has {} records", chunk.len()))?;
    let is_end = chunk.is_empty();
    add_chunk(chunk, kinds, entries)?;
    Ok(!is_end)
}

/// Adds a chunk's records of these kinds to the entries read before.
pub(super) fn add_chunk(chunk: Vec<Entry>, kinds: [Name; 2], entries: &mut Entries) -> CaseOutcome {
    for Entry { record, facets } in chunk.into_iter().filter(|entry| kinds.contains(&entry.record.key.kind)) {
        let key = record.key;
        if entries.insert(key, Entry { record, facets: normalized(facets) }).is_some() {
            return Err(Violation::new(format!("{key} occurs twice in a snapshot")));
        }
    }
    Ok(())
}

/// Returns facets as a snapshot must return them, normalized.
pub(super) fn as_returned(facets: Facets) -> Facets {
    let mut facets = normalized(facets);
    facets.links.dedup();
    facets.terms.dedup();
    facets.unique_keys.dedup();
    facets
}

/// Sorts facets and removes empty sort keys. Duplicates stay, so that a store that returns them fails.
fn normalized(mut facets: Facets) -> Facets {
    facets.links.sort_unstable();
    facets.terms.sort_unstable();
    facets.unique_keys.sort_unstable();
    facets.sort_keys.retain(|key| !key.value.is_empty());
    facets
        .sort_keys
        .sort_unstable_by(|left, right| (left.name, &left.value).cmp(&(right.name, &right.value)));
    facets
}

pub(super) fn by_key(entries: impl IntoIterator<Item = Entry>) -> Entries {
    entries.into_iter().map(|entry| (entry.record.key, entry)).collect()
}
