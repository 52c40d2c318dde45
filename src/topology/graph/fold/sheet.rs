//! The number of groups without which the names of a picture would be too small on a sheet.

use std::collections::BTreeMap;

use super::Fold;
use crate::model::{NodeId, TopologyView};
use crate::topology::graph::arrange::size::{extent, measure};
use crate::topology::graph::arrange::surface::{A3, MAX_LINES, area};
use crate::topology::graph::arrange::{Positions, lay_out};
use crate::topology::graph::draft::GraphDraft;
use crate::topology::graph::shape::{Edge, Graph, Node};

/// Returns how many of the groups must be folded, so that the names are large enough on A3; all if they never are.
///
/// Groups of the same size are folded together: the racks of a fabric look alike. Pictures are laid out to find this out, but only
/// those whose nodes have room on the sheet side by side.
pub(super) fn folds_needed(draft: &GraphDraft, folds: &[Fold], view: TopologyView) -> usize {
    let needed = least_needed(draft, folds, view);
    let size = |fold: &Fold| fold.leaves.len();
    let Some(smallest) = needed.checked_sub(1).and_then(|last| folds.get(last)).map(size) else { return 0 };
    folds.partition_point(|fold| size(fold) >= smallest)
}

fn least_needed(draft: &GraphDraft, folds: &[Fold], view: TopologyView) -> usize {
    if folds.is_empty() {
        return 0;
    }
    let trial = Trial::of(draft, folds, view);
    let Some(least) = trial.least_by_area() else { return folds.len() };
    if trial.fits(least) {
        return least;
    }
    let (mut low, mut high) = (least.saturating_add(1), folds.len());
    if low > high || !trial.fits(high) {
        return folds.len();
    }
    while low < high {
        let middle = low.midpoint(high);
        if trial.fits(middle) {
            high = middle;
        } else {
            low = middle.saturating_add(1);
        }
    }
    high
}

/// A graph of which the first of some groups are folded.
struct Trial<'a> {
    draft: &'a GraphDraft,
    folds: &'a [Fold],
    view: TopologyView,
    /// The group of each end device.
    group_of: BTreeMap<NodeId, usize>,
}

impl<'a> Trial<'a> {
    fn of(draft: &'a GraphDraft, folds: &'a [Fold], view: TopologyView) -> Self {
        let numbered = folds.iter().enumerate();
        let group_of =
            numbered.flat_map(|(number, fold)| fold.leaves.iter().map(move |leaf| (*leaf, number)));
        Self { draft, folds, view, group_of: group_of.collect() }
    }

    /// Returns the smallest number of groups that must be folded before all nodes have room side by side.
    fn least_by_area(&self) -> Option<usize> {
        let contents = self.draft.contents();
        let mut open = 0.0;
        let mut gains = vec![0.0; self.folds.len()];
        for node in self.draft.nodes.values().filter(|node| !contents.contains_key(&node.id)) {
            let needed = area(extent(node, false));
            open += needed;
            if let Some(gain) = self.group_of.get(&node.id).and_then(|number| gains.get_mut(*number)) {
                *gain += needed;
            }
        }
        let limit = area(A3.content());
        let left = gains.into_iter().zip(self.folds).scan(open, |left, (gain, fold)| {
            *left += area(extent(&fold.group, false)) - gain;
            Some(*left)
        });
        std::iter::once(open).chain(left).position(|left| left <= limit)
    }

    /// Returns whether the names are large enough if this many groups are folded.
    fn fits(&self, count: usize) -> bool {
        let is_drawn = |id: &NodeId| self.group_of.get(id).is_none_or(|number| *number >= count);
        let folded = || self.folds.iter().take(count);
        let shown = self.draft.edges.values().filter(|edge| is_drawn(&edge.source) && is_drawn(&edge.target));
        let edges: Vec<Edge> =
            shown.chain(folded().filter_map(|fold| fold.edge.as_ref())).take(MAX_LINES).cloned().collect();
        if edges.len() == MAX_LINES {
            return false;
        }
        let shown = self.draft.nodes.values().filter(|node| is_drawn(&node.id));
        let mut nodes: Vec<Node> = shown.chain(folded().map(|fold| &fold.group)).cloned().collect();
        measure(&mut nodes);
        let mut graph = Graph::new(self.view, nodes, edges);
        lay_out(&mut graph, &Positions::default());
        A3.holds(&graph)
    }
}
