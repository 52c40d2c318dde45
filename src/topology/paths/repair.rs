//! The shortest paths after a failure, from those before it.

use std::collections::BTreeMap;

use super::flood::{CountedSteps, FAR, Reached, Removal, Tree};
use super::index::PathIndex;

impl Tree {
    /// Returns the tree after a failure. Only the paths that led over what fails are found anew: a failure makes no other path
    /// shorter, so that all others remain the shortest.
    pub(super) fn after(&self, index: &PathIndex, removal: &Removal) -> Self {
        let mut repair = Repair::of(self, index, removal);
        for node in std::mem::take(&mut repair.lost) {
            if !removal.has_node(node) {
                repair.attach(node);
            }
        }
        let mut again = Vec::new();
        while let Some((distance, nodes)) = repair.levels.pop_first() {
            // A node may have been offered a shorter path since.
            for node in nodes {
                if repair.tree.distance(node) == distance {
                    repair.pass(node, distance + 1);
                    again.push(node);
                }
            }
        }
        let Repair { mut tree, is_lost, steps, .. } = repair;
        let kept = self.order.iter().copied().filter(|node| !is_lost[*node as usize]);
        tree.order = kept.chain(again).collect();
        // Two sorted runs, which a stable sort merges.
        tree.order.sort_by_key(|node| tree.reached[*node as usize].distance);
        index.count_steps(steps.0 as u64);
        tree
    }
}

/// A tree in which paths are found anew.
struct Repair<'i> {
    index: &'i PathIndex,
    removal: &'i Removal,
    tree: Tree,
    /// The nodes whose paths led over what fails.
    lost: Vec<u32>,
    is_lost: Vec<bool>,
    /// The nodes that have a new path, by its length, some of them at several.
    levels: BTreeMap<u32, Vec<u32>>,
    steps: CountedSteps,
}

impl<'i> Repair<'i> {
    fn of(before: &Tree, index: &'i PathIndex, removal: &'i Removal) -> Self {
        let mut reached = before.reached.clone();
        let mut is_lost = vec![false; reached.len()];
        let mut lost = Vec::new();
        // The node before comes first.
        for node in &before.order {
            let Reached { parent, link, .. } = reached[*node as usize];
            let is_cut = parent != FAR && (removal.has_link(link) || is_lost[parent as usize]);
            if is_cut || removal.has_node(*node) {
                reached[*node as usize] = Reached::NEVER;
                is_lost[*node as usize] = true;
                lost.push(*node);
            }
        }
        let tree = Tree { reached, order: Vec::new() };
        Self { index, removal, tree, lost, is_lost, levels: BTreeMap::new(), steps: CountedSteps::default() }
    }

    /// Offers a lost node the paths over its neighbors that are not lost.
    fn attach(&mut self, node: u32) {
        for step in self.steps.working(self.index, node, self.removal) {
            let distance = self.tree.distance(step.node);
            let passes_on = distance == 0 || self.index.is_transit(step.node);
            if distance != FAR && passes_on && !self.is_lost[step.node as usize] {
                self.offer(node, Reached { distance: distance + 1, parent: step.node, link: step.link });
            }
        }
    }

    /// Offers the lost neighbors of a node the path over it.
    fn pass(&mut self, node: u32, distance: u32) {
        if !self.index.is_transit(node) {
            return;
        }
        for step in self.steps.working(self.index, node, self.removal) {
            if self.is_lost[step.node as usize] {
                self.offer(step.node, Reached { distance, parent: node, link: step.link });
            }
        }
    }

    fn offer(&mut self, node: u32, path: Reached) {
        let known = &mut self.tree.reached[node as usize];
        let key = |path: &Reached| (path.distance, path.parent, path.link);
        if key(&path) < key(known) {
            if path.distance != known.distance {
                self.levels.entry(path.distance).or_default().push(node);
            }
            *known = path;
        }
    }
}
