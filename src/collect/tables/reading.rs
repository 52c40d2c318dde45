//! The order in which tables are asked for, and those that need not be.

use super::subtrees::{ADDRESSES, SUBTREES, SubtreeMark, TIMETRA, has_alternative};
use crate::collect::snmp::{
    ObjectId, ReadAhead, SnmpAgent, TableEnd, TruncationReason, WalkBudget, WalkedTable,
};

/// Number of tables in a row without an answer after which no further ones are read.
const MAX_SILENT_TABLES: usize = 2;

/// Maximum number of tables that one request asks for behind the end of a view.
const MAX_TABLES_AT_ONCE: usize = 16;

/// Reads the tables with a mark that is chosen, in the order of their objects.
pub(super) async fn read_chosen(
    agent: &mut SnmpAgent,
    budget: &mut WalkBudget,
    is_chosen: impl Fn(SubtreeMark) -> bool,
    mut on_addresses: impl FnMut(&[&WalkedTable]),
) -> Vec<WalkedTable> {
    let is_timetra = agent.system().object_id.as_ref().is_some_and(|id| id.arcs().starts_with(&TIMETRA));
    let is_read = |subtree: &[u32]| is_timetra || !subtree.starts_with(&TIMETRA);
    let chosen = SUBTREES.iter().filter(|(subtree, _, mark)| is_chosen(*mark) && is_read(subtree));
    let chosen: Vec<&[u32]> = chosen.map(|(subtree, ..)| *subtree).collect();
    let (mut tables, mut ahead) = (Vec::<WalkedTable>::new(), ReadAhead::default());
    let mut behind_end = TablesBehindEnd::default();
    for (place, subtree) in chosen.iter().enumerate() {
        if has_alternative(subtree, &tables) {
            continue;
        }
        let root = ObjectId::new(*subtree);
        if tables.last().is_some_and(WalkedTable::is_end_of_view) {
            behind_end.ask(agent, place, &chosen).await;
        }
        let silent = tables.iter().rev().take_while(|table| is_silent(table)).count();
        let known_empty = tables.last().and_then(|former| former.known_empty(&root));
        let table = if silent >= MAX_SILENT_TABLES {
            WalkedTable::without_rows(root, TableEnd::Truncated(TruncationReason::Silent))
        } else if let Some(empty) = known_empty.or_else(|| behind_end.take_empty(&root)) {
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

/// The tables behind the end of a view.
///
/// Some agents state the end of the view behind each of their parts, and have others behind it. Those behind it are
/// therefore asked for, several by one request.
#[derive(Debug, Default)]
struct TablesBehindEnd {
    /// The number of tables, of all that are read, up to the last one that was asked for so.
    asked: usize,
    empty: Vec<WalkedTable>,
}

impl TablesBehindEnd {
    /// Asks for the table of this place and the next ones, unless it was asked for before.
    async fn ask(&mut self, agent: &mut SnmpAgent, place: usize, chosen: &[&[u32]]) {
        if place < self.asked {
            return;
        }
        let next = chosen.iter().skip(place).take(MAX_TABLES_AT_ONCE);
        let roots: Vec<ObjectId> = next.map(|subtree| ObjectId::new(*subtree)).collect();
        self.asked = place + roots.len();
        self.empty = agent.empty_tables(&roots).await;
    }

    /// Takes a table if it is known to be empty.
    fn take_empty(&mut self, root: &ObjectId) -> Option<WalkedTable> {
        let place = self.empty.iter().position(|table| table.root == *root)?;
        Some(self.empty.remove(place))
    }
}

pub(super) const fn is_silent(table: &WalkedTable) -> bool {
    matches!(table.end, TableEnd::Truncated(TruncationReason::Silent))
}
