//! The order in which tables are asked for, and those that need not be.

use super::subtrees::{ADDRESSES, SUBTREES, SubtreeMark, TIMETRA, has_alternative, max_rows};
use crate::collect::snmp::{
    ObjectId, ReadAhead, SnmpAgent, TableEnd, TruncationReason, WalkBudget, WalkedTable,
};
use crate::discovery::report::TableKind;

/// Number of tables in a row without an answer after which the device is asked whether it answers anything.
const MAX_UNPROVEN_TABLES: usize = 2;

/// Number of tables in a row without an answer after which no further ones are read, whatever else the device answers.
const MAX_SILENT_TABLES: usize = 10;

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
    let chosen: Vec<(&[u32], &[TableKind])> = chosen.map(|(subtree, kinds, _)| (*subtree, *kinds)).collect();
    let (mut tables, mut ahead) = (Vec::<WalkedTable>::new(), ReadAhead::default());
    let (mut behind_end, mut silence) = (TablesBehindEnd::default(), Silence::default());
    for (place, (subtree, kinds)) in chosen.iter().enumerate() {
        if has_alternative(subtree, &tables) {
            continue;
        }
        let root = ObjectId::new(*subtree);
        if tables.last().is_some_and(WalkedTable::is_end_of_view) {
            behind_end.ask(agent, place, &chosen).await;
        }
        let known_empty = tables.last().and_then(|former| former.known_empty(&root));
        let table = if silence.is_final {
            WalkedTable::without_rows(root, TableEnd::Truncated(TruncationReason::Silent))
        } else if let Some(empty) = known_empty.or_else(|| behind_end.take_empty(&root)) {
            empty
        } else {
            let table = agent.walk_on(&root, max_rows(kinds), budget, &mut ahead).await;
            silence.note(agent, &table).await;
            table
        };
        tables.push(table);
        if Some(subtree) == ADDRESSES.last() {
            let is_of_addresses = |table: &&WalkedTable| ADDRESSES.contains(&table.root.arcs());
            on_addresses(&tables.iter().filter(is_of_addresses).collect::<Vec<_>>());
        }
    }
    tables
}

/// The tables in a row to which a device was silent.
///
/// Some devices never answer for one of their tables, and answer for all others. The table before it counts as silent as
/// well, because the request for what is behind its last variable has no answer.
#[derive(Debug, Default)]
struct Silence {
    tables: usize,
    /// The number of these since the device has last answered anything.
    unproven: usize,
    /// Whether no further tables are read.
    is_final: bool,
}

impl Silence {
    /// Notes how reading a table has ended.
    async fn note(&mut self, agent: &mut SnmpAgent, table: &WalkedTable) {
        if !is_silent(table) {
            *self = Self::default();
            return;
        }
        self.tables += 1;
        self.unproven += 1;
        if self.unproven >= MAX_UNPROVEN_TABLES {
            self.is_final = self.tables >= MAX_SILENT_TABLES || !agent.answers_for_clock().await;
            self.unproven = 0;
        }
    }
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
    async fn ask(&mut self, agent: &mut SnmpAgent, place: usize, chosen: &[(&[u32], &[TableKind])]) {
        if place < self.asked {
            return;
        }
        let next = chosen.iter().skip(place).take(MAX_TABLES_AT_ONCE);
        let roots: Vec<ObjectId> = next.map(|(subtree, _)| ObjectId::new(*subtree)).collect();
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
