use std::collections::BTreeMap;

use super::index::{FollowingIndex, Guests, PendingChanges};
use crate::discovery::Claim;
use crate::discovery::reconcile::PortNames;
use crate::inventory::{Inventory, KnownNetwork, NetworkChanges, TopologyRevision};
use crate::model::{Host, HostId, NetworkId, ServiceRoles, Subnet};
use crate::topology::graph::{GraphInput, GraphOptions, HostSummary};
use crate::topology::links::{Device, Links, ManualLink};
use crate::topology::paths::PathIndex;

/// The time in microseconds after which an unreported host is stale: 7 days. A host is unreported if the reports of its
/// network lack it.
const STALE_AFTER_MICROS: i64 = 7 * 24 * 60 * 60 * 1_000_000;

/// The data of a network's records that its topology needs.
#[derive(Debug, Default)]
pub(super) struct NetworkState {
    pub(super) known: KnownNetwork,
    revision: Option<TopologyRevision>,
    /// The number of bytes of the records that the state was made from.
    pub(super) bytes: usize,
    pub(super) links: Links,
    hosts: BTreeMap<HostId, HostSummary>,
    subnets: Vec<Subnet>,
    guests: Guests,
    index: FollowingIndex,
}

/// The data that is kept of a host.
pub(super) struct SummarizedHost {
    device: Device,
    summary: HostSummary,
}

/// The rules of the host application by which hosts are digested.
#[derive(Clone)]
pub(super) struct SummaryRules {
    port_names: PortNames,
    service_roles: ServiceRoles,
}

impl SummaryRules {
    pub(super) fn of(inventory: &Inventory) -> Self {
        Self { port_names: inventory.port_names().clone(), service_roles: inventory.service_roles().clone() }
    }

    /// Digests a host and its claims.
    pub(super) fn summarize(&self, host: &Host, claims: &[Claim]) -> SummarizedHost {
        let device = Device::with_port_names(host, claims, &self.port_names);
        let summary = HostSummary::of(host, claims).with_service_roles(host, &self.service_roles);
        SummarizedHost { device, summary }
    }
}

impl NetworkState {
    /// Returns the number of hosts.
    pub(super) fn len(&self) -> usize {
        self.hosts.len()
    }

    pub(super) fn hosts(&self) -> impl Iterator<Item = &HostSummary> {
        self.hosts.values()
    }

    pub(super) fn subnets(&self) -> &[Subnet] {
        &self.subnets
    }

    /// Returns whether nothing has changed since this revision. A store without revisions always may have changed.
    pub(super) fn is_current(&self, revision: Option<TopologyRevision>) -> bool {
        revision.is_some() && self.revision == revision
    }

    pub(super) fn apply(
        &mut self,
        revision: Option<TopologyRevision>,
        changes: NetworkChanges<SummarizedHost>,
    ) {
        let NetworkChanges { known, bytes, changed, removed, subnets, links } = changes;
        let is_first = self.hosts.is_empty();
        let manual: Vec<ManualLink> = links.iter().map(ManualLink::from).collect();
        let mut pending =
            PendingChanges { are_many: is_first || self.subnets != subnets, ..PendingChanges::default() };
        self.links.remove_all(removed.iter().copied());
        for host in removed {
            let former = self.hosts.remove(&host);
            pending.are_many |= self.guests.replace(former.as_ref(), None);
            pending.hosts.insert(host);
        }
        let mut devices = Vec::with_capacity(changed.len());
        for SummarizedHost { device, summary } in changed {
            // Which hosts are hypervisors follows from their guests.
            pending.are_many |= self.guests.replace(self.hosts.get(&summary.id), Some(&summary));
            pending.hosts.insert(summary.id);
            self.hosts.insert(summary.id, summary);
            devices.push(device);
        }
        if is_first {
            self.links = Links::new(devices, &manual);
        } else {
            self.links.set_all(devices);
            self.links.set_manual(&manual);
        }
        pending.links = self.links.take_changes();
        self.subnets = subnets;
        self.index.note(pending);
        self.known = known;
        self.bytes = bytes;
        self.revision = revision;
    }

    pub(super) fn host(&self, id: HostId) -> Option<&HostSummary> {
        self.hosts.get(&id)
    }

    pub(super) const fn guests(&self) -> &Guests {
        &self.guests
    }

    /// Returns the index of the links, which follows changes.
    pub(super) fn index(&self, network: NetworkId) -> &PathIndex {
        self.index.get(network, self)
    }

    pub(super) fn input<'a>(&'a self, network: NetworkId, options: &'a GraphOptions) -> GraphInput<'a> {
        let mut input = GraphInput::new(network, options);
        input.hosts = self.hosts.values().collect();
        input.subnets = self.subnets.iter().collect();
        input.links = self.links.links().collect();
        input.stubs = self.links.stubs().collect();
        input.segments = self.links.segments().collect();
        input.warnings = self.links.warnings();
        input.crowded_ports = self.links.crowded_ports().collect();
        input.capabilities = self.links.capabilities();
        input.descriptions = self.links.descriptions();
        // Relative to the latest report, so that the graph depends on the records alone.
        let latest = self.hosts.values().filter_map(|host| host.last_seen_at).max();
        input.observed_at = latest;
        input.stale_before = latest.map(|latest| latest.plus_micros(-STALE_AFTER_MICROS));
        input
    }
}
