//! The result of a merge.

use crate::discovery::reconcile::state::HostState;
use crate::model::Host;

/// The change that a merge makes to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeOutcome {
    /// The host is new.
    Created,
    /// The host changes.
    Updated,
    /// The host stays as it is.
    Unchanged,
}

/// The result of a merge.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Merged {
    /// The host to be stored.
    pub host: Host,
    /// The state to be stored beside the host.
    pub state: HostState,
    /// The change that the merge makes to the host.
    pub outcome: MergeOutcome,
    /// The paths of the changed fields and of new parts, at most 1,000.
    pub changes: Vec<String>,
    /// Whether the state differs from the one before.
    pub changes_state: bool,
}

impl Merged {
    /// Returns whether neither the host nor the state changes.
    #[must_use]
    pub fn writes_nothing(&self) -> bool {
        self.outcome == MergeOutcome::Unchanged && !self.changes_state
    }
}
