//! Reads the variables below an object: GETBULK, GETNEXT, and the faults of agents.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::Instant;

use super::agent::SnmpAgent;
use super::error::AskError;
use super::message::{Question, SnmpAnswer};
use super::pool::{WalkPool, WalkShare};
use super::system::{SYSTEM, SystemIdentity};
use super::value::{ObjectId, SnmpValue, Variable};

/// Maximum number of variables that one answer is asked for.
pub(super) const MAX_REPETITIONS: u32 = 30;

/// Maximum number of times that a request is sent to an agent that has answered.
const MAX_TRIES: usize = 5;

/// Maximum number of times that GETBULK is sent to an agent that has never answered it.
const MAX_FIRST_BULK_TRIES: usize = 2;

const TOO_BIG: i32 = 1;
pub(super) const NO_SUCH_NAME: i32 = 2;

/// Limits of reading a device. Tables beyond them are truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkLimits {
    /// The number of variables of a table. The default is 100,000.
    pub rows: usize,
    /// The bytes of memory of all tables of a device. The default is 32 MiB.
    pub bytes: usize,
    /// The time that reading a device takes. The default is 30 minutes: reading a device that takes 4 seconds for each answer takes about 10, and more if others are read as well.
    pub time: Duration,
}

impl Default for WalkLimits {
    fn default() -> Self {
        Self { rows: 100_000, bytes: 32 << 20, time: Duration::from_secs(30 * 60) }
    }
}

impl WalkLimits {
    /// Sets the number of variables of a table.
    #[must_use]
    pub const fn with_rows(self, rows: usize) -> Self {
        Self { rows, ..self }
    }

    /// Sets the bytes of memory of all tables of a device.
    #[must_use]
    pub const fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    /// Sets the time that reading a device takes.
    #[must_use]
    pub const fn with_time(self, time: Duration) -> Self {
        Self { time, ..self }
    }
}

/// The remaining part of the limits while a device is read.
#[derive(Debug)]
pub struct WalkBudget {
    rows: usize,
    bytes: usize,
    ends: Instant,
    /// The memory that the device shares with others.
    share: Option<WalkShare>,
}

impl WalkBudget {
    /// Begins with all that the limits allow. The time begins now.
    #[must_use]
    pub fn new(limits: &WalkLimits) -> Self {
        let WalkLimits { rows, bytes, time } = *limits;
        // A time that no clock reaches counts as a day.
        let now = Instant::now();
        let ends = now.checked_add(time).unwrap_or(now + Duration::from_secs(86_400));
        Self { rows, bytes, ends, share: None }
    }

    /// Shares memory with other devices that are read at the same time, until the budget is dropped.
    pub(in crate::collect) fn sharing(self, pool: &WalkPool) -> Self {
        Self { share: Some(pool.share()), ..self }
    }

    /// Counts memory that the device has taken, and waits while all devices together have too much. The device is not to blame for this
    /// time.
    async fn hold(&mut self, bytes: usize) {
        if let Some(share) = &mut self.share {
            let begun = Instant::now();
            share.take(bytes).await;
            self.ends += begun.elapsed();
        }
    }
}

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
    pub(in crate::collect) next: NextObject,
}

/// The object that an agent has behind a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::collect) enum NextObject {
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
    pub(in crate::collect) fn known_empty(&self, root: &ObjectId) -> Option<Self> {
        let is_empty = match &self.next {
            NextObject::Unknown => false,
            NextObject::Object(next) => root < next && !next.is_within(root),
            NextObject::EndOfView => true,
        };
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
    /// The agent could not be asked.
    #[error(transparent)]
    NotAsked(AskError),
}

impl SnmpAgent {
    /// Reads the variables below an object, and reduces the budget by them.
    ///
    /// An agent that answers GETBULK neither with variables nor in time is asked by GETNEXT from then on. An agent whose
    /// answers would be too big is asked for half as many variables.
    pub async fn walk(&mut self, root: &ObjectId, budget: &mut WalkBudget) -> WalkedTable {
        let mut reading = TableReading::new(root.clone(), budget.rows, self.has_exceptions());
        let end = loop {
            if Instant::now() >= budget.ends {
                break TableEnd::Truncated(TruncationReason::TimeLimit);
            }
            let answer = match self.ask_behind(&reading.last).await {
                Ok(answer) => answer,
                Err(reason) => break TableEnd::Truncated(reason),
            };
            let before = budget.bytes;
            let end = reading.take(answer, &mut budget.bytes);
            budget.hold(before - budget.bytes).await;
            if let Some(end) = end {
                break end;
            }
        };
        let mut table = reading.finish(end);
        // Behind tables before the system group, an agent has at least the objects of it that it has answered for.
        let is_before_system =
            *root < ObjectId::new(SYSTEM[0]) && *self.system() != SystemIdentity::default();
        if table.next == NextObject::EndOfView && is_before_system {
            table.next = NextObject::Unknown;
        }
        if table.rows.is_empty() && table.end == TableEnd::Complete {
            table.end = TableEnd::Empty;
        }
        table
    }

    /// Reads a table, and asks whether the agent knows it if it has no variables. `column` is an object of the table.
    pub async fn walk_known(
        &mut self,
        root: &ObjectId,
        column: &ObjectId,
        budget: &mut WalkBudget,
    ) -> WalkedTable {
        let mut table = self.walk(root, budget).await;
        if table.end == TableEnd::Empty && self.has_exceptions() {
            let answer = self.ask(Question::Get, &[column.child(&[0])], MAX_TRIES).await;
            let value = answer.ok().and_then(|answer| answer.variables.into_iter().next());
            if value.is_some_and(|variable| variable.value == SnmpValue::NoSuchObject) {
                table.end = TableEnd::Unsupported;
            }
        }
        table
    }

    /// Asks for the variables behind an object, by GETBULK or GETNEXT.
    async fn ask_behind(&mut self, object: &ObjectId) -> Result<SnmpAnswer, TruncationReason> {
        let objects = [object.clone()];
        while let Some(repetitions) = self.bulk {
            let tries = if self.has_answered_bulk { MAX_TRIES } else { MAX_FIRST_BULK_TRIES };
            match self.ask(Question::GetBulk { repetitions }, &objects, tries).await {
                Ok(answer) if answer.status == TOO_BIG && repetitions > 1 => {
                    self.bulk = Some(repetitions / 2);
                }
                Ok(answer) if answer.status == 0 && !answer.variables.is_empty() => {
                    self.has_answered_bulk = true;
                    return Ok(answer);
                }
                Ok(_) | Err(AskError::Silent) => self.bulk = None,
                Err(error) => return Err(TruncationReason::NotAsked(error)),
            }
        }
        match self.ask(Question::GetNext, &objects, MAX_TRIES).await {
            Ok(answer) => Ok(answer),
            Err(AskError::Silent) => Err(TruncationReason::Silent),
            Err(error) => Err(TruncationReason::NotAsked(error)),
        }
    }
}

/// A table that is being read.
struct TableReading {
    root: ObjectId,
    rows: Vec<Variable>,
    max_rows: usize,
    /// The object behind which is read on.
    last: ObjectId,
    /// All objects that were read; `None` while the agent answers in order.
    unsorted: Option<HashSet<ObjectId>>,
    next: NextObject,
    /// Whether the agent can state the end of the view by an exception.
    has_exceptions: bool,
}

impl TableReading {
    fn new(root: ObjectId, max_rows: usize, has_exceptions: bool) -> Self {
        let last = root.clone();
        let (rows, next) = (Vec::new(), NextObject::Unknown);
        Self { root, rows, max_rows, last, unsorted: None, next, has_exceptions }
    }

    /// Takes the variables of an answer. Returns how the table ends, if it does.
    fn take(&mut self, answer: SnmpAnswer, bytes: &mut usize) -> Option<TableEnd> {
        match answer.status {
            0 if answer.variables.is_empty() => {
                return Some(TableEnd::Truncated(TruncationReason::EmptyAnswer));
            }
            0 => {}
            // In SNMPv1, this is how the end of the view is reported. Later versions have no such answer.
            NO_SUCH_NAME => {
                if !self.has_exceptions {
                    self.next = NextObject::EndOfView;
                }
                return Some(TableEnd::Complete);
            }
            status => return Some(TableEnd::Truncated(TruncationReason::Status(status))),
        }
        answer.variables.into_iter().find_map(|variable| self.add(variable, bytes))
    }

    fn add(&mut self, variable: Variable, bytes: &mut usize) -> Option<TableEnd> {
        let truncated = |reason| Some(TableEnd::Truncated(reason));
        if variable.value == SnmpValue::EndOfView {
            self.next = NextObject::EndOfView;
            return Some(TableEnd::Complete);
        }
        if variable.value.is_absent() {
            // Some agents answer that one object is missing, and have others of the table behind it.
            let Some(left) = bytes.checked_sub(variable.size()) else {
                return truncated(TruncationReason::ByteLimit);
            };
            if !variable.id.is_within(&self.root) || variable.id <= self.last {
                return Some(TableEnd::Complete);
            }
            *bytes = left;
            self.last = variable.id;
            return None;
        }
        if !variable.id.is_within(&self.root) {
            if variable.id < self.root {
                return truncated(TruncationReason::Backwards);
            }
            if self.unsorted.is_none() {
                self.next = NextObject::Object(variable.id);
            }
            return Some(TableEnd::Complete);
        }
        if variable.id <= self.last || self.unsorted.is_some() {
            let rows = &self.rows;
            let seen = self
                .unsorted
                .get_or_insert_with(|| rows.iter().map(|variable| variable.id.clone()).collect());
            if variable.id == self.root || !seen.insert(variable.id.clone()) {
                return truncated(TruncationReason::Repeats);
            }
        }
        let Some(left) = bytes.checked_sub(variable.size()) else {
            return truncated(TruncationReason::ByteLimit);
        };
        if self.rows.len() >= self.max_rows {
            return truncated(TruncationReason::RowLimit);
        }
        *bytes = left;
        self.last = variable.id.clone();
        self.rows.push(variable);
        None
    }

    fn finish(self, end: TableEnd) -> WalkedTable {
        let Self { root, rows, next, .. } = self;
        WalkedTable { root, vlan: None, rows, end, next }
    }
}
