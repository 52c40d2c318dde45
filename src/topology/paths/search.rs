//! The shortest paths without loops between two nodes (J. Y. Yen, 1971, with the partition of E. L. Lawler, 1972).
//!
//! The paths that are left are divided into sets: paths that begin in the same way, and do not continue over some links. The
//! shortest path of a set is found by A* with the distances to the target, and only when no other set can have a
//! shorter one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

use super::flood::FAR;
use super::index::{PathIndex, PathStep};
use crate::fair_threads::yield_turn;

/// Maximum number of links of a path.
pub(super) const MAX_LENGTH: u32 = 1_000;

/// Maximum number of steps that a search looks at.
const MAX_WORK: u64 = 8_000_000;

/// The number of steps between two turns of other work.
const STEPS_PER_TURN: u64 = 16_384;

/// The links that a search may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    /// The VLAN that links carry; `None`: any.
    pub(super) vlan: Option<u16>,
    /// Whether links count that are down, stale or blocked, or lack the VLAN.
    pub(super) is_relaxed: bool,
    /// Whether frames stay in one subnet: only nodes that may bridge forward them.
    pub(super) is_bridged: bool,
}

impl Passage {
    pub(super) fn admits(self, index: &PathIndex, link: u32) -> bool {
        self.is_relaxed || index.obstacle(link, self.vlan).is_none()
    }

    fn admits_node(self, index: &PathIndex, node: u32) -> bool {
        let node = index.node(node);
        if self.is_bridged { node.may_bridge } else { node.is_transit() }
    }
}

/// The steps of a path from its source.
pub(super) type LinkRoute = Vec<PathStep>;

/// The result of a search.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The shortest paths, by length and then by nodes and links.
    pub(super) routes: Vec<LinkRoute>,
    /// Whether there are others.
    pub(super) has_more: bool,
    /// Whether the search ended before all paths were compared.
    pub(super) is_cut: bool,
}

/// Finds the shortest paths between two different nodes.
pub(super) fn shortest(
    index: &PathIndex,
    [source, target]: [u32; 2],
    passage: Passage,
    count: usize,
) -> Found {
    let mut search = RouteSearch::new(index, [source, target], passage);
    search.measure();
    search.enumerate(count)
}

/// Paths that begin in the same way.
#[derive(Debug)]
struct RouteSet {
    /// A path that begins in this way, and the number of steps that all have in common with it.
    model: Rc<LinkRoute>,
    common: usize,
    /// The links over which none of them continues.
    closed: Vec<u32>,
    /// The shortest of them, once it is known.
    best: Option<Rc<LinkRoute>>,
}

/// The step by which a walk reached a node.
#[derive(Clone, Copy, Debug)]
struct Passed {
    /// The number of the walk.
    walk: u32,
    /// The number of links from where the walk began.
    taken: u32,
    /// The node before, and the link from it.
    before: PathStep,
}

/// No step.
const NOWHERE: PathStep = PathStep { node: FAR, link: FAR };

struct RouteSearch<'i> {
    index: &'i PathIndex,
    source: u32,
    target: u32,
    passage: Passage,
    /// The least number of links to the target, as far as it was measured.
    distances: Vec<u32>,
    /// The least number of links to the target from where it was not measured; [`FAR`] if there is no path.
    least: u32,
    /// The last step to each node.
    passed: Vec<Passed>,
    walk: u32,
    work: u64,
    is_cut: bool,
}

impl<'i> RouteSearch<'i> {
    fn new(index: &'i PathIndex, [source, target]: [u32; 2], passage: Passage) -> Self {
        let count = index.nodes.len();
        Self {
            index,
            source,
            target,
            passage,
            distances: vec![FAR; count],
            least: FAR,
            passed: vec![Passed { walk: 0, taken: 0, before: NOWHERE }; count],
            walk: 0,
            work: 0,
            is_cut: false,
        }
    }

    /// Returns the steps that may be taken from a node, and counts them as work.
    fn steps(&mut self, node: u32) -> impl Iterator<Item = PathStep> + use<'i> {
        let (index, passage) = (self.index, self.passage);
        let steps = index.steps(node);
        let before = self.work / STEPS_PER_TURN;
        self.work += steps.len() as u64;
        if self.work / STEPS_PER_TURN != before {
            yield_turn();
        }
        steps.iter().copied().filter(move |step| passage.admits(index, step.link))
    }

    fn may_pass(&self, node: u32) -> bool {
        node == self.target || self.passage.admits_node(self.index, node)
    }

    /// Measures the distances to the target, as far as the source.
    fn measure(&mut self) {
        self.distances[self.target as usize] = 0;
        let mut queue = vec![self.target];
        let mut next = 0;
        while let Some(node) = queue.get(next).copied() {
            next += 1;
            let distance = self.distances[node as usize] + 1;
            for step in self.steps(node) {
                let is_new = self.distances[step.node as usize] == FAR;
                if is_new && (step.node == self.source || self.may_pass(step.node)) {
                    self.distances[step.node as usize] = distance;
                    if step.node == self.source {
                        self.least = distance;
                        return;
                    }
                    queue.push(step.node);
                }
            }
        }
    }

    /// Returns a lower bound of the number of links from a node to the target.
    fn bound(&self, node: u32) -> u32 {
        self.distances[node as usize].min(self.least)
    }

    fn enumerate(&mut self, count: usize) -> Found {
        let mut found = Found::default();
        let mut sets: BTreeMap<(u32, bool, u32), RouteSet> = BTreeMap::new();
        let mut number = 0;
        if self.least != FAR {
            let all = RouteSet { model: Rc::default(), common: 0, closed: Vec::new(), best: None };
            sets.insert((self.least, true, number), all);
        }
        while let Some(((length, is_estimate, _), set)) = sets.pop_first() {
            if length > MAX_LENGTH || self.work > MAX_WORK {
                self.is_cut = true;
                break;
            }
            if is_estimate {
                if let Some((length, best)) = self.complete(&set) {
                    number += 1;
                    sets.insert((length, false, number), RouteSet { best: Some(Rc::new(best)), ..set });
                }
                continue;
            }
            let Some(route) = set.best else { continue };
            if found.routes.len() == count {
                found.has_more = true;
                break;
            }
            for (bound, rest) in self.divide(&route, set.common, &set.closed) {
                number += 1;
                sets.insert((bound, true, number), rest);
            }
            found.routes.push(route.to_vec());
        }
        self.index.count_steps(self.work);
        found.is_cut = self.is_cut;
        found.routes.sort_unstable_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
        found
    }

    /// Divides the paths of a set, but for the shortest, by where they leave the shortest. Each set has a lower bound of the length.
    fn divide(&mut self, route: &Rc<LinkRoute>, start: usize, closed: &[u32]) -> Vec<(u32, RouteSet)> {
        self.walk += 1;
        let mut sets = Vec::new();
        let mut node = self.source;
        for (place, step) in route.iter().enumerate() {
            self.pass(node, 0, NOWHERE);
            if place >= start {
                let mut closed = if place == start { closed.to_vec() } else { Vec::new() };
                closed.push(step.link);
                if let Some(rest) = self.least_rest(node, &closed) {
                    let length = u32::try_from(place).unwrap_or(FAR).saturating_add(rest);
                    sets.push((
                        length,
                        RouteSet { model: Rc::clone(route), common: place, closed, best: None },
                    ));
                }
            }
            node = step.node;
        }
        sets
    }

    /// Returns a lower bound of the links from a node to the target, without passed nodes and closed links.
    fn least_rest(&mut self, node: u32, closed: &[u32]) -> Option<u32> {
        let walk = self.walk;
        let mut least: Option<u32> = None;
        for step in self.steps(node) {
            let is_passed = self.passed[step.node as usize].walk == walk;
            if !is_passed && self.may_pass(step.node) && !closed.contains(&step.link) {
                let rest = self.bound(step.node).saturating_add(1);
                least = Some(least.map_or(rest, |least| least.min(rest)));
            }
        }
        least
    }

    /// Returns the shortest path of a set, with its length.
    fn complete(&mut self, set: &RouteSet) -> Option<(u32, LinkRoute)> {
        self.walk += 1;
        let mut start = self.source;
        let prefix = set.model.get(..set.common).unwrap_or_default();
        for step in prefix {
            self.pass(start, 0, NOWHERE);
            start = step.node;
        }
        let so_far = u32::try_from(prefix.len()).unwrap_or(FAR);
        let mut waiting = BinaryHeap::from([(Reverse(0), 0_u32, Reverse(start))]);
        self.pass(start, 0, NOWHERE);
        while let Some((_, taken, Reverse(node))) = waiting.pop() {
            if node == self.target {
                return Some((so_far.saturating_add(taken), self.route(prefix, taken)));
            }
            if self.work > MAX_WORK {
                self.is_cut = true;
                return None;
            }
            if self.passed[node as usize].taken < taken {
                continue;
            }
            let taken = taken + 1;
            for step in self.steps(node) {
                let is_closed = node == start && set.closed.contains(&step.link);
                let known = self.passed[step.node as usize];
                let is_longer = known.walk == self.walk && known.taken <= taken;
                if is_closed || is_longer || !self.may_pass(step.node) {
                    continue;
                }
                let length = so_far.saturating_add(taken).saturating_add(self.bound(step.node));
                if length > MAX_LENGTH {
                    self.is_cut = true;
                    continue;
                }
                self.pass(step.node, taken, PathStep { node, link: step.link });
                waiting.push((Reverse(length), taken, Reverse(step.node)));
            }
        }
        None
    }

    fn pass(&mut self, node: u32, taken: u32, before: PathStep) {
        self.passed[node as usize] = Passed { walk: self.walk, taken, before };
    }

    /// Returns the path to the target that a walk found after a prefix.
    fn route(&self, prefix: &[PathStep], taken: u32) -> LinkRoute {
        let mut rest = Vec::with_capacity(taken as usize);
        let mut node = self.target;
        for _ in 0..taken {
            let before = self.passed[node as usize].before;
            rest.push(PathStep { node, link: before.link });
            node = before.node;
        }
        prefix.iter().copied().chain(rest.into_iter().rev()).collect()
    }
}
