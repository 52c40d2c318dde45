//! Picks the rows of a list out of the runs of its terms. The picked rows pass the filters of the list, and come in
//! the order of all terms.

use uuid::Uuid;

use crate::store::Direction;
use crate::store::index::Index;
use crate::store::index::list::{Filters, FoundBy};
use crate::store::index::rows::{Rows, Slot, Term};
use crate::store::index::run::merge::Merged;
use crate::store::index::run::{Place, RowId, Run};
use crate::store::index::table::Table;
use crate::store::index::terms::{Posting, Section};

/// Number of rows that are passed in one step if they are adjacent in memory.
pub(super) const PASSED_PER_STEP: usize = 16;

/// The rows of a list read so far, in the ascending order of one term.
#[derive(Debug, Default)]
pub(super) struct Pick {
    rows: Vec<RowId>,
    /// The number of the key of each row; equal keys have equal numbers. It is empty when the list needs no numbers.
    groups: Vec<u32>,
    last_key: Vec<u8>,
    /// Key and id of the last row of the run that was passed.
    after: Option<(Vec<u8>, Uuid)>,
    is_over: bool,
}

/// How far to read at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub(super) steps: usize,
    /// Whether the keys of the rows are to be numbered.
    pub(super) is_grouped: bool,
}

impl Pick {
    /// Reads a slice of the run of a slot. Returns `false` when the whole run was read before.
    pub(super) fn read(
        &mut self,
        rows: &Rows,
        run: &Run,
        slot: Slot,
        members: &Members,
        Slice { steps, is_grouped }: Slice,
    ) -> bool {
        if self.is_over {
            return false;
        }
        let from = match &self.after {
            None => Place::default(),
            Some((key, id)) => {
                let merged = Merged { rows, slot, runs: vec![run] };
                let place = merged.partition(key, Some(*id), |other| other <= (key, *id));
                place.first().copied().unwrap_or_default()
            }
        };
        // Where keys are compared, every row costs a step.
        let most = if is_grouped { steps } else { steps * PASSED_PER_STEP };
        let picked = self.rows.len();
        let end = run.place(run.rank(from).saturating_add(most));
        let slice = || run.between(from, end);
        match &members.set {
            None => self.rows.extend(slice()),
            Some(set) => set.pick(slice(), most, &mut self.rows),
        }
        if is_grouped {
            self.number_groups(rows, slot, picked);
        }
        let last = run.before(end).filter(|last| *last >= from).and_then(|last| run.at(last));
        if let Some(last) = last {
            let (key, id) = rows.rank_key(slot, last);
            self.after = Some((key.to_vec(), id));
        }
        self.is_over = end == run.end();
        true
    }

    /// Numbers the keys of the rows from a place on. A key that continues from the slice before keeps its number,
    /// even when the rows that had it then have another key by now.
    fn number_groups(&mut self, rows: &Rows, slot: Slot, from: usize) {
        let mut group = self.groups.last().copied().unwrap_or_default();
        let mut last_key = self.last_key.as_slice();
        for row in self.rows.get(from..).unwrap_or_default() {
            let key = rows.sort_key(slot, *row);
            if key != last_key {
                group += 1;
                last_key = key;
            }
            self.groups.push(group);
        }
        self.last_key = last_key.to_vec();
    }

    fn discard(&mut self, discarded: &RowSet) {
        if discarded.is_empty() {
            return;
        }
        let mut kept = self.rows.iter().map(|row| !discarded.contains(*row));
        self.groups.retain(|_| kept.next().unwrap_or_default());
        self.rows.retain(|row| !discarded.contains(*row));
    }

    /// Sorts rows by the numbers of their keys. Rows with equal keys keep their order.
    fn sort(&self, rows: &[RowId], direction: Direction) -> Vec<RowId> {
        let greatest = self.groups.last().copied().unwrap_or_default();
        let directed = |group: u32| match direction {
            Direction::Ascending => group,
            Direction::Descending => greatest - group,
        };
        let mut group_of: Vec<u32> = vec![0; self.rows.iter().max().map_or(0, |most| *most as usize + 1)];
        // The number of rows before each group: counted one group later, then added up.
        let mut next_places: Vec<usize> = vec![0; greatest as usize + 2];
        for (row, group) in self.rows.iter().zip(&self.groups) {
            if let Some(place) = group_of.get_mut(*row as usize) {
                *place = directed(*group);
            }
            if let Some(count) = next_places.get_mut(directed(*group) as usize + 1) {
                *count += 1;
            }
        }
        let mut passed = 0;
        for count in &mut next_places {
            passed += *count;
            *count = passed;
        }
        let mut sorted = vec![0; rows.len()];
        for row in rows {
            let group = group_of.get(*row as usize).copied().unwrap_or_default();
            let Some(next) = next_places.get_mut(group as usize) else { continue };
            if let Some(place) = sorted.get_mut(*next) {
                *place = *row;
            }
            *next += 1;
        }
        sorted
    }
}

/// Returns the rows of a list in the order of its terms, without discarded rows.
pub(super) fn in_order(mut picks: Vec<Pick>, terms: &[Term], discarded: &RowSet) -> Vec<RowId> {
    picks.iter_mut().for_each(|pick| pick.discard(discarded));
    let mut terms = picks.iter().zip(terms).rev();
    let Some((last, (_, direction))) = terms.next() else { return Vec::new() };
    let rows = match direction {
        Direction::Ascending => last.rows.clone(),
        Direction::Descending => last.sort(&last.rows, *direction),
    };
    terms.fold(rows, |rows, (pick, (_, direction))| pick.sort(&rows, *direction))
}

/// The rows that pass, as far as they were read. They are the rows found through each of several filters.
#[derive(Debug)]
pub(super) struct Members {
    /// `None` when all rows of the organization pass.
    pub(super) set: Option<RowSet>,
    /// The filters through which rows are found. The other filters are evaluated on the rows that the first one
    /// finds.
    found_by: Vec<FoundBy>,
    /// The number of filters whose rows were all read.
    passed: usize,
    /// The rows of the next filter, as far as they were read. `from` is the start of its next slice.
    current: RowSet,
    from: SliceStart,
}

/// Where the next slice of a filter is read.
#[derive(Clone, Debug, Default)]
struct SliceStart {
    /// The target, range or network, by its place in the filter.
    place: usize,
    after: Option<After>,
}

/// The row, posting or id that was read last.
#[derive(Clone, Debug)]
enum After {
    Row(RowId),
    Posting(Posting),
    Id(Uuid),
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
    table: &'i Table,
    filters: &'i Filters,
    /// The filters that need not be evaluated on a row; `None`: none need.
    known: Option<&'i [FoundBy]>,
}

impl Within<'_> {
    fn pass(&self, row: RowId) -> bool {
        let Self { index, filters, known, .. } = *self;
        known.is_none_or(|known| {
            index.rows.get(row).is_some_and(|row| filters.pass_all_but(known, row, &index.rows))
        })
    }

    /// Returns the maximum number of rows in a slice. It is greater for rows that are not read, because these are
    /// adjacent in memory.
    const fn most(&self, steps: usize) -> usize {
        if self.known.is_none() { steps * PASSED_PER_STEP } else { steps }
    }

    /// Reads a slice of the rows that are found through a filter. Returns `None` when all rows were read before.
    fn read(
        &self,
        found_by: FoundBy,
        from: &SliceStart,
        set: &mut RowSet,
        steps: usize,
    ) -> Option<SliceStart> {
        match found_by {
            FoundBy::Links(filter) => self.read_links(filter, from, set, steps),
            FoundBy::Terms(filter) => self.read_terms(filter, from, set, steps),
            FoundBy::Networks => self.read_network(from, set, steps),
        }
    }

    fn read_links(
        &self,
        filter: usize,
        from: &SliceStart,
        set: &mut RowSet,
        steps: usize,
    ) -> Option<SliceStart> {
        let (relation, targets) = self.filters.links.get(filter)?;
        let linked = self.index.links.rows(&self.index.rows, *relation, *targets.get(from.place)?);
        let passed = match from.after {
            Some(After::Row(after)) => linked.partition_point(|row| *row <= after),
            _ => 0,
        };
        let rest = linked.get(passed..).unwrap_or_default();
        let slice = rest.get(..self.most(steps).min(rest.len())).unwrap_or_default();
        slice.iter().filter(|row| self.pass(**row)).for_each(|row| set.insert(*row));
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
        steps: usize,
    ) -> Option<SliceStart> {
        let (name, ranges) = self.filters.terms.get(filter)?;
        let after = match &from.after {
            Some(After::Posting(posting)) => Some(posting),
            _ => None,
        };
        let section = Section { name: *name, range: ranges.get(from.place)?, after };
        let postings = self.table.postings(self.filters.organization).next();
        let last = postings.and_then(|postings| {
            postings.read(section, self.most(steps), |rows| {
                rows.iter().filter(|row| self.pass(**row)).for_each(|row| set.insert(*row));
            })
        });
        Some(match last {
            Some(last) => SliceStart::after(from.place, After::Posting(last)),
            None => SliceStart::next(from.place),
        })
    }

    fn read_network(&self, from: &SliceStart, set: &mut RowSet, steps: usize) -> Option<SliceStart> {
        let id = self.filters.networks.as_ref().and_then(|networks| networks.get(from.place))?;
        let Some(by_id) = self.table.run_by_id(self.filters.organization, *id) else {
            return Some(SliceStart::next(from.place));
        };
        let rows = &self.index.rows;
        let start = match from.after {
            Some(After::Id(after)) => {
                let prefix = after.as_u128();
                by_id.partition_place(prefix..=prefix, |row| rows.id(row) <= after)
            }
            _ => Place::default(),
        };
        let mut rest = by_id.between(start, by_id.end());
        let mut last = None;
        for row in rest.by_ref().take(steps * PASSED_PER_STEP) {
            set.insert(row);
            last = Some(row);
        }
        Some(match last {
            Some(last) if rest.next().is_some() => SliceStart::after(from.place, After::Id(rows.id(last))),
            _ => SliceStart::next(from.place),
        })
    }
}

impl Members {
    pub(super) fn new(index: &Index, table: &Table, filters: &Filters) -> Self {
        let found_by = index.filters_to_find_by(table, filters);
        let set = (!found_by.is_empty()).then(RowSet::default);
        Self { set, found_by, passed: 0, current: RowSet::default(), from: SliceStart::default() }
    }

    /// Reads a slice of at most this many steps. Returns `false` when all rows were read before.
    pub(super) fn read(&mut self, index: &Index, table: &Table, filters: &Filters, steps: usize) -> bool {
        let Some(found_by) = self.found_by.get(self.passed).copied() else { return false };
        let is_evaluated = self.passed == 0 && !filters.are_all(&self.found_by);
        let known = is_evaluated.then_some(self.found_by.as_slice());
        let within = Within { index, table, filters, known };
        if let Some(next) = within.read(found_by, &self.from, &mut self.current, steps) {
            self.from = next;
            return true;
        }
        let read = std::mem::take(&mut self.current);
        match &mut self.set {
            Some(set) if self.passed > 0 => set.retain(&read),
            set => *set = Some(read),
        }
        self.passed += 1;
        self.from = SliceStart::default();
        true
    }
}

/// A set of rows, as one bit for each number up to the greatest. It is small enough to be queried for every row of an
/// index.
#[derive(Debug, Default)]
pub(super) struct RowSet(Vec<u64>);

impl RowSet {
    pub(super) fn new(rows: &[RowId]) -> Self {
        let mut set = Self(vec![0; rows.iter().max().map_or(0, |greatest| word(*greatest) + 1)]);
        rows.iter().for_each(|row| set.insert(*row));
        set
    }

    pub(super) fn insert(&mut self, row: RowId) {
        let place = word(row);
        if place >= self.0.len() {
            self.0.resize(place + 1, 0);
        }
        if let Some(word) = self.0.get_mut(place) {
            *word |= bit(row);
        }
    }

    /// Removes the rows that the other set lacks.
    fn retain(&mut self, other: &Self) {
        self.0.truncate(other.0.len());
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    pub(super) fn contains(&self, row: RowId) -> bool {
        self.0.get(word(row)).is_some_and(|word| word & bit(row) != 0)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the rows that are in the set, out of at most `most` rows.
    pub(super) fn pick(&self, rows: impl Iterator<Item = RowId>, most: usize, picked: &mut Vec<RowId>) {
        // Branchless, because membership is random and branch prediction would fail half the time: every row is
        // written, and overwritten by the next when it is not in the set. The last needs a place, too.
        let mut count = picked.len();
        picked.resize(count + most + 1, 0);
        rows.for_each(|row| {
            if let Some(place) = picked.get_mut(count) {
                *place = row;
            }
            count += usize::from(self.contains(row));
        });
        picked.truncate(count);
    }
}

const fn word(row: RowId) -> usize {
    row as usize / u64::BITS as usize
}

const fn bit(row: RowId) -> u64 {
    1 << (row % u64::BITS)
}
