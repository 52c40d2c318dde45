//! The view of hypervisors and container hosts, and what runs on them.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{HostId, HostRole, NodeId, ServiceId, derived_id};
use crate::topology::graph::arrange::size::cut_text;
use crate::topology::graph::context::GraphContext;
use crate::topology::graph::draft::GraphDraft;
use crate::topology::graph::shape::{Edge, EdgeKind, Node, NodeKind, TextKind};

/// Maximum number of hypervisors around a guest that are drawn as containers of each other.
const MAX_DEPTH: usize = 8;

/// Returns hypervisors and container hosts as containers of their guests and containers.
pub(in crate::topology::graph) fn draft(context: &GraphContext<'_>) -> GraphDraft {
    let mut draft = GraphDraft::default();
    let mut parents = parents(context);
    for (id, facts) in &context.hosts {
        let mut is_container_host = false;
        for service in &facts.summary.services {
            let Some(platform) = service.virtualized_by else { continue };
            is_container_host = true;
            draft.add(service_node(service.id, &service.name, *id));
            connect_platform(&mut draft, context, platform, service.id, *id);
        }
        let is_guest = facts.summary.virtualized_by.is_some();
        if is_container_host || is_guest || facts.role == HostRole::Hypervisor {
            draft.add(facts.node());
        }
    }
    let not_nested = limit_depth(&mut parents);
    for (guest, owner) in &not_nested {
        if let Some(facts) = context.hosts.get(owner) {
            draft.nodes.entry((*owner).into()).or_insert_with(|| facts.node());
            draft.connect(hosting((*owner).into(), (*guest).into()));
        }
    }
    draft.warn_count("guests_not_nested", not_nested.len());
    // The platform of a guest may be a host that is nothing else.
    for (guest, owner) in &parents {
        if let Some(facts) = context.hosts.get(owner) {
            draft.nodes.entry((*owner).into()).or_insert_with(|| facts.node());
        }
        if let Some(node) = draft.nodes.get_mut(&NodeId::from(*guest)) {
            node.parent_id = Some((*owner).into());
        }
    }
    let not_shown = context.hosts.keys().filter(|id| !draft.nodes.contains_key(&NodeId::from(**id))).count();
    draft.warn_count("hosts_without_workloads", not_shown);
    draft
}

/// Returns the host that runs each guest. Of hosts that run each other in a circle, one is left on the outside.
fn parents(context: &GraphContext<'_>) -> BTreeMap<HostId, HostId> {
    let owner = |id: &HostId| {
        let service = context.hosts.get(id)?.summary.virtualized_by?;
        let owner = *context.service_hosts.get(&service)?;
        (owner != *id && context.hosts.contains_key(&owner)).then_some(owner)
    };
    let mut parents: BTreeMap<HostId, HostId> =
        context.hosts.keys().filter_map(|id| owner(id).map(|owner| (*id, owner))).collect();
    let mut checked = BTreeSet::new();
    let ids: Vec<HostId> = parents.keys().copied().collect();
    for start in ids {
        let mut path = BTreeSet::new();
        let mut current = start;
        while !checked.contains(&current) && path.insert(current) {
            match parents.get(&current) {
                Some(owner) => current = *owner,
                None => break,
            }
        }
        if !checked.contains(&current) && path.contains(&current) && parents.contains_key(&current) {
            parents.remove(&current);
        }
        checked.extend(path);
    }
    parents
}

/// Removes the parents of guests that would be in more containers than are drawn within each other. Returns these guests
/// with their parents.
fn limit_depth(parents: &mut BTreeMap<HostId, HostId>) -> Vec<(HostId, HostId)> {
    let mut depths: BTreeMap<HostId, usize> = BTreeMap::new();
    let mut removed = Vec::new();
    let guests: Vec<HostId> = parents.keys().copied().collect();
    for guest in guests {
        // No host is within itself, so that each path ends.
        let mut path = Vec::new();
        let mut next = Some(guest);
        while let Some(host) = next.filter(|host| !depths.contains_key(host)) {
            path.push(host);
            next = parents.get(&host).copied();
        }
        for host in path.into_iter().rev() {
            let owner = parents.get(&host).copied();
            let above = owner.and_then(|owner| depths.get(&owner).copied());
            let depth = above.map_or(0, |above| above.saturating_add(1));
            if let Some(owner) = owner.filter(|_| depth > MAX_DEPTH) {
                parents.remove(&host);
                removed.push((host, owner));
                depths.insert(host, 0);
            } else {
                depths.insert(host, depth);
            }
        }
    }
    removed
}

fn hosting(owner: NodeId, guest: NodeId) -> Edge {
    let id = derived_id("topology hosts", &[owner.as_bytes(), guest.as_bytes()]);
    Edge::new(id, EdgeKind::Hosts, owner, guest)
}

fn service_node(id: ServiceId, name: &str, host: HostId) -> Node {
    let mut node = if name.trim().is_empty() {
        Node::new(id.into(), NodeKind::Service, "Container".to_owned(), TextKind::Fixed)
    } else {
        Node::new(id.into(), NodeKind::Service, cut_text(name), TextKind::Name)
    };
    node.entity_id = Some(id.uuid());
    node.parent_id = Some(host.into());
    node
}

/// Connects a container with its platform if that runs on another host. The container's own host is the one that it is
/// recorded on.
fn connect_platform(
    draft: &mut GraphDraft,
    context: &GraphContext<'_>,
    platform: ServiceId,
    service: ServiceId,
    host: HostId,
) {
    let Some(owner) = context.service_hosts.get(&platform).filter(|owner| **owner != host) else { return };
    if let Some(facts) = context.hosts.get(owner) {
        draft.nodes.entry((*owner).into()).or_insert_with(|| facts.node());
        draft.connect(hosting((*owner).into(), service.into()));
    }
}
