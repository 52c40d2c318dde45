//! Follows changes of a network: the rest of the index stays as it is.
//!
//! If no node and no link comes or leaves, links and VLANs take time in proportion to the changes, and names one pass over all. If an address
//! changes, the addresses are read again. Otherwise the numbers of all others move, which takes one pass over each list. Paths from the top and cuts are found anew only if the change can alter them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::addresses::{FoundAddress, addresses_of_host};
use super::adjacency::steps_of;
use super::renumber::{NONE, Renumbering, insert_sorted};
use super::{Derived, Forwarding, PathIndex, PathLink, PathNode, PathStep};
use crate::discovery::report::Capability;
use crate::model::{Cidr, LinkId, NodeId, SubnetId};
use crate::topology::graph::{HostSummary, NetworkNode};
use crate::topology::links::{Link, RoutingTable, VirtualRouter};
use crate::topology::paths::lookup::{NodeName, by_name};

/// The number of sets of VLANs that no link has any more, beyond the number of links.
const MAX_UNUSED_SETS: usize = 1_024;

/// The changes of a network since an index was made.
#[derive(Debug, Default)]
pub(in crate::topology) struct IndexChanges<'a> {
    /// The nodes that may have changed; `None` for those that left.
    pub(in crate::topology) nodes: BTreeMap<NodeId, Option<ChangedNode<'a>>>,
    /// The links that may have changed; `None` for those that left.
    pub(in crate::topology) links: BTreeMap<LinkId, Option<&'a Link>>,
    /// The links above that devices have left behind for another port.
    pub(in crate::topology) left_behind: Vec<LinkId>,
    /// The virtual routers, if they may have changed.
    pub(in crate::topology) virtual_routers: Option<Vec<VirtualRouter>>,
    /// The stored subnets.
    pub(in crate::topology) subnets: BTreeMap<SubnetId, Cidr>,
}

/// A node as it is now.
#[derive(Debug)]
pub(in crate::topology) struct ChangedNode<'a> {
    pub(in crate::topology) node: NetworkNode,
    pub(in crate::topology) host: Option<IndexedHost<'a>>,
}

/// A host as it is now.
#[derive(Debug)]
pub(in crate::topology) struct IndexedHost<'a> {
    pub(in crate::topology) summary: &'a HostSummary,
    pub(in crate::topology) announced: Vec<Capability>,
    pub(in crate::topology) has_bridge_tables: bool,
    pub(in crate::topology) routes: Option<Arc<RoutingTable>>,
}

/// The parts that a change of nodes affects.
#[derive(Debug, Default)]
struct Affected {
    /// Whether paths from the top and cuts may differ.
    has_other_shape: bool,
    has_other_routers: bool,
}

impl PathIndex {
    /// Returns the ends of a link, as the index knows it.
    pub(in crate::topology) fn ends(&self, link: LinkId) -> Option<[NodeId; 2]> {
        let link = self.link(self.link_number(link)?);
        Some([link.source, link.target].map(|end| self.node(end).id))
    }

    /// Returns the links at a node, without those that were left behind.
    pub(in crate::topology) fn links_at(&self, node: NodeId) -> impl Iterator<Item = LinkId> {
        let steps = self.number(node).map_or(&[][..], |node| self.steps(node));
        steps.iter().map(|step| self.link(step.link).id)
    }

    /// Returns the links that devices have left behind for another port.
    pub(in crate::topology) fn left_behind(&self) -> impl Iterator<Item = LinkId> {
        self.left_behind.iter().copied()
    }

    /// Follows changes. Returns whether that is possible; otherwise the index has to be made anew.
    pub(in crate::topology) fn follow(&mut self, changes: IndexChanges<'_>) -> bool {
        let size = self.nodes.len() + self.links.len();
        let is_small = (changes.nodes.len() + changes.links.len()) * 8 <= size;
        if !is_small || self.vlan_sets.len() > self.links.len() + MAX_UNUSED_SETS {
            return false;
        }
        let IndexChanges { nodes, links, left_behind, virtual_routers, subnets } = changes;
        for id in links.keys() {
            self.left_behind.remove(id);
        }
        self.left_behind.extend(&left_behind);
        let mut affected = Affected::default();
        let numbers = self.change_nodes(nodes, &subnets, &mut affected);
        self.change_links(links, numbers, &mut affected);
        if let Some(routers) = virtual_routers.filter(|routers| *routers != self.routers.virtual_routers) {
            self.routers.virtual_routers = routers;
            affected.has_other_routers = true;
        }
        if affected.has_other_routers {
            self.find_routers();
        }
        if affected.has_other_shape {
            self.derived = Derived::default();
        }
        true
    }

    /// Changes the nodes, with their names, addresses and routes. Returns their new numbers if any moved; links have the former ones.
    fn change_nodes(
        &mut self,
        changes: BTreeMap<NodeId, Option<ChangedNode<'_>>>,
        subnets: &BTreeMap<SubnetId, Cidr>,
        affected: &mut Affected,
    ) -> Option<Renumbering> {
        let (mut removed, mut changed, mut added) = (Vec::new(), Vec::new(), Vec::new());
        let mut hosts: Vec<(NodeId, IndexedHost<'_>)> = Vec::new();
        for (id, node) in changes {
            let known = self.number(id);
            changed.extend(known);
            let Some(ChangedNode { node, host }) = node else {
                removed.extend(known);
                continue;
            };
            let forwarding =
                host.as_ref().map(|host| Forwarding::of(host.has_bridge_tables, &host.announced));
            let node = PathNode::new(node, forwarding.unwrap_or_default());
            hosts.extend(host.map(|host| (id, host)));
            match known {
                Some(number) => {
                    affected.has_other_shape |= !self.node(number).is_equivalent(&node);
                    self.is_transit[number as usize] = node.is_transit();
                    self.nodes[number as usize] = node;
                }
                None => added.push(node),
            }
        }
        let has_moved = !removed.is_empty() || !added.is_empty();
        affected.has_other_shape |= has_moved;
        let numbers =
            has_moved.then(|| Renumbering::splice(&mut self.nodes, &removed, added, |node| node.id));
        if has_moved {
            self.is_transit.clear();
            self.is_transit.extend(self.nodes.iter().map(PathNode::is_transit));
        }
        self.change_names(&changed, &hosts, numbers.as_ref());
        self.change_addresses(&changed, &hosts, subnets, numbers.as_ref(), affected);
        self.change_routes(&removed, hosts, numbers.as_ref(), affected);
        numbers
    }

    fn change_names(
        &mut self,
        changed: &[u32],
        hosts: &[(NodeId, IndexedHost<'_>)],
        numbers: Option<&Renumbering>,
    ) {
        let is_changed = |node: u32| changed.binary_search(&node).is_ok();
        let new_number = |node: u32| numbers.map_or(node, |numbers| numbers.to_new[node as usize]);
        let mut names: Vec<NodeName> = Vec::new();
        for (id, host) in hosts {
            let Some(number) = self.number(*id) else { continue };
            names.extend(host.summary.names.iter().map(|name| (name.as_str().into(), number)));
        }
        names.sort_unstable_by(by_name);
        names.dedup();
        let former = self.names.iter().filter(|(_, node)| is_changed(*node));
        let is_same = former
            .map(|(name, node)| (name, new_number(*node)))
            .eq(names.iter().map(|(name, node)| (name, *node)));
        if !is_same {
            self.names.retain(|(_, node)| !is_changed(*node));
        }
        if numbers.is_some() {
            self.names.iter_mut().for_each(|(_, node)| *node = new_number(*node));
        }
        if !is_same {
            insert_sorted(&mut self.names, names, by_name);
        }
    }

    fn change_addresses(
        &mut self,
        changed: &[u32],
        hosts: &[(NodeId, IndexedHost<'_>)],
        subnets: &BTreeMap<SubnetId, Cidr>,
        numbers: Option<&Renumbering>,
        affected: &mut Affected,
    ) {
        let number = |id: NodeId| self.number(id);
        let found = hosts.iter().filter_map(|(id, host)| Some((number(*id)?, host.summary)));
        let found: Vec<FoundAddress> =
            found.flat_map(|(number, summary)| addresses_of_host(number, summary, subnets)).collect();
        let new_number = |node: u32| numbers.map_or(node, |numbers| numbers.to_new[node as usize]);
        let former = changed.iter().flat_map(|node| self.addresses.found_of(*node));
        let is_same = former.map(|(node, ip, net)| (new_number(*node), *ip, *net)).eq(found.iter().copied());
        affected.has_other_routers |= !is_same || numbers.is_some();
        match numbers {
            Some(numbers) if is_same => self.addresses.renumber(&numbers.to_new),
            None if is_same => {}
            Some(numbers) => self.addresses.replace(changed, &numbers.to_new, found),
            None => {
                let same: Vec<u32> = (0..).take(self.nodes.len()).collect();
                self.addresses.replace(changed, &same, found);
            }
        }
    }

    fn change_routes(
        &mut self,
        removed: &[u32],
        hosts: Vec<(NodeId, IndexedHost<'_>)>,
        numbers: Option<&Renumbering>,
        affected: &mut Affected,
    ) {
        for node in removed {
            affected.has_other_routers |= self.routers.tables.remove(node).is_some();
        }
        if let Some(numbers) = numbers {
            let tables = std::mem::take(&mut self.routers.tables).into_iter();
            let moved = tables.map(|(node, table)| (numbers.to_new[node as usize], table));
            self.routers.tables = moved.filter(|(node, _)| *node != NONE).collect();
        }
        for (id, host) in hosts {
            let Some(number) = self.number(id) else { continue };
            let former = self.routers.tables.get(&number);
            if former != host.routes.as_ref() {
                affected.has_other_routers = true;
                match host.routes {
                    Some(table) => drop(self.routers.tables.insert(number, table)),
                    None => drop(self.routers.tables.remove(&number)),
                }
            }
        }
    }

    /// Changes the links, and gives all of them the new numbers of their ends.
    fn change_links(
        &mut self,
        changes: BTreeMap<LinkId, Option<&Link>>,
        numbers: Option<Renumbering>,
        affected: &mut Affected,
    ) {
        let mut removed: Vec<u32> = Vec::new();
        let mut added: Vec<PathLink> = Vec::new();
        if let Some(numbers) = &numbers {
            for (number, link) in (0_u32..).zip(&mut self.links) {
                link.source = numbers.to_new[link.source as usize];
                link.target = numbers.to_new[link.target as usize];
                if link.source == NONE || link.target == NONE {
                    // The links of a removed node are removed.
                    removed.push(number);
                }
            }
        }
        for (id, link) in changes {
            let known = self.link_number(id);
            let link = link.filter(|_| !self.left_behind.contains(&id)).and_then(|link| self.path_link(link));
            match (known, link) {
                (Some(number), Some(link)) => {
                    let former = *self.link(number);
                    affected.has_other_shape |= !former.is_equivalent(&link);
                    if [former.source, former.target] == [link.source, link.target] {
                        self.is_working[number as usize] = link.is_working();
                        self.links[number as usize] = link;
                    } else {
                        removed.push(number);
                        added.push(link);
                    }
                }
                (Some(number), None) => removed.push(number),
                (None, Some(link)) => added.push(link),
                (None, None) => {}
            }
        }
        if numbers.is_none() && removed.is_empty() && added.is_empty() {
            return;
        }
        removed.sort_unstable();
        removed.dedup();
        affected.has_other_shape = true;
        let added_ids: Vec<LinkId> = added.iter().map(|link| link.id).collect();
        let link_numbers = Renumbering::splice(&mut self.links, &removed, added, |link| link.id);
        let mut steps: Vec<(u32, PathStep)> = Vec::with_capacity(added_ids.len() * 2);
        for number in added_ids.into_iter().filter_map(|id| self.link_number(id)) {
            steps.extend(steps_of(self.link(number), number));
        }
        steps.sort_unstable();
        let node_numbers = numbers.unwrap_or_else(|| Renumbering::identity(self.nodes.len()));
        self.adjacency.renumber(&node_numbers, &link_numbers, &steps);
        let former = std::mem::take(&mut self.is_working);
        let numbered = link_numbers.to_old.iter().zip(&self.links);
        let is_working = |(old, link): (&u32, &PathLink)| {
            former.get(*old as usize).copied().unwrap_or_else(|| link.is_working())
        };
        self.is_working = numbered.map(is_working).collect();
    }

    /// Converts a link, unless an end of it is no node, or both ends are the same.
    fn path_link(&mut self, link: &Link) -> Option<PathLink> {
        let ends = self.number(link.source.node_id()).zip(self.number(link.target.node_id()));
        let (source, target) = ends.filter(|(source, target)| source != target)?;
        let vlans = link.vlans.as_deref().and_then(|set| self.vlan_sets.number(set));
        Some(PathLink::new(link, [source, target], vlans))
    }
}

impl ChangedNode<'_> {
    /// Creates a node that is no host.
    pub(in crate::topology) const fn other(node: NetworkNode) -> Self {
        Self { node, host: None }
    }
}
