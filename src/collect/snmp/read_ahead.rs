//! The variables behind a table that an answer about the table has shown.

use super::message::SnmpAnswer;
use super::value::{ObjectId, Variable};

/// The variables behind a table that the last answer about it has shown, in the order of their objects.
///
/// An answer to GETBULK often has the beginning of the next table, or all of it, so that this need not be asked for.
#[derive(Debug, Default)]
pub(in crate::collect) struct ReadAhead {
    /// The table; `None`: there are no variables.
    root: Option<ObjectId>,
    variables: Vec<Variable>,
}

impl ReadAhead {
    /// Keeps the variables of an answer from the first one behind a table on, up to one that breaks the order.
    pub(super) fn new(root: &ObjectId, first: Variable, rest: impl Iterator<Item = Variable>) -> Self {
        let mut variables = vec![first];
        for variable in rest {
            let is_in_order = variables.last().is_some_and(|last| last.id < variable.id);
            // The end of the view is asked for: some agents state it behind each of their parts.
            if variable.value.is_absent() || !is_in_order {
                break;
            }
            variables.push(variable);
        }
        Self { root: Some(root.clone()), variables }
    }

    /// Takes the variables behind the object of a later table, as an answer; `None`: they do not reach as far.
    pub(super) fn take_behind(&mut self, object: &ObjectId) -> Option<SnmpAnswer> {
        let Self { root, mut variables } = std::mem::take(self);
        let is_later = root.is_some_and(|root| root < *object && !object.is_within(&root));
        variables.retain(|variable| *object < variable.id);
        (is_later && !variables.is_empty()).then_some(SnmpAnswer { status: 0, variables })
    }
}
