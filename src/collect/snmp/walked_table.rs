//! A table that was read, and how its reading ended.

use super::error::{AskError, is_refusal};
use super::value::{ObjectId, Variable};

/// The variables below an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkedTable {
    /// The object.
    pub root: ObjectId,
    /// The VLAN in whose context the variables were read; `None` outside of those.
    pub vlan: Option<u16>,
    /// The variables, in the order of the agent.
    pub rows: Vec<Variable>,
    /// The end of the reading, which shows whether variables are missing.
    pub end: TableEnd,
    /// The object that the agent has behind the table.
    pub(super) next: NextObject,
}

/// The object that an agent has behind a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NextObject {
    /// The agent has not stated it, or does not keep the order.
    Unknown,
    /// This object.
    Object(ObjectId),
    /// Nothing: the view ends.
    EndOfView,
}

impl WalkedTable {
    /// Creates a table that was not read.
    pub(in crate::collect) const fn without_rows(root: ObjectId, end: TableEnd) -> Self {
        Self { root, vlan: None, rows: Vec::new(), end, next: NextObject::Unknown }
    }

    /// Marks the table as one that was read in the context of a VLAN.
    pub(in crate::collect) fn of_vlan(self, vlan: u16) -> Self {
        Self { vlan: Some(vlan), ..self }
    }

    /// Returns whether the agent has stated that it has nothing behind the table.
    #[must_use]
    pub fn is_end_of_view(&self) -> bool {
        self.next == NextObject::EndOfView
    }

    /// Returns a later table if the object behind this one shows that it is empty.
    ///
    /// The end of the view shows nothing of it: some agents state that end behind each of their parts.
    pub(in crate::collect) fn known_empty(&self, root: &ObjectId) -> Option<Self> {
        let NextObject::Object(next) = &self.next else { return None };
        let is_empty = root < next && !next.is_within(root);
        let is_later = self.root < *root && !root.is_within(&self.root);
        (is_empty && is_later)
            .then(|| Self { next: self.next.clone(), ..Self::without_rows(root.clone(), TableEnd::Empty) })
    }
}

/// The end of reading a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableEnd {
    /// All variables were read.
    Complete,
    /// The agent knows the table, which has no variables.
    Empty,
    /// The agent does not know the table.
    Unsupported,
    /// Some variables are missing.
    Truncated(TruncationReason),
}

/// The reason why variables of a table are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TruncationReason {
    /// The agent does not answer any more.
    #[error("the device stopped answering")]
    Silent,
    /// The agent answers in a form that SNMP does not allow, such as with a number without a byte.
    #[error("the device answers with values that cannot be decoded")]
    Undecodable,
    /// The agent answers with an error of this number (RFC 3416, `error-status`).
    #[error("the device answered with error {0}")]
    Status(i32),
    /// The agent repeats variables.
    #[error("the device repeats what it has said")]
    Repeats,
    /// The agent went back behind the beginning of the table.
    #[error("the device went back in its tables")]
    Backwards,
    /// The agent answers without a variable.
    #[error("the device answered with nothing")]
    EmptyAnswer,
    /// The table has more variables than are read.
    #[error("the table has more rows than the limit allows")]
    RowLimit,
    /// The tables of the device take more memory than is allowed.
    #[error("the tables take more memory than the limit allows")]
    ByteLimit,
    /// Reading the device takes longer than is allowed.
    #[error("reading the device takes longer than the limit allows")]
    TimeLimit,
    /// The device has started again, changed its interfaces or become another one while it was read, twice. The tables may not belong together.
    #[error("the device started again or changed its interfaces while it was read")]
    Changed,
    /// The agent could not be asked.
    #[error(transparent)]
    NotAsked(AskError),
}

impl From<AskError> for TruncationReason {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Silent => Self::Silent,
            AskError::Undecodable => Self::Undecodable,
            error => Self::NotAsked(error),
        }
    }
}

impl TruncationReason {
    /// Returns whether the agent refuses the rights to read the table.
    pub(in crate::collect) fn is_refusal(self) -> bool {
        match self {
            Self::Status(status) => is_refusal(status),
            Self::NotAsked(error) => matches!(error, AskError::Refused(_) | AskError::Denied(_)),
            _ => false,
        }
    }
}
