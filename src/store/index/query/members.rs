//! The rows of a list, found through its filters.

use uuid::Uuid;

use super::row_set::RowSet;
use crate::invariant::Invariant;
use crate::store::index::Index;
use crate::store::index::list::{Filters, FoundBy, Linked};
use crate::store::index::run::sort::prefix;
use crate::store::index::run::{RowId, Run, RunPosition};
use crate::store::index::table::KindTable;
use crate::store::index::terms::{Posting, Section};

/// Number of rows that are found through a filter in one step.
const FOUND_PER_STEP: usize = 16;

/// The rows that pass, as far as they were read. They are the rows found through each of several filters, without those
/// that others leave out.
#[derive(Debug)]
pub(super) struct Members {
    /// `None` when all rows of the organization pass.
    pub(super) set: Option<RowSet>,
    /// The filters through which rows are found. The other filters are evaluated on the rows that all of these find.
    found_by: Vec<FoundBy>,
    /// The number of filters whose rows were all read.
    passed: usize,
    /// The rows of the next filter, as far as they were read. `from` is the start of its next slice.
    current: RowSet,
    from: SliceStart,
    /// The first row on which the other filters were not evaluated.
    unevaluated: RowId,
}

/// Where the next slice of a filter is read.
#[derive(Clone, Debug, Default)]
struct SliceStart {
    /// The target, range or network, by its place in the filter.
    place: usize,
    after: Option<After>,
}

/// The row, posting, id or sort key that was read last.
#[derive(Clone, Debug)]
enum After {
    Row(RowId),
    Posting(Posting),
    Id(Uuid),
    Key(Vec<u8>, Uuid),
}

impl SliceStart {
    const fn after(place: usize, after: After) -> Self {
        Self { place, after: Some(after) }
    }

    const fn next(place: usize) -> Self {
        Self { place: place + 1, after: None }
    }
}

/// The index and the table in which rows are found, and the filters.
#[derive(Clone, Copy, Debug)]
struct Within<'i> {
    index: &'i Index,
    table: &'i KindTable,
    filters: &'i Filters,
    /// The rows found through the filters before; `None` for the first filter.
    found: Option<&'i RowSet>,
}

impl Within<'_> {
    /// Reads a slice of the rows that are found through a filter. Returns `None` when all rows were read before.
    fn read(&self, found_by: FoundBy, from: &SliceStart, set: &mut RowSet, max: usize) -> Option<SliceStart> {
        match found_by {
            FoundBy::Links(filter) => {
                self.read_links(self.filters.links.get(filter).asserted()?, from, set, max)
            }
            FoundBy::Absent(filter) => {
                self.read_links(self.filters.absent.get(filter).asserted()?, from, set, max)
            }
            FoundBy::Terms(filter) => self.read_terms(filter, from, set, max),
            FoundBy::Keys(filter) => self.read_keys(filter, from, set, max),
            FoundBy::Networks => self.read_network(from, set, max),
            FoundBy::Organization => self.read_organization(from, set, max),
        }
    }

    fn read_links(
        &self,
        (relation, targets): &Linked,
        from: &SliceStart,
        set: &mut RowSet,
        max: usize,
    ) -> Option<SliceStart> {
        let linked = self.index.links.rows(&self.index.rows, *relation, *targets.get(from.place)?);
        let passed = match from.after {
            Some(After::Row(after)) => linked.partition_point(|row| *row <= after),
            _ => 0,
        };
        let rest = linked.get(passed..).asserted_or_default();
        let slice = rest.get(..max.min(rest.len())).asserted_or_default();
        self.insert(slice, set);
        Some(match slice.last() {
            Some(last) if slice.len() < rest.len() => SliceStart::after(from.place, After::Row(*last)),
            _ => SliceStart::next(from.place),
        })
    }

    fn read_terms(
        &self,
        filter: usize,
        from: &SliceStart,
        set: &mut RowSet,
        max: usize,
    ) -> Option<SliceStart> {
        let (name, ranges) = self.filters.terms.get(filter).asserted()?;
        let after = match &from.after {
            Some(After::Posting(posting)) => Some(posting),
            _ => None,
        };
        let section = Section { name: *name, range: ranges.get(from.place)?, after };
        let postings = self.table.postings(self.filters.organization).next();
        let last = postings.and_then(|postings| {
            postings.read(section, max, |rows| rows.iter().for_each(|row| set.insert(*row)))
        });
        Some(match last {
            Some(last) => SliceStart::after(from.place, After::Posting(last)),
            None => SliceStart::next(from.place),
        })
    }

    fn read_network(&self, from: &SliceStart, set: &mut RowSet, max: usize) -> Option<SliceStart> {
        let id = self.filters.networks.as_ref().and_then(|networks| networks.get(from.place))?;
        let Some(by_id) = self.table.run_by_id(self.filters.organization, *id) else {
            return Some(SliceStart::next(from.place));
        };
        Some(self.read_by_id(by_id, from, set, max))
    }

    fn read_organization(&self, from: &SliceStart, set: &mut RowSet, max: usize) -> Option<SliceStart> {
        let runs = self.table.runs_of_organization(self.filters.organization)?;
        let by_id = runs.first().filter(|_| from.place == 0)?;
        Some(self.read_by_id(by_id, from, set, max))
    }

    fn read_by_id(&self, by_id: &Run, from: &SliceStart, set: &mut RowSet, max: usize) -> SliceStart {
        let rows = &self.index.rows;
        let start = match from.after {
            Some(After::Id(after)) => {
                let prefix = after.as_u128();
                by_id.partition_place(prefix..=prefix, |row| rows.id(row) <= after)
            }
            _ => RunPosition::default(),
        };
        let end = by_id.place(by_id.rank(start).saturating_add(max));
        by_id.slices_between(start, end).for_each(|slice| self.insert(slice, set));
        let last = by_id.before(end).and_then(|last| by_id.at(last));
        match last {
            Some(last) if end != by_id.end() => SliceStart::after(from.place, After::Id(rows.id(last))),
            _ => SliceStart::next(from.place),
        }
    }

    fn read_keys(
        &self,
        filter: usize,
        from: &SliceStart,
        set: &mut RowSet,
        max: usize,
    ) -> Option<SliceStart> {
        let (slot, _) = self.filters.keys.get(filter).filter(|_| from.place == 0)?;
        let (run, first, to) = self.index.span_of_keys(self.filters, filter)?;
        let rows = &self.index.rows;
        let start = match &from.after {
            Some(After::Key(key, id)) => {
                let prefix = prefix(key);
                run.partition_place(prefix..=prefix, |row| rows.rank_key(*slot, row) <= (key, *id))
            }
            _ => first,
        };
        let end = run.place(run.rank(start).saturating_add(max)).min(to);
        if start < end {
            run.slices_between(start, end).for_each(|slice| self.insert(slice, set));
        }
        Some(match run.before(end).and_then(|last| run.at(last)) {
            Some(last) if start < end && end < to => {
                let (key, id) = rows.rank_key(*slot, last);
                SliceStart::after(from.place, After::Key(key.to_vec(), id))
            }
            _ => SliceStart::next(from.place),
        })
    }

    /// Inserts the rows of a slice that may pass. Picking them first takes less time than inserting all.
    fn insert(&self, slice: &[RowId], set: &mut RowSet) {
        let Some(found) = self.found else { return slice.iter().for_each(|row| set.insert(*row)) };
        let mut picked = Vec::new();
        found.pick(slice, &mut picked);
        picked.into_iter().for_each(|row| set.insert(row));
    }
}

impl Members {
    pub(super) fn new(index: &Index, table: &KindTable, filters: &Filters) -> Self {
        let found_by = index.filters_to_find_by(table, filters);
        let set = (!found_by.is_empty()).then(RowSet::default);
        let (current, from) = (RowSet::default(), SliceStart::default());
        Self { set, found_by, passed: 0, current, from, unevaluated: 0 }
    }

    /// Reads a slice of at most this many steps. Returns `false` when all rows were read before.
    pub(super) fn read(&mut self, index: &Index, table: &KindTable, filters: &Filters, steps: usize) -> bool {
        let Some(found_by) = self.found_by.get(self.passed).copied() else {
            return self.evaluate(index, filters, steps);
        };
        let found = self.set.as_ref().filter(|_| self.passed > 0);
        let (within, max) = (Within { index, table, filters, found }, steps * FOUND_PER_STEP);
        if let Some(next) = within.read(found_by, &self.from, &mut self.current, max) {
            self.from = next;
            return true;
        }
        let read = std::mem::take(&mut self.current);
        match &mut self.set {
            Some(set) if matches!(found_by, FoundBy::Absent(_)) => set.remove_all(&read),
            Some(set) if self.passed > 0 => set.retain(&read),
            set => *set = Some(read),
        }
        self.passed += 1;
        self.from = SliceStart::default();
        true
    }

    /// Evaluates the other filters on a slice of the rows. Returns `false` when all rows were evaluated before.
    ///
    /// The rows are read in the order of their numbers, because reading them in the order of their terms takes longer.
    fn evaluate(&mut self, index: &Index, filters: &Filters, steps: usize) -> bool {
        let Some(set) = self.set.as_mut().filter(|_| !filters.are_all(&self.found_by)) else { return false };
        let slice = set.slice(self.unevaluated, steps);
        index.rows.read_ahead(&slice, filters.evaluates_facets(&self.found_by));
        let mut spent = 0;
        for id in slice {
            if spent >= steps {
                return true;
            }
            self.unevaluated = id + 1;
            let row = index.rows.get(id);
            spent += 1 + row.map_or(0, |row| filters.further_steps(&self.found_by, row));
            if !row.is_some_and(|row| filters.pass_all_but(&self.found_by, row, &index.rows)) {
                set.remove(id);
            }
        }
        spent > 0
    }
}
