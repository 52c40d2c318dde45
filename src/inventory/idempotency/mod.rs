//! Requests with an idempotency key, which are executed at most once.
//!
//! The answer is stored under an id that follows from the organization, the user, the request and the key, in the commit
//! that makes the change. Of two executions of one request, also on two servers, only one can therefore commit. A
//! request that takes several commits stores its progress with each of them, so that a repetition completes it. Each
//! commit requires the progress that its execution has stored last: an execution that pauses for so long that another
//! continues in its place cannot store anything more.

mod pending;
mod record;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use uuid::Uuid;

pub(super) use self::pending::PendingAnswer;
use self::pending::{LEASE_MICROS, Progress};
use self::record::AnsweredRequest;
use self::record::AnsweringStore;
pub(crate) use self::record::RequestAnswer;
use super::schema::{IDEMPOTENCY_KEY, REQUEST_LINK, decode, linked};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::access::Caller;
use crate::model::{NetworkId, Timestamp, derived_id};
use crate::store::{Key, Link, Precondition};

/// The time for which an answer is kept, in microseconds.
const LIFETIME_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// The maximum number of answers kept for a user. The oldest are deleted for new ones.
const MAX_ANSWERS: u64 = 1_000;

/// The maximum number of old answers that one request deletes.
const MAX_DELETED: u64 = 100;

/// A request with an idempotency key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyedRequest<'r> {
    pub(crate) method: &'r str,
    pub(crate) path: &'r str,
    pub(crate) key: &'r str,
    pub(crate) body: &'r [u8],
}

/// The result of beginning a request with an idempotency key.
#[derive(Debug)]
pub(crate) enum Begun {
    /// The request is to be executed.
    Execution(Box<Execution>),
    /// The request has been executed. The caller may still see the answer.
    Answered(RequestAnswer),
}

/// The execution of a request with an idempotency key. No other runs in this process until it has ended.
///
/// Dropped before its end, it lets a commit in progress end and then releases the key, in the background.
#[derive(Debug)]
pub(crate) struct Execution {
    /// Stores the answer with the change that it makes.
    inventory: Inventory,
    pending: Arc<PendingAnswer>,
    running: Option<Running>,
}

/// The ids of the requests with an idempotency key that are being executed.
#[derive(Debug, Default)]
pub(super) struct RunningRequests(Mutex<HashSet<Uuid>>);

/// A request that is being executed, until it is dropped.
#[derive(Debug)]
struct Running {
    requests: Arc<RunningRequests>,
    id: Uuid,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.requests.lock().remove(&self.id);
    }
}

impl RunningRequests {
    /// Begins a request. `None` if it is being executed.
    fn begin(self: &Arc<Self>, id: Uuid) -> Option<Running> {
        self.lock().insert(id).then(|| Running { requests: Arc::clone(self), id })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<Uuid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a request that has the key until a time may still run. It does not if a clock was set back since.
fn may_still_run(until: Timestamp, now: Timestamp) -> bool {
    until > now && until <= now.plus_micros(2 * LEASE_MICROS)
}

impl Inventory {
    /// Begins a request with an idempotency key.
    ///
    /// # Errors
    /// `KeyReused` if the key belongs to a request with another body; `RequestRunning` while the first request with the
    /// key runs; `AccessDenied` if the caller can no longer access the network of an answer.
    pub(crate) async fn begin_keyed(
        &self,
        caller: &Caller,
        request: KeyedRequest<'_>,
    ) -> Result<Begun, Error> {
        let id = request_id(caller, &request);
        let digest: Uuid = derived_id("idempotent body", &[request.key.as_bytes(), request.body]);
        let running = self.state.running_requests.begin(id).ok_or(ErrorKind::RequestRunning)?;
        let (key, now) = (Key::new(IDEMPOTENCY_KEY, id), self.now());
        let mut progress = Progress::new(Precondition::Absent);
        if let Some(record) = self.get(key).await? {
            let known: AnsweredRequest = decode(&record)?;
            progress.precondition = Some(Precondition::Version(record.version));
            if known.expires_at > now {
                if known.digest != digest {
                    return Err(ErrorKind::KeyReused.into());
                }
                match known.running_until {
                    Some(until) if may_still_run(until, now) => return Err(ErrorKind::RequestRunning.into()),
                    running_until => {
                        check_networks(caller, &known.answer)?;
                        if running_until.is_none() {
                            return Ok(Begun::Answered(known.answer));
                        }
                        progress.resume(known)?;
                    }
                }
            }
        }
        progress.surplus = self.surplus_answers(caller, key).await?;
        if matches!(progress.precondition, Some(Precondition::Absent)) {
            // Otherwise it could delete the expired answer that this request replaces.
            self.purge_periodically();
        }
        let (execution, store) = (self.new_random_id()?, Arc::clone(&self.store));
        let pending = PendingAnswer::new(key, caller, digest, execution, self.clock(), store, progress);
        let pending = Arc::new(pending);
        let store = AnsweringStore::new(Arc::clone(&self.store), Arc::clone(&pending));
        let inventory =
            Self { store: Arc::new(store), pending_answer: Some(Arc::clone(&pending)), ..self.clone() };
        Ok(Begun::Execution(Box::new(Execution { inventory, pending, running: Some(running) })))
    }

    /// Returns the user's oldest answers that must be deleted for a new one.
    async fn surplus_answers(&self, caller: &Caller, own: Key) -> Result<Vec<Key>, Error> {
        let link = Link::new(REQUEST_LINK, caller.user_id().uuid());
        let mut answers = linked(IDEMPOTENCY_KEY, caller.organization_id(), link);
        let surplus = (self.count(answers.clone()).await? + 1).saturating_sub(MAX_ANSWERS).min(MAX_DELETED);
        if surplus == 0 {
            return Ok(Vec::new());
        }
        answers.limit = usize::try_from(surplus).ok();
        let mut surplus = Vec::new();
        for record in self.store.list(&answers).await?.records {
            // Without its record, an interrupted request would be executed from the beginning.
            let is_running = decode::<AnsweredRequest>(&record)?.running_until.is_some();
            if record.key != own && !is_running {
                surplus.push(record.key);
            }
        }
        Ok(surplus)
    }

    /// Notes the answer to the request, which the next commit of writes stores.
    ///
    /// Does nothing unless the request has an idempotency key.
    pub(super) fn note_answer(
        &self,
        record: &impl Serialize,
        network: Option<NetworkId>,
    ) -> Result<(), Error> {
        match &self.pending_answer {
            Some(pending) => pending.note_record(record, network),
            None => Ok(()),
        }
    }
}

impl Execution {
    /// Returns the inventory that makes the change.
    pub(crate) fn inventory(&self) -> Inventory {
        self.inventory.clone()
    }

    /// Returns whether another execution of the request continues it or has completed it.
    pub(crate) fn is_lost(&self) -> bool {
        self.pending.is_lost()
    }

    /// Stores the whole answer of a request that took several commits.
    ///
    /// Does nothing if the answer is stored already, and if the request has changed nothing.
    pub(crate) async fn finish(&self, answer: &impl Serialize) -> Result<(), Error> {
        self.pending.complete(answer).await
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        let Some(interrupted) = self.pending.interrupted() else { return };
        let running = self.running.take();
        let release = async move {
            interrupted.await;
            drop(running);
        };
        // Otherwise the key would stay in use for up to a minute.
        self.inventory.state.tasks.spawn_required(release);
    }
}

/// Returns the id under which the answer to a request is stored.
fn request_id(caller: &Caller, request: &KeyedRequest<'_>) -> Uuid {
    let (organization, user) = (caller.organization_id(), caller.user_id());
    let KeyedRequest { method, path, key, .. } = request;
    let parts = [
        &organization.as_bytes()[..],
        &user.as_bytes()[..],
        method.as_bytes(),
        path.as_bytes(),
        key.as_bytes(),
    ];
    derived_id("idempotency key", &parts)
}

/// Checks that the caller can still access the networks of an answer, or of its known part.
fn check_networks(caller: &Caller, answer: &RequestAnswer) -> Result<(), Error> {
    match answer.networks.iter().find(|network| !caller.scope().allows(**network)) {
        Some(network) => Err(ErrorKind::AccessDenied { entity: Entity::Network, id: network.uuid() }.into()),
        None => Ok(()),
    }
}
