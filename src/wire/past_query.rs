//! Queries for the differences between two states, and for summaries of changes.

use super::Moment;
use crate::model::NetworkId;

/// The two states to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiffQuery {
    /// The earlier state.
    pub from: Moment,
    /// The later state; `None`: the present one.
    pub to: Option<Moment>,
    /// Only hosts on this network; `None`: on all networks that the caller may see.
    pub network_id: Option<NetworkId>,
}

impl DiffQuery {
    /// Creates a query for the changes since a moment, on all networks.
    #[must_use]
    pub const fn new(from: Moment) -> Self {
        Self { from, to: None, network_id: None }
    }
}

/// The changes to count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SummaryQuery {
    /// Only changes after this moment.
    pub since: Option<Moment>,
    /// Only changes up to this moment.
    pub until: Option<Moment>,
    /// Only changes on this network.
    pub network_id: Option<NetworkId>,
}

/// The moments that a graph of a network shows.
#[cfg(feature = "topology")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphMoments {
    /// The network as it was at this moment; `None`: as it is.
    pub at: Option<Moment>,
    /// The earlier moment since which the graph shows what has changed; `None`: it shows one state alone.
    pub compare: Option<Moment>,
}

#[cfg(feature = "topology")]
impl GraphMoments {
    /// Asks for the network as it was.
    #[must_use]
    pub const fn at(moment: Moment) -> Self {
        Self { at: Some(moment), compare: None }
    }

    /// Asks for what has changed since a moment.
    #[must_use]
    pub const fn changes_since(moment: Moment) -> Self {
        Self { at: None, compare: Some(moment) }
    }
}
