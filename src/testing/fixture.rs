//! The fixture of a case: a store, and keys that nothing else uses.

use std::array;
use std::collections::BTreeMap;
use std::sync::Arc;

use uuid::Uuid;

use super::{Fault, Outcome, Random, expect_equal, expect_error};
use crate::model::Timestamp;
use crate::store::{
    Batch, Facets, Guard, Key, Link, Name, Precondition, Query, Record, SortKey, Store, StoreErrorKind,
    UniqueKey, Version, Write,
};

pub(super) const RANK: Name = Name::new("rank");
pub(super) const GROUP: Name = Name::new("group");
pub(super) const OWNER: Name = Name::new("owner");
pub(super) const PARENT: Name = Name::new("parent");
pub(super) const MAIL: Name = Name::new("mail");

const YEAR_ONE: i64 = -62_135_596_800_000_000;
const THOUSAND_YEARS: u64 = 31_556_952_000_000_000;

/// The store under test, two record kinds of the case's own, and random numbers.
pub(super) struct Fixture {
    pub(super) store: Arc<dyn Store>,
    pub(super) random: Random,
    pub(super) kind: Name,
    pub(super) other_kind: Name,
}

impl Fixture {
    pub(super) fn new(store: Arc<dyn Store>, seed: u64) -> Self {
        let mut random = Random::new(seed);
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
        Key::new(self.kind, self.random.uuid())
    }

    pub(super) fn other_key(&mut self) -> Key {
        Key::new(self.other_kind, self.random.uuid())
    }

    pub(super) fn ids<const N: usize>(&mut self) -> [Uuid; N] {
        array::from_fn(|_| self.random.uuid())
    }

    pub(super) fn unique_key(&mut self) -> UniqueKey {
        UniqueKey::new(MAIL, self.random.bytes(16))
    }

    pub(super) fn link(&mut self) -> Link {
        Link::new(OWNER, self.random.uuid())
    }

    /// Returns a time before the year 1000, at which a purge deletes only records of this suite.
    pub(super) fn ancient_time(&mut self) -> Timestamp {
        let since = i64::try_from(self.random.below(THOUSAND_YEARS)).unwrap_or_default();
        Timestamp::UNIX_EPOCH.plus_micros(YEAR_ONE + since)
    }

    pub(super) fn query(&self) -> Query {
        Query::new(self.kind)
    }

    pub(super) async fn read(&self, key: Key) -> Outcome<Option<Record>> {
        let mut answers = self.store.get(&[key]).await?;
        expect_equal("the number of elements for one key", &answers.len(), &1)?;
        Ok(answers.pop().flatten())
    }

    /// Puts a record unconditionally and reads it back.
    pub(super) async fn put(&self, key: Key, facets: Facets, body: &'static str) -> Outcome<Record> {
        let mut batch = Batch::new();
        batch.put(key, Precondition::Any, facets, body);
        self.store.commit(batch).await?;
        let record = self.read(key).await?;
        record.ok_or_else(|| Fault::new(format!("{key} does not exist although its put succeeded")))
    }

    pub(super) async fn delete(&self, key: Key) -> Outcome {
        Ok(self.store.commit(delete(key, Precondition::Present)).await?)
    }

    pub(super) async fn holder(&self, unique_key: &UniqueKey) -> Outcome<Option<Key>> {
        Ok(self.store.get_by_unique_key(unique_key).await?.map(|record| record.key))
    }

    /// Returns the versions that the store assigned to the records put by the batch.
    pub(super) async fn versions(&self, batch: &Batch) -> Outcome<BTreeMap<Key, Version>> {
        let put = batch.writes().iter().filter(|write| matches!(write, Write::Put { .. }));
        let keys: Vec<Key> = put.map(Write::key).collect();
        let records = self.store.get(&keys).await?.into_iter().flatten();
        let versions: BTreeMap<_, _> = records.map(|record| (record.key, record.version)).collect();
        expect_equal("the number of records put by the batch", &versions.len(), &keys.len())?;
        Ok(versions)
    }

    /// Expects the batch to fail with this error and to leave all records of the case unchanged.
    pub(super) async fn expect_rejected(
        &self,
        what: &str,
        batch: Batch,
        expected: StoreErrorKind,
    ) -> Outcome {
        let before = self.all_records().await?;
        expect_error(what, &self.store.commit(batch).await, &expected)?;
        expect_equal(&format!("{what}: the records afterwards"), &self.all_records().await?, &before)
    }

    async fn all_records(&self) -> Outcome<Vec<Record>> {
        let mut records = self.store.list(&Query::new(self.kind)).await?.records;
        records.append(&mut self.store.list(&Query::new(self.other_kind)).await?.records);
        Ok(records)
    }
}

fn fresh_kind(random: &mut Random) -> Name {
    Name::parse(&format!("k{:015x}", random.draw() >> 4)).unwrap_or(const { Name::new("kind") })
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

pub(super) fn with_rank(value: &[u8]) -> Facets {
    Facets { sort_keys: vec![SortKey::new(RANK, value)], ..Facets::default() }
}

pub(super) fn with_unique_keys(unique_keys: &[&UniqueKey]) -> Facets {
    Facets { unique_keys: unique_keys.iter().copied().cloned().collect(), ..Facets::default() }
}

pub(super) fn with_expiry(expires_at: Timestamp) -> Facets {
    Facets { expires_at: Some(expires_at), ..Facets::default() }
}
