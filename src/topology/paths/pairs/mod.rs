//! Pairs of devices of which one may fail, but not both.

mod candidates;
mod search;

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use self::search::PairSearch;
use super::index::PathIndex;
use crate::fair_threads::yield_turn;
use crate::model::{HostId, NodeId};
use crate::text_enum::text_enum;
use crate::topology::graph::NodeKind;

/// Maximum number of pairs that are examined.
const MAX_PAIRS: usize = 200_000;

/// Maximum number of steps over links.
const MAX_WORK: usize = 4_000_000;

/// The number of pairs between two turns of other work.
const PAIRS_PER_TURN: usize = 256;

/// Two devices whose joint loss cuts off others. The loss of one of them does not cut these off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FragilePair {
    /// The two devices, by id.
    pub nodes: [PairedNode; 2],
    /// The reasons for which both may fail at once.
    pub reasons: Vec<PairReason>,
    /// The number of devices that lose the top of the network only if both fail. Of the only two nodes at the top: all outside of
    /// the largest part that remains.
    pub behind: usize,
}

/// One of two devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PairedNode {
    /// The host's id; `None` for a device that is no host.
    pub host_id: Option<HostId>,
    /// The id of a device that is no host; absent for hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    /// The name to show.
    pub name: String,
}

text_enum! {
    /// A reason for which two devices may fail at the same time.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum PairReason {
        /// Both are at the same location.
        Location = "location",
        /// Both are next to a third device, and not farther from the top than it.
        Upstream = "upstream",
    }
}

/// The pairs that were found, each with its reasons and the devices behind it.
#[derive(Debug, Default)]
pub(super) struct FoundPairs {
    /// Pairs with more devices behind them come first.
    pub(super) pairs: Vec<([u32; 2], Reasons, usize)>,
    /// Whether some pairs were not examined.
    pub(super) is_cut: bool,
}

/// Whether two devices have a location in common, and a device below them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reasons {
    location: bool,
    upstream: bool,
}

impl Reasons {
    fn list(self) -> Vec<PairReason> {
        let all = [(self.location, PairReason::Location), (self.upstream, PairReason::Upstream)];
        all.into_iter().filter_map(|(holds, reason)| holds.then_some(reason)).collect()
    }
}

impl PathIndex {
    /// Returns the pairs whose joint loss cuts. Devices at the same location, and above the same device, are compared. The only node
    /// at the top of a part is in no pair with others of the part: all of them need it.
    pub(super) fn find_pairs(&self) -> FoundPairs {
        let mut search = PairSearch::new(self);
        let (candidates, mut is_cut) = search.candidates();
        let mut pairs = Vec::new();
        for (number, (pair, reasons)) in candidates.into_iter().enumerate() {
            if number.is_multiple_of(PAIRS_PER_TURN) {
                yield_turn();
            }
            if search.work > MAX_WORK {
                is_cut = true;
                break;
            }
            let behind = search.joint_loss(pair);
            if behind > 0 {
                pairs.push((pair, reasons, behind));
            }
        }
        self.count_steps(search.work as u64);
        pairs.sort_unstable_by_key(|(pair, _, behind)| (Reverse(*behind), *pair));
        FoundPairs { pairs, is_cut }
    }

    pub(super) fn pair(&self, (nodes, reasons, behind): &([u32; 2], Reasons, usize)) -> FragilePair {
        let described = |node: u32| {
            let node = self.node(node);
            PairedNode {
                host_id: node.host_id(),
                node_id: (node.kind != NodeKind::Host).then_some(node.id),
                name: node.name.to_string(),
            }
        };
        FragilePair { nodes: nodes.map(described), reasons: reasons.list(), behind: *behind }
    }
}
