//! A store that adds the answer to a request to the commit that makes the change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use uuid::Uuid;

use super::LIFETIME_MICROS;
use super::record::{Answer, AnsweredRequest, DoneHost};
use crate::access::{Caller, Clock};
use crate::inventory::schema::{REQUEST_LINK, encode, facets};
use crate::inventory::{BulkChange, Error};
use crate::model::Timestamp;
use crate::store::{
    Batch, Facets, Key, Link, Name, Page, Precondition, Query, Record, Revision, Snapshot, Store, StoreError,
    StoreErrorKind, UniqueKey,
};

/// The maximum size of the data of a stored answer, in bytes.
const MAX_DATA: usize = 64 * 1024;

/// The time for which a request that takes several commits counts as running after each of them, in microseconds.
const LEASE_MICROS: i64 = 60 * 1_000_000;

/// The answer to a request that is being executed.
pub(in crate::inventory) struct PendingAnswer {
    key: Key,
    organization: Uuid,
    user: Uuid,
    digest: Uuid,
    clock: Arc<dyn Clock>,
    began_at: Timestamp,
    progress: Mutex<Progress>,
}

/// How far an execution is.
#[derive(Debug)]
pub(super) struct Progress {
    /// The state of the stored answer that the next commit requires.
    pub(super) precondition: Precondition,
    /// The answers that the next commit deletes.
    pub(super) surplus: Vec<Key>,
    /// The answer that the next commit stores, and whether it is complete.
    noted: Option<(Answer, bool)>,
    /// The networks of the answer.
    networks: BTreeSet<Uuid>,
    /// The hosts that a former execution has stored.
    done: BTreeMap<usize, (Uuid, BulkChange)>,
    /// Whether the stored answer is that of a running request.
    is_running: bool,
    is_lost: bool,
}

impl Progress {
    pub(super) const fn new(precondition: Precondition) -> Self {
        Self {
            precondition,
            surplus: Vec::new(),
            noted: None,
            networks: BTreeSet::new(),
            done: BTreeMap::new(),
            is_running: false,
            is_lost: false,
        }
    }

    /// Continues where a former execution was interrupted.
    pub(super) fn resume(&mut self, known: AnsweredRequest) -> Result<(), Error> {
        let done: Vec<DoneHost> = serde_json::from_str(known.answer.data.get()).map_err(Error::internal)?;
        self.done = done.into_iter().map(|(index, id, change)| (index, (id, change))).collect();
        self.networks = known.answer.networks.into_iter().collect();
        self.is_running = true;
        Ok(())
    }
}

impl PendingAnswer {
    pub(super) fn new(
        key: Key,
        caller: &Caller,
        digest: Uuid,
        clock: Arc<dyn Clock>,
        progress: Progress,
    ) -> Self {
        let (organization, user, began_at) = (caller.organization_id(), caller.user_id(), clock.now());
        Self { key, organization, user, digest, clock, began_at, progress: Mutex::new(progress) }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.progress().is_lost
    }

    /// Notes the created record as the answer.
    pub(super) fn note_record(&self, record: &impl Serialize, network: Option<Uuid>) -> Result<(), Error> {
        let data = to_raw_value(record).map_err(Error::internal)?;
        let mut progress = self.progress();
        progress.networks.extend(network);
        progress.note(data, true)
    }

    /// Returns the hosts of a bulk request that a former execution has stored, by their places.
    pub(in crate::inventory) fn done(&self) -> BTreeMap<usize, (Uuid, BulkChange)> {
        self.progress().done.clone()
    }

    /// Notes what the next commit of a bulk request completes: all results, or those of a part of the hosts.
    pub(in crate::inventory) fn note_hosts(
        &self,
        hosts: &[(usize, Uuid, BulkChange)],
        networks: impl IntoIterator<Item = Uuid>,
        is_complete: bool,
    ) -> Result<(), Error> {
        let data = if is_complete {
            let host = |(index, id, change): &DoneHost| json!({"index": index, "id": id, "outcome": change});
            to_raw_value(&hosts.iter().map(host).collect::<Vec<Value>>())
        } else {
            to_raw_value(hosts)
        };
        let mut progress = self.progress();
        progress.networks.extend(networks);
        progress.note(data.map_err(Error::internal)?, is_complete)
    }

    /// Returns the batch that stores the whole answer of a request that took several commits.
    pub(super) fn completion(&self, answer: &impl Serialize) -> Result<Option<Batch>, Error> {
        let data = to_raw_value(answer).map_err(Error::internal)?;
        let mut progress = self.progress();
        if !progress.is_running {
            return Ok(None);
        }
        progress.note(data, true)?;
        let mut batch = Batch::new();
        self.put(&progress, &mut batch).map_err(Error::from)?;
        progress.noted = None;
        Ok(Some(batch))
    }

    /// Adds the noted answer to a batch. Returns whether there is one.
    ///
    /// A batch without writes only checks something.
    fn add_to(&self, batch: &mut Batch) -> Result<bool, StoreError> {
        let progress = self.progress();
        if progress.noted.is_none() || batch.writes().is_empty() {
            return Ok(false);
        }
        self.put(&progress, batch)?;
        Ok(true)
    }

    /// Adds the noted answer to a batch.
    fn put(&self, progress: &Progress, batch: &mut Batch) -> Result<(), StoreError> {
        let Some((answer, is_complete)) = &progress.noted else { return Ok(()) };
        let now = self.clock.now();
        let expires_at = self.began_at.plus_micros(LIFETIME_MICROS);
        let record = AnsweredRequest {
            organization_id: self.organization,
            user_id: self.user,
            digest: self.digest,
            expires_at,
            running_until: (!is_complete).then(|| now.plus_micros(LEASE_MICROS)),
            answer: Answer { networks: progress.networks.iter().copied().collect(), ..answer.clone() },
        };
        let body = encode(&record).map_err(|error| StoreError::invalid(error.to_string()))?;
        batch.put(self.key, progress.precondition, self.facets(expires_at), body);
        for key in &progress.surplus {
            batch.delete(*key, Precondition::Any);
        }
        Ok(())
    }

    fn facets(&self, expires_at: Timestamp) -> Facets {
        let facets = facets(self.organization, self.began_at);
        Facets { expires_at: Some(expires_at), ..facets }.with_links([Link::new(REQUEST_LINK, self.user)])
    }

    /// Records the outcome of a commit with the answer.
    ///
    /// If another execution has stored its answer, returns an error that ends the request without another attempt.
    fn settle(&self, committed: Result<(), StoreError>) -> Result<(), StoreError> {
        let mut progress = self.progress();
        match &committed {
            Ok(()) => {
                let is_complete = progress.noted.take().is_none_or(|(_, is_complete)| is_complete);
                progress.is_running = !is_complete;
                progress.precondition = Precondition::Present;
                progress.surplus.clear();
            }
            Err(error) if matches!(error.kind(), StoreErrorKind::Conflict(key) if *key == self.key) => {
                progress.is_lost = true;
                return Err(StoreError::unavailable("another execution of the request was faster"));
            }
            Err(_) => {}
        }
        committed
    }
}

impl Progress {
    fn note(&mut self, data: Box<RawValue>, is_complete: bool) -> Result<(), Error> {
        let is_whole = data.get().len() <= MAX_DATA || !is_complete;
        let data = if is_whole { data } else { ids_of(&data)? };
        self.noted = Some((Answer { data, is_whole, networks: Vec::new() }, is_complete));
        Ok(())
    }
}

/// Returns the ids alone of the data of an answer: of a record, or of the items of a list.
fn ids_of(data: &RawValue) -> Result<Box<RawValue>, Error> {
    #[derive(serde::Deserialize, Serialize)]
    struct Identified {
        id: Option<Uuid>,
    }
    let read = if data.get().starts_with('[') {
        serde_json::from_str::<Vec<Identified>>(data.get()).and_then(|items| to_raw_value(&items))
    } else {
        serde_json::from_str::<Identified>(data.get()).and_then(|record| to_raw_value(&record))
    };
    read.map_err(Error::internal)
}

impl fmt::Debug for PendingAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PendingAnswer").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Adds the answer to a request to the commit that makes the change. Everything else is that of the store.
#[derive(Debug)]
pub(super) struct AnsweringStore {
    store: Arc<dyn Store>,
    pending: Arc<PendingAnswer>,
}

impl AnsweringStore {
    pub(super) fn new(store: Arc<dyn Store>, pending: Arc<PendingAnswer>) -> Self {
        Self { store, pending }
    }
}

#[async_trait]
impl Store for AnsweringStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.store.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.store.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.store.list(query).await
    }

    async fn commit(&self, mut batch: Batch) -> Result<(), StoreError> {
        if !self.pending.add_to(&mut batch)? {
            return self.store.commit(batch).await;
        }
        self.pending.settle(self.store.commit(batch).await)
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.store.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.store.snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.store.revision(kind, organization).await
    }

    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }
}
