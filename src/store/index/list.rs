use std::time::Instant;

use uuid::Uuid;

use super::filter::Filters;
use super::kept::ListKey;
use super::names::NameId;
use super::order::{Term, prefix_of_key};
use super::run::Run;
use super::table::{Table, length};
use super::walk::{Begin, Sets, Wanted};
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
        let Some(filters) = self.filters(query, table_id) else { return Ok(Selection::default()) };
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
        let wanted = Wanted { begin, count: query.limit.map_or(usize::MAX, |limit| limit.saturating_add(1)) };
        let (mut rows, total) = match &query.ids {
            Some(ids) => self.cut(self.rows_with_ids(&filters, ids), &terms, wanted),
            None => self.find_listed(table, filters, &terms, wanted),
        };
        let follow = query.limit.is_some_and(|limit| rows.len() > limit);
        rows.truncate(query.limit.unwrap_or(usize::MAX));
        let last = if follow { rows.last() } else { None };
        let next = last.map(|row| self.cursor(*row, table, query));
        Ok(Selection { rows, total: total as u64, next })
    }

    /// Finds what is wanted of a list, and how many rows it has, in the quickest way there is.
    fn find_listed(
        &self,
        table: &Table,
        filters: Filters,
        terms: &[Term],
        wanted: Wanted<'_>,
    ) -> (Vec<RowId>, usize) {
        if is_one_run(&filters, terms) {
            return self.find_in_runs(table, &filters, terms, wanted);
        }
        let key = ListKey { filters, terms: kept_terms(terms) };
        let page = |run: &Run| self.page_of_run(run, terms, wanted);
        if let Some(found) = self.kept.read(&key, page) {
            return found;
        }
        if !key.filters.links.is_empty() {
            return self.find_linked(table, key, terms, wanted);
        }
        let begin = Instant::now();
        let found = self.find_in_runs(table, &key.filters, terms, wanted);
        self.keep_if_it_pays(table, key, found.1, begin.elapsed());
        found
    }

    fn find_linked(
        &self,
        table: &Table,
        key: ListKey,
        terms: &[Term],
        wanted: Wanted<'_>,
    ) -> (Vec<RowId>, usize) {
        let begin = Instant::now();
        let rows = self.linked_rows(&key.filters);
        let Some((run, price)) = self.arranged_sooner(table, &key, &rows) else {
            let found = self.cut(rows, terms, wanted);
            self.keep_if_it_pays(table, key, found.1, begin.elapsed());
            return found;
        };
        let found = self.page_of_run(&run, terms, wanted);
        if self.kept.pays(&key, price, begin.elapsed()) {
            self.kept.keep(key, run, self.rows.len());
        }
        found
    }

    fn find_in_runs(
        &self,
        table: &Table,
        Filters { organization, networks, .. }: &Filters,
        terms: &[Term],
        wanted: Wanted<'_>,
    ) -> (Vec<RowId>, usize) {
        let fewest = table.runs(*organization, networks.as_deref());
        let by_network = match terms {
            [_] => Vec::new(),
            _ => table.runs_by_network(*organization, networks.as_deref()),
        };
        let total = fewest.iter().map(|runs| length(runs)).sum();
        let mut rows = Vec::with_capacity(wanted.count.min(total));
        self.walk(&Sets { fewest, by_network }, terms, wanted, &mut rows);
        (rows, total)
    }

    fn page_of_run(
        &self,
        run: &Run,
        terms: &[Term],
        Wanted { begin, count }: Wanted<'_>,
    ) -> (Vec<RowId>, usize) {
        let mut rows = Vec::with_capacity(count.min(run.len()));
        if let [term] = terms {
            self.walk_run(run, *term, Wanted { begin, count }, &mut rows);
            return (rows, run.len());
        }
        let from = match begin {
            Begin::Rank(rank) => run.place(rank),
            Begin::Behind(keys, id) => {
                let first = terms.first().zip(keys.first());
                let prefix = first.map_or(0, |((_, direction), key)| prefix_of_key(*direction, key));
                run.partition_place(prefix..=prefix, |row| {
                    self.rows.compare_with_place(terms, row, keys, id).is_le()
                })
            }
        };
        rows.extend(run.between(from, run.end()).take(count));
        (rows, run.len())
    }

    /// All rows of a list, in no order.
    pub(super) fn listed_rows(&self, table: &Table, filters: &Filters) -> Vec<RowId> {
        if !filters.links.is_empty() {
            return self.linked_rows(filters);
        }
        let runs = table.runs(filters.organization, filters.networks.as_deref());
        let by_id = runs.iter().filter_map(|runs| runs.first());
        by_id.flat_map(Run::rows).collect()
    }

    /// What is wanted of rows in no order, and how many these are.
    fn cut(
        &self,
        rows: Vec<RowId>,
        terms: &[Term],
        Wanted { begin, count }: Wanted<'_>,
    ) -> (Vec<RowId>, usize) {
        let total = rows.len();
        (self.window(rows, terms, begin, count), total)
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

/// In which order a list is kept: that of one term is read in both directions.
fn kept_terms(terms: &[Term]) -> Vec<Term> {
    match terms {
        [(slot, _)] => vec![(*slot, Direction::Ascending)],
        _ => terms.to_vec(),
    }
}

/// Whether a run holds just this list: that of an organization or of one of its networks, by one term.
fn is_one_run(Filters { organization, networks, links, .. }: &Filters, terms: &[Term]) -> bool {
    let is_one_set = organization.is_some() && networks.as_ref().is_none_or(|networks| networks.len() <= 1);
    is_one_set && links.is_empty() && terms.len() == 1
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
    // Those of a scope are in order already.
    if !ids.is_sorted_by(|left, right| left < right) {
        ids.sort_unstable();
        ids.dedup();
    }
    ids
}
