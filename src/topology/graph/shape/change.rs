//! Changes of a graph since an earlier state.

use serde::{Deserialize, Serialize};

use crate::model::Timestamp;
use crate::text_enum::{listed, text_enum};

text_enum! {
    /// The change of a part of a graph since an earlier state.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum GraphChange {
        /// It was not there.
        Added = "added",
        /// It is no longer there, and is drawn as it was.
        Removed = "removed",
        /// It was elsewhere: an edge at another end, or a node in another container.
        Moved = "moved",
    }

    /// The error for text that names no such change.
    #[error("not one of {}", listed(GraphChange::TEXTS))]
    pub struct GraphChangeError;
}

/// An earlier state that a graph is compared with, and how much differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GraphComparison {
    /// The time of the earlier state; absent if it precedes all changes that the caller may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Timestamp>,
    /// The numbers of devices and containers that differ; with a focus, of those around it.
    pub nodes: ChangeCounts,
    /// The numbers of links that differ.
    pub edges: ChangeCounts,
}

impl GraphComparison {
    /// Sets the time of the earlier state.
    #[must_use]
    pub const fn with(mut self, time: Timestamp) -> Self {
        self.with = Some(time);
        self
    }
}

/// The numbers of parts of a graph by what has become of them. Each one that another one stands for counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChangeCounts {
    /// The number of those that were not there.
    pub added: usize,
    /// The number of those that are no longer there.
    pub removed: usize,
    /// The number of those that were elsewhere.
    pub moved: usize,
}

impl ChangeCounts {
    pub(in crate::topology::graph) fn of(changes: impl Iterator<Item = GraphChange>) -> Self {
        let mut counts = Self::default();
        for change in changes {
            let count = match change {
                GraphChange::Added => &mut counts.added,
                GraphChange::Removed => &mut counts.removed,
                GraphChange::Moved => &mut counts.moved,
            };
            *count = count.saturating_add(1);
        }
        counts
    }
}
