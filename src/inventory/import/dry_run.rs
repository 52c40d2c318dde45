//! A store that accepts commits without applying them, for imports that only check.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::task::coop::consume_budget;

use crate::inventory::schema::HOST;
use crate::model::Timestamp;
use crate::store::{
    Batch, Guard, Key, Page, Precondition, Query, Record, Snapshot, Store, StoreError, UniqueKey, Version,
    Write,
};

/// Maximum length of the hosts that are remembered, in bytes. A single one may be longer.
const MAX_KNOWN_BYTES: usize = 4 * 1024 * 1024;

/// Reads from a store, and checks commits against it without applying them.
///
/// It remembers created records other than hosts, so that hosts can refer to them; the number of created hosts, for
/// quotas; the unique keys of the hosts of one group; and the last hosts that were read or would replace others: many lines for a large
/// host would read it each time.
pub(super) struct DryRunStore {
    store: Arc<dyn Store>,
    created: Mutex<HashMap<Key, Record>>,
    created_hosts: AtomicU64,
    claims: Mutex<HashMap<UniqueKey, Key>>,
    hosts: Mutex<KnownHosts>,
}

/// Hosts of the store, or as lines would have stored them in their place.
#[derive(Default)]
struct KnownHosts {
    records: HashMap<Key, Record>,
    /// The length of their bodies.
    bytes: usize,
}

impl KnownHosts {
    fn insert(&mut self, record: Record) {
        if self.bytes + record.body.len() > MAX_KNOWN_BYTES {
            *self = Self::default();
        }
        self.bytes += record.body.len();
        if let Some(former) = self.records.insert(record.key, record) {
            self.bytes -= former.body.len();
        }
    }

    fn remove(&mut self, key: &Key) {
        if let Some(record) = self.records.remove(key) {
            self.bytes -= record.body.len();
        }
    }
}

impl DryRunStore {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            created: Mutex::default(),
            created_hosts: AtomicU64::new(0),
            claims: Mutex::default(),
            hosts: Mutex::default(),
        }
    }

    /// Begins a group of hosts, whose unique keys are checked against each other.
    pub(super) fn begin_group(&self) {
        self.claims().clear();
    }

    fn claims(&self) -> MutexGuard<'_, HashMap<UniqueKey, Key>> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hosts(&self) -> MutexGuard<'_, KnownHosts> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn created(&self) -> MutexGuard<'_, HashMap<Key, Record>> {
        self.created.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that after a batch no two records would share a unique key.
    async fn check_unique_keys(&self, writes: &[Write]) -> Result<(), StoreError> {
        let written: HashSet<Key> = writes.iter().map(Write::key).collect();
        let mut claims: HashMap<&UniqueKey, Key> = HashMap::new();
        for write in writes {
            let Write::Put { key, facets, .. } = write else { continue };
            // The store in memory answers at once, so that thousands of lookups would keep other tasks waiting.
            consume_budget().await;
            for unique_key in &facets.unique_keys {
                let earlier =
                    self.claims().get(unique_key).copied().filter(|holder| !written.contains(holder));
                let claimant = claims.insert(unique_key, *key).or(earlier);
                let holder = self.store.get_by_unique_key(unique_key).await?.map(|holder| holder.key);
                let is_held = holder.is_some_and(|holder| !written.contains(&holder));
                if is_held || claimant.is_some_and(|claimant| claimant != *key) {
                    return Err(StoreError::unique_key_taken(unique_key.clone()));
                }
            }
        }
        Ok(())
    }

    /// Returns the batch's conditions on single records, without writes.
    ///
    /// Its other guards only protect reads against concurrent writers.
    fn conditions(&self, writes: &[Write], guards: Vec<Guard>) -> Batch {
        let created = self.created();
        let mut batch = Batch::new();
        for write in writes.iter().filter(|write| write.precondition() != Precondition::Any) {
            batch.guard(Guard::record(write.key(), write.precondition()));
        }
        for guard in guards {
            match &guard {
                Guard::Record { key, .. } if !created.contains_key(key) => drop(batch.guard(guard)),
                Guard::Record { .. }
                | Guard::UniqueKey { .. }
                | Guard::LinkedWithin { .. }
                | Guard::NetworkEmpty { .. } => {}
            }
        }
        batch
    }

    fn remember(&self, writes: Vec<Write>) {
        for write in writes {
            match write {
                Write::Put { key, precondition, facets, body, .. } if key.kind == HOST => {
                    let is_new = precondition == Precondition::Absent;
                    if let Precondition::Version(version) = precondition {
                        // The version is that of the store, which later lines have as their condition, too.
                        self.hosts().insert(Record { key, version, body });
                    }
                    self.created_hosts.fetch_add(u64::from(is_new), Ordering::Relaxed);
                    self.claims().extend(facets.unique_keys.into_iter().map(|unique_key| (unique_key, key)));
                }
                Write::Put { key, body, .. } => {
                    self.created().insert(key, Record { key, version: Version(0), body });
                }
                Write::Delete { .. } => {}
            }
        }
    }
}

#[async_trait]
impl Store for DryRunStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let known: Vec<Option<Record>> = {
            let hosts = self.hosts();
            keys.iter().map(|key| hosts.records.get(key).cloned()).collect()
        };
        let others = keys.iter().zip(&known).filter(|(_, known)| known.is_none());
        let others: Vec<Key> = others.map(|(key, _)| *key).collect();
        let read = self.store.get(&others).await?;
        let read_hosts = read.iter().flatten().filter(|record| record.key.kind == HOST);
        read_hosts.for_each(|record| self.hosts().insert(record.clone()));
        let mut read = read.into_iter();
        let records = known.into_iter().map(|known| known.or_else(|| read.next().flatten()));
        let mut records: Vec<Option<Record>> = records.collect();
        let created = self.created();
        for (record, key) in records.iter_mut().zip(keys) {
            *record = record.take().or_else(|| created.get(key).cloned());
        }
        Ok(records)
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.store.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        let mut page = self.store.list(query).await?;
        let all_hosts = Query { organization: query.organization, limit: Some(0), ..Query::new(HOST) };
        if *query == all_hosts {
            page.total += self.created_hosts.load(Ordering::Relaxed);
        }
        Ok(page)
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let (writes, guards) = batch.into_parts();
        self.check_unique_keys(&writes).await?;
        let checked = self.store.commit(self.conditions(&writes, guards)).await;
        match checked {
            Ok(()) => self.remember(writes),
            // What is known of them may have changed since.
            Err(_) => writes.iter().for_each(|write| self.hosts().remove(&write.key())),
        }
        checked
    }

    async fn purge_expired(&self, _now: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.store.snapshot().await
    }
}

impl fmt::Debug for DryRunStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DryRunStore").field("store", &self.store).finish_non_exhaustive()
    }
}
