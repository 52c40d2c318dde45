//! The queue of work of a network.
//!
//! It hands out work, stores the progress, and hands out again the work of daemons that have vanished.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::{check_version, put_contact};
use crate::access::DaemonCaller;
use crate::inventory::collections::CollectionRecord;
use crate::inventory::schema::{DISCOVERY, OPEN_LINK, daemon_key, decode, encode, linked, on_network};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, Problem, unchanged};
use crate::model::{Discovery, DiscoveryDaemon, DiscoveryPhase, DiscoveryType, Timestamp};
use crate::store::{Batch, Key, Link, Query, Record};

/// The time after which a daemon that sends no requests loses its work, in microseconds.
const VANISHED_AFTER: i64 = 10 * 60 * 1_000_000;

/// The maximum number of characters of an error that a daemon reports.
const MAX_ERROR: usize = 65_536;

/// The status that a daemon reports when it asks for work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DaemonStatus {
    /// The version of the daemon's program; `None`: as before.
    pub version: Option<String>,
    /// Whether the daemon can begin new work; `None`: unless it is scanning.
    pub is_ready: Option<bool>,
}

/// The answer to a daemon that asks for work.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// The daemon as stored.
    pub daemon: DiscoveryDaemon,
    /// The work to begin; `None`: there is none.
    pub discovery: Option<Discovery>,
    /// Whether the daemon has to stop what it is doing.
    pub is_cancelled: bool,
}

/// The progress that a daemon reports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoveryUpdate {
    /// The id of the discovery.
    pub session_id: Uuid,
    /// The daemon that has the discovery.
    pub daemon_id: Uuid,
    /// The progress.
    pub phase: DiscoveryPhase,
    /// The progress in percent; values over 100 count as 100.
    pub progress: u8,
    /// The reason why the work failed, of at most 65,536 characters.
    pub error: Option<String>,
    /// When the daemon began.
    pub started_at: Option<Timestamp>,
    /// When the work ended.
    pub finished_at: Option<Timestamp>,
}

impl DiscoveryUpdate {
    /// Creates an update without details.
    #[must_use]
    pub const fn new(session_id: Uuid, daemon_id: Uuid, phase: DiscoveryPhase, progress: u8) -> Self {
        Self { session_id, daemon_id, phase, progress, error: None, started_at: None, finished_at: None }
    }
}

/// An open discovery with its record.
type Open = (Record, Discovery);

/// The daemons that have open discoveries, with their records.
type Holders = BTreeMap<Uuid, (Record, DiscoveryDaemon)>;

impl Inventory {
    /// Hands out the first work that is queued for a daemon.
    ///
    /// Each discovery is handed out once. When its daemon has sent no request for 10 minutes, it is handed out again: to
    /// any daemon of the network, or only to the same one if the work is about the daemon's own host.
    ///
    /// # Errors
    /// `NotFound` unless this key has registered the daemon; `Invalid` for a version of more than 100 characters.
    pub async fn request_work(
        &self,
        caller: &DaemonCaller,
        id: Uuid,
        status: DaemonStatus,
    ) -> Result<Work, Error> {
        check_version("version", status.version.as_deref())?;
        let mut transaction = self.transaction(Entity::Daemon, id);
        loop {
            let (record, mut daemon) = self.own_daemon(caller, id).await?;
            // All daemons of a network want the same first discovery.
            let of_network = Key::new(DISCOVERY, caller.network_id);
            if !transaction.enter(BTreeSet::from([of_network, daemon_key(id)])).await? {
                continue;
            }
            let now = self.now();
            let open = self.open_discoveries(caller).await?;
            let holders = self.holders(&open, id).await?;
            let mut batch = Batch::new();
            let is_cancelled = tell_of_cancellations(caller, &open, id, now, &mut batch)?;
            let is_ready = status.is_ready.unwrap_or_else(|| !is_scanning(&open, &daemon, now));
            let mut queue = Queue { daemon: &daemon, holders: &holders, now }.sorted(&open);
            // A daemon that stops its work would drop the next.
            let next = queue.next().filter(|_| is_ready && !is_cancelled);
            let discovery =
                next.map(|(record, discovery)| hand_out(caller, record, discovery, id, now, &mut batch));
            let discovery = discovery.transpose()?;
            if let Some((record, vanished)) =
                next.and_then(|(_, discovery)| holders.get(&discovery.daemon_id?))
            {
                mark_unreachable(caller, record, vanished, now, &mut batch)?;
            }
            let change = |daemon: &mut DiscoveryDaemon| {
                if let Some(version) = &status.version {
                    daemon.version = Some(version.clone());
                }
            };
            put_contact(caller, &record, &mut daemon, now, change, &mut batch)?;
            if transaction.commit(batch).await? {
                return Ok(Work { daemon, discovery, is_cancelled });
            }
        }
    }

    /// Stores the progress of a discovery that a daemon has.
    ///
    /// An update of a discovery that is unknown, has ended, or is not the daemon's stores nothing.
    ///
    /// # Errors
    /// `Invalid` for an error of more than 65,536 characters.
    pub async fn update_discovery(
        &self,
        caller: &DaemonCaller,
        update: DiscoveryUpdate,
    ) -> Result<(), Error> {
        if update.error.as_ref().is_some_and(|error| error.chars().count() > MAX_ERROR) {
            return Err(Error::invalid("error", Problem::MaxLength { max: MAX_ERROR }));
        }
        let mut transaction = self.transaction(Entity::Discovery, update.session_id);
        loop {
            let (record, mut daemon) = match self.own_daemon(caller, update.daemon_id).await {
                Ok(found) => found,
                Err(error) if matches!(error.kind(), ErrorKind::NotFound { .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            let Some((stored, mut discovery)) = self.handed_out(caller, &update).await? else {
                return Ok(());
            };
            let now = self.now();
            discovery.apply(&update, now);
            let mut batch = Batch::new();
            let facets = discovery.facets(caller.organization_id);
            batch.put(stored.key, unchanged(Some(&stored)), facets, encode(&discovery)?);
            put_contact(caller, &record, &mut daemon, now, |_| (), &mut batch)?;
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }

    /// Returns the open discovery of an update. `None` if the daemon of the update does not have it or it has ended.
    async fn handed_out(
        &self,
        caller: &DaemonCaller,
        update: &DiscoveryUpdate,
    ) -> Result<Option<Open>, Error> {
        let own = on_network(DISCOVERY, caller.organization_id, caller.network_id);
        let own = Query { ids: Some(vec![update.session_id]), ..own };
        let Some(record) = self.store.list(&own).await?.records.pop() else { return Ok(None) };
        let discovery: Discovery = decode(&record)?;
        let is_held = discovery.daemon_id == Some(update.daemon_id) && discovery.handed_out_at.is_some();
        Ok((is_held && discovery.is_open()).then_some((record, discovery)))
    }

    /// Returns the discoveries of the network that concern a daemon.
    async fn open_discoveries(&self, caller: &DaemonCaller) -> Result<Vec<Open>, Error> {
        let open = linked(DISCOVERY, caller.organization_id, Link::new(OPEN_LINK, caller.network_id));
        let records = self.store.list(&open).await?.records;
        records.into_iter().map(|record| Ok((record.clone(), decode(&record)?))).collect()
    }

    /// Returns the daemons, other than the one that asks, that have open discoveries.
    async fn holders(&self, open: &[Open], asking: Uuid) -> Result<Holders, Error> {
        let mut keys: Vec<Key> = open.iter().filter_map(|(_, open)| open.daemon_id.map(daemon_key)).collect();
        keys.retain(|key| key.id != asking);
        keys.sort_unstable();
        keys.dedup();
        let records = self.store.get(&keys).await?.into_iter().flatten();
        records.map(|record| Ok((record.key.id, (record.clone(), decode(&record)?)))).collect()
    }
}

/// Decides which open discoveries a daemon may get.
struct Queue<'a> {
    daemon: &'a DiscoveryDaemon,
    holders: &'a Holders,
    now: Timestamp,
}

impl<'a> Queue<'a> {
    /// Returns the discoveries that the daemon may get, the first to be handed out first.
    fn sorted(&self, open: &'a [Open]) -> std::vec::IntoIter<&'a Open> {
        let mut available: Vec<&Open> = open.iter().filter(|(_, open)| self.may_get(open)).collect();
        // The report of the daemon's own host comes before a scan that was queued at the same time.
        available.sort_by_key(|(_, open)| {
            (open.created_at, open.discovery_type != DiscoveryType::SelfReport, open.id)
        });
        available.into_iter()
    }

    fn may_get(&self, discovery: &Discovery) -> bool {
        if !discovery.is_open() {
            return false;
        }
        match discovery.daemon_id {
            None => true,
            Some(holder) if holder == self.daemon.id => {
                discovery.handed_out_at.is_none() || has_vanished(self.daemon, self.now)
            }
            Some(_) if discovery.discovery_type.is_about_own_host() => false,
            Some(holder) => {
                self.holders.get(&holder).is_none_or(|(_, holder)| has_vanished(holder, self.now))
            }
        }
    }
}

fn has_vanished(daemon: &DiscoveryDaemon, now: Timestamp) -> bool {
    daemon.last_seen.plus_micros(VANISHED_AFTER) <= now
}

/// Returns whether a daemon is busy with a scan.
///
/// Daemons that do not say whether they are ready drop work that they get during a scan.
fn is_scanning(open: &[Open], daemon: &DiscoveryDaemon, now: Timestamp) -> bool {
    let mut own = open.iter().filter(|(_, open)| open.daemon_id == Some(daemon.id));
    !has_vanished(daemon, now) && own.any(|(_, open)| open.phase == DiscoveryPhase::Scanning)
}

/// Records in a batch that a daemon is informed of the cancellation of its work. Returns whether work was cancelled.
fn tell_of_cancellations(
    caller: &DaemonCaller,
    open: &[Open],
    daemon: Uuid,
    now: Timestamp,
    batch: &mut Batch,
) -> Result<bool, Error> {
    let mut is_cancelled = false;
    for (record, cancelled) in open.iter().filter(|(_, open)| open.is_cancelling) {
        if cancelled.daemon_id == Some(daemon) {
            let told = Discovery { is_cancelling: false, updated_at: now, ..cancelled.clone() };
            let facets = told.facets(caller.organization_id);
            batch.put(record.key, unchanged(Some(record)), facets, encode(&told)?);
            is_cancelled = true;
        }
    }
    Ok(is_cancelled)
}

fn hand_out(
    caller: &DaemonCaller,
    record: &Record,
    discovery: &Discovery,
    daemon: Uuid,
    now: Timestamp,
    batch: &mut Batch,
) -> Result<Discovery, Error> {
    let mut discovery = discovery.clone();
    discovery.reset(now);
    (discovery.daemon_id, discovery.handed_out_at) = (Some(daemon), Some(now));
    let facets = discovery.facets(caller.organization_id);
    batch.put(record.key, unchanged(Some(record)), facets, encode(&discovery)?);
    Ok(discovery)
}

fn mark_unreachable(
    caller: &DaemonCaller,
    record: &Record,
    vanished: &DiscoveryDaemon,
    now: Timestamp,
    batch: &mut Batch,
) -> Result<(), Error> {
    let daemon = DiscoveryDaemon { is_unreachable: true, updated_at: now, ..vanished.clone() };
    batch.put(record.key, unchanged(Some(record)), daemon.facets(caller.organization_id), encode(&daemon)?);
    Ok(())
}

impl Discovery {
    fn apply(&mut self, update: &DiscoveryUpdate, now: Timestamp) {
        (self.phase, self.progress) = (update.phase, update.progress.min(100));
        self.error.clone_from(&update.error);
        self.started_at = update.started_at.or(self.started_at);
        self.finished_at = update.phase.is_final().then(|| update.finished_at.unwrap_or(now));
        self.updated_at = now;
    }
}
