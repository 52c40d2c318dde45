//! The choice of a daemon's next discovery job, and the end of jobs that make no progress.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::credentials::{CREDENTIALS_LOST, GRACE_MICROS};
use crate::access::DaemonCaller;
use crate::inventory::collections::CollectionRecord;
use crate::inventory::schema::{ASSIGNED_LINK, DISCOVERY, decode, encode, linked};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::{
    DaemonId, Discovery, DiscoveryDaemon, DiscoveryId, DiscoveryPhase, DiscoveryType, SnmpCredentials,
    Timestamp,
};
use crate::store::{Batch, Link, Record};

/// The time after which work without an update and a silent daemon count as lost, in microseconds.
pub(super) const LOST_AFTER_MICROS: i64 = 5 * 60 * 1_000_000;

/// The number of times that a job is handed out.
const MAX_ATTEMPTS: u32 = 3;

/// The error of a job that was handed out three times and never ended.
const NO_PROGRESS: &str = "no_progress";

/// The error of a job that was handed out three times and whose daemon has restarted.
const DAEMON_RESTARTED: &str = "daemon_restarted";

/// An open discovery with its record.
pub(super) type Open = (Record, Discovery);

/// The daemons that have open discoveries, with their records.
pub(super) type Holders = BTreeMap<DaemonId, (Record, DiscoveryDaemon)>;

/// The next job of a daemon, and the changes of other jobs.
#[derive(Default)]
pub(super) struct NextJob<'o> {
    pub(super) next: Option<&'o Open>,
    /// The credentials of the next work.
    pub(super) credentials: Option<Arc<SnmpCredentials>>,
    /// Discoveries that fail, or whose credentials are missing, each with its record.
    pub(super) changed: Vec<(&'o Record, Discovery)>,
}

impl NextJob<'_> {
    /// Returns the ids of the discoveries that end.
    pub(super) fn ended(&self) -> Vec<DiscoveryId> {
        let ended = self.changed.iter().filter(|(_, discovery)| !discovery.is_open());
        ended.map(|(_, discovery)| discovery.id).collect()
    }
}

impl Inventory {
    /// Selects the next job of a daemon.
    ///
    /// Also ends the work that has made no progress for too long, and the work whose credentials are lost.
    pub(super) fn select_work<'o>(
        &self,
        open: &'o [Open],
        holders: &Holders,
        daemon: &DiscoveryDaemon,
        now: Timestamp,
    ) -> NextJob<'o> {
        let mut selection = NextJob::default();
        let (exhausted, available): (Vec<&Open>, Vec<&Open>) = open.iter().partition(|(_, open)| {
            open.attempts >= MAX_ATTEMPTS && is_stalled(open, holder_of(open, holders, daemon), now)
        });
        for (record, discovery) in exhausted {
            let mut failed = discovery.clone();
            failed.fail(NO_PROGRESS, now);
            selection.changed.push((record, failed));
        }
        let queue = Queue { daemon, holders, now }.sorted(available);
        for available in queue {
            let (record, discovery) = available;
            let credentials = self.state.credentials.get(discovery.id);
            if discovery.has_credentials && credentials.is_none() {
                let changed = self.without_credentials(discovery, now);
                selection.changed.extend(changed.map(|changed| (record, changed)));
            } else if selection.next.is_none() {
                (selection.next, selection.credentials) = (Some(available), credentials);
            }
        }
        selection
    }

    /// Returns the change of a discovery whose credentials this instance does not hold; `None`: it stays as
    /// it is.
    fn without_credentials(&self, discovery: &Discovery, now: Timestamp) -> Option<Discovery> {
        let mut changed = discovery.clone();
        match discovery.credentials_lost_at {
            None if self.store.is_shared() => {
                (changed.credentials_lost_at, changed.updated_at) =
                    (Some(now.plus_micros(GRACE_MICROS)), now);
            }
            Some(lost_at) if lost_at > now => return None,
            _ => changed.fail(CREDENTIALS_LOST, now),
        }
        Some(changed)
    }

    /// Adds the return of a daemon's work to the queue to a batch. Returns the discoveries that end instead.
    pub(super) async fn return_work(
        &self,
        caller: &DaemonCaller,
        daemon: DaemonId,
        batch: &mut Batch,
    ) -> Result<Vec<DiscoveryId>, Error> {
        let (organization, now) = (caller.organization_id, self.now());
        let assigned = linked(DISCOVERY, organization, Link::new(ASSIGNED_LINK, daemon.uuid()));
        let mut ended = Vec::new();
        for record in self.store.list(&assigned).await?.records {
            let mut discovery: Discovery = decode(&record)?;
            let is_own = discovery.network_id == caller.network_id && discovery.handed_out_at.is_some();
            if !is_own {
                continue;
            }
            if discovery.is_cancelling {
                discovery.end_cancellation(now);
            } else if discovery.attempts < MAX_ATTEMPTS {
                discovery.reset(now);
            } else {
                discovery.fail(DAEMON_RESTARTED, now);
                ended.push(discovery.id);
            }
            let facets = discovery.facets(organization);
            batch.put(record.key, unchanged(Some(&record)), facets, encode(&discovery)?);
        }
        Ok(ended)
    }

    /// Drops the credentials of discoveries that have ended.
    pub(in crate::inventory) fn forget_credentials(&self, ended: &[DiscoveryId]) {
        for id in ended {
            self.state.credentials.forget(*id);
        }
    }
}

/// Decides which open discoveries a daemon may get.
struct Queue<'a> {
    daemon: &'a DiscoveryDaemon,
    holders: &'a Holders,
    now: Timestamp,
}

impl Queue<'_> {
    /// Returns the discoveries that the daemon may get, the first to be handed out first.
    fn sorted<'o>(&self, mut open: Vec<&'o Open>) -> Vec<&'o Open> {
        open.retain(|(_, open)| self.may_get(open));
        // The report of the daemon's own host comes before a scan that was queued at the same time.
        open.sort_by_key(|(_, open)| {
            (open.created_at, open.discovery_type != DiscoveryType::SelfReport, open.id)
        });
        open
    }

    fn may_get(&self, discovery: &Discovery) -> bool {
        if !discovery.is_open() {
            return false;
        }
        let is_lost = is_stalled(discovery, holder_of(discovery, self.holders, self.daemon), self.now);
        match discovery.daemon_id {
            None => true,
            Some(holder) if holder == self.daemon.id => discovery.handed_out_at.is_none() || is_lost,
            Some(_) if discovery.discovery_type.is_about_own_host() => false,
            Some(holder) => {
                is_lost || self.holders.get(&holder).is_none_or(|(_, holder)| has_vanished(holder, self.now))
            }
        }
    }
}

/// Returns the daemon that has a discovery. `None` if there is none, or it no longer exists.
fn holder_of<'d>(
    discovery: &Discovery,
    holders: &'d Holders,
    asking: &'d DiscoveryDaemon,
) -> Option<&'d DiscoveryDaemon> {
    let id = discovery.daemon_id?;
    if id == asking.id { Some(asking) } else { holders.get(&id).map(|(_, holder)| holder) }
}

/// Returns whether work was handed out, and its daemon has neither stated progress nor reported for too long.
fn is_stalled(discovery: &Discovery, holder: Option<&DiscoveryDaemon>, now: Timestamp) -> bool {
    let reported = holder.and_then(|holder| holder.last_report_at);
    let heard_of = reported.map_or(discovery.updated_at, |reported| reported.max(discovery.updated_at));
    discovery.is_open() && discovery.handed_out_at.is_some() && heard_of.plus_micros(LOST_AFTER_MICROS) <= now
}

pub(super) fn has_vanished(daemon: &DiscoveryDaemon, now: Timestamp) -> bool {
    daemon.last_seen.plus_micros(LOST_AFTER_MICROS) <= now
}

/// Returns whether a daemon is busy with a scan.
///
/// Daemons that do not say whether they are ready drop work that they get during a scan.
pub(super) fn is_scanning(open: &[Open], daemon: &DiscoveryDaemon, now: Timestamp) -> bool {
    let mut own = open.iter().filter(|(_, open)| open.daemon_id == Some(daemon.id));
    own.any(|(_, open)| open.phase == DiscoveryPhase::Scanning && !is_stalled(open, Some(daemon), now))
}
