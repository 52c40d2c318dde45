//! The side of the world: the nodes that lead out of the network.

use super::lone::lone_devices;
use crate::topology::layout::containers::Level;
use crate::topology::layout::device_tiers::DeviceTier;
use crate::topology::layout::diagram::AddressScope;

/// The rank of devices that are known to be outside of the network.
const OUTSIDE: u8 = 0;
/// The lowest rank of a role that leads out of a network: routers, then firewalls.
pub(super) const LOWEST_RANK: u8 = 2;
/// A kind of evidence is ignored if more than one in this many nodes have it.
const ONE_IN: usize = 3;
/// Maximum number of nodes that lead out of a network. More are servers with public addresses, or its own routers.
pub(super) const MAX_OUTWARD: usize = 24;
/// The number of parts that meet at a provider.
const PARTS: usize = 3;
/// Maximum number of nodes without an address that are examined.
const MAX_EXAMINED: usize = 16;

/// Returns for each node whether evidence of a kind shows that it leads out of the network.
type Evidence<'a> = &'a dyn Fn() -> Vec<bool>;

/// The nodes that lead out of a network, by the strongest evidence that few of its nodes have.
#[derive(Debug, Default)]
pub(super) struct World {
    is_outward: Vec<bool>,
    /// Whether addresses are the evidence rather than roles, which may be wrong.
    pub(super) is_certain: bool,
    /// Whether roles or addresses of devices are the evidence rather than their places in the network.
    pub(super) is_known: bool,
}

impl World {
    pub(super) fn of(level: &Level) -> Self {
        let nodes = 0..level.network.len();
        let has_rank = |rank: u8| nodes.clone().map(|node| level.ranks[node] == Some(rank)).collect();
        let is_public = || nodes.clone().map(|node| level.scopes[node] == AddressScope::Public).collect();
        let evidence: [(bool, bool, Evidence<'_>); 7] = [
            (true, true, &|| has_rank(OUTSIDE)),
            (true, false, &|| providers(level)),
            (true, true, &is_public),
            (false, true, &|| has_rank(OUTSIDE + 1)),
            (false, true, &|| has_rank(LOWEST_RANK)),
            (false, false, &|| entries(level)),
            (true, false, &|| lone_devices(level)),
        ];
        evidence
            .into_iter()
            .map(|(is_certain, is_known, of)| Self { is_outward: of(), is_certain, is_known })
            .find(|world| {
                let count = world.is_outward.iter().filter(|is_outward| **is_outward).count();
                (1..=MAX_OUTWARD).contains(&count) && count * ONE_IN <= world.is_outward.len()
            })
            .unwrap_or_default()
    }

    pub(super) fn contains(&self, node: usize) -> bool {
        self.is_outward.get(node).copied().unwrap_or(false)
    }
}

/// Returns the highest nodes with lines to shapes outside of the container that all are in.
fn entries(level: &Level) -> Vec<bool> {
    let highest = level.outward.iter().flatten().map(|of| of.tier).min();
    let is_entry = |of: &Option<DeviceTier>| of.is_some_and(|of| Some(of.tier) == highest);
    level.outward.iter().map(is_entry).collect()
}

/// Returns the nodes without an address at which several parts of the network meet, and only there.
fn providers(level: &Level) -> Vec<bool> {
    let network = &level.network;
    let mut found = vec![false; network.len()];
    let mut candidates: Vec<usize> = (0..network.len())
        .filter(|node| level.scopes[*node] == AddressScope::Missing && network.degree(*node) >= PARTS)
        .collect();
    candidates.sort_by_key(|node| (usize::MAX - network.degree(*node), *node));
    for candidate in candidates.into_iter().take(MAX_EXAMINED) {
        crate::fair_threads::yield_turn();
        let others: Vec<usize> = (0..network.len()).filter(|node| *node != candidate).collect();
        // A device that hangs there alone is no part of the network.
        let parts = network.part(&others).components().into_iter().filter(|part| part.len() > 1);
        found[candidate] = parts.count() >= PARTS;
    }
    found
}
