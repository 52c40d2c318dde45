//! Tiers of a level of which some shapes are containers: those of the devices that connect them.

use super::{MAX_LEVEL, Tiers};
use crate::topology::layout::containers::Level;

/// Maximum number of connected devices in a row because they all have lines to the outside of their container.
const MAX_BESIDE: usize = 4;

/// Returns the tiers of a connected level with containers, or of a few devices of one tier in one. `None` for other levels,
/// and if the network that is in the containers has no tiers.
pub(in super::super) fn of_containers(level: &Level) -> Option<Tiers> {
    if !level.is_container.contains(&true) {
        return in_one_row(level);
    }
    let tops = level.tops.iter().map(|top| Some((*top)?.tier)).collect::<Option<Vec<usize>>>()?;
    let mut distinct = tops.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let levels: Vec<usize> = tops.iter().map(|top| distinct.partition_point(|other| other < top)).collect();
    let network = &level.network;
    let beside = network.edges().iter().filter(|(one, other)| levels[*one] == levels[*other]).count();
    // Most of the lines of a mesh would run along its row.
    if distinct.len() > MAX_LEVEL || beside > network.len() {
        return None;
    }
    let is_leaf = |node: usize| match network.neighbors(node) {
        [hub] => !level.is_container[node] && levels[*hub] < levels[node],
        _ => false,
    };
    let is_leaf = (0..network.len()).map(is_leaf).collect();
    Some(Tiers { is_leaf, levels, rows: Vec::new(), odd_links: Vec::new() })
}

/// Returns a single tier for devices that all have lines out of their container, such as the two switches of a core.
fn in_one_row(level: &Level) -> Option<Tiers> {
    let count = level.network.len();
    let outward = level.outward.iter().copied().collect::<Option<Vec<_>>>()?;
    let tier = outward.first()?.tier;
    let are_beside = count <= MAX_BESIDE && outward.iter().all(|of| of.tier == tier);
    are_beside.then(|| Tiers {
        levels: vec![0; count],
        is_leaf: vec![false; count],
        rows: Vec::new(),
        odd_links: Vec::new(),
    })
}
