//! The queue of the discovery jobs of a network.
//!
//! It hands out jobs, stores their progress, and hands out the jobs of lost daemons again.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::jobs::{self, Holders, LOST_AFTER_MICROS, NextJob, Open};
use super::{check_version, put_contact};
use crate::access::DaemonCaller;
use crate::inventory::collections::CollectionRecord;
use crate::inventory::daemons::Daemons;
use crate::inventory::schema::{DISCOVERY, OPEN_LINK, daemon_record_key, decode, encode, linked, on_network};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, Problem, unchanged};
use crate::model::{
    DaemonCapabilities, DaemonId, Discovery, DiscoveryDaemon, DiscoveryId, SnmpCredentials, SubnetId,
    Timestamp,
};
use crate::store::{Batch, Key, Link, Query, Record};
use crate::wire::{DaemonStatus, DiscoveryUpdate};

/// The maximum number of characters of an error that a daemon reports.
const MAX_ERROR: usize = 65_536;

/// The answer to a daemon that asks for work.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// The daemon as stored.
    pub daemon: DiscoveryDaemon,
    /// The work to begin; `None`: there is none.
    pub discovery: Option<Discovery>,
    /// The credentials that the daemon gets with the work.
    pub credentials: Option<Arc<SnmpCredentials>>,
    /// Whether the daemon has to stop its present work. Repeated until it has confirmed that the work has ended.
    pub is_cancelled: bool,
}

impl Daemons<'_> {
    /// Hands out the first work that is queued for a daemon.
    ///
    /// Each discovery is handed out once. It is handed out again, three times in all, when its daemon has neither
    /// stated progress nor reported anything for 5 minutes: to any daemon of the network, or only to the same one if the work is about the daemon's
    /// own host. The third time that it would be handed out again, it fails with the error `no_progress`.
    ///
    /// Work that needs credentials is handed out only by the inventory that holds them, or a clone of it. Without them,
    /// it fails with the error `credentials_lost`: at once, or after a minute if other processes can use the store.
    ///
    /// # Errors
    /// `NotFound` unless this key has registered the daemon; `Invalid` for a version of more than 100 characters, or
    /// more than 1,000 subnets.
    pub async fn request_work(
        self,
        caller: &DaemonCaller,
        id: DaemonId,
        status: DaemonStatus,
    ) -> Result<Work, Error> {
        check_version("version", status.version.as_deref())?;
        let subnets =
            self.inventory.own_subnets_of_status(caller, status.interfaced_subnet_ids.clone()).await?;
        self.inventory.drop_credentials_periodically().await;
        let mut transaction = self.inventory.transaction(caller, Entity::Daemon, id);
        loop {
            let (record, mut daemon) = self.inventory.own_daemon(caller, id).await?;
            // All daemons of a network compete for the same first discovery.
            let of_network = Key::new(DISCOVERY, caller.network_id.uuid());
            if !transaction.enter(BTreeSet::from([of_network, daemon_record_key(id)])).await? {
                continue;
            }
            let now = self.inventory.now();
            let open = self.inventory.open_discoveries(caller).await?;
            let holders = self.inventory.holders(&open, id).await?;
            let mut batch = Batch::new();
            let is_cancelled = send_cancellations(caller, &open, (id, &status), now, &mut batch)?;
            let is_ready = status.is_ready.unwrap_or_else(|| !jobs::is_scanning(&open, &daemon, now));
            // A daemon that is about to stop its work would drop the next one as well.
            let selection = if is_ready && !is_cancelled {
                self.inventory.select_work(&open, &holders, &daemon, now)
            } else {
                NextJob::default()
            };
            put_all(caller, &selection.changed, &mut batch)?;
            let discovery =
                selection.next.map(|(record, next)| hand_out(caller, record, next, id, now, &mut batch));
            let discovery = discovery.transpose()?;
            let former = selection.next.and_then(|(_, next)| holders.get(&next.daemon_id?));
            if let Some((record, vanished)) = former.filter(|(_, former)| jobs::has_vanished(former, now)) {
                mark_unreachable(caller, record, vanished, now, &mut batch)?;
            }
            let change = |daemon: &mut DiscoveryDaemon| status.apply(daemon, subnets.as_deref());
            put_contact(caller, &record, &mut daemon, now, change, &mut batch)?;
            if transaction.commit(batch).await? {
                self.inventory.forget_credentials(&selection.ended());
                return Ok(Work { daemon, discovery, credentials: selection.credentials, is_cancelled });
            }
        }
    }

    /// Stores the progress of a discovery that a daemon has.
    ///
    /// An update of a discovery that is unknown, has ended, or is not the daemon's stores nothing. If a user has cancelled
    /// it, an update with a final phase confirms the cancellation, and the phase stays `Cancelled`.
    ///
    /// # Errors
    /// `Invalid` for an error of more than 65,536 characters.
    pub async fn update_job(self, caller: &DaemonCaller, update: DiscoveryUpdate) -> Result<(), Error> {
        if update.error.as_ref().is_some_and(|error| error.chars().count() > MAX_ERROR) {
            return Err(Error::invalid("error", Problem::MaxLength { max: MAX_ERROR }));
        }
        let mut transaction = self.inventory.transaction(caller, Entity::Discovery, update.session_id);
        loop {
            let (record, mut daemon) = match self.inventory.own_daemon(caller, update.daemon_id).await {
                Ok(found) => found,
                Err(error) if matches!(error.kind(), ErrorKind::NotFound { .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            let Some((stored, mut discovery)) = self.inventory.handed_out(caller, &update).await? else {
                return Ok(());
            };
            let now = self.inventory.now();
            discovery.apply(&update, now);
            let ended: &[DiscoveryId] = if discovery.is_open() { &[] } else { &[update.session_id] };
            let mut batch = Batch::new();
            let facets = discovery.facets(caller.organization_id);
            batch.put(stored.key, unchanged(Some(&stored)), facets, encode(&discovery)?);
            put_contact(caller, &record, &mut daemon, now, |_| (), &mut batch)?;
            if transaction.commit(batch).await? {
                self.inventory.forget_credentials(ended);
                return Ok(());
            }
        }
    }
}

impl Inventory {
    /// Returns the discovery that an update changes. `None` if the daemon of the update does not have it, or it has ended
    /// and the update confirms no cancellation.
    async fn handed_out(
        &self,
        caller: &DaemonCaller,
        update: &DiscoveryUpdate,
    ) -> Result<Option<Open>, Error> {
        let own = on_network(DISCOVERY, caller.organization_id, caller.network_id);
        let own = Query { ids: Some(vec![update.session_id.uuid()]), ..own };
        let Some(record) = self.store.list(&own).await?.records.pop() else { return Ok(None) };
        let discovery: Discovery = decode(&record)?;
        // A daemon that lost its connection, and whose work was therefore queued again, may go on with it.
        let was_given = discovery.handed_out_at.is_some() || discovery.attempts > 0;
        let is_held = discovery.daemon_id == Some(update.daemon_id) && was_given;
        let is_confirmed = discovery.is_cancelling && update.phase.is_final();
        Ok((is_held && (discovery.is_open() || is_confirmed)).then_some((record, discovery)))
    }

    /// Returns those of the subnets of a status that are on the daemon's network.
    async fn own_subnets_of_status(
        &self,
        caller: &DaemonCaller,
        ids: Option<Vec<SubnetId>>,
    ) -> Result<Option<Vec<SubnetId>>, Error> {
        let Some(interfaced_subnet_ids) = ids else { return Ok(None) };
        let reported = DaemonCapabilities { interfaced_subnet_ids, ..DaemonCapabilities::default() };
        let own = self.own_capabilities(caller, reported, "interfaced_subnets").await?;
        Ok(Some(own.interfaced_subnet_ids))
    }

    /// Returns the discoveries of the network that concern a daemon.
    async fn open_discoveries(&self, caller: &DaemonCaller) -> Result<Vec<Open>, Error> {
        let open = linked(DISCOVERY, caller.organization_id, Link::new(OPEN_LINK, caller.network_id.uuid()));
        let records = self.store.list(&open).await?.records;
        records.into_iter().map(|record| Ok((record.clone(), decode(&record)?))).collect()
    }

    /// Returns the daemons, other than the one that asks, that have open discoveries.
    async fn holders(&self, open: &[Open], asking: DaemonId) -> Result<Holders, Error> {
        let mut keys: Vec<Key> =
            open.iter().filter_map(|(_, open)| open.daemon_id.map(daemon_record_key)).collect();
        keys.retain(|key| key.id != asking.uuid());
        keys.sort_unstable();
        keys.dedup();
        let records = self.store.get(&keys).await?.into_iter().flatten();
        records.map(|record| Ok((record.key.id.into(), (record.clone(), decode(&record)?)))).collect()
    }
}

impl DaemonStatus {
    fn apply(&self, daemon: &mut DiscoveryDaemon, subnets: Option<&[SubnetId]>) {
        if let Some(version) = &self.version {
            daemon.version = Some(version.clone());
        }
        if let Some(has_docker_socket) = self.has_docker_socket {
            daemon.capabilities.has_docker_socket = has_docker_socket;
        }
        if let Some(subnets) = subnets {
            daemon.capabilities.interfaced_subnet_ids = subnets.to_vec();
        }
    }
}

/// Adds discoveries that have changed to a batch.
fn put_all(caller: &DaemonCaller, changed: &[(&Record, Discovery)], batch: &mut Batch) -> Result<(), Error> {
    for (record, discovery) in changed {
        let facets = discovery.facets(caller.organization_id);
        batch.put(record.key, unchanged(Some(record)), facets, encode(discovery)?);
    }
    Ok(())
}

/// Adds to a batch which cancellations a daemon is sent, and which it has confirmed. Returns whether it has to stop.
///
/// An answer may be lost, so that a cancellation is sent again until the daemon has confirmed it. A daemon that does not,
/// such as one that never got the work, must not wait for other work forever.
fn send_cancellations(
    caller: &DaemonCaller,
    open: &[Open],
    (daemon, status): (DaemonId, &DaemonStatus),
    now: Timestamp,
    batch: &mut Batch,
) -> Result<bool, Error> {
    let mut is_cancelled = false;
    let own = open.iter().filter(|(_, open)| open.is_cancelling && open.daemon_id == Some(daemon));
    for (record, cancelled) in own {
        let mut changed = cancelled.clone();
        match cancelled.cancellation_sent_at {
            None => (changed.cancellation_sent_at, changed.updated_at) = (Some(now), now),
            Some(sent_at)
                if status.is_ready == Some(true) || sent_at.plus_micros(LOST_AFTER_MICROS) <= now =>
            {
                changed.end_cancellation(now);
            }
            Some(_) => {}
        }
        is_cancelled |= changed.is_cancelling;
        if changed != *cancelled {
            let facets = changed.facets(caller.organization_id);
            batch.put(record.key, unchanged(Some(record)), facets, encode(&changed)?);
        }
    }
    Ok(is_cancelled)
}

fn hand_out(
    caller: &DaemonCaller,
    record: &Record,
    discovery: &Discovery,
    daemon: DaemonId,
    now: Timestamp,
    batch: &mut Batch,
) -> Result<Discovery, Error> {
    let mut discovery = discovery.clone();
    discovery.reset(now);
    (discovery.daemon_id, discovery.handed_out_at) = (Some(daemon), Some(now));
    discovery.attempts = discovery.attempts.saturating_add(1);
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
        if self.is_cancelling {
            return self.end_cancellation(now);
        }
        (self.phase, self.progress) = (update.phase, update.progress.min(100));
        self.error.clone_from(&update.error);
        self.handed_out_at = self.handed_out_at.or(Some(now));
        self.started_at = update.started_at.or(self.started_at);
        self.finished_at = update.phase.is_final().then(|| update.finished_at.unwrap_or(now));
        self.updated_at = now;
    }
}
