//! The index of the links of a network, for questions. It is made for the first question, and then follows changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::state::NetworkState;
use crate::fair_threads::yield_turn;
use crate::model::{HostId, LinkId, NetworkId, NodeId, ServiceId, TopologyView};
use crate::topology::graph::{GraphOptions, HostSummary, NetworkNode, left_behind, network_host};
use crate::topology::links::{End, Link, LinkChanges};
use crate::topology::paths::{ChangedNode, IndexChanges, IndexedHost, PathIndex};

/// The index of the links of a network.
#[derive(Debug, Default)]
pub(super) struct FollowingIndex {
    current: OnceLock<PathIndex>,
    /// The index before the changes that it has not followed yet.
    former: Mutex<Option<(PathIndex, PendingChanges)>>,
}

/// The ids of records that have changed.
#[derive(Debug, Default)]
pub(super) struct PendingChanges {
    pub(super) hosts: BTreeSet<HostId>,
    pub(super) links: LinkChanges,
    /// Whether everything may have changed.
    pub(super) are_many: bool,
}

impl PendingChanges {
    fn len(&self) -> usize {
        self.hosts.len() + self.links.links.len() + self.links.announced.len()
    }

    fn add(&mut self, later: Self) {
        self.hosts.extend(later.hosts);
        self.links.links.extend(later.links.links);
        self.links.announced.extend(later.links.announced);
        self.links.has_other_virtual_routers |= later.links.has_other_virtual_routers;
        self.are_many |= later.are_many;
    }
}

impl FollowingIndex {
    /// Notes changes, for the next question.
    pub(super) fn note(&mut self, changes: PendingChanges) {
        let former = self.former.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = self.current.take() {
            *former = Some((index, PendingChanges::default()));
        }
        if let Some((_, pending)) = former {
            pending.add(changes);
        }
        let is_obsolete = |(index, pending): &(PathIndex, PendingChanges)| {
            pending.are_many || pending.len() > index.node_count() + index.link_count()
        };
        if former.as_ref().is_some_and(is_obsolete) {
            *former = None;
        }
    }

    /// Returns the index of a state, which has all noted changes.
    pub(super) fn get(&self, network: NetworkId, state: &NetworkState) -> &PathIndex {
        self.current.get_or_init(|| {
            let former = self.former.lock().unwrap_or_else(PoisonError::into_inner).take();
            let followed = former.and_then(|(mut index, pending)| {
                let changes = state.index_changes(&index, pending);
                index.follow(changes).then_some(index)
            });
            followed.unwrap_or_else(|| state.new_index(network))
        })
    }
}

/// The hosts that are guests, by the service that runs them.
#[derive(Debug, Default)]
pub(super) struct Guests(BTreeMap<ServiceId, BTreeSet<HostId>>);

impl Guests {
    /// Takes a host in the place of a former one. Returns whether it runs elsewhere, or runs others than before.
    pub(super) fn replace(&mut self, former: Option<&HostSummary>, host: Option<&HostSummary>) -> bool {
        let platforms = |host: Option<&HostSummary>| -> BTreeSet<ServiceId> {
            let services = host.map_or(&[][..], |host| &host.services).iter().map(|service| service.id);
            services.filter(|service| self.0.contains_key(service)).collect()
        };
        let runs_others = !self.0.is_empty() && platforms(former) != platforms(host);
        let service =
            |host: Option<&HostSummary>| host.and_then(|host| Some((host.virtualized_by?, host.id)));
        let (before, after) = (service(former), service(host));
        if let Some((service, guest)) = before
            && let Some(guests) = self.0.get_mut(&service)
        {
            guests.remove(&guest);
            if guests.is_empty() {
                self.0.remove(&service);
            }
        }
        if let Some((service, guest)) = after {
            self.0.entry(service).or_default().insert(guest);
        }
        runs_others || before != after
    }

    /// Returns whether services of a host run others.
    fn are_on(&self, host: &HostSummary) -> bool {
        let guests = host.services.iter().filter_map(|service| self.0.get(&service.id));
        guests.flatten().any(|guest| *guest != host.id)
    }
}

impl NetworkState {
    fn new_index(&self, network: NetworkId) -> PathIndex {
        let options = GraphOptions::new(TopologyView::L2);
        let mut input = self.input(network, &options);
        // Pictures show none of this.
        input.bridges = self.links.bridges().collect();
        input.routes = self.links.routes();
        input.virtual_routers = self.links.virtual_routers();
        PathIndex::new(&input)
    }

    /// Returns the present state of everything that may differ from an index.
    fn index_changes(&self, index: &PathIndex, pending: PendingChanges) -> IndexChanges<'_> {
        let PendingChanges {
            hosts,
            links: LinkChanges { mut links, announced, has_other_virtual_routers },
            ..
        } = pending;
        let mut nodes: BTreeSet<NodeId> = hosts.into_iter().map(NodeId::from).chain(announced).collect();
        let changed: Vec<LinkId> = links.iter().copied().collect();
        for id in changed {
            yield_turn();
            let present = self.links.get(id).map(|link| [link.source.node_id(), link.target.node_id()]);
            let ends = index.ends(id).into_iter().chain(present).flatten();
            nodes.extend(ends.filter(|end| !self.has_host(*end)));
        }
        // A device that is no host leaves a link behind, or comes back to it, when another link of it changes.
        for node in nodes.iter().filter(|node| !self.has_host(**node)) {
            links.extend(index.links_at(*node));
        }
        // A link is left behind by the device that is no host, whatever changes at the other end.
        let is_changed = |end: &End| matches!(end, End::Stub { id, .. } if nodes.contains(id));
        let is_at_changed = |id: &LinkId| {
            let link = self.links.get(*id);
            link.is_some_and(|link| is_changed(&link.source) || is_changed(&link.target))
        };
        links.extend(index.left_behind().filter(is_at_changed));
        let present: Vec<&Link> = links.iter().filter_map(|id| self.links.get(*id)).collect();
        let left_behind = left_behind(&present).into_iter().collect();
        IndexChanges {
            nodes: nodes.into_iter().map(|id| (id, self.changed_node(id))).collect(),
            links: links.into_iter().map(|id| (id, self.links.get(id))).collect(),
            left_behind,
            virtual_routers: has_other_virtual_routers.then(|| self.links.virtual_routers()),
            subnets: self.subnets().iter().map(|subnet| (subnet.id, subnet.cidr)).collect(),
        }
    }

    fn has_host(&self, node: NodeId) -> bool {
        self.host(HostId::from(node.uuid())).is_some()
    }

    fn changed_node(&self, id: NodeId) -> Option<ChangedNode<'_>> {
        yield_turn();
        let host_id = HostId::from(id.uuid());
        if let Some(summary) = self.host(host_id) {
            let (announced, description) = self.links.announced_of(host_id);
            let node = network_host(summary, (&announced, description), self.guests().are_on(summary));
            let (routes, has_bridge_tables) = (self.links.routes_of(host_id), self.links.is_bridge(host_id));
            let host = IndexedHost { summary, announced, has_bridge_tables, routes };
            return Some(ChangedNode { node, host: Some(host) });
        }
        let stub = self.links.stub_with(id).map(NetworkNode::from);
        stub.or_else(|| self.links.segment_with(id).map(NetworkNode::from)).map(ChangedNode::other)
    }
}
