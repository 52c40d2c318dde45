//! Finding the rows of a query directly: by id, or by merging runs.

use uuid::Uuid;

use crate::store::index::Index;
use crate::store::index::interner::NameId;
use crate::store::index::list::{Filters, InRange, InRanges, Linked, sorted};
use crate::store::index::rows::{Slot, SortField};
use crate::store::index::run::groups::Group;
use crate::store::index::run::merge::MergedRuns;
use crate::store::index::run::{RowId, Run, RunPosition};
use crate::store::index::table::Runs;
use crate::store::index::terms::joined;
use crate::store::{Direction, KeyFilter, LinkCondition, LinkFilter, Query, TermFilter};

/// Where the wanted part of a list begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begin<'q> {
    Rank(usize),
    Behind(&'q [Vec<u8>], Uuid),
}

/// Groups of fewer rows are sorted as a whole.
const MAX_SORTED_GROUP: usize = 256;

/// The sets of runs that hold the records of a query.
#[derive(Debug)]
pub(super) struct Sets<'a> {
    /// As few sets as possible.
    pub(super) fewest: Vec<&'a Runs>,
    /// One set for each network; used only by orders of several sort fields.
    pub(super) by_network: Vec<&'a Runs>,
}

/// The wanted part of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'q> {
    pub(super) begin: Begin<'q>,
    /// Maximum number of rows in the result, including those found before.
    pub(super) count: usize,
}

impl Index {
    /// Appends the wanted rows from sorted sets of runs.
    ///
    /// # Errors
    /// When it takes more steps than the meter allows.
    pub(super) fn scan(
        &self,
        sets: &Sets<'_>,
        order: &[SortField],
        wanted: Wanted<'_>,
        found: &mut Vec<RowId>,
        meter: &mut StepMeter,
    ) -> Result<(), OverLimit> {
        let Some(((slot, direction), rest)) = order.split_first() else { return Ok(()) };
        let merged = self.merged(&sets.fewest, *slot);
        if rest.is_empty() {
            scan_merged(&merged, *direction, wanted, found);
            return Ok(());
        }
        self.scan_groups(sets, &merged, (*direction, rest), wanted, found, meter)
    }

    /// Does the same as [`scan`](Self::scan) for one run in the ascending order of the sort field.
    pub(super) fn scan_run(
        &self,
        run: &Run,
        (slot, direction): SortField,
        wanted: Wanted<'_>,
        found: &mut Vec<RowId>,
    ) {
        scan_merged(&MergedRuns { rows: &self.rows, slot, runs: vec![run] }, direction, wanted, found);
    }

    /// Visits the groups of the first sort field, each in the order of the other fields.
    fn scan_groups(
        &self,
        sets: &Sets<'_>,
        merged: &MergedRuns<'_>,
        (direction, rest): (Direction, &[SortField]),
        Wanted { begin, count }: Wanted<'_>,
        found: &mut Vec<RowId>,
        meter: &mut StepMeter,
    ) -> Result<(), OverLimit> {
        let Some((mut group, mut begin)) = first_group(merged, direction, begin) else { return Ok(()) };
        loop {
            // Finding the next group reads a row or two of every run.
            meter.spend(1 + merged.runs.len())?;
            if let Some(whole) = self.whole_sets(sets, merged, &group) {
                meter.spend(whole.fewest.len())?;
                self.scan(&whole, rest, Wanted { begin, count }, found, meter)?;
            } else {
                meter.spend(2 * (merged.rank(&group.to) - merged.rank(&group.from)))?;
                let spans = merged.runs.iter().zip(&group.from).zip(&group.to);
                let rows = spans.flat_map(|((run, from), to)| run.between(*from, *to)).collect();
                found.extend(self.sorted_part(rows, rest, begin, count - found.len()));
            }
            if found.len() >= count {
                return Ok(());
            }
            begin = Begin::Rank(0);
            match merged.group_after(group, direction) {
                Some(next) => group = next,
                None => return Ok(()),
            }
        }
    }

    /// Returns the networks that make up a large group. Returns `None` for a small group, and if a part of a network
    /// is outside the group. The runs of the networks have the order of the other sort fields already, so that nothing
    /// is sorted.
    fn whole_sets<'s>(
        &self,
        sets: &Sets<'s>,
        merged: &MergedRuns<'_>,
        group: &Group<'_>,
    ) -> Option<Sets<'s>> {
        if merged.rank(&group.to) - merged.rank(&group.from) < MAX_SORTED_GROUP {
            return None;
        }
        let networks = self.merged(&sets.by_network, merged.slot);
        let group = networks.group_of_key(group.key);
        let spans = networks.runs.iter().zip(group.from.iter().zip(&group.to));
        let mut whole = Vec::new();
        for (set, (run, (from, to))) in sets.by_network.iter().zip(spans) {
            if from == to {
                continue;
            }
            if *from != RunPosition::default() || *to != run.end() {
                return None;
            }
            whole.push(*set);
        }
        Some(Sets { by_network: whole.clone(), fewest: whole })
    }

    fn merged<'a>(&'a self, sets: &[&'a Runs], slot: Slot) -> MergedRuns<'a> {
        MergedRuns { rows: &self.rows, slot, runs: sets.iter().filter_map(|runs| runs.get(slot)).collect() }
    }
}

fn scan_merged(merged: &MergedRuns<'_>, direction: Direction, wanted: Wanted<'_>, found: &mut Vec<RowId>) {
    match direction {
        Direction::Ascending => scan_ascending(merged, wanted, found),
        Direction::Descending => scan_descending(merged, wanted, found),
    }
}

fn scan_ascending(merged: &MergedRuns<'_>, wanted: Wanted<'_>, found: &mut Vec<RowId>) {
    let from = match wanted.begin {
        Begin::Rank(rank) => merged.select(rank, &merged.start(), &merged.end()),
        Begin::Behind(keys, id) => {
            let place = (keys.first().map_or(&[][..], Vec::as_slice), id);
            merged.partition(place.0, Some(id), |key| key <= place)
        }
    };
    merged.take(&from, &merged.end(), wanted.count, found);
}

/// Visits keys in descending order, with equal keys in ascending order of id. The rest of the list is always before
/// a position.
fn scan_descending(merged: &MergedRuns<'_>, wanted: Wanted<'_>, found: &mut Vec<RowId>) {
    let left = match wanted.begin {
        Begin::Rank(rank) => {
            let Some(before) = merged.len().checked_sub(rank) else { return };
            let position = merged.select(before, &merged.start(), &merged.end());
            match merged.group_around(&position) {
                None => position,
                // The page begins inside a group, so the first rows of the group are skipped.
                Some(group) => {
                    let passed = merged.rank(&group.to) - before;
                    let from = merged.select(passed, &group.from, &group.to);
                    merged.take(&from, &group.to, wanted.count, found);
                    group.from
                }
            }
        }
        Begin::Behind(keys, id) => {
            let key = keys.first().map_or(&[][..], Vec::as_slice);
            let group = merged.group_of_key(key);
            let from = merged.partition(key, Some(id), |other| other <= (key, id));
            merged.take(&from, &group.to, wanted.count, found);
            group.from
        }
    };
    merged.take_descending(&left, wanted.count, found);
}

/// Returns the group where a list begins, and where in the group.
fn first_group<'a, 'q>(
    merged: &MergedRuns<'a>,
    direction: Direction,
    begin: Begin<'q>,
) -> Option<(Group<'a>, Begin<'q>)> {
    match begin {
        Begin::Rank(rank) => {
            let (group, before) = merged.group_of_rank(rank, direction)?;
            Some((group, Begin::Rank(rank - before)))
        }
        Begin::Behind(keys, id) => {
            let (key, rest) = keys.split_first()?;
            let group = merged.group_from_key(key, direction)?;
            let begin = if group.key == key.as_slice() { Begin::Behind(rest, id) } else { Begin::Rank(0) };
            Some((group, begin))
        }
    }
}

impl Index {
    /// Sorts rows and returns the wanted part.
    pub(super) fn sorted_part(
        &self,
        mut rows: Vec<RowId>,
        order: &[SortField],
        begin: Begin<'_>,
        wanted: usize,
    ) -> Vec<RowId> {
        let compare = |left: &RowId, right: &RowId| self.rows.compare_by(order, *left, *right);
        let start = match begin {
            Begin::Rank(rank) => rank.min(rows.len()),
            Begin::Behind(keys, id) => {
                rows.retain(|row| self.rows.compare_with_place(order, *row, keys, id).is_gt());
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

impl Index {
    /// Translates the filters of a query. Returns `None` when nothing can pass, because no record ever had a link of
    /// some relation, or a term of some name.
    pub(super) fn filters(&self, query: &Query, table: NameId) -> Option<Filters> {
        let (mut links, mut absent) = (Vec::new(), Vec::new());
        for filter in &query.links {
            match (filter.condition, self.link_filter(filter)) {
                (LinkCondition::Any, Some(linked)) => links.push(linked),
                (LinkCondition::Any, None) => return None,
                // No record ever had such a link.
                (LinkCondition::None, None) => {}
                (LinkCondition::None, Some(linked)) => absent.push(linked),
            }
        }
        let keys = self.key_filters(query, table)?;
        let terms = query.terms.iter().map(|filter| self.term_filter(filter)).collect::<Option<_>>()?;
        // A filter that names all networks is dropped: it selects the whole organization.
        let networks = query.networks.as_deref().map(sorted);
        let networks =
            networks.filter(|networks| !self.are_all_networks(query.organization, table, networks));
        Some(Filters { table, organization: query.organization, networks, links, absent, terms, keys })
    }

    fn are_all_networks(&self, organization: Option<Uuid>, table: NameId, networks: &[Uuid]) -> bool {
        let table = organization.zip(self.tables.get(&table));
        table.is_some_and(|(organization, table)| table.is_within(organization, networks))
    }

    fn link_filter(&self, filter: &LinkFilter) -> Option<Linked> {
        Some((self.names.find(filter.relation)?, sorted(&filter.targets)))
    }

    /// Returns the filters on sort keys. `None` when nothing can pass: no record ever had a sort key, and the filter does
    /// not match the empty one.
    fn key_filters(&self, query: &Query, table: NameId) -> Option<Vec<InRange>> {
        let table = self.tables.get(&table)?;
        let mut filters = Vec::new();
        for KeyFilter { name, range } in &query.keys {
            match table.slot(*name) {
                0 if range.contains(&[]) => {}
                0 => return None,
                slot => filters.push((slot, range.clone())),
            }
        }
        Some(filters)
    }

    fn term_filter(&self, filter: &TermFilter) -> Option<InRanges> {
        Some((self.names.find(filter.name)?, joined(&filter.ranges)))
    }

    /// Returns the rows with one of these ids that pass the filters. They are in no particular order.
    pub(super) fn rows_with_ids(&self, filters: &Filters, ids: &[Uuid]) -> Vec<RowId> {
        let rows = sorted(ids).into_iter().filter_map(|id| self.ids.find(&self.rows, filters.table, id));
        rows.filter(|row| self.rows.get(*row).is_some_and(|row| filters.pass(row, &self.rows))).collect()
    }
}

/// Counts the steps of a query and stops it at a limit.
///
/// One step is a look at one row, which is a cache miss in a large index: 50 to 100 ns on today's machines. Plans are
/// chosen by steps, never by a clock, so that a query takes the same way every time.
#[derive(Debug)]
pub(super) struct StepMeter {
    spent: usize,
    limit: usize,
}

/// The query needs more steps than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverLimit;

impl StepMeter {
    pub(super) const fn new(limit: usize) -> Self {
        Self { spent: 0, limit }
    }

    /// Counts steps before they are taken.
    ///
    /// # Errors
    /// When they go beyond the limit.
    pub(super) const fn spend(&mut self, steps: usize) -> Result<(), OverLimit> {
        self.spent = self.spent.saturating_add(steps);
        if self.spent > self.limit { Err(OverLimit) } else { Ok(()) }
    }

    pub(super) const fn spent(&self) -> usize {
        self.spent
    }
}
