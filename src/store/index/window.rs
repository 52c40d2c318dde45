use super::order::Term;
use super::walk::Begin;
use super::{Index, RowId};

impl Index {
    /// Puts rows into order and cuts out what is wanted.
    pub(super) fn window(
        &self,
        mut rows: Vec<RowId>,
        terms: &[Term],
        begin: Begin<'_>,
        wanted: usize,
    ) -> Vec<RowId> {
        let compare = |left: &RowId, right: &RowId| self.rows.compare_by(terms, *left, *right);
        let start = match begin {
            Begin::Rank(rank) => rank.min(rows.len()),
            Begin::Behind(keys, id) => {
                rows.retain(|row| self.rows.compare_with_place(terms, *row, keys, id).is_gt());
                0
            }
        };
        let end = start.saturating_add(wanted).min(rows.len());
        if start > 0 && start < rows.len() {
            rows.select_nth_unstable_by(start, compare);
        }
        let mut rows = rows.split_off(start);
        let count = end - start;
        if count > 0 && count < rows.len() {
            rows.select_nth_unstable_by(count, compare);
        }
        rows.truncate(count);
        rows.sort_unstable_by(compare);
        rows
    }
}
