//! Facts about hosts that follow from the whole network.

use std::collections::{BTreeMap, BTreeSet};

use super::arrange::size::cut_text;
use super::link_facts::{LinkFacts, left_behind, link_facts};
use super::role::{self, RoleReason, RoleSource};
use super::shape::{Node, NodeKind, TextKind};
use super::{GraphInput, HostSummary};
use crate::discovery::report::Capability;
use crate::fair_threads::yield_turn;
use crate::model::{HostId, HostRole, LinkId, NodeId, ServiceId, TagId, Timestamp};
use crate::topology::links::{End, Evidence, Link};

/// The hosts that a graph may show, and the services on them.
pub(super) struct GraphContext<'a> {
    pub(super) input: &'a GraphInput<'a>,
    pub(super) hosts: BTreeMap<HostId, HostFacts<'a>>,
    /// The host of each service, hosts that are not shown included.
    pub(super) service_hosts: BTreeMap<ServiceId, HostId>,
    /// The hosts that other hosts run, each with the one that runs it, whether they are shown or not.
    pub(super) guests: Vec<(HostId, HostId)>,
    /// The properties of each node that follow from its links.
    pub(super) links: BTreeMap<NodeId, LinkFacts>,
    /// The links that are not drawn because a device has left them for another port.
    pub(super) left_behind: BTreeSet<LinkId>,
    /// The number of hosts left out because they are stale.
    pub(super) hidden_stale: usize,
}

/// A host, with facts that the rest of the network says about it.
pub(super) struct HostFacts<'a> {
    pub(super) summary: &'a HostSummary,
    pub(super) role: HostRole,
    pub(super) role_reason: Option<RoleReason>,
    pub(super) stale: bool,
}

impl<'a> GraphContext<'a> {
    pub(super) fn new(input: &'a GraphInput<'a>) -> Self {
        let service_hosts = service_hosts(&input.hosts);
        let guests = guests(&input.hosts, &service_hosts);
        let hypervisors: BTreeSet<HostId> = guests.iter().map(|(_, hypervisor)| *hypervisor).collect();
        let sightings = sightings(&input.links);
        let absences = absences(&input.links);
        let options = input.options;
        let in_vlan = options.vlan.map(|vlan| nodes_in_vlan(input, vlan));
        let mut hidden_stale = 0_usize;
        let mut hosts = BTreeMap::new();
        let mut roles = BTreeMap::new();
        for &summary in &input.hosts {
            yield_turn();
            let capabilities = input.capabilities.get(&summary.id).map_or(&[][..], Vec::as_slice);
            let description = input.descriptions.get(&summary.id).map(String::as_str);
            let has_guests = hypervisors.contains(&summary.id);
            let (role, role_reason) = role_of(summary, (capabilities, description), has_guests);
            roles.insert(summary.id, role);
            let is_in_vlan = in_vlan.as_ref().is_none_or(|nodes| nodes.contains(&summary.id.into()));
            if !has_tag(&summary.tags, &options.tag_ids) || !has_role(role, &options.roles) || !is_in_vlan {
                continue;
            }
            let is_away = absences.get(&summary.id).is_some_and(|gone_at| is_away(summary, *gone_at));
            let seen = sightings.get(&summary.id).copied();
            let stale = is_away || is_stale(summary, seen, input.stale_before);
            if stale && !options.show_stale {
                hidden_stale = hidden_stale.saturating_add(1);
                continue;
            }
            hosts.insert(summary.id, HostFacts { summary, role, role_reason, stale });
        }
        let left_behind = left_behind(&input.links);
        let links = link_facts(input, &roles, &left_behind);
        Self { input, hosts, service_hosts, guests, links, left_behind, hidden_stale }
    }
}

impl HostFacts<'_> {
    /// Returns the node that stands for the host.
    pub(super) fn node(&self) -> Node {
        let address = self.summary.address().map(|address| address.to_string());
        let (label, kind, detail) = match (&self.summary.name, address) {
            (Some(name), detail) => (cut_text(name), TextKind::Name, detail),
            (None, Some(address)) => (address, TextKind::Address, None),
            (None, None) => ("Unnamed".to_owned(), TextKind::Fixed, None),
        };
        let mut node = Node::new(self.summary.id.into(), NodeKind::Host, label, kind);
        node.entity_id = Some(self.summary.id.uuid());
        node.detail = detail;
        node.addresses = self.summary.address_scope();
        node.role = self.role;
        node.role_reason.clone_from(&self.role_reason);
        node.stale = self.stale;
        node.location.clone_from(&self.summary.location);
        node.vendor.clone_from(&self.summary.vendor);
        node.model.clone_from(&self.summary.model);
        node
    }
}

/// Returns whether one of these tags is asked for. Without tags asked for, everything is.
pub(super) fn has_tag(tags: &[TagId], asked: &BTreeSet<TagId>) -> bool {
    asked.is_empty() || tags.iter().any(|tag| asked.contains(tag))
}

/// Returns whether a role is asked for. Without roles asked for, all are.
pub(super) fn has_role(role: HostRole, asked: &BTreeSet<HostRole>) -> bool {
    asked.is_empty() || asked.contains(&role)
}

/// Returns the nodes with a link that carries a VLAN.
fn nodes_in_vlan(input: &GraphInput<'_>, vlan: u16) -> BTreeSet<NodeId> {
    let links = input.links.iter().filter(|link| link.carries(vlan));
    links.flat_map(|link| [link.source.node_id(), link.target.node_id()]).collect()
}

pub(super) fn role_of(
    summary: &HostSummary,
    (capabilities, description): (&[Capability], Option<&str>),
    has_guests: bool,
) -> (HostRole, Option<RoleReason>) {
    let reason = summary.role_reason.as_ref();
    let is_by = |source: RoleSource| reason.is_some_and(|reason| reason.source == source);
    let (is_manual, is_by_service) = (is_by(RoleSource::Manual), is_by(RoleSource::ServiceDefinition));
    if has_guests && !is_manual {
        return (HostRole::Hypervisor, Some(RoleReason::new(RoleSource::Guest, "guests")));
    }
    match role::combine(summary, capabilities) {
        Some((role, reason)) => (role, Some(reason)),
        None if matches!(summary.role, HostRole::Unknown | HostRole::Guest)
            && !is_manual
            && !is_by_service =>
        {
            let described = role::of_neighbor(&[], description);
            described.map_or((summary.role, reason.cloned()), |(role, reason)| (role, Some(reason)))
        }
        None => (summary.role, reason.cloned()),
    }
}

fn service_hosts(hosts: &[&HostSummary]) -> BTreeMap<ServiceId, HostId> {
    let of_host = |host: &&HostSummary| {
        let id = host.id;
        host.services.iter().map(move |service| (service.id, id)).collect::<Vec<_>>()
    };
    hosts.iter().flat_map(of_host).collect()
}

/// Returns the hosts that other hosts run, each with the one that runs it.
fn guests(hosts: &[&HostSummary], service_hosts: &BTreeMap<ServiceId, HostId>) -> Vec<(HostId, HostId)> {
    let guest = |host: &&HostSummary| {
        let hypervisor = service_hosts.get(&host.virtualized_by?)?;
        (*hypervisor != host.id).then_some((host.id, *hypervisor))
    };
    hosts.iter().filter_map(guest).collect()
}

/// Returns when neighbors saw each host last.
fn sightings(links: &[&Link]) -> BTreeMap<HostId, Timestamp> {
    let mut latest = BTreeMap::new();
    for link in links {
        let Some(seen) = link.evidence.iter().filter_map(|evidence| evidence.last_seen).max() else {
            continue;
        };
        for end in [&link.source, &link.target] {
            if let End::Host { host_id, .. } = end {
                let entry = latest.entry(*host_id).or_insert(seen);
                *entry = seen.max(*entry);
            }
        }
    }
    latest
}

/// Returns the time from which each host counts as absent for its neighbors; `None` for hosts with a link that is not stale.
fn absences(links: &[&Link]) -> BTreeMap<HostId, Option<Timestamp>> {
    let mut absences: BTreeMap<HostId, Option<Timestamp>> = BTreeMap::new();
    for link in links {
        let gone_at = link.evidence.iter().filter_map(Evidence::gone_at).max();
        let gone_at = gone_at.filter(|_| link.stale);
        for end in [&link.source, &link.target] {
            if let End::Host { host_id, .. } = end {
                let entry = absences.entry(*host_id).or_insert(gone_at);
                *entry = entry.zip(gone_at).map(|(one, other)| one.max(other));
            }
        }
    }
    absences
}

/// Returns whether no report has shown a host since it is gone for its neighbors.
fn is_away(summary: &HostSummary, gone_at: Option<Timestamp>) -> bool {
    summary.last_seen_at.zip(gone_at).is_some_and(|(seen, gone_at)| seen < gone_at)
}

/// Returns whether a host is stale. A host that no report described was entered by a user, and is never stale.
fn is_stale(summary: &HostSummary, sighting: Option<Timestamp>, before: Option<Timestamp>) -> bool {
    let (Some(seen), Some(before)) = (summary.last_seen_at, before) else { return false };
    sighting.map_or(seen, |sighting| seen.max(sighting)) < before
}
