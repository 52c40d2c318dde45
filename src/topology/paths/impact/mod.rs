//! The consequences of failures of nodes and links.

mod shape;

use std::collections::{BTreeMap, BTreeSet};

pub use self::shape::{AffectedHost, Impact, ImpactQuery, SubnetCount};
use super::flood::{NO_REMOVAL, Parts, Removal, Tree};
use super::index::PathIndex;
use super::redundancy::needed_links;
use super::{UnknownIdError, UnknownReason};
use crate::fair_threads::yield_turn;
use crate::model::{HostRole, LinkId, NodeId, SubnetId};
use crate::topology::graph::NodeKind;
use crate::topology::links::{VlanRange, vlans};

/// The maximum number of times that failing guests make other hosts, which run guests, fail.
const MAX_ROUNDS: usize = 16;

impl PathIndex {
    /// Returns the consequences if nodes and links fail at the same time.
    ///
    /// Where all of the top of a connected part fails, all others of the part are cut off. If that top is a center, because nothing in
    /// the part leads to the world, the largest part that remains counts as still connected, unless it is a device without links.
    ///
    /// # Errors
    /// Returns an error for an id that no node or link of the network has.
    pub fn impact(&self, query: &ImpactQuery) -> Result<Impact, UnknownIdError> {
        let mut nodes = self.numbers(&query.nodes)?;
        if !query.locations.is_empty() {
            let is_there = |location: &str| query.locations.contains(location);
            let located =
                (0_u32..).zip(&self.nodes).filter(|(_, node)| node.location.as_deref().is_some_and(is_there));
            nodes.extend(located.map(|(number, _)| number));
        }
        let link = |id: &LinkId| self.link_number(*id).ok_or(UnknownIdError { id: id.uuid() });
        let links = query.edges.iter().map(link).collect::<Result<Vec<u32>, _>>()?;
        let from = self.numbers(&query.from)?;
        Ok(self.compare(nodes, &links, &from, query.limit))
    }

    /// Returns whether a host is at a location.
    pub(crate) fn has_location(&self, location: &str) -> bool {
        self.nodes.iter().any(|node| node.location.as_deref() == Some(location))
    }

    fn numbers(&self, ids: &BTreeSet<NodeId>) -> Result<Vec<u32>, UnknownIdError> {
        let number = |id: &NodeId| self.number(*id).ok_or(UnknownIdError { id: id.uuid() });
        ids.iter().map(number).collect()
    }

    fn compare(&self, failing: Vec<u32>, links: &[u32], from: &[u32], limit: usize) -> Impact {
        let asked = (!from.is_empty())
            .then(|| Tree::of(self, from, &NO_REMOVAL))
            .map(|tree| (needed_links(self, &tree, &NO_REMOVAL), tree));
        let (before, needed_before) = match &asked {
            Some((needed, tree)) => (tree, needed.as_slice()),
            None => (self.tree(), self.needed_links()),
        };
        let roots = if from.is_empty() { self.top() } else { from };
        let was_connected = self.connected(before);
        let named = Removal::of(self, &failing, &[]);
        let mut failing = self.with_guests(failing, &[]);
        let mut rounds = 0;
        let (removal, substitutes, after) = loop {
            rounds += 1;
            let removal = Removal::of(self, &failing, links);
            let substitutes =
                if from.is_empty() { self.substitutes(&removal, self.centers()) } else { Vec::new() };
            let after = if substitutes.is_empty() {
                before.after(self, &removal)
            } else {
                Tree::of(self, &[roots, &substitutes].concat(), &removal)
            };
            // Guests pass nothing on if the hosts that run them are cut off.
            let lost = self.guests_cut_off(&after, &removal, &was_connected);
            if lost.is_empty() || rounds > MAX_ROUNDS {
                break (removal, substitutes, after);
            }
            failing = self.with_guests(failing, &lost);
        };
        let removal = &removal;
        let needed_after = needed_links(self, &after, removal);
        let is_connected = self.connected(&after);
        let mut answer = Answer::new(self, limit);
        for node in (0..)
            .take(self.nodes.len())
            .filter(|node| was_connected[*node as usize] && !named.has_node(*node))
        {
            let is_at_risk =
                || after.reaches(node) && needed_after[node as usize] != needed_before[node as usize];
            if removal.has_node(node) || !is_connected[node as usize] {
                answer.add_cut_off(node);
            } else if is_at_risk() && self.node(node).is_device() {
                let links = self.working_steps(node, removal).filter(|step| after.reaches(step.node)).count();
                answer.add_at_risk(node, links);
            }
        }
        // Where the top fails, paths begin elsewhere and do not show links that take over.
        let carrying = if substitutes.is_empty() { after } else { Tree::of(self, roots, removal) };
        let carried_by = self.new_links(before, &carrying);
        if self.lack_vlans(&carried_by, &self.new_links(&carrying, before)) {
            answer.unknown.push(UnknownReason::Vlan);
        }
        answer.unknown.extend((rounds > MAX_ROUNDS).then_some(UnknownReason::WorkLimit));
        answer.finish(&carried_by)
    }

    /// Returns whether one of the links between switches that take over is known to lack a VLAN of those that were on shortest paths before:
    /// devices of this VLAN may be cut off all the same.
    fn lack_vlans(&self, carrying: &[u32], former: &[u32]) -> bool {
        let is_uplink = |link: &&u32| {
            let link = self.link(**link);
            self.node(link.source).may_bridge && self.node(link.target).may_bridge
        };
        let sets = |links: &[u32]| -> BTreeSet<u32> {
            links.iter().filter(is_uplink).filter_map(|link| self.link(*link).vlans).collect()
        };
        let (sets, former) = (sets(carrying), sets(former));
        if sets.is_empty() {
            return false;
        }
        let carried: Vec<VlanRange> = former.iter().flat_map(|set| self.vlans_of(*set)).copied().collect();
        let carried = vlans::joined(&carried);
        sets.iter().any(|set| {
            yield_turn();
            !vlans::without(&carried, self.vlans_of(*set)).is_empty()
        })
    }

    /// Returns the links on shortest paths that were on none before, in order.
    fn new_links(&self, before: &Tree, after: &Tree) -> Vec<u32> {
        let mut is_former = vec![false; self.links.len()];
        before.links().for_each(|link| is_former[link as usize] = true);
        let mut new: Vec<u32> = after.links().filter(|link| !is_former[*link as usize]).collect();
        new.sort_unstable();
        new
    }

    /// Returns the devices that lose the top if nodes fail, in order.
    pub(super) fn lost_devices(&self, nodes: &[u32]) -> Vec<u32> {
        let removal = Removal::of(self, nodes, &[]);
        let roots = [self.top(), &self.substitutes(&removal, self.top())].concat();
        let (before, after) = (self.tree(), Tree::of(self, &roots, &removal));
        let is_lost = |node: &u32| before.reaches(*node) && !after.reaches(*node) && !removal.has_node(*node);
        let lost = (0..).take(self.nodes.len()).filter(is_lost);
        lost.filter(|node| self.node(*node).is_device()).collect()
    }

    /// Returns a node of the largest remaining part of each part of the network whose top fails as a whole, if that is one of these. A
    /// device that remains without links is connected with nothing.
    fn substitutes(&self, removal: &Removal, tops: &[u32]) -> Vec<u32> {
        let gone = tops.iter().copied().filter(|root| removal.has_node(*root));
        let has_top = |part: &Vec<u32>| {
            part.iter().any(|node| !removal.has_node(*node) && self.top().binary_search(node).is_ok())
        };
        let parts = Parts::of(self, gone, &NO_REMOVAL).parts;
        let topless = parts.into_iter().filter(|part| !has_top(part));
        topless.filter_map(|part| self.first_of_largest(part, removal)).collect()
    }

    fn first_of_largest(&self, nodes: Vec<u32>, removal: &Removal) -> Option<u32> {
        let devices = |part: &[u32]| part.iter().filter(|node| self.node(**node).is_device()).count();
        // An end device may be in several parts.
        let transit = |part: &[u32]| part.iter().copied().filter(|node| self.is_transit(*node)).min();
        let first = |part: &[u32]| transit(part).or_else(|| part.iter().copied().min());
        let remaining = Parts::of(self, nodes.into_iter(), removal).parts;
        let is_device = |node: &&u32| self.node(**node).is_device();
        let has_neighbor =
            |node: &u32| self.working_steps(*node, removal).any(|step| self.node(step.node).is_device());
        let are_connected = |part: &&Vec<u32>| {
            let mut devices = part.iter().filter(is_device);
            devices.next().is_some_and(|first| devices.next().is_some() || has_neighbor(first))
        };
        let connected = remaining.iter().filter(are_connected);
        let largest = connected.max_by_key(|part| (devices(part), std::cmp::Reverse(first(part))));
        largest.and_then(|part| first(part))
    }
}

/// An answer under construction.
struct Answer<'i> {
    index: &'i PathIndex,
    limit: usize,
    cut_off: Vec<AffectedHost>,
    cut_off_total: usize,
    at_risk: Vec<AffectedHost>,
    at_risk_total: usize,
    by_role: BTreeMap<HostRole, usize>,
    by_subnet: BTreeMap<SubnetId, usize>,
    unknown: Vec<UnknownReason>,
}

impl<'i> Answer<'i> {
    fn new(index: &'i PathIndex, limit: usize) -> Self {
        Self {
            unknown: index.unknown_links().into_iter().collect(),
            index,
            limit,
            cut_off: Vec::new(),
            cut_off_total: 0,
            at_risk: Vec::new(),
            at_risk_total: 0,
            by_role: BTreeMap::new(),
            by_subnet: BTreeMap::new(),
        }
    }

    fn host(&self, node: u32, remaining_links: Option<usize>) -> AffectedHost {
        let node = self.index.node(node);
        AffectedHost {
            host_id: node.host_id(),
            node_id: (node.kind != NodeKind::Host).then_some(node.id),
            name: node.name.to_string(),
            role: node.role,
            remaining_links,
        }
    }

    fn add_cut_off(&mut self, node: u32) {
        if !self.index.node(node).is_device() {
            return;
        }
        self.cut_off_total += 1;
        if self.cut_off.len() < self.limit {
            self.cut_off.push(self.host(node, None));
        }
        *self.by_role.entry(self.index.node(node).role).or_default() += 1;
        let mut counted = BTreeSet::new();
        for address in self.index.addresses.of_node(node) {
            let subnet = address.net.and_then(|net| self.index.addresses.net(net).1);
            if let Some(subnet) = subnet.filter(|subnet| counted.insert(*subnet)) {
                *self.by_subnet.entry(subnet).or_default() += 1;
            }
        }
    }

    fn add_at_risk(&mut self, node: u32, links: usize) {
        self.at_risk_total += 1;
        if self.at_risk.len() < self.limit {
            self.at_risk.push(self.host(node, Some(links)));
        }
    }

    fn finish(self, carried_by: &[u32]) -> Impact {
        Impact {
            complete: self.unknown.is_empty(),
            unknown: self.unknown,
            cut_off: self.cut_off,
            cut_off_total: self.cut_off_total,
            at_risk: self.at_risk,
            at_risk_total: self.at_risk_total,
            by_role: self
                .by_role
                .into_iter()
                .map(|(role, count)| (role.as_str().to_owned(), count))
                .collect(),
            by_subnet: self
                .by_subnet
                .into_iter()
                .map(|(subnet_id, count)| SubnetCount { subnet_id, count })
                .collect(),
            carried_by: carried_by.iter().take(self.limit).map(|link| self.index.link(*link).id).collect(),
            carried_by_total: carried_by.len(),
        }
    }
}
