//! The operations of discovery daemons: registering, asking for work, and reporting progress and findings.
//!
//! Every method acts for a [`DaemonCaller`], authenticated by its API key, and reads and writes only records of the key's
//! network. A daemon that another key has registered does not exist.

mod credentials;
mod discoveries;
mod jobs;
mod record;
mod register;
mod subnets;
mod work;

use std::collections::HashSet;

pub(super) use self::credentials::HeldCredentials;
pub use self::discoveries::DiscoveryJobs;
pub(crate) use self::discoveries::MAX_SUBNETS;
pub use self::work::Work;
use super::collections::{CollectionRecord, handle};
use super::schema::{DAEMON, DAEMON_KEY_LINK, decode, encode, on_network};
use super::{Entity, Error, ErrorKind, Inventory, Problem, unchanged};
use crate::access::DaemonCaller;
use crate::discovery::Report;
use crate::inventory::{DiscoverOptions, DiscoveryReport};
use crate::model::{DaemonCapabilities, DaemonId, DiscoveryDaemon, Host, Timestamp};
use crate::store::{Batch, LinkFilter, Query, Record};

/// The maximum number of characters of the version of a daemon.
const MAX_VERSION: usize = 100;

/// The time after which another report of a daemon is recorded, in microseconds.
const REPORT_INTERVAL: i64 = 60 * 1_000_000;

handle! {
    /// The discovery daemons of an organization.
    ///
    /// Users see and delete daemons. Daemons register, ask for work and report for themselves, with the
    /// [`DaemonCaller`] that their API key stands for.
    pub struct Daemons(DiscoveryDaemon) = daemons;
}

impl Daemons<'_> {
    /// Records that a daemon has started, with its version.
    ///
    /// A daemon that starts has lost its work. The work returns to the queue, for the same daemon, or fails with the
    /// error `daemon_restarted` if it has been handed out three times. If the daemon was only disconnected and
    /// continues with it, its next update takes the work back.
    ///
    /// # Errors
    /// `NotFound` unless this key has registered the daemon; `Invalid` for a version of more than 100 characters.
    pub async fn announce(
        self,
        caller: &DaemonCaller,
        id: DaemonId,
        version: &str,
    ) -> Result<DiscoveryDaemon, Error> {
        check_version("daemon_version", Some(version))?;
        let mut transaction = self.inventory.transaction(caller, Entity::Daemon, id);
        loop {
            let (record, mut daemon) = self.inventory.own_daemon(caller, id).await?;
            let mut batch = Batch::new();
            let ended = self.inventory.return_work(caller, id, &mut batch).await?;
            let change = |daemon: &mut DiscoveryDaemon| daemon.version = Some(version.to_owned());
            put_contact(caller, &record, &mut daemon, self.inventory.now(), change, &mut batch)?;
            if transaction.commit(batch).await? {
                self.inventory.forget_credentials(&ended);
                return Ok(daemon);
            }
        }
    }

    /// Replaces the capabilities of a daemon. Subnets that are not on its network are left out.
    ///
    /// # Errors
    /// `NotFound` unless this key has registered the daemon; `Invalid` for more than 1,000 subnets.
    pub async fn update_capabilities(
        self,
        caller: &DaemonCaller,
        id: DaemonId,
        capabilities: DaemonCapabilities,
    ) -> Result<DiscoveryDaemon, Error> {
        let capabilities =
            self.inventory.own_capabilities(caller, capabilities, "interfaced_subnet_ids").await?;
        self.inventory.change_daemon(caller, id, |daemon| daemon.capabilities.clone_from(&capabilities)).await
    }
}

impl Inventory {
    /// Records the time of a daemon's report, at most once a minute. Does nothing for any other id.
    pub(crate) async fn note_daemon_report(&self, caller: &DaemonCaller, id: DaemonId) -> Result<(), Error> {
        let now = self.now();
        let is_recent = |at: Timestamp| at.plus_micros(REPORT_INTERVAL) > now;
        match self.own_daemon(caller, id).await {
            Ok((_, daemon)) if daemon.last_report_at.is_some_and(is_recent) => Ok(()),
            Ok(_) => {
                self.change_daemon(caller, id, |daemon| daemon.last_report_at = Some(now)).await.map(drop)
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Records that a daemon is alive.
    ///
    /// # Errors
    /// `NotFound` unless this key has registered the daemon.
    pub(crate) async fn note_heartbeat(&self, caller: &DaemonCaller, id: DaemonId) -> Result<(), Error> {
        self.change_daemon(caller, id, |_| ()).await.map(drop)
    }

    /// Reads a daemon that this key has registered.
    async fn own_daemon(
        &self,
        caller: &DaemonCaller,
        id: DaemonId,
    ) -> Result<(Record, DiscoveryDaemon), Error> {
        let own = Query {
            ids: Some(vec![id.uuid()]),
            links: vec![LinkFilter::new(DAEMON_KEY_LINK, [caller.key_id.uuid()])],
            ..on_network(DAEMON, caller.organization_id, caller.network_id)
        };
        let record = self.store.list(&own).await?.records.pop();
        let record = record.ok_or(ErrorKind::NotFound { entity: Entity::Daemon, id: id.uuid() })?;
        let daemon = decode(&record)?;
        Ok((record, daemon))
    }

    async fn change_daemon(
        &self,
        caller: &DaemonCaller,
        id: DaemonId,
        change: impl Fn(&mut DiscoveryDaemon) + Send + Sync,
    ) -> Result<DiscoveryDaemon, Error> {
        let mut transaction = self.transaction(caller, Entity::Daemon, id);
        loop {
            let (record, mut daemon) = self.own_daemon(caller, id).await?;
            let mut batch = Batch::new();
            put_contact(caller, &record, &mut daemon, self.now(), &change, &mut batch)?;
            if transaction.commit(batch).await? {
                return Ok(daemon);
            }
        }
    }

    /// Returns capabilities without the subnets that are not on the daemon's network.
    async fn own_capabilities(
        &self,
        caller: &DaemonCaller,
        mut capabilities: DaemonCapabilities,
        field: &str,
    ) -> Result<DaemonCapabilities, Error> {
        let ids = &mut capabilities.interfaced_subnet_ids;
        if ids.len() > MAX_SUBNETS {
            return Err(Error::invalid(field, Problem::MaxLength { max: MAX_SUBNETS }));
        }
        let own = self.own_subnets(caller, ids.clone()).await?;
        let mut seen = HashSet::new();
        ids.retain(|id| own.contains(id) && seen.insert(*id));
        Ok(capabilities)
    }
}

/// Adds a contact of a daemon, and the change that comes with it, to a batch.
fn put_contact(
    caller: &DaemonCaller,
    record: &Record,
    daemon: &mut DiscoveryDaemon,
    now: Timestamp,
    change: impl Fn(&mut DiscoveryDaemon),
    batch: &mut Batch,
) -> Result<(), Error> {
    let mut stored = daemon.clone();
    daemon.is_unreachable = false;
    change(daemon);
    // A report counts as a contact, but does not change `updated_at`.
    stored.last_report_at = daemon.last_report_at;
    if *daemon != stored {
        daemon.updated_at = now;
    }
    daemon.last_seen = now;
    batch.put(record.key, unchanged(Some(record)), daemon.facets(caller.organization_id), encode(daemon)?);
    Ok(())
}

fn check_version(field: &str, version: Option<&str>) -> Result<(), Error> {
    if version.is_some_and(|version| version.chars().count() > MAX_VERSION) {
        return Err(Error::invalid(field, Problem::MaxLength { max: MAX_VERSION }));
    }
    Ok(())
}

impl Daemons<'_> {
    /// Reconciles a report like [`Reconciliation::reconcile`](crate::inventory::Reconciliation::reconcile), on behalf of a
    /// daemon. The network must be the daemon's.
    ///
    /// Existing hosts are never merged: a device that has identities of several is ambiguous.
    ///
    /// # Errors
    /// `AccessDenied` for another network than the daemon's; otherwise those of [`Reconciliation::reconcile`](crate::inventory::Reconciliation::reconcile).
    pub async fn report(
        self,
        daemon: &DaemonCaller,
        report: &Report,
        options: DiscoverOptions,
    ) -> Result<DiscoveryReport, Error> {
        self.inventory.discover_owned_as_daemon(daemon, report.clone(), options).await
    }

    /// Stores a host that a daemon reports, on the network of its key.
    ///
    /// The host is the one with the given id if discovery has made it. Otherwise, it is recognized as in
    /// [`Daemons::report`](crate::inventory::Daemons::report), or is new and keeps its id unless another host has it. The
    /// report is merged into the host as by `report`, the lists as truncated tables. Tags, custom fields, credentials and
    /// neighbors of the report are left out, and so are subnets and virtualizing services that are not on the network.
    /// Subnets follow from addresses, and neighbors from what is reported by LLDP and CDP.
    ///
    /// Returns the host as stored.
    ///
    /// # Errors
    /// - `ReferenceInvalid`: an embedded record refers to nothing within the host.
    /// - `AlreadyExists` with the entity `Port`: two ports share number and protocol.
    /// - `AlreadyExists` with the entity `Host`: the host may be any of several hosts, and none of them was changed.
    /// - `Invalid`, `TooLarge` and `QuotaExceeded`: as for [`Hosts::put`](crate::inventory::Hosts::put).
    /// - `Invalid` with the field `discovery`: the inventory stores hosts [without terms](crate::Inventory::without_host_terms).
    pub async fn report_host(
        self,
        caller: &DaemonCaller,
        host: Host,
        observed_at: Timestamp,
    ) -> Result<Host, Error> {
        self.inventory.discover_host(caller, host, observed_at).await
    }
}
