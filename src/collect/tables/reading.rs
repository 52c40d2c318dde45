//! The order in which tables are asked for, and those that need not be.

use super::subtrees::{ADDRESSES, SUBTREES, SubtreeMark, TIMETRA, has_alternative};
use crate::collect::snmp::{
    ObjectId, ReadAhead, SnmpAgent, TableEnd, TruncationReason, WalkBudget, WalkedTable,
};

/// Number of tables in a row without an answer after which no further ones are read.
const MAX_SILENT_TABLES: usize = 2;

/// Reads the tables with a mark that is chosen, in the order of their objects.
pub(super) async fn read_chosen(
    agent: &mut SnmpAgent,
    budget: &mut WalkBudget,
    is_chosen: impl Fn(SubtreeMark) -> bool,
    mut on_addresses: impl FnMut(&[&WalkedTable]),
) -> Vec<WalkedTable> {
    let is_timetra = agent.system().object_id.as_ref().is_some_and(|id| id.arcs().starts_with(&TIMETRA));
    let (mut tables, mut ahead) = (Vec::<WalkedTable>::new(), ReadAhead::default());
    for (subtree, _, mark) in SUBTREES {
        let is_other = subtree.starts_with(&TIMETRA) && !is_timetra;
        if !is_chosen(*mark) || is_other || has_alternative(subtree, &tables) {
            continue;
        }
        let root = ObjectId::new(*subtree);
        let silent = tables.iter().rev().take_while(|table| is_silent(table)).count();
        let table = if silent >= MAX_SILENT_TABLES {
            WalkedTable::without_rows(root, TableEnd::Truncated(TruncationReason::Silent))
        } else if let Some(empty) = tables.last().and_then(|former| former.known_empty(&root)) {
            empty
        } else {
            agent.walk_on(&root, budget, &mut ahead).await
        };
        tables.push(table);
        if Some(subtree) == ADDRESSES.last() {
            let is_of_addresses = |table: &&WalkedTable| ADDRESSES.contains(&table.root.arcs());
            on_addresses(&tables.iter().filter(is_of_addresses).collect::<Vec<_>>());
        }
    }
    tables
}

pub(super) const fn is_silent(table: &WalkedTable) -> bool {
    matches!(table.end, TableEnd::Truncated(TruncationReason::Silent))
}
