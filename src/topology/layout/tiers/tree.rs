//! The tree of classes, and its center.

use std::collections::VecDeque;

use super::classes::Classes;

/// One class in this many may have a connection beyond those of the tree.
const CLASSES_PER_EXTRA: usize = 6;
/// How much farther than the center a class may be from all nodes that is as central.
const AS_CENTRAL: f64 = 1.02;

/// How much farther a class may be that is as good a center, beside the step that a leaf more makes, and how many such classes are
/// compared.
const AS_GOOD: f64 = 1.005;
const MAX_COMPARED: usize = 4;
/// Maximum number of classes between which the shortest ways are measured. Those in the tree are compared in larger networks.
const MAX_MEASURED: usize = 1_000;

/// Classes as a tree whose root is the center.
#[derive(Debug)]
pub(super) struct ClassTree {
    pub(super) center: usize,
    /// The next class on the way to the center; the center itself for the center.
    pub(super) parents: Vec<usize>,
    /// The classes, each after its parent.
    pub(super) order: Vec<usize>,
}

impl ClassTree {
    /// Returns the tree, or `None` if the classes form none.
    ///
    /// A few connections beyond a tree are no reason to draw a mesh if they join neighboring branches, as a cable
    /// between two distribution switches does.
    pub(super) fn of(classes: &Classes) -> Option<Self> {
        let graph = classes.graph();
        let extra = (graph.edges().len() + 1).checked_sub(graph.len())?;
        if extra * CLASSES_PER_EXTRA > graph.len() {
            return None;
        }
        let center = Self::rooted(classes, 0)?.center(classes);
        let tree = Self::rooted(classes, center)?;
        (extra == 0 || tree.are_extras_between_neighbors(classes)).then_some(tree)
    }

    fn rooted(classes: &Classes, center: usize) -> Option<Self> {
        let graph = classes.graph();
        let mut parents = vec![None; graph.len()];
        parents[center] = Some(center);
        let mut order = Vec::with_capacity(graph.len());
        let mut waiting = VecDeque::from([center]);
        while let Some(class) = waiting.pop_front() {
            order.push(class);
            for neighbor in graph.neighbors(class) {
                if parents[*neighbor].is_none() {
                    parents[*neighbor] = Some(class);
                    waiting.push_back(*neighbor);
                }
            }
        }
        Some(Self { center, parents: parents.into_iter().collect::<Option<Vec<usize>>>()?, order })
    }

    /// Returns the class from whose members the ways to all nodes are shortest in sum. Of classes that are almost as good, it is the
    /// one whose farthest class is the nearest, or the smallest, so that one leaf more does not move the center.
    fn center(&self, classes: &Classes) -> usize {
        let far = self.distances(classes);
        let by_distance = |one: &usize, other: &usize| far[*one].total_cmp(&far[*other]).then(one.cmp(other));
        let Some(best) = (0..far.len()).min_by(by_distance) else { return self.center };
        let beside = classes.graph().neighbors(best).iter().copied();
        let is_as_good = |class: &usize| far[*class] <= far[best] * AS_GOOD + 1.0;
        let alike = beside.filter(is_as_good).take(MAX_COMPARED).chain([best]);
        let reach = |class: usize| classes.graph().hops(&[class]).into_iter().flatten().max();
        alike.min_by_key(|class| (reach(*class), classes.members(*class).len(), *class)).unwrap_or(best)
    }

    /// Returns which classes are as high as the center, which is one of them: the cores of connected data centers.
    ///
    /// All have as many members, and other classes with leaves next to them, but none of their own.
    pub(super) fn peers(&self, classes: &Classes) -> Vec<bool> {
        let far = self.distances(classes);
        let has_branch = |class: usize, except: usize| {
            let around = classes.graph().neighbors(class).iter();
            around.copied().any(|other| other != except && classes.leaves(other) > 0)
        };
        let kind = |class: usize| {
            (
                classes.members(class).len(),
                classes.are_adjacent(class),
                classes.leaves(class),
                classes.is_outward(class),
            )
        };
        let center = self.center;
        // Firewalls are above the switches of a core, however alike these are wired.
        let may_be_alike = |class: usize, other: usize| {
            let ranks = classes.rank(class).zip(classes.rank(other));
            ranks.is_none_or(|(one, other)| one == other)
        };
        let are_alike = |class: usize, other: usize| {
            may_be_alike(class, other)
                && kind(class) == kind(other)
                && has_branch(class, other)
                && has_branch(other, class)
        };
        let mut are_peers = vec![false; self.order.len()];
        are_peers[center] = true;
        if classes.leaves(center) > 0 || classes.is_outward(center) {
            return are_peers;
        }
        let beside = |class: usize| classes.graph().neighbors(class).iter().copied();
        let is_as_central = |class: &usize| far[*class] <= far[center] * AS_CENTRAL;
        if let Some(twin) = beside(center).filter(is_as_central).find(|other| are_alike(center, *other)) {
            are_peers[twin] = true;
        }
        let mut waiting: Vec<usize> = (0..are_peers.len()).filter(|class| are_peers[*class]).collect();
        while let Some(class) = waiting.pop() {
            for other in beside(class) {
                if !are_peers[other] && classes.are_side_by_side(class, other) && are_alike(class, other) {
                    are_peers[other] = true;
                    waiting.push(other);
                }
            }
        }
        are_peers
    }

    /// Returns for each class the sum of the ways from a member to all nodes.
    fn distances(&self, classes: &Classes) -> Vec<f64> {
        let graph = classes.graph();
        let is_tree = graph.edges().len() < graph.len();
        let sums = if is_tree || graph.len() > MAX_MEASURED {
            self.distances_in_tree(classes)
        } else {
            shortest_distances(classes)
        };
        sums.into_iter().enumerate().map(|(class, sum)| sum + within(classes, class)).collect()
    }

    fn distances_in_tree(&self, classes: &Classes) -> Vec<f64> {
        let count = self.order.len();
        let weight = |class: usize| classes.weight(class) as f64;
        let mut weights: Vec<f64> = (0..count).map(weight).collect();
        let total: f64 = weights.iter().sum();
        // The sum of distances from the root, then from each class by that from its parent.
        let mut sums = vec![0.0; count];
        for class in self.order.iter().rev().copied().filter(|class| *class != self.center) {
            let parent = self.parents[class];
            weights[parent] += weights[class];
            sums[self.center] += weights[class];
        }
        for class in self.order.iter().copied().filter(|class| *class != self.center) {
            sums[class] = sums[self.parents[class]] + total - 2.0 * weights[class];
        }
        sums
    }

    /// Returns the distance of each class from the center.
    pub(super) fn depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.order.len()];
        for class in self.order.iter().copied().filter(|class| *class != self.center) {
            depths[class] = depths[self.parents[class]] + 1;
        }
        depths
    }

    /// Returns the largest distance of a class from the center.
    pub(super) fn depth(&self) -> usize {
        self.depths().into_iter().max().unwrap_or(0)
    }

    fn are_extras_between_neighbors(&self, classes: &Classes) -> bool {
        let depths = self.depths();
        classes.graph().edges().iter().all(|(one, other)| {
            let (upper, lower) = if depths[*one] <= depths[*other] { (*one, *other) } else { (*other, *one) };
            let parent = self.parents[lower];
            if depths[upper] == depths[lower] {
                self.parents[upper] == parent
            } else {
                upper == parent || self.parents[upper] == self.parents[parent]
            }
        })
    }
}

/// Returns for each class the sum of the shortest ways to all other classes.
fn shortest_distances(classes: &Classes) -> Vec<f64> {
    let sum = |class: usize| {
        crate::fair_threads::yield_turn();
        let hops = classes.graph().hops(&[class]);
        let ways =
            hops.into_iter().enumerate().map(|(other, hops)| hops.unwrap_or(0) * classes.weight(other));
        ways.sum::<usize>() as f64
    };
    (0..classes.len()).map(sum).collect()
}

/// Returns the sum of the distances of a member from the other members and from the leaves of its own class. The leaves
/// of other classes count as their members do.
fn within(classes: &Classes, class: usize) -> f64 {
    let (members, leaves) = (classes.members(class).len() as f64, classes.leaves(class) as f64);
    let apart = if classes.are_adjacent(class) { 1.0 } else { 2.0 };
    let own = leaves / members;
    // One step to a leaf is the same from everywhere, and left out.
    (members - 1.0) * apart + (leaves - own) * apart
}
