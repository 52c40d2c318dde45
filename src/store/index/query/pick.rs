//! Picking the rows of a list out of the runs of its terms: those that pass its filters, in the order of all terms.

use uuid::Uuid;

use super::filter::Filters;
use super::found_by::FoundBy;
use crate::store::Direction;
use crate::store::index::Index;
use crate::store::index::merge::Merged;
use crate::store::index::rows::{Rows, Slot, Term};
use crate::store::index::run::{Place, RowId, Run};
use crate::store::index::table::Table;
use crate::store::index::terms::{Posting, Section};

/// Rows that are passed for one step where they stand one behind the other in memory.
pub(super) const PASSED_PER_STEP: usize = 16;

/// The rows of a list in the ascending order of one term, as far as they were read.
#[derive(Debug, Default)]
pub(super) struct Pick {
    rows: Vec<RowId>,
    /// The number of the key of each row, equal for equal keys; empty when the list needs no numbers.
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
    /// Reads a slice of the run of a slot. `false` when the whole run was read before.
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

    /// Numbers the keys of the rows from a place on. A key that goes on from the slice before keeps its number, even when
    /// the rows that had it then have another key by now.
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

    /// Sorts rows by the numbers of their keys; rows with equal keys stay in the order they are in.
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

/// The rows of a list in the order of its terms, without those that were discarded.
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

/// The rows that pass, as far as they were read.
#[derive(Debug)]
pub(super) struct Members {
    /// `None` when all rows of the organization pass.
    pub(super) set: Option<RowSet>,
    source: Source,
}

/// Where the next slice is read.
#[derive(Debug)]
enum Source {
    /// Behind a row among those linked to one target of a filter, both by their place in the query.
    Links { filter: usize, target: usize, after: Option<RowId> },
    /// Behind a posting in one range of a filter, both by their place in the query.
    Terms { filter: usize, range: usize, after: Option<Posting> },
    /// Behind a record of one of the networks, by its place in the query.
    Networks { network: usize, after: Option<Uuid> },
    /// All were read.
    Exhausted,
}

impl Members {
    pub(super) fn new(index: &Index, filters: &Filters) -> Self {
        let source = match index.smallest_filter(filters) {
            Some((FoundBy::Links(filter), _)) => Source::Links { filter, target: 0, after: None },
            Some((FoundBy::Terms(filter), _)) => Source::Terms { filter, range: 0, after: None },
            None if filters.networks.is_some() => Source::Networks { network: 0, after: None },
            None => return Self { set: None, source: Source::Exhausted },
        };
        Self { set: Some(RowSet::default()), source }
    }

    /// Reads a slice of at most this many steps. Returns `false` when all rows were read before.
    pub(super) fn read(&mut self, index: &Index, table: &Table, filters: &Filters, steps: usize) -> bool {
        let Some(set) = &mut self.set else { return false };
        let next = match &self.source {
            Source::Exhausted => return false,
            Source::Links { filter, target, after } => {
                read_links(index, filters, set, (*filter, *target, *after), steps)
            }
            Source::Terms { filter, range, after } => {
                read_terms((index, table), filters, set, (*filter, *range, after.as_ref()), steps)
            }
            Source::Networks { network, after } => {
                read_network((index, table), filters, set, (*network, *after), steps)
            }
        };
        self.source = next;
        true
    }
}

fn read_links(
    index: &Index,
    filters: &Filters,
    set: &mut RowSet,
    (filter, target, after): (usize, usize, Option<RowId>),
    steps: usize,
) -> Source {
    let Some((relation, targets)) = filters.links.get(filter) else { return Source::Exhausted };
    let Some(id) = targets.get(target) else { return Source::Exhausted };
    let linked = index.links.rows(&index.rows, *relation, *id);
    let passed = after.map_or(0, |after| linked.partition_point(|row| *row <= after));
    let rest = linked.get(passed..).unwrap_or_default();
    let slice = rest.get(..steps.min(rest.len())).unwrap_or_default();
    for row in slice {
        let found_by = FoundBy::Links(filter);
        if index.rows.get(*row).is_some_and(|row| filters.pass_beside(found_by, row, &index.rows)) {
            set.insert(*row);
        }
    }
    match slice.last() {
        Some(last) if slice.len() < rest.len() => Source::Links { filter, target, after: Some(*last) },
        _ => Source::Links { filter, target: target + 1, after: None },
    }
}

fn read_terms(
    (index, table): (&Index, &Table),
    filters: &Filters,
    set: &mut RowSet,
    (filter, range, after): (usize, usize, Option<&Posting>),
    steps: usize,
) -> Source {
    let Some((name, ranges)) = filters.terms.get(filter) else { return Source::Exhausted };
    let Some(section) = ranges.get(range).map(|range| Section { name: *name, range, after }) else {
        return Source::Exhausted;
    };
    let found_by = FoundBy::Terms(filter);
    // Where no row is read, postings stand one behind the other in memory.
    let is_only = filters.is_only(found_by);
    let most = if is_only { steps * PASSED_PER_STEP } else { steps };
    let passes =
        |row: &RowId| index.rows.get(*row).is_some_and(|row| filters.pass_beside(found_by, row, &index.rows));
    let last = table.postings(filters.organization).next().and_then(|postings| {
        postings.read(section, most, |rows| {
            rows.iter().filter(|row| is_only || passes(row)).for_each(|row| set.insert(*row));
        })
    });
    match last {
        Some(last) => Source::Terms { filter, range, after: Some(last) },
        None => Source::Terms { filter, range: range + 1, after: None },
    }
}

fn read_network(
    (index, table): (&Index, &Table),
    filters: &Filters,
    set: &mut RowSet,
    (network, after): (usize, Option<Uuid>),
    steps: usize,
) -> Source {
    let Some(id) = filters.networks.as_ref().and_then(|networks| networks.get(network)) else {
        return Source::Exhausted;
    };
    let next = Source::Networks { network: network + 1, after: None };
    let Some(by_id) = table.run_by_id(filters.organization, *id) else { return next };
    let from = after.map_or(Place::default(), |after| {
        let prefix = after.as_u128();
        by_id.partition_place(prefix..=prefix, |row| index.rows.id(row) <= after)
    });
    let mut rest = by_id.between(from, by_id.end());
    let mut last = None;
    for row in rest.by_ref().take(steps * PASSED_PER_STEP) {
        set.insert(row);
        last = Some(row);
    }
    match last {
        Some(last) if rest.next().is_some() => Source::Networks { network, after: Some(index.rows.id(last)) },
        _ => next,
    }
}

/// A set of rows: one bit for each number up to the greatest, small enough to be asked about every row of an index.
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

    pub(super) fn contains(&self, row: RowId) -> bool {
        self.0.get(word(row)).is_some_and(|word| word & bit(row) != 0)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the rows that are in the set, out of at most `most` rows.
    pub(super) fn pick(&self, rows: impl Iterator<Item = RowId>, most: usize, picked: &mut Vec<RowId>) {
        // Branchless, because membership is random and branch prediction would fail half the time: every row is written,
        // and overwritten by the next when it is not in the set. The last needs a place, too.
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
