//! Reads the variables below an object: GETBULK, GETNEXT, and the faults of agents.

use std::collections::HashSet;

use tokio::time::Instant;

use super::agent::SnmpAgent;
use super::budget::WalkBudget;
use super::error::AskError;
use super::message::{Question, SnmpAnswer};
use super::read_ahead::ReadAhead;
use super::value::{ObjectId, SnmpValue, Variable};
use super::walked_table::{NextObject, TableEnd, TruncationReason, WalkedTable};

/// Maximum number of times that a request is sent to an agent that has answered.
const MAX_TRIES: usize = 5;

/// Maximum number of times that a request for a table is sent to an agent that was silent to others, and answers for its clock.
const MAX_SELECTIVE_TRIES: usize = 2;

const TOO_BIG: i32 = 1;
const NO_SUCH_NAME: i32 = 2;

impl SnmpAgent {
    /// Reads the variables below an object, and reduces the budget by them.
    ///
    /// An agent that answers GETBULK neither with variables nor in time is asked by GETNEXT. If packets may have been lost, or if it fails to read
    /// this table, GETBULK is tried again at the next one. An agent whose answers would be too big is asked for half as many variables.
    pub async fn walk(&mut self, root: &ObjectId, budget: &mut WalkBudget) -> WalkedTable {
        self.walk_on(root, usize::MAX, budget, &mut ReadAhead::default()).await
    }

    /// Reads the variables below an object, beginning with those that the answers about an earlier table have shown. Keeps those that
    /// are shown behind it. Reads at most `max_rows` variables, and no more than the budget allows.
    pub(in crate::collect) async fn walk_on(
        &mut self,
        root: &ObjectId,
        max_rows: usize,
        budget: &mut WalkBudget,
        ahead: &mut ReadAhead,
    ) -> WalkedTable {
        self.bulk.begin_table();
        let mut reading = TableReading::new(root.clone(), budget.rows.min(max_rows), self.has_exceptions());
        let mut known = ahead.take_behind(root);
        let end = loop {
            if Instant::now() >= budget.ends {
                break TableEnd::Truncated(TruncationReason::TimeLimit);
            }
            let answer = match known.take() {
                Some(answer) => answer,
                None => match self.ask_behind(&reading.last).await {
                    Ok(answer) => answer,
                    Err(reason) => break TableEnd::Truncated(reason),
                },
            };
            let before = budget.bytes;
            let end = reading.take(answer, &mut budget.bytes);
            budget.hold(before - budget.bytes).await;
            if let Some(end) = end {
                break end;
            }
        };
        *ahead = std::mem::take(&mut reading.ahead);
        let mut table = reading.finish(end);
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
        while let Some(repetitions) = self.bulk.repetitions() {
            match self.ask(Question::GetBulk { repetitions }, &objects, self.bulk.tries()).await {
                Ok(answer) if answer.status == TOO_BIG && self.bulk.halve() => {}
                Ok(answer) if answer.status == 0 && !answer.variables.is_empty() => {
                    self.bulk.note_answer();
                    self.is_selective = false;
                    return Ok(answer);
                }
                // One by one, the variables before the one that cannot be decoded can be read.
                Ok(_) | Err(AskError::Undecodable) => self.bulk.note_refusal(),
                Err(AskError::Silent) => self.bulk.note_silence(),
                Err(error) => return Err(error.into()),
            }
        }
        let tries = if self.is_selective { MAX_SELECTIVE_TRIES } else { MAX_TRIES };
        let answer = self.ask(Question::GetNext, &objects, tries).await?;
        if std::mem::take(&mut self.is_selective) {
            self.bulk.restore();
        }
        Ok(answer)
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
    /// The first variable behind the table, until the rest of its answer is kept.
    behind: Option<Variable>,
    ahead: ReadAhead,
    /// Whether the agent can state the end of the view by an exception.
    has_exceptions: bool,
}

impl TableReading {
    fn new(root: ObjectId, max_rows: usize, has_exceptions: bool) -> Self {
        let last = root.clone();
        let (rows, next, ahead) = (Vec::new(), NextObject::Unknown, ReadAhead::default());
        Self { root, rows, max_rows, last, unsorted: None, next, behind: None, ahead, has_exceptions }
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
        let mut variables = answer.variables.into_iter();
        let end = variables.by_ref().find_map(|variable| self.add(variable, bytes));
        if let Some(first) = self.behind.take() {
            self.ahead = ReadAhead::new(&self.root, first, variables);
        }
        end
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
                self.next = NextObject::Object(variable.id.clone());
                self.behind = Some(variable);
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
