//! The search for a cycle that leads through all of some nodes.

use crate::topology::layout::network::SimpleGraph;

/// Maximum number of steps in the search.
const MAX_STEPS: usize = 20_000;

/// Returns nodes, which are sorted, in the order of a cycle of lines between them, from one of them; `None` if none was found within a
/// limit of steps.
///
/// Of the lines of a node, those are tried first that are not the last choice.
pub(super) fn cycle_through(
    graph: &SimpleGraph,
    start: usize,
    nodes: &[usize],
    is_last_choice: impl Fn(usize, usize) -> bool,
) -> Option<Vec<usize>> {
    let next_of = |node: usize| {
        let around = graph.neighbors(node).iter().copied();
        let mut next: Vec<usize> = around.filter(|other| nodes.binary_search(other).is_ok()).collect();
        // The last one is tried first.
        next.sort_by_key(|other| (!is_last_choice(node, *other), std::cmp::Reverse(*other)));
        next
    };
    let mut path = vec![start];
    let mut waiting = vec![next_of(start)];
    for _ in 0..MAX_STEPS {
        let (Some(last), Some(choices)) = (path.last().copied(), waiting.last_mut()) else { return None };
        if path.len() == nodes.len() && graph.neighbors(last).binary_search(&start).is_ok() {
            return Some(path);
        }
        match choices.pop() {
            Some(next) if !path.contains(&next) => {
                path.push(next);
                waiting.push(next_of(next));
            }
            Some(_) => {}
            None => {
                path.pop();
                waiting.pop();
            }
        }
    }
    None
}
