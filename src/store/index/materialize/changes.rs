//! Bringing a list up to date with the rows that changed while it was put into order.

use super::super::RowId;
use super::super::ordering_cache::{ChangedRows, ListKey};
use super::super::rows::{Row, Rows};
use super::super::run::Run;

/// The most changes that are applied in one slice; each looks at some 40 rows.
const CHANGES: usize = 16;

/// Moves rows that changed from where they stand in the run to where they belong, and forgets their changes.
pub(super) fn apply_changes(rows: &Rows, key: &ListKey, run: &mut Run, changed: &mut ChangedRows) {
    let batch: Vec<RowId> = changed.keys().copied().take(CHANGES).collect();
    for id in &batch {
        if let Some(Some(old)) = changed.get(id) {
            remove(rows, key, run, changed, (*id, old));
        }
    }
    for id in &batch {
        changed.remove(id);
    }
    for id in batch {
        if let Some(row) = rows.get(id) {
            insert(rows, key, run, changed, (id, row));
        }
    }
}

fn remove(rows: &Rows, key: &ListKey, run: &mut Run, changed: &ChangedRows, (id, old): (RowId, &Row)) {
    if key.filters.pass(old, rows.partitions()) {
        let is_before = |other| is_before(rows, key, changed, other, old);
        run.remove(id, |row| prefix_then(rows, key, changed, row), is_before);
    }
}

fn insert(rows: &Rows, key: &ListKey, run: &mut Run, changed: &ChangedRows, (id, row): (RowId, &Row)) {
    if key.filters.pass(row, rows.partitions()) {
        let is_before = |other| is_before(rows, key, changed, other, row);
        run.insert(id, |row| prefix_then(rows, key, changed, row), is_before);
    }
}

/// A row as it was when it got its place in the run.
pub(super) fn row_then<'r>(rows: &'r Rows, changed: &'r ChangedRows, id: RowId) -> Option<&'r Row> {
    match changed.get(&id) {
        Some(old) => old.as_ref(),
        None => rows.get(id),
    }
}

fn is_before(rows: &Rows, key: &ListKey, changed: &ChangedRows, other: RowId, row: &Row) -> bool {
    let other = row_then(rows, changed, other);
    other.is_some_and(|other| rows.compare_rows_by(&key.terms, other, row).is_lt())
}

fn prefix_then(rows: &Rows, key: &ListKey, changed: &ChangedRows, id: RowId) -> u128 {
    row_then(rows, changed, id).map_or(0, |row| rows.prefix_of_row(&key.terms, row))
}
