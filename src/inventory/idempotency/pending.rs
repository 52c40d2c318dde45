//! The answer to a request that is being executed, and its commits.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use uuid::Uuid;

use super::LIFETIME_MICROS;
use super::record::{AnsweredRequest, DoneHost, RequestAnswer};
use crate::access::{Caller, Clock};
use crate::inventory::schema::{REQUEST_LINK, decode, encode, facets};
use crate::inventory::{BulkChange, Error};
use crate::model::{HostId, NetworkId, OrganizationId, Timestamp, UserId};
use crate::store::{Batch, Facets, Key, Link, Precondition, Store, StoreError, StoreErrorKind, Version};

/// The maximum size of the data of a stored answer with ids, in bytes.
const MAX_DATA: usize = 64 * 1024;

/// The time for which a request counts as running after each of its several commits, in microseconds.
pub(super) const LEASE_MICROS: i64 = 60 * 1_000_000;

/// The answer to a request that is being executed.
pub(in crate::inventory) struct PendingAnswer {
    key: Key,
    organization: OrganizationId,
    user: UserId,
    digest: Uuid,
    /// Identifies this execution among those of the same request.
    execution: Uuid,
    clock: Arc<dyn Clock>,
    began_at: Timestamp,
    /// The store of the answer and of the change.
    store: Arc<dyn Store>,
    progress: Mutex<Progress>,
}

/// The progress of an execution.
pub(super) struct Progress {
    /// The state of the stored answer that the next commit requires. `None`: as this execution has stored it, under a
    /// version that is not known yet.
    pub(super) precondition: Option<Precondition>,
    /// The answers that the next commit deletes.
    pub(super) surplus: Vec<Key>,
    /// The answer that the next commit stores, and whether it is complete.
    noted: Option<(RequestAnswer, bool)>,
    /// The networks of the answer.
    networks: BTreeSet<NetworkId>,
    /// The hosts that a former execution has stored.
    done: BTreeMap<usize, (HostId, BulkChange)>,
    /// The commit in progress. It outlasts a request that is dropped meanwhile.
    commit: Option<Commit>,
    /// Whether the stored answer is that of a running request.
    is_running: bool,
    is_lost: bool,
}

type Commit = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

impl Progress {
    pub(super) const fn new(precondition: Precondition) -> Self {
        Self {
            precondition: Some(precondition),
            surplus: Vec::new(),
            noted: None,
            networks: BTreeSet::new(),
            done: BTreeMap::new(),
            commit: None,
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
        execution: Uuid,
        clock: Arc<dyn Clock>,
        store: Arc<dyn Store>,
        progress: Progress,
    ) -> Self {
        let (organization, user, began_at) = (caller.organization_id(), caller.user_id(), clock.now());
        let progress = Mutex::new(progress);
        Self { key, organization, user, digest, execution, clock, began_at, store, progress }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.progress().is_lost
    }

    /// Notes the created record as the answer.
    pub(super) fn note_record(
        &self,
        record: &impl Serialize,
        network: Option<NetworkId>,
    ) -> Result<(), Error> {
        let data = to_raw_value(record).map_err(Error::internal)?;
        let mut progress = self.progress();
        progress.networks.extend(network);
        progress.note(data, true)
    }

    /// Returns the hosts of a bulk request that a former execution has stored, by their places.
    pub(in crate::inventory) fn done(&self) -> BTreeMap<usize, (HostId, BulkChange)> {
        self.progress().done.clone()
    }

    /// Notes the results that the next commit of a bulk request completes, of all hosts or of a part of them.
    pub(in crate::inventory) fn note_hosts(
        &self,
        hosts: &[(usize, HostId, BulkChange)],
        networks: impl IntoIterator<Item = NetworkId>,
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

    /// Stores the whole answer of a request that took several commits.
    pub(super) async fn complete(&self, answer: &impl Serialize) -> Result<(), Error> {
        let data = to_raw_value(answer).map_err(Error::internal)?;
        {
            let mut progress = self.progress();
            if !progress.is_running {
                return Ok(());
            }
            progress.note(data, true)?;
        }
        Ok(self.commit_with_answer(Batch::new()).await?)
    }

    /// Returns the store beneath, in which nothing is stored with the answer.
    pub(in crate::inventory) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Commits a batch together with the noted answer, if there is one.
    ///
    /// The answer is not added to a batch without writes, which only checks conditions.
    pub(super) async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        if self.progress().noted.is_none() || batch.writes().is_empty() {
            return self.store.commit(batch).await;
        }
        self.commit_with_answer(batch).await
    }

    async fn commit_with_answer(&self, mut batch: Batch) -> Result<(), StoreError> {
        let precondition = self.precondition().await?;
        self.put(precondition, &mut batch)?;
        let store = Arc::clone(&self.store);
        self.progress().commit = Some(Box::pin(async move { store.commit(batch).await }));
        let committed = poll_fn(|context| self.progress().poll_commit(context)).await;
        self.settle(committed)
    }

    /// Returns the state of the stored answer that the next commit requires.
    ///
    /// Only one of several executions can therefore continue, however long the others have paused.
    async fn precondition(&self) -> Result<Precondition, StoreError> {
        let known = self.progress().precondition;
        if let Some(precondition) = known {
            return Ok(precondition);
        }
        let stored = self.stored().await?;
        let mut progress = self.progress();
        let Some((version, _)) = stored else { return Err(progress.lose()) };
        let precondition = Precondition::Version(version);
        progress.precondition = Some(precondition);
        Ok(precondition)
    }

    /// Reads the record that this execution has stored. `None` if another execution has replaced it, or it was
    /// deleted.
    async fn stored(&self) -> Result<Option<(Version, AnsweredRequest)>, StoreError> {
        let Some(record) = self.store.get(&[self.key]).await?.pop().flatten() else { return Ok(None) };
        let stored: AnsweredRequest =
            decode(&record).map_err(|error| StoreError::corrupt(error.to_string()))?;
        Ok((stored.execution == self.execution).then_some((record.version, stored)))
    }

    /// Adds the noted answer to a batch.
    fn put(&self, precondition: Precondition, batch: &mut Batch) -> Result<(), StoreError> {
        let progress = self.progress();
        let Some((answer, is_complete)) = &progress.noted else { return Ok(()) };
        let expires_at = self.began_at.plus_micros(LIFETIME_MICROS);
        let record = AnsweredRequest {
            organization_id: self.organization,
            user_id: self.user,
            digest: self.digest,
            execution: self.execution,
            expires_at,
            running_until: (!is_complete).then(|| self.clock.now().plus_micros(LEASE_MICROS)),
            answer: RequestAnswer { networks: progress.networks.iter().copied().collect(), ..answer.clone() },
        };
        self.put_record(precondition, &record, batch)?;
        for key in &progress.surplus {
            batch.delete(*key, Precondition::Any);
        }
        Ok(())
    }

    fn put_record(
        &self,
        precondition: Precondition,
        record: &AnsweredRequest,
        batch: &mut Batch,
    ) -> Result<(), StoreError> {
        let body = encode(record).map_err(|error| StoreError::invalid(error.to_string()))?;
        batch.put(self.key, precondition, self.facets(record.expires_at), body);
        Ok(())
    }

    /// Returns the rest of the work of a dropped execution; `None`: nothing remains.
    ///
    /// A commit in progress ends first, so that the stored records are known. Then the request no longer counts as
    /// running, and a repetition may complete it at once.
    pub(super) fn interrupted(self: &Arc<Self>) -> Option<impl Future<Output = ()> + Send + 'static> {
        let commit = {
            let mut progress = self.progress();
            let is_interrupted = progress.is_running || progress.commit.is_some();
            if progress.is_lost || !is_interrupted {
                return None;
            }
            progress.commit.take()
        };
        let pending = Arc::clone(self);
        Some(async move {
            if let Some(commit) = commit {
                // The stored answer, read next, shows whether the commit has succeeded.
                let _ = commit.await;
            }
            if let Err(error) = pending.release().await {
                tracing::warn!("an idempotency key stays in use for up to a minute: {error}");
            }
        })
    }

    /// Ends the time for which the request counts as running, unless its answer is complete.
    async fn release(&self) -> Result<(), StoreError> {
        let Some((version, mut stored)) = self.stored().await? else { return Ok(()) };
        if stored.running_until.is_none() {
            return Ok(());
        }
        stored.running_until = Some(Timestamp::UNIX_EPOCH);
        let mut batch = Batch::new();
        self.put_record(Precondition::Version(version), &stored, &mut batch)?;
        match self.store.commit(batch).await {
            // Another execution has continued.
            Err(error) if matches!(error.kind(), StoreErrorKind::Conflict(_)) => Ok(()),
            released => released,
        }
    }

    fn facets(&self, expires_at: Timestamp) -> Facets {
        let facets = facets(self.organization, self.began_at);
        Facets { expires_at: Some(expires_at), ..facets }
            .with_links([Link::new(REQUEST_LINK, self.user.uuid())])
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
                progress.precondition = None;
                progress.surplus.clear();
            }
            Err(error) if matches!(error.kind(), StoreErrorKind::Conflict(key) if *key == self.key) => {
                return Err(progress.lose());
            }
            Err(_) => {}
        }
        committed
    }
}

impl Progress {
    /// Notes that another execution continues. Returns an error that ends this one without another attempt.
    fn lose(&mut self) -> StoreError {
        self.is_lost = true;
        StoreError::unavailable("another execution of the request was faster")
    }

    fn poll_commit(&mut self, context: &mut Context<'_>) -> Poll<Result<(), StoreError>> {
        // Taken out meanwhile, so that a commit that panics is not polled again.
        let Some(mut commit) = self.commit.take() else {
            debug_assert!(false, "a commit is in progress until it has ended");
            return Poll::Ready(Err(StoreError::unavailable("the commit was interrupted")));
        };
        let polled = commit.as_mut().poll(context);
        if polled.is_pending() {
            self.commit = Some(commit);
        }
        polled
    }

    fn note(&mut self, data: Box<RawValue>, is_complete: bool) -> Result<(), Error> {
        let is_short = data.get().len() <= MAX_DATA || !is_complete;
        let ids = if is_short { None } else { ids_of(&data)? };
        let is_whole = ids.is_none();
        let data = ids.unwrap_or(data);
        self.noted = Some((RequestAnswer { data, is_whole, networks: Vec::new() }, is_complete));
        Ok(())
    }
}

/// Returns the ids alone of the data of an answer: of a record, or of the items of a list.
///
/// `None` for an answer without ids, such as reserved addresses: it has at most 256 of them, and is kept whole.
fn ids_of(data: &RawValue) -> Result<Option<Box<RawValue>>, Error> {
    #[derive(serde::Deserialize, Serialize)]
    struct Identified {
        id: Option<Uuid>,
    }
    let read = if data.get().starts_with('[') {
        serde_json::from_str::<Vec<Identified>>(data.get()).and_then(|items| to_raw_value(&items).map(Some))
    } else {
        serde_json::from_str::<Identified>(data.get())
            .and_then(|record| record.id.is_some().then(|| to_raw_value(&record)).transpose())
    };
    read.map_err(Error::internal)
}

impl fmt::Debug for PendingAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PendingAnswer").field("key", &self.key).finish_non_exhaustive()
    }
}
