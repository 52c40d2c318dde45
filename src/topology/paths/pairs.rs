//! Pairs of devices of which one may fail, but not both.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde::{Deserialize, Serialize};

use super::flood::{FAR, NO_REMOVAL, Parts};
use super::index::PathIndex;
use crate::fair_threads::yield_turn;
use crate::model::{HostId, NodeId};
use crate::text_enum::text_enum;
use crate::topology::graph::NodeKind;

/// Maximum number of pairs that are examined.
const MAX_PAIRS: usize = 200_000;

/// Maximum number of steps over links.
const MAX_WORK: usize = 4_000_000;

/// The number of pairs between two turns of other work.
const PAIRS_PER_TURN: usize = 256;

/// Two devices whose joint loss cuts off others. The loss of one of them does not cut these off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FragilePair {
    /// The two devices, by id.
    pub nodes: [PairedNode; 2],
    /// The reasons for which both may fail at once.
    pub reasons: Vec<PairReason>,
    /// The number of devices that lose the top of the network only if both fail. Of the only two nodes at the top: all outside of
    /// the largest part that remains.
    pub behind: usize,
}

/// One of two devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PairedNode {
    /// The host's id; `None` for a device that is no host.
    pub host_id: Option<HostId>,
    /// The id of a device that is no host; absent for hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    /// The name to show.
    pub name: String,
}

text_enum! {
    /// A reason for which two devices may fail at the same time.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum PairReason {
        /// Both are at the same location.
        Location = "location",
        /// Both are next to a third device, and not farther from the top than it.
        Upstream = "upstream",
    }
}

/// The pairs that were found, each with its reasons and the devices behind it.
#[derive(Debug, Default)]
pub(super) struct FoundPairs {
    /// Pairs with more devices behind them come first.
    pub(super) pairs: Vec<([u32; 2], Reasons, usize)>,
    /// Whether some pairs were not examined.
    pub(super) is_cut: bool,
}

/// Whether two devices have a location in common, and a device below them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reasons {
    location: bool,
    upstream: bool,
}

impl Reasons {
    fn list(self) -> Vec<PairReason> {
        let all = [(self.location, PairReason::Location), (self.upstream, PairReason::Upstream)];
        all.into_iter().filter_map(|(holds, reason)| holds.then_some(reason)).collect()
    }
}

impl PathIndex {
    /// Returns the pairs whose joint loss cuts. Devices at the same location, and above the same device, are compared. The only node
    /// at the top of a part is in no pair: all others need it.
    pub(super) fn find_pairs(&self) -> FoundPairs {
        let mut search = PairSearch::new(self);
        let (candidates, mut is_cut) = search.candidates();
        let mut pairs = Vec::new();
        for (number, (pair, reasons)) in candidates.into_iter().enumerate() {
            if number.is_multiple_of(PAIRS_PER_TURN) {
                yield_turn();
            }
            if search.work > MAX_WORK {
                is_cut = true;
                break;
            }
            let behind = search.joint_loss(pair);
            if behind > 0 {
                pairs.push((pair, reasons, behind));
            }
        }
        self.count_steps(search.work as u64);
        pairs.sort_unstable_by_key(|(pair, _, behind)| (Reverse(*behind), *pair));
        FoundPairs { pairs, is_cut }
    }

    pub(super) fn pair(&self, (nodes, reasons, behind): &([u32; 2], Reasons, usize)) -> FragilePair {
        let described = |node: u32| {
            let node = self.node(node);
            PairedNode {
                host_id: node.host_id(),
                node_id: (node.kind != NodeKind::Host).then_some(node.id),
                name: node.name.to_string(),
            }
        };
        FragilePair { nodes: nodes.map(described), reasons: reasons.list(), behind: *behind }
    }
}

/// The nodes that one search reached while two nodes are missing.
#[derive(Debug)]
struct ReachedPart {
    /// Whether the search ended at the top, and did not reach all nodes of the part.
    has_top: bool,
    devices: usize,
    first: u32,
    /// Whether each of the two missing nodes is next to it.
    is_beside: [bool; 2],
}

/// Searches from the neighbors of two missing nodes toward the top.
struct PairSearch<'i> {
    index: &'i PathIndex,
    distances: &'i [u32],
    /// The number of nodes at the top of the part, of each node at the top; 0 for all others.
    tops: Vec<u32>,
    /// The number of the pair for which each node was reached last, and the place of the part.
    marks: Vec<(u32, u32)>,
    pair: u32,
    parts: Vec<ReachedPart>,
    work: usize,
}

impl<'i> PairSearch<'i> {
    fn new(index: &'i PathIndex) -> Self {
        let mut tops = vec![0; index.nodes.len()];
        for part in Parts::of(index, index.top().iter().copied(), &NO_REMOVAL).parts {
            let inside = part.iter().copied().filter(|node| index.top().binary_search(node).is_ok());
            let inside: Vec<u32> = inside.collect();
            inside.iter().for_each(|node| tops[*node as usize] = u32::try_from(inside.len()).unwrap_or(FAR));
        }
        Self {
            index,
            distances: &index.tree().distances,
            tops,
            marks: vec![(0, 0); index.nodes.len()],
            pair: 0,
            parts: Vec::new(),
            work: 0,
        }
    }

    fn is_top(&self, node: u32) -> bool {
        self.tops[node as usize] > 0
    }

    fn neighbors(&self, node: u32) -> impl Iterator<Item = u32> + use<'i> {
        self.index.working_steps(node, &NO_REMOVAL).map(|step| step.node)
    }

    /// Returns whether a node may be one of a pair: others are reached through it, and it is not the only one at the top.
    fn is_candidate(&self, node: u32) -> bool {
        let first = self.neighbors(node).next();
        let has_others = self.neighbors(node).any(|other| Some(other) != first);
        self.index.node(node).is_device()
            && self.distances[node as usize] != FAR
            && (has_others || self.is_top(node))
            && self.tops[node as usize] != 1
    }

    /// Returns the pairs to examine, and whether there are too many.
    fn candidates(&mut self) -> (BTreeMap<[u32; 2], Reasons>, bool) {
        let nodes = || (0..).take(self.index.nodes.len());
        let is_candidate: Vec<bool> = nodes().map(|node| self.is_candidate(node)).collect();
        let mut groups: Vec<(Vec<u32>, bool)> = Vec::new();
        for node in nodes() {
            let distance = self.distances[node as usize];
            let mut above: Vec<u32> = self
                .neighbors(node)
                .filter(|other| is_candidate[*other as usize] && self.distances[*other as usize] <= distance)
                .collect();
            above.dedup();
            groups.push((above, false));
        }
        let mut located: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for node in nodes().filter(|node| is_candidate[*node as usize]) {
            if let Some(location) = self.index.node(node).location.as_deref() {
                located.entry(location).or_default().push(node);
            }
        }
        groups.extend(located.into_values().map(|nodes| (nodes, true)));
        // Small groups first: few ways around them are left.
        groups.sort_by_key(|(nodes, _)| nodes.len());
        let mut candidates: BTreeMap<[u32; 2], Reasons> = BTreeMap::new();
        for (group, is_location) in groups {
            for (place, one) in group.iter().enumerate() {
                for other in group.iter().skip(place + 1) {
                    if candidates.len() == MAX_PAIRS {
                        return (candidates, true);
                    }
                    let reasons = candidates.entry([*one.min(other), *one.max(other)]).or_default();
                    reasons.location |= is_location;
                    reasons.upstream |= !is_location;
                }
            }
        }
        (candidates, false)
    }

    /// Returns the number of devices that lose the top if both nodes of a pair fail, and not if one of them fails.
    fn joint_loss(&mut self, pair: [u32; 2]) -> usize {
        self.pair += 1;
        self.parts.clear();
        if pair.iter().all(|node| self.tops[*node as usize] == 2) {
            return self.loss_of_top(pair);
        }
        if !pair.iter().all(|node| self.reaches_top(*node, pair)) {
            // One of them is behind the other, and cuts off nothing that the other does not.
            return 0;
        }
        let [one, other] = pair;
        let nearer = if self.index.steps(one).len() <= self.index.steps(other).len() { one } else { other };
        for seed in self.neighbors(nearer) {
            self.reach(seed, pair);
        }
        let is_lost = |part: &&ReachedPart| !part.has_top && part.is_beside == [true; 2];
        self.parts.iter().filter(is_lost).map(|part| part.devices).sum()
    }

    /// Returns the loss if all of the top of a part fails: the largest part that remains counts as connected.
    fn loss_of_top(&mut self, pair: [u32; 2]) -> usize {
        for node in pair {
            for seed in self.neighbors(node) {
                self.reach(seed, pair);
            }
        }
        let largest = (0..self.parts.len())
            .max_by_key(|place| (self.parts[*place].devices, Reverse(self.parts[*place].first)));
        let lost = self.parts.iter().enumerate().filter(|(place, _)| Some(*place) != largest);
        lost.filter(|(_, part)| part.is_beside == [true; 2]).map(|(_, part)| part.devices).sum()
    }

    /// Returns whether a node of a pair has a way to the top without the other one.
    fn reaches_top(&mut self, node: u32, pair: [u32; 2]) -> bool {
        if self.is_top(node) {
            return true;
        }
        let mut seeds: Vec<u32> = self.neighbors(node).collect();
        seeds.sort_unstable_by_key(|seed| (self.distances[*seed as usize], *seed));
        seeds.into_iter().any(|seed| {
            let part = self.reach(seed, pair);
            part.is_some_and(|part| self.parts[part].has_top)
        })
    }

    /// Walks from a node toward the top, without the nodes of a pair. Returns the place of the part that it is in.
    fn reach(&mut self, seed: u32, pair: [u32; 2]) -> Option<usize> {
        if pair.contains(&seed) {
            return None;
        }
        let (marked, known) = self.marks[seed as usize];
        if marked == self.pair {
            return Some(known as usize);
        }
        let place = self.parts.len();
        let mark = (self.pair, u32::try_from(place).unwrap_or(FAR));
        let mut part = ReachedPart { has_top: false, devices: 0, first: seed, is_beside: [false; 2] };
        self.marks[seed as usize] = mark;
        let mut waiting = BinaryHeap::from([(Reverse(self.distances[seed as usize]), seed)]);
        while let Some((_, node)) = waiting.pop() {
            part.has_top |= self.is_top(node);
            if part.has_top {
                break;
            }
            part.devices += usize::from(self.index.node(node).is_device());
            part.first = part.first.min(node);
            self.work += self.index.steps(node).len() + 1;
            for next in self.neighbors(node) {
                if let Some(side) = pair.iter().position(|missing| *missing == next) {
                    part.is_beside[side] = true;
                } else if self.marks[next as usize].0 != self.pair {
                    self.marks[next as usize] = mark;
                    waiting.push((Reverse(self.distances[next as usize]), next));
                } else if self.marks[next as usize] != mark {
                    // Only a search that ended at the top leaves neighbors behind.
                    part.has_top = true;
                }
            }
        }
        self.parts.push(part);
        Some(place)
    }
}
