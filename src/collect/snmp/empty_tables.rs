//! Tables that an agent shows to be empty by one answer about several of them.

use super::agent::SnmpAgent;
use super::message::Question;
use super::value::{ObjectId, SnmpValue, Variable};
use super::walked_table::{NextObject, TableEnd, WalkedTable};

/// Maximum number of times that the request is sent. Without an answer, each table is asked for.
const MAX_TRIES: usize = 2;

impl SnmpAgent {
    /// Asks for the objects behind the roots of several tables at once, and returns the tables that are empty.
    ///
    /// Returns none if the agent does not answer as it should, and none of an agent of SNMPv1: it would answer with an
    /// error if there is nothing behind any one of the roots.
    pub(in crate::collect) async fn empty_tables(&mut self, roots: &[ObjectId]) -> Vec<WalkedTable> {
        if !self.has_exceptions() {
            return Vec::new();
        }
        let answer = self.ask(Question::GetNext, roots, MAX_TRIES).await.ok();
        let answer = answer.filter(|answer| answer.status == 0 && answer.variables.len() == roots.len());
        let next = answer.into_iter().flat_map(|answer| answer.variables);
        roots.iter().zip(next).filter_map(|(root, next)| empty_table(root, next)).collect()
    }
}

/// Returns a table without variables if the one behind its root shows that it has none.
fn empty_table(root: &ObjectId, next: Variable) -> Option<WalkedTable> {
    let Variable { id, value } = next;
    let next = match value {
        SnmpValue::EndOfView if id == *root => NextObject::EndOfView,
        value if !value.is_absent() && *root < id && !id.is_within(root) => NextObject::Object(id),
        _ => return None,
    };
    Some(WalkedTable { next, ..WalkedTable::without_rows(root.clone(), TableEnd::Empty) })
}
