//! Decision which side of the tree of classes is on top.

use super::LOWEST_SWITCH;
use super::classes::Classes;
use super::tree::ClassTree;
use super::world::World;

/// A branch with more than one in this many of all leaves is no way out of the network, and neither are branches without leaves that have one
/// in this many of all nodes.
const ONE_IN: usize = 3;

/// The part of all switches that are one after another in a chain of access switches, which has no core.
const IN_CHAIN: (usize, usize) = (2, 3);

/// Number of adjacent members of a class up to which they may be redundant devices.
const MAX_PAIR: usize = 2;

/// Returns the height of each class, growing downward from 0 for the center. The ways to the outside world have
/// negative heights.
pub(super) fn heights(tree: &ClassTree, classes: &Classes, world: &World) -> Vec<i64> {
    if classes.is_outward(tree.center) {
        return below(tree, classes, tree.center, &[]);
    }
    let branches = Branches::of(tree, classes);
    let outward: Vec<usize> = (0..classes.len()).filter(|class| classes.is_outward(*class)).collect();
    let ends: Vec<usize> = if !outward.is_empty() {
        let is_light = |class: usize| branches.leaves(class) * ONE_IN <= branches.all_leaves;
        let is_way_out = |class: usize| {
            is_light(class)
                && branches.is_only_way(class)
                && (world.is_certain || branches.is_narrowing(class))
        };
        outward.iter().copied().filter(|class| is_way_out(*class)).collect()
    } else {
        branches.bare_ends()
    };
    if !ends.is_empty() {
        let ends = if branches.hold_most_leaves(&ends) { &[][..] } else { &ends };
        return below(tree, classes, tree.center, ends);
    }
    // Every way out leads through a branch with many leaves: one of its ends is the top.
    let depths = tree.depths();
    // A router at an access switch is no end, but one at a core is.
    let is_at_core =
        |class: usize| classes.leaves(tree.parents[class]) == 0 && tree.parents[class] != tree.center;
    let has_core = classes.leaves(tree.center) == 0 || !world.is_known || !is_chain(classes, tree.center);
    let is_end = |class: usize| {
        !has_core || (classes.leaves(class) == 0 && (branches.children[class] > 0 || is_at_core(class)))
    };
    // An access point with many devices may be the center, beside the switch with the router.
    let is_switch = |class: usize| classes.rank(class).is_some_and(|rank| rank <= LOWEST_SWITCH);
    let center_is_no_switch = classes.rank(tree.center).is_some() && !is_switch(tree.center);
    // Or the center are the access switches of devices with several links, below the only switches that lead out.
    let is_lowest_switch = |outward: usize| {
        let is_device =
            |class: usize| depths[class] == 1 && classes.rank(class).is_some() && !is_switch(class);
        let others = || (0..classes.len()).filter(|class| ![outward, tree.center].contains(class));
        is_switch(tree.center) && others().next().is_some() && others().all(is_device)
    };
    let is_above_center = |class: usize| {
        depths[class] == 1 && is_switch(class) && (center_is_no_switch || is_lowest_switch(class))
    };
    let tops = outward.into_iter().filter(|class| is_end(*class) || is_above_center(*class));
    let top = tops.min_by_key(|class| (!is_end(*class), depths[*class], *class));
    below(tree, classes, top.unwrap_or(tree.center), &[])
}

/// Returns distances from a top class; classes on the ways from it to `ends` are above it.
fn below(tree: &ClassTree, classes: &Classes, top: usize, ends: &[usize]) -> Vec<i64> {
    let mut is_up = vec![false; classes.len()];
    for end in ends {
        let mut class = *end;
        while class != tree.center && !is_up[class] {
            is_up[class] = true;
            class = tree.parents[class];
        }
    }
    let are_peers = tree.peers(classes);
    let mut heights = vec![None; classes.len()];
    heights[top] = Some(0);
    let mut waiting = std::collections::VecDeque::from([(top, 0_i64)]);
    while let Some((class, height)) = waiting.pop_front() {
        for neighbor in classes.graph().neighbors(class) {
            let is_parent_or_child = tree.parents[*neighbor] == class || tree.parents[class] == *neighbor;
            if heights[*neighbor].is_none() && is_parent_or_child {
                let next = match is_up[*neighbor] {
                    _ if are_peers[class] && are_peers[*neighbor] => height,
                    true => height - 1,
                    false => height + 1,
                };
                heights[*neighbor] = Some(next);
                waiting.push_back((*neighbor, next));
            }
        }
    }
    heights.into_iter().map(|height| height.unwrap_or(0)).collect()
}

/// Returns whether most switches are one after another, with few branches beside. All but the way out have leaves.
fn is_chain(classes: &Classes, center: usize) -> bool {
    let graph = classes.graph();
    let farthest = |hops: &[Option<usize>]| {
        let hops = hops.iter().enumerate().filter_map(|(class, hops)| Some((*hops.as_ref()?, class)));
        hops.max().map_or(center, |(_, class)| class)
    };
    let end = farthest(&graph.hops(&[center]));
    let hops = graph.hops(&[end]);
    let is_nearer = |class: usize, than: usize| hops[class].is_some() && hops[class] < hops[than];
    let chain = std::iter::successors(Some(farthest(&hops)), |class| {
        graph.neighbors(*class).iter().copied().find(|other| is_nearer(*other, *class))
    });
    let (mut length, mut have_leaves) = (0, true);
    for class in chain {
        length += 1;
        have_leaves &= classes.leaves(class) > 0 || classes.is_outward(class);
    }
    let all: usize = (0..classes.len()).map(|class| classes.members(class).len()).sum();
    have_leaves && length * IN_CHAIN.1 >= all * IN_CHAIN.0
}

/// The branches of the center.
#[derive(Debug)]
struct Branches<'a> {
    tree: &'a ClassTree,
    classes: &'a Classes,
    /// The first class of each class's branch, and the center for the center.
    first: Vec<usize>,
    /// The number of leaves in the branch of each first class.
    leaves: Vec<usize>,
    children: Vec<usize>,
    all_leaves: usize,
}

impl<'a> Branches<'a> {
    fn of(tree: &'a ClassTree, classes: &'a Classes) -> Self {
        let mut first: Vec<usize> = (0..classes.len()).collect();
        let mut leaves = vec![0; classes.len()];
        let mut children = vec![0; classes.len()];
        for class in tree.order.iter().copied() {
            let parent = tree.parents[class];
            if parent != tree.center {
                first[class] = first[parent];
            }
            leaves[first[class]] += classes.leaves(class);
            children[parent] += usize::from(class != tree.center);
        }
        let all_leaves = (0..classes.len()).map(|class| classes.leaves(class)).sum();
        Self { tree, classes, first, leaves, children, all_leaves }
    }

    fn leaves(&self, class: usize) -> usize {
        self.leaves[self.first[class]]
    }

    /// Returns whether most leaves are in the branches of some classes: these lead to the parts of the network, such as sites.
    fn hold_most_leaves(&self, ends: &[usize]) -> bool {
        let mut firsts: Vec<usize> = ends.iter().map(|end| self.first[*end]).collect();
        firsts.sort_unstable();
        firsts.dedup();
        firsts.into_iter().map(|first| self.leaves[first]).sum::<usize>() * 2 > self.all_leaves
    }

    /// Returns whether only other networks are on the way from the center to a class. There are no leaves, and no
    /// devices that are connected to it alone.
    fn is_only_way(&self, class: usize) -> bool {
        let is_free = |at: usize, before: Option<usize>| {
            let around = self.classes.graph().neighbors(at).iter().copied();
            let mut ends = around.filter(|other| self.tree.parents[*other] == at && Some(*other) != before);
            let is_end = |other| {
                self.children[other] == 0
                    && self.classes.leaves(other) == 0
                    && !self.classes.is_outward(other)
            };
            self.classes.leaves(at) == 0 && !ends.any(is_end)
        };
        let (mut at, mut before) = (class, None);
        while at != self.tree.center {
            if !is_free(at, before) {
                return false;
            }
            (before, at) = (Some(at), self.tree.parents[at]);
        }
        true
    }

    /// Returns whether classes become no larger on the way from the center.
    fn is_narrowing(&self, class: usize) -> bool {
        let mut at = class;
        while at != self.tree.center {
            let parent = self.tree.parents[at];
            if self.classes.members(at).len() > self.classes.members(parent).len() {
                return false;
            }
            at = parent;
        }
        true
    }

    /// Returns the ends of branches that go up because they have no leaves.
    ///
    /// If they have many of all nodes, leaves are known of a few of several branches that are alike.
    fn bare_ends(&self) -> Vec<usize> {
        let count = self.first.len();
        let ends: Vec<usize> = (0..count).filter(|class| self.is_bare_end(*class)).collect();
        let mut is_beyond = vec![false; count];
        for end in ends.iter().filter(|end| !self.is_above_leaves(**end)) {
            is_beyond[self.first[*end]] = true;
        }
        let weight = |class: usize| self.classes.weight(class);
        let beyond = (0..count).filter(|class| is_beyond[self.first[*class]]).map(weight).sum::<usize>();
        let all = (0..count).map(weight).sum::<usize>();
        if beyond * ONE_IN < all {
            ends
        } else {
            ends.into_iter().filter(|end| self.is_above_leaves(*end)).collect()
        }
    }

    /// Returns whether a class is next to a center that has leaves.
    fn is_above_leaves(&self, class: usize) -> bool {
        self.tree.parents[class] == self.tree.center && self.classes.leaves(self.tree.center) > 0
    }

    /// Returns whether a class is the end of a branch without leaves, in a network whose other branches have some. Such
    /// classes are the spines of a fabric, or devices outside of the network to which a core is connected.
    ///
    /// A building whose end devices are not known is not meant. It has more switches the farther they are from the core. Neither
    /// is a ring.
    fn is_bare_end(&self, class: usize) -> bool {
        let center = self.tree.center;
        class != center
            && self.all_leaves > 0
            && self.leaves(class) == 0
            && self.children[class] == 0
            && !(self.classes.are_adjacent(class) && self.classes.members(class).len() > MAX_PAIR)
            && (self.is_above_leaves(class) || self.is_narrowing(class))
    }
}
