//! All paths without loops, found one by one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use toposcope::model::{LinkId, NodeId, TopologyView};
use toposcope::topology::links::{End, Link, LinkState};
use toposcope::topology::paths::PathQuery;

use super::naive::{end_devices, may_bridge};
use crate::graph::support::Fixture;

/// Maximum number of steps of a search.
const MAX_STEPS: usize = 300_000;

/// A network in which each path without loops is tried.
pub(super) struct Exhaustive<'n> {
    links: Vec<(&'n Link, [NodeId; 2])>,
    end_devices: BTreeSet<NodeId>,
    /// The nodes that forward no frames, such as routers that no table and no neighbor shows to be bridges.
    without_bridges: BTreeSet<NodeId>,
}

/// The neighbors of each node over usable links.
type Neighbors = BTreeMap<NodeId, Vec<(NodeId, LinkId)>>;

impl<'n> Exhaustive<'n> {
    pub(super) fn of(network: &'n Fixture) -> Self {
        let end = |end: &End| match end {
            End::Host { host_id, .. } => NodeId::from(*host_id),
            End::Stub { id, .. } | End::Segment { id } => *id,
        };
        let links = network.links.iter().map(|link| (link, [end(&link.source), end(&link.target)]));
        let graph = network.graph(TopologyView::L2);
        let bound = graph.nodes.iter().filter(|node| !may_bridge(network, node.id, node.role));
        Self {
            links: links.collect(),
            end_devices: end_devices(network),
            without_bridges: bound.map(|node| node.id).collect(),
        }
    }

    /// Returns the links of at least this many of the shortest paths, or of all paths if there are fewer. `None` if this takes too
    /// many steps.
    pub(super) fn routes(&self, query: &PathQuery, count: usize) -> Option<BTreeSet<Vec<LinkId>>> {
        let mut neighbors: Neighbors = BTreeMap::new();
        for (link, [one, other]) in self.links.iter().filter(|(link, _)| is_usable(link, query.vlan)) {
            neighbors.entry(*one).or_default().push((*other, link.id));
            neighbors.entry(*other).or_default().push((*one, link.id));
        }
        let distances = distances(&neighbors, query.to);
        let mut steps = 0;
        let mut found = BTreeSet::new();
        let longest = distances.len().saturating_sub(1);
        for limit in distances.get(&query.from).copied().unwrap_or(longest + 1)..=longest {
            found = self.within(query, limit, &neighbors, &distances, &mut steps)?;
            if found.len() >= count {
                break;
            }
        }
        Some(found)
    }

    /// Returns the paths with at most this many links.
    fn within(
        &self,
        query: &PathQuery,
        limit: usize,
        neighbors: &Neighbors,
        distances: &BTreeMap<NodeId, usize>,
        steps: &mut usize,
    ) -> Option<BTreeSet<Vec<LinkId>>> {
        let mut found = BTreeSet::new();
        let mut open: Vec<(Vec<NodeId>, Vec<LinkId>)> = vec![(vec![query.from], Vec::new())];
        while let Some((nodes, route)) = open.pop() {
            *steps += 1;
            if *steps > MAX_STEPS {
                return None;
            }
            let last = *nodes.last().unwrap();
            if last == query.to {
                found.insert(route);
                continue;
            }
            let is_end =
                if query.vlan.is_some() { &self.without_bridges } else { &self.end_devices }.contains(&last);
            if last != query.from && is_end {
                continue;
            }
            for (next, link) in neighbors.get(&last).into_iter().flatten() {
                let is_near = distances.get(next).is_some_and(|rest| route.len() + 1 + rest <= limit);
                if is_near && !nodes.contains(next) {
                    open.push(([&nodes[..], &[*next]].concat(), [&route[..], &[*link]].concat()));
                }
            }
        }
        Some(found)
    }
}

fn is_usable(link: &Link, vlan: Option<u16>) -> bool {
    let is_off = matches!(link.state, LinkState::Down | LinkState::Disabled | LinkState::Testing);
    let lacks_vlan = vlan.is_some_and(|vlan| {
        link.vlans.as_ref().is_some_and(|vlans| !vlans.iter().any(|range| range.contains(vlan)))
    });
    !is_off && !link.stale && link.blocked != Some(true) && !lacks_vlan
}

/// Returns the number of links from each node to a target.
fn distances(neighbors: &Neighbors, target: NodeId) -> BTreeMap<NodeId, usize> {
    let mut distances = BTreeMap::from([(target, 0)]);
    let mut queue = VecDeque::from([target]);
    while let Some(node) = queue.pop_front() {
        let next = distances[&node] + 1;
        for (neighbor, _) in neighbors.get(&node).into_iter().flatten() {
            distances.entry(*neighbor).or_insert_with(|| {
                queue.push_back(*neighbor);
                next
            });
        }
    }
    distances
}
