//! The result of a merge.

use std::fmt;

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

/// The reason why a merge left values of a report out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeReason {
    /// The host was entered by a user, so that discovery never changes it.
    ManualHost,
}

impl MergeReason {
    /// Returns the name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ManualHost => "manual_host",
        }
    }
}

impl fmt::Display for MergeReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
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
    /// The reason why values of the report were left out; `None`: none were.
    pub reason: Option<MergeReason>,
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
