//! The loss of both nodes of a pair.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::topology::paths::flood::{FAR, NO_REMOVAL, Parts, Tree};
use crate::topology::paths::index::PathIndex;

/// The nodes that one search reached while two nodes are missing, without end devices.
#[derive(Debug)]
struct ReachedPart {
    /// Whether the search ended at the top, and did not reach all nodes of the part.
    has_top: bool,
    devices: usize,
    first: u32,
    /// Whether each of the two missing nodes is next to it.
    is_beside: [bool; 2],
}

/// An end device that a search reached while two nodes are missing.
#[derive(Debug)]
struct ReachedEnd {
    node: u32,
    /// The parts that it is next to.
    parts: Vec<usize>,
    /// Whether each of the two missing nodes is next to it.
    is_beside: [bool; 2],
}

/// Searches from the neighbors of two missing nodes toward the top.
pub(super) struct PairSearch<'i> {
    pub(super) index: &'i PathIndex,
    /// The shortest paths from the top.
    pub(super) tree: &'i Tree,
    /// The number of nodes at the top of the part, of each node at the top, and the place of the part; 0 nodes for all others.
    tops: Vec<(u32, usize)>,
    /// The place of the part of each node that forwards; [`FAR`] for all others.
    pub(super) part_of: Vec<u32>,
    /// The number of the pair for which each node was reached last, and the place of the part.
    marks: Vec<(u32, u32)>,
    pair: u32,
    parts: Vec<ReachedPart>,
    /// The end devices next to these parts or to the pair.
    ends: Vec<u32>,
    pub(super) work: usize,
}

impl<'i> PairSearch<'i> {
    pub(super) fn new(index: &'i PathIndex) -> Self {
        let (mut tops, mut part_of) = (vec![(0, 0); index.nodes.len()], vec![FAR; index.nodes.len()]);
        let parts = Parts::of(index, index.top().iter().copied(), &NO_REMOVAL).parts;
        for (place, part) in parts.iter().enumerate() {
            let inside = part.iter().copied().filter(|node| index.top().binary_search(node).is_ok());
            let inside: Vec<u32> = inside.collect();
            let count = u32::try_from(inside.len()).unwrap_or(FAR);
            inside.iter().for_each(|node| tops[*node as usize] = (count, place));
            for node in part.iter().filter(|node| index.is_transit(**node)) {
                part_of[*node as usize] = u32::try_from(place).unwrap_or(FAR);
            }
        }
        Self {
            index,
            tree: index.tree(),
            tops,
            part_of,
            marks: vec![(0, 0); index.nodes.len()],
            pair: 0,
            parts: Vec::new(),
            ends: Vec::new(),
            work: 0,
        }
    }

    pub(super) fn is_top(&self, node: u32) -> bool {
        self.tops[node as usize].0 > 0
    }

    pub(super) fn neighbors(&self, node: u32) -> impl Iterator<Item = u32> + use<'i> {
        self.index.working_steps(node, &NO_REMOVAL).map(|step| step.node)
    }

    /// Returns whether a node is the only one at the top of its part.
    pub(super) fn is_only_top(&self, node: u32) -> bool {
        self.tops[node as usize].0 == 1
    }

    /// Returns the number of devices that lose the top if both nodes of a pair fail, and not if one of them fails.
    pub(super) fn joint_loss(&mut self, pair: [u32; 2]) -> usize {
        self.pair += 1;
        self.parts.clear();
        self.ends.clear();
        if pair.iter().any(|node| self.is_only_top(*node)) {
            return self.loss_of_parts(pair);
        }
        let [top, other_top] = pair.map(|node| self.tops[node as usize]);
        if top.0 == 2 && top == other_top {
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
        let ends = self.reached_ends(pair);
        self.lost(&ends, None)
    }

    /// Returns the loss if the only node at the top of a part fails, and a node of another part: in each part without a top, the
    /// largest part that remains counts as connected.
    fn loss_of_parts(&mut self, pair: [u32; 2]) -> usize {
        let lost = self.index.lost_devices(&pair);
        let alone = pair.map(|node| self.index.lost_devices(&[node]));
        self.work += 3 * (self.index.nodes.len() + 4 * self.index.links.len());
        let is_lost_alone = |device: &&u32| alone.iter().any(|lost| lost.binary_search(device).is_ok());
        lost.iter().filter(|device| !is_lost_alone(device)).count()
    }

    /// Returns the loss if all of the top of a part fails: the largest part that remains counts as connected, unless it is a device
    /// without links.
    fn loss_of_top(&mut self, pair: [u32; 2]) -> usize {
        for node in pair {
            for seed in self.neighbors(node) {
                self.reach(seed, pair);
            }
        }
        let mut ends = self.reached_ends(pair);
        let reached = self.parts.len();
        for end in ends.iter_mut().filter(|end| end.parts.is_empty()) {
            // It remains alone.
            end.parts.push(self.parts.len());
            let is_beside = end.is_beside;
            self.parts.push(ReachedPart { has_top: false, devices: 0, first: end.node, is_beside });
        }
        let mut devices: Vec<usize> = self.parts.iter().map(|part| part.devices).collect();
        for place in ends.iter().flat_map(|end| &end.parts) {
            devices[*place] += 1;
        }
        // A device without links is connected with nothing.
        let is_linked = |place: &usize| {
            *place >= reached && self.neighbors(self.parts[*place].first).any(|node| !pair.contains(&node))
        };
        let remaining = (0..self.parts.len()).filter(|place| !self.parts[*place].has_top);
        let connected = remaining.filter(|place| devices[*place] > 1 || is_linked(place));
        let largest = connected.max_by_key(|place| (devices[*place], Reverse(self.parts[*place].first)));
        if let Some(alone) = largest.filter(|place| *place >= reached).map(|place| self.parts[place].first) {
            // Other end devices that are linked with it are connected, too.
            let linked: Vec<u32> = self.neighbors(alone).collect();
            ends.retain(|end| !linked.contains(&end.node));
        }
        self.lost(&ends, largest)
    }

    /// Returns the number of devices that are not connected without the pair, and are next to both. `connected`: a part that counts as
    /// connected beside those with a top.
    fn lost(&self, ends: &[ReachedEnd], connected: Option<usize>) -> usize {
        let is_lost = |place: &usize| !self.parts[*place].has_top && Some(*place) != connected;
        let lost = (0..self.parts.len()).filter(is_lost).map(|place| &self.parts[place]);
        let inside: usize = lost.filter(|part| part.is_beside == [true; 2]).map(|part| part.devices).sum();
        let is_beside = |end: &ReachedEnd, side: usize| {
            end.is_beside[side] || end.parts.iter().any(|place| self.parts[*place].is_beside[side])
        };
        let is_end_lost =
            |end: &&ReachedEnd| end.parts.iter().all(is_lost) && is_beside(end, 0) && is_beside(end, 1);
        inside + ends.iter().filter(is_end_lost).count()
    }

    /// Finds the parts that the reached end devices are next to.
    fn reached_ends(&mut self, pair: [u32; 2]) -> Vec<ReachedEnd> {
        let mut found = Vec::new();
        while let Some(node) = self.ends.get(found.len()).copied() {
            self.work += self.index.steps(node).len() + 1;
            let mut end = ReachedEnd { node, parts: Vec::new(), is_beside: [false; 2] };
            for next in self.neighbors(node) {
                match pair.iter().position(|missing| *missing == next) {
                    Some(side) => end.is_beside[side] = true,
                    None if self.index.is_transit(next) => end.parts.extend(self.reach(next, pair)),
                    None => {}
                }
            }
            end.parts.sort_unstable();
            end.parts.dedup();
            found.push(end);
        }
        found
    }

    /// Returns whether a node of a pair has a way to the top without the other one.
    fn reaches_top(&mut self, node: u32, pair: [u32; 2]) -> bool {
        if self.is_top(node) {
            return true;
        }
        let mut seeds: Vec<u32> = self.neighbors(node).collect();
        seeds.sort_unstable_by_key(|seed| (self.tree.distance(*seed), *seed));
        seeds.into_iter().any(|seed| {
            let part = self.reach(seed, pair);
            part.is_some_and(|part| self.parts[part].has_top)
        })
    }

    /// Notes an end device, once for a pair.
    fn note_end(&mut self, node: u32) {
        let mark = &mut self.marks[node as usize];
        if mark.0 != self.pair {
            *mark = (self.pair, FAR);
            self.ends.push(node);
        }
    }

    /// Walks from a node toward the top, without the nodes of a pair. Returns the place of the part that it is in. `None`: the node is
    /// one of the pair, or an end device, which is noted.
    fn reach(&mut self, seed: u32, pair: [u32; 2]) -> Option<usize> {
        if pair.contains(&seed) {
            return None;
        }
        if !self.index.is_transit(seed) {
            self.note_end(seed);
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
        let mut waiting = BinaryHeap::from([(Reverse(self.tree.distance(seed)), seed)]);
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
                } else if !self.index.is_transit(next) {
                    self.note_end(next);
                } else if self.marks[next as usize].0 != self.pair {
                    self.marks[next as usize] = mark;
                    waiting.push((Reverse(self.tree.distance(next)), next));
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
