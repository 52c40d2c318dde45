use uuid::Uuid;

use super::names::NameId;
use super::table::{Table, length};
use super::walk::{Begin, Sets, Term, Wanted};
use super::{Index, RowId};
use crate::store::{Cursor, Direction, Query, Start, StoreError};

/// The rows of a page.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) rows: Vec<RowId>,
    pub(crate) total: u64,
    pub(crate) next: Option<Cursor>,
}

impl Index {
    pub(crate) fn list(&self, query: &Query) -> Result<Selection, StoreError> {
        check_order(query)?;
        let Some((table_id, table)) = self.table(query) else { return Ok(Selection::default()) };
        let mut terms: Vec<Term> =
            query.order.iter().map(|order| (table.slot(order.name), order.direction)).collect();
        if terms.is_empty() {
            terms.push((0, Direction::Ascending));
        }
        let begin = match &query.start {
            Start::Offset(offset) => Begin::Rank(usize::try_from(*offset).unwrap_or(usize::MAX)),
            Start::After(cursor) => Begin::Behind(cursor.keys(), cursor.id()),
        };
        // One more than asked for tells whether any follow.
        let wanted = query.limit.map_or(usize::MAX, |limit| limit.saturating_add(1));
        let (mut rows, total) = if query.ids.is_none() && query.links.is_empty() {
            let networks = query.networks.as_deref().map(sorted);
            let fewest = table.runs(query.organization, networks.as_deref());
            let by_network = match terms.as_slice() {
                [_] => Vec::new(),
                _ => table.runs_by_network(query.organization, networks.as_deref()),
            };
            let total = fewest.iter().map(|runs| length(runs)).sum();
            let mut rows = Vec::with_capacity(wanted.min(total));
            let wanted = Wanted { begin, count: wanted };
            self.walk(&Sets { fewest, by_network }, &terms, wanted, &mut rows);
            (rows, total)
        } else {
            let rows = self.candidates(query, table_id);
            let total = rows.len();
            (self.window(rows, &terms, begin, wanted), total)
        };
        let follow = query.limit.is_some_and(|limit| rows.len() > limit);
        rows.truncate(query.limit.unwrap_or(usize::MAX));
        let last = if follow { rows.last() } else { None };
        let next = last.map(|row| self.cursor(*row, table, query));
        Ok(Selection { rows, total: total as u64, next })
    }

    fn table(&self, query: &Query) -> Option<(NameId, &Table)> {
        let id = self.names.find(query.kind)?;
        Some((id, self.tables.get(&id)?))
    }

    fn cursor(&self, row: RowId, table: &Table, query: &Query) -> Cursor {
        let keys = query.order.iter().map(|order| self.rows.sort_key(table.slot(order.name), row).to_vec());
        Cursor::new(keys.collect(), self.rows.id(row))
    }
}

fn check_order(query: &Query) -> Result<(), StoreError> {
    let mut names: Vec<_> = query.order.iter().map(|order| order.name).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < query.order.len() {
        return Err(StoreError::invalid("the order names a sort key twice"));
    }
    match &query.start {
        Start::After(cursor) if cursor.keys().len() != query.order.len() => {
            Err(StoreError::invalid("the cursor is of another order"))
        }
        _ => Ok(()),
    }
}

pub(super) fn sorted(ids: &[Uuid]) -> Vec<Uuid> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids
}
