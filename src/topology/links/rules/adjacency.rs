//! Bridges that no known bridge separates from each other.
//!
//! Bridges behind a device that was never read all see each other on one port. Their number is not bounded, and links
//! between their pairs add no information to the segment. Few of them are therefore linked in pairs. Of many, each is
//! linked with one of the others, which connects all of them with the segment.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::fdb::{FdbView, FdbViews};
use crate::model::HostId;

/// Maximum number of adjacent bridges on a port that are linked in pairs. With more of them, the port is on a segment.
const MAX_ADJACENT: usize = 64;

/// Maximum number of bridges behind adjacent ones that are checked for one port. With more, the port is on a segment.
const MAX_WORK: usize = 1 << 16;

/// The bridges that are adjacent on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::topology::links) enum Adjacent {
    /// All of them, in order.
    Few(Vec<HostId>),
    /// The first of more than can be linked in pairs.
    Segment {
        first: Vec<HostId>,
        /// Whether further bridges were not compared, to bound the work.
        is_cut: bool,
    },
}

impl Adjacent {
    pub(in crate::topology::links) const fn is_segment(&self) -> bool {
        matches!(self, Self::Segment { .. })
    }
}

/// Returns the adjacent bridges on each port of a bridge, as the bridge sees them.
///
/// `branching` are the bridges that have others behind at least two ports. Only these separate others.
pub(in crate::topology::links) fn adjacent(
    own: HostId,
    views: &FdbViews,
    branching: &BTreeSet<HostId>,
) -> BTreeMap<u32, Adjacent> {
    let Some(view) = views.get(&own) else { return BTreeMap::new() };
    view.bridge_ports().map(|port| (port, adjacent_on(own, port, view, views, branching))).collect()
}

fn adjacent_on(
    own: HostId,
    port: u32,
    view: &FdbView,
    views: &FdbViews,
    branching: &BTreeSet<HostId>,
) -> Adjacent {
    let (separated, is_cut) = separated(own, separators(own, port, view, views, branching), views);
    let sees_own = |other: &HostId| views.get(other).is_some_and(|view| view.towards(own).is_some());
    let mut adjacent = view.behind(port).filter(|other| !separated.contains(other)).filter(sees_own);
    let first: Vec<HostId> = adjacent.by_ref().take(MAX_ADJACENT).collect();
    if is_cut || adjacent.next().is_some() {
        Adjacent::Segment { first, is_cut }
    } else {
        Adjacent::Few(first)
    }
}

/// Returns the bridges behind a port that may separate others, the nearest first. Each has its own port towards the
/// bridge.
///
/// The nearer a bridge, the fewer others are on the far side of its port.
fn separators<'v>(
    own: HostId,
    port: u32,
    view: &FdbView,
    views: &'v FdbViews,
    branching: &BTreeSet<HostId>,
) -> Vec<(usize, HostId, u32, &'v FdbView)> {
    let far_side = |other: HostId| {
        let view = views.get(&other)?;
        let back = view.towards(own)?.port;
        Some((view.behind(back).len(), other, back, view))
    };
    let mut separators: Vec<_> = if branching.len() < view.behind(port).len() {
        let is_behind = |other: &HostId| view.towards(*other).is_some_and(|towards| towards.port == port);
        branching.iter().copied().filter(is_behind).filter_map(far_side).collect()
    } else {
        view.behind(port).filter(|other| branching.contains(other)).filter_map(far_side).collect()
    };
    separators.sort_unstable_by_key(|(behind, other, ..)| (*behind, *other));
    separators
}

/// Returns the bridges that are separated from a bridge, and whether some of its separators were left out.
fn separated(
    own: HostId,
    separators: Vec<(usize, HostId, u32, &FdbView)>,
    views: &FdbViews,
) -> (HashSet<HostId>, bool) {
    let mut separated = HashSet::new();
    let (mut adjacent, mut work) = (0_usize, 0_usize);
    for (_, between, back, view) in separators {
        if separated.contains(&between) {
            continue;
        }
        adjacent = adjacent.saturating_add(1);
        // The port is on a segment, whichever bridges are behind the others.
        if adjacent > MAX_ADJACENT {
            return (separated, false);
        }
        for port in view.bridge_ports().filter(|port| *port != back) {
            work = work.saturating_add(view.behind(port).len());
            if work > MAX_WORK {
                return (separated, true);
            }
            separated.extend(view.behind(port).filter(|other| *other != own && views.contains_key(other)));
        }
    }
    (separated, false)
}
