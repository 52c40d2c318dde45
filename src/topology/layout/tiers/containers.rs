//! Tiers of a level of which some shapes are containers: those of the devices that connect them.

use super::{MAX_LEVEL, Tiers};
use crate::topology::layout::containers::Level;

/// Returns the tiers of a connected level with containers. `None` without containers, and if the network that is in
/// them has no tiers.
pub(in super::super) fn of_containers(level: &Level) -> Option<Tiers> {
    if !level.is_container.contains(&true) {
        return None;
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
    Some(Tiers { is_leaf: (0..network.len()).map(is_leaf).collect(), levels })
}
