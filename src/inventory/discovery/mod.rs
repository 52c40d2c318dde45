//! Discovery: reports of scanners, devices and daemons become hosts and claims.
//!
//! For each device of a report: the hosts that share an identity with it are looked up by terms ([`index`]), the device
//! is recognized among them, its values are merged into its host ([`plan`]), and host, state and claims are committed
//! together ([`device`]). Then the neighbors of the ports are resolved, for the hosts of the report and for those whose
//! claims name them ([`neighbors`]), and hosts that are known by addresses only get the MAC addresses that neighbor
//! caches state ([`caches`]). Every other change of hosts is followed in the same way ([`neighbors::follow`]), as one
//! of its [effects](super::effects).
//!
//! Beside a host, discovery stores ([`records`]):
//! - its *state*: the host as discovery wrote it last, the edits and deletions of users, and the time at which each
//!   part was seen,
//! - its *claims*: a table of each kind with the rows that it reported and that are not superseded.

mod caches;
mod claims;
mod consolidate;
mod device;
mod duplicates;
mod index;
mod known_host;
mod neighbors;
mod overlay;
mod plan;
mod records;
mod report;
mod reported;
mod several;
mod split;
mod stale;
mod subnets;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

#[cfg(feature = "topology")]
pub(in crate::inventory) use consolidate::absorb::Replaced;
#[cfg(feature = "topology")]
pub(in crate::inventory) use records::{claim_of, host_of_claim};
pub use report::DiscoverOptions;
pub use several::ReconcileAllError;

pub(in crate::inventory) use self::caches::NeighborCaches;
use self::duplicates::Duplicates;
use self::known_host::DecodedHosts;
use self::overlay::Overlay;
use self::plan::Role;
pub(in crate::inventory) use self::reported::given_ids;
use self::subnets::Subnets;
pub(in crate::inventory) use self::subnets::put_deleted_subnet;
use super::collections::handle;
use super::history::Recording;
use super::hosts::HostTerms;
use super::policy::{Actor, Review};
use super::records::belongs_to;
use super::schema::network_key;
use super::{Entity, Error, ErrorKind, Inventory, Problem, require_level};
use crate::access::{Caller, DaemonCaller};
use crate::discovery::Report;
use crate::discovery::reconcile::{Identity, Merging, described_prefixes, join_pieces};
use crate::discovery::report::{Device, PortRange, Reporter};
use crate::invariant::Invariant;
use crate::model::{Cidr, HostId, NetworkId, OrganizationId, Permission, Timestamp};
use crate::wire::DiscoveryReport;

/// Number of devices after which neighbors are resolved.
const DEVICES_PER_CHUNK: usize = 64;

handle! {
    /// Discovery: reports of scanners, devices and daemons, and the hosts that they become.
    pub struct Reconciliation = discovery;
}

impl Reconciliation<'_> {
    /// Reconciles a report with the hosts of a network, on behalf of a caller.
    ///
    /// The caller must be a Member or above who can access the network.
    ///
    /// Each device is recognized by its id, serial number, chassis id, MAC addresses, IP addresses or name, in this
    /// order, and only if exactly one host matches. A device that no host matches becomes a new host; one that several
    /// match is ambiguous and changes nothing. A device that no host matches is ignored if the report has nothing of it
    /// but an id or a name, and tables about other devices: an ARP cache, a forwarding database, or VLANs of interfaces
    /// of which only the names are known. Other hosts that the device matches are merged into its host if the device
    /// has every identity of both, if they have only addresses or the unique name of the device, or if no value of both
    /// differs. Warnings state each merge, and why a host with a common value is another device.
    ///
    /// Values and parts that users have changed or deleted stay as they are, and so does everything that users have set in
    /// a host with the source `Manual`; reports fill the rest. A complete table replaces the former claim of its kind, and a truncated one adds to it.
    /// Interfaces, ports and entries that a complete table lacks are kept: they are stale after three such tables, and
    /// [`Reconciliation::delete_stale`](crate::inventory::Reconciliation::delete_stale) deletes them. A report that is repeated writes nothing.
    ///
    /// Elements of a scan that describe one device are joined: those with an address in common, and those with a MAC
    /// address in common and no different names.
    ///
    /// Subnets with the prefixes of the devices' own addresses are created with the source `Discovery`, unless the network
    /// has them or a user has deleted them. Every interface of the network gets the smallest subnet that contains its
    /// address, unless a user has set another.
    ///
    /// Hosts and their parts get the hour of the latest report that shows them. Hosts of the network that no report has
    /// shown in the seven days before this one become stale, at most 1,024 of them by one report.
    ///
    /// An IP address, a MAC address or a name of a device that two hosts of the network have is stated in a warning.
    ///
    /// Each device is one commit. A device that cannot be stored, for example because a quota is exhausted, is ignored,
    /// with the reason. After an error, and if the future is dropped, the devices that were committed before stay
    /// stored. Repeating the report completes it. A time of observation in the future counts as the present.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// use toposcope::access::{Caller, Scope};
    /// use toposcope::discovery::report::{Device, Report, Reporter};
    /// use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome};
    /// use toposcope::model::{Permission, Timestamp, UserId};
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.organizations().create("Example").await?;
    /// let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::only([network.id]));
    ///
    /// let mut switch = Device::default();
    /// switch.sys_name = Some("core-1".to_owned());
    /// switch.serial_number = Some("FOC1234X0AB".to_owned());
    /// let mut report = Report::new(Reporter::new("collector"), Timestamp::now());
    /// report.devices.push(switch);
    ///
    /// let options = DiscoverOptions::new(network.id);
    /// let answer = inventory.discovery().reconcile(&caller, &report, options).await?;
    /// assert_eq!(answer.hosts[0].outcome, DiscoveryOutcome::Created);
    /// let answer = inventory.discovery().reconcile(&caller, &report, options).await?;
    /// assert_eq!(answer.hosts[0].outcome, DiscoveryOutcome::Unchanged);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below Member.
    /// - `NotFound`: there is no such network, or it belongs to another organization.
    /// - `AccessDenied`: the caller cannot access the network.
    /// - `Invalid` with the field `discovery`: the inventory stores hosts [without terms](crate::Inventory::without_host_terms).
    /// - `Busy`: too much work of the organization is waiting.
    pub async fn reconcile(
        self,
        caller: &Caller,
        report: &Report,
        options: DiscoverOptions,
    ) -> Result<DiscoveryReport, Error> {
        self.inventory.discover_owned(caller, report.clone(), options).await
    }
}

impl Inventory {
    /// Reconciles a report like [`Reconciliation::reconcile`](crate::inventory::Reconciliation::reconcile), without a copy of it.
    pub(crate) async fn discover_owned(
        &self,
        caller: &Caller,
        report: Report,
        options: DiscoverOptions,
    ) -> Result<DiscoveryReport, Error> {
        self.check_reporting(caller, options).await?;
        self.run_discovery(Reporting::Caller(caller.clone()), report, options, Merging::Allowed).await
    }

    /// Checks that a caller may report devices of a network.
    async fn check_reporting(&self, caller: &Caller, options: DiscoverOptions) -> Result<(), Error> {
        require_level(caller, Permission::Member)?;
        self.check_discovered_network(caller.organization_id(), options.network_id).await?;
        match caller.scope().allows(options.network_id) {
            true => Ok(()),
            false => Err(network_denied(options.network_id)),
        }
    }

    /// Reconciles a report like [`Daemons::report`](crate::inventory::Daemons::report), without a copy of it.
    pub(crate) async fn discover_owned_as_daemon(
        &self,
        daemon: &DaemonCaller,
        report: Report,
        options: DiscoverOptions,
    ) -> Result<DiscoveryReport, Error> {
        if options.network_id != daemon.network_id {
            return Err(network_denied(options.network_id));
        }
        self.check_discovered_network(daemon.organization_id, daemon.network_id).await?;
        self.run_discovery(Reporting::Daemon(*daemon), report, options, Merging::Forbidden).await
    }

    async fn check_discovered_network(
        &self,
        organization: OrganizationId,
        id: NetworkId,
    ) -> Result<(), Error> {
        let record = self.get(network_key(id)).await?;
        if belongs_to(organization, record.as_ref())? {
            return Ok(());
        }
        Err(ErrorKind::NotFound { entity: Entity::Network, id: id.uuid() }.into())
    }

    async fn run_discovery(
        &self,
        sender: Reporting,
        report: Report,
        options: DiscoverOptions,
        merging: Merging,
    ) -> Result<DiscoveryReport, Error> {
        let answers = self.run_discoveries(sender, vec![report], options, merging).await?;
        Ok(answers.into_iter().next().asserted_or_default())
    }

    fn begin_discovery(
        &self,
        sender: Reporting,
        report: &Report,
        options: DiscoverOptions,
        merging: Merging,
    ) -> Result<Reconciler, Error> {
        if self.host_terms == HostTerms::None {
            return Err(Error::invalid("discovery", Problem::Unsupported));
        }
        let mut inventory = self.clone();
        if options.dry_run {
            inventory.store = Arc::new(Overlay::new(Arc::clone(&self.store)));
            inventory.policy = inventory.policy.map(Review::of_dry_run);
            inventory.recording = Recording::DryRun;
        }
        inventory.policy = inventory.policy.map(Review::of_request);
        // The overlay has versions of its own.
        let caches = match options.dry_run {
            true => Arc::default(),
            false => Arc::clone(&self.state.neighbor_caches),
        };
        let network = options.network_id;
        Ok(Reconciler {
            organization: sender.actor().organization_id(),
            sender,
            network,
            merging,
            reporter: report.reporter.clone(),
            scanned_ports: PortRange::merged(&report.scanned_ports).into(),
            observed_at: report.observed_at.min(inventory.now()),
            subnets: Subnets::default(),
            decoded: DecodedHosts::default(),
            unresolved: 0,
            affected_identities: BTreeSet::new(),
            affected_hosts: BTreeSet::new(),
            prefixes: BTreeSet::new(),
            addresses: BTreeSet::new(),
            caches,
            duplicates: Duplicates::default(),
            answer: several::begun_answer(report, options.dry_run),
            inventory,
        })
    }
}

/// The sender of a report.
#[derive(Clone, Debug)]
enum Reporting {
    Caller(Caller),
    Daemon(DaemonCaller),
}

impl Reporting {
    const fn actor(&self) -> Actor<'_> {
        match self {
            Self::Caller(caller) => Actor::Caller(caller),
            Self::Daemon(daemon) => Actor::Daemon(daemon),
        }
    }
}

/// Reconciles reports with the hosts of a network, one after the other.
#[derive(Debug)]
struct Reconciler {
    inventory: Inventory,
    sender: Reporting,
    organization: OrganizationId,
    network: NetworkId,
    merging: Merging,
    reporter: Reporter,
    scanned_ports: Arc<[PortRange]>,
    observed_at: Timestamp,
    /// The subnets that have been looked up, anew for every chunk of devices.
    subnets: Subnets,
    decoded: DecodedHosts,
    /// The number of devices since neighbors were resolved.
    unresolved: usize,
    /// The identities that have appeared or disappeared. Hosts whose claims name them may have other neighbors.
    affected_identities: BTreeSet<Identity>,
    /// The hosts of the report whose own neighbors are to be resolved.
    affected_hosts: BTreeSet<HostId>,
    /// The prefixes of addresses whose interfaces only the hosts describe.
    prefixes: BTreeSet<Cidr>,
    /// The addresses whose hosts may have other MAC addresses by neighbor caches.
    addresses: BTreeSet<IpAddr>,
    caches: Arc<NeighborCaches>,
    duplicates: Duplicates,
    answer: DiscoveryReport,
}

impl Reconciler {
    /// Discovers the devices of a report. Unless it `is_last`, the neighbors of a few devices wait for those of the next report.
    async fn run(
        &mut self,
        devices: Vec<Device>,
        create_neighbors: bool,
        is_last: bool,
    ) -> Result<(), Error> {
        let mut devices = join_pieces(devices).into_owned().into_iter();
        let mut naming = Vec::new();
        loop {
            let devices: Vec<Device> = devices.by_ref().take(DEVICES_PER_CHUNK).collect();
            if devices.is_empty() {
                break;
            }
            if self.unresolved == 0 {
                self.subnets = Subnets::default();
            }
            self.unresolved += devices.len();
            // First, so that new hosts are stored with their subnets.
            let prefixes = devices.iter().flat_map(|device| described_prefixes(&device.tables)).collect();
            self.learn_subnets(prefixes).await?;
            // Each device is dropped once it is stored, apart from the tables that name others.
            for device in devices.into_iter().map(Arc::new) {
                self.discover_device(Arc::clone(&device), Role::Reported).await?;
                if create_neighbors {
                    naming.extend(index::naming_tables(Arc::unwrap_or_clone(device).tables));
                }
            }
            let prefixes = std::mem::take(&mut self.prefixes);
            self.learn_subnets(prefixes).await?;
            if is_last || self.unresolved >= DEVICES_PER_CHUNK {
                self.resolve_neighbors().await?;
            }
        }
        if !self.answer.dry_run {
            self.mark_stale_hosts().await?;
        }
        for tables in naming {
            for neighbor in index::devices_named_by(&tables) {
                self.discover_device(Arc::new(neighbor), Role::Neighbor).await?;
            }
            if is_last {
                self.resolve_neighbors().await?;
            }
        }
        Ok(())
    }

    /// Resolves the neighbors that may have changed.
    async fn resolve_neighbors(&mut self) -> Result<(), Error> {
        self.unresolved = 0;
        let identities = std::mem::take(&mut self.affected_identities);
        let hosts = std::mem::take(&mut self.affected_hosts);
        let place = (self.organization, self.network);
        let resolved = self.inventory.resolve_all(place, &identities, hosts.clone(), &mut self.decoded).await;
        if resolved.is_err() {
            // They are resolved once more after the last report.
            self.affected_identities.extend(identities);
            self.affected_hosts.extend(hosts);
        }
        resolved
    }
}

fn network_denied(id: NetworkId) -> Error {
    ErrorKind::AccessDenied { entity: Entity::Network, id: id.uuid() }.into()
}
