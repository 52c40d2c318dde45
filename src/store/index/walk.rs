use uuid::Uuid;

use super::groups::Group;
use super::merge::Merged;
use super::meter::{Meter, OverLimit};
use super::order::Term;
use super::rows::Slot;
use super::run::{Place, Run};
use super::table::Runs;
use super::{Index, RowId};
use crate::store::Direction;

/// Where the wanted part of a list begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begin<'q> {
    Rank(usize),
    Behind(&'q [Vec<u8>], Uuid),
}

/// A group of fewer rows than this is put into order as a whole.
const SMALL_GROUP: usize = 256;

/// The sets of runs that hold the records of a query.
#[derive(Debug)]
pub(super) struct Sets<'a> {
    /// As few as possible.
    pub(super) fewest: Vec<&'a Runs>,
    /// One for each network; only where the order has several terms.
    pub(super) by_network: Vec<&'a Runs>,
}

/// The part of a list that is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'q> {
    pub(super) begin: Begin<'q>,
    /// How many rows are found at most, those included that were found before.
    pub(super) count: usize,
}

impl Index {
    /// Appends the rows of sorted sets of runs that are wanted.
    ///
    /// # Errors
    /// When it takes more steps than the meter allows.
    pub(super) fn walk(
        &self,
        sets: &Sets<'_>,
        terms: &[Term],
        wanted: Wanted<'_>,
        found: &mut Vec<RowId>,
        meter: &mut Meter,
    ) -> Result<(), OverLimit> {
        let Some(((slot, direction), rest)) = terms.split_first() else { return Ok(()) };
        let merged = self.merged(&sets.fewest, *slot);
        if rest.is_empty() {
            walk_merged(&merged, *direction, wanted, found);
            return Ok(());
        }
        self.walk_groups(sets, &merged, (*direction, rest), wanted, found, meter)
    }

    /// The same of one run that is in the ascending order of the term.
    pub(super) fn walk_run(
        &self,
        run: &Run,
        (slot, direction): Term,
        wanted: Wanted<'_>,
        found: &mut Vec<RowId>,
    ) {
        walk_merged(&Merged { rows: &self.rows, slot, runs: vec![run] }, direction, wanted, found);
    }

    /// Goes through the groups of the first term, each in the order of the terms that follow.
    fn walk_groups(
        &self,
        sets: &Sets<'_>,
        merged: &Merged<'_>,
        (direction, rest): (Direction, &[Term]),
        Wanted { begin, count }: Wanted<'_>,
        found: &mut Vec<RowId>,
        meter: &mut Meter,
    ) -> Result<(), OverLimit> {
        let Some((mut group, mut begin)) = first_group(merged, direction, begin) else { return Ok(()) };
        loop {
            // Finding the group behind looks at a row or two of every run.
            meter.spend(1 + merged.runs.len())?;
            if let Some(whole) = self.whole_sets(sets, merged, &group) {
                meter.spend(whole.fewest.len())?;
                self.walk(&whole, rest, Wanted { begin, count }, found, meter)?;
            } else {
                meter.spend(2 * (merged.rank(&group.to) - merged.rank(&group.from)))?;
                let spans = merged.runs.iter().zip(&group.from).zip(&group.to);
                let rows = spans.flat_map(|((run, from), to)| run.between(*from, *to)).collect();
                found.extend(self.window(rows, rest, begin, count - found.len()));
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

    /// The networks that make up a large group, if each belongs to it whole or not at all. Their order by the terms that
    /// follow is then there already, and nothing need be sorted.
    fn whole_sets<'s>(&self, sets: &Sets<'s>, merged: &Merged<'_>, group: &Group<'_>) -> Option<Sets<'s>> {
        if merged.rank(&group.to) - merged.rank(&group.from) < SMALL_GROUP {
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
            if *from != Place::default() || *to != run.end() {
                return None;
            }
            whole.push(*set);
        }
        Some(Sets { by_network: whole.clone(), fewest: whole })
    }

    fn merged<'a>(&'a self, sets: &[&'a Runs], slot: Slot) -> Merged<'a> {
        Merged { rows: &self.rows, slot, runs: sets.iter().filter_map(|runs| runs.get(slot)).collect() }
    }
}

fn walk_merged(merged: &Merged<'_>, direction: Direction, wanted: Wanted<'_>, found: &mut Vec<RowId>) {
    match direction {
        Direction::Ascending => walk_ascending(merged, wanted, found),
        Direction::Descending => walk_descending(merged, wanted, found),
    }
}

fn walk_ascending(merged: &Merged<'_>, wanted: Wanted<'_>, found: &mut Vec<RowId>) {
    let from = match wanted.begin {
        Begin::Rank(rank) => merged.select(rank, &merged.start(), &merged.end()),
        Begin::Behind(keys, id) => {
            let place = (keys.first().map_or(&[][..], Vec::as_slice), id);
            merged.partition(place.0, Some(id), |key| key <= place)
        }
    };
    merged.take(&from, &merged.end(), wanted.count, found);
}

/// Greatest key first, what has one key by ascending id. What is left of the list is always what lies before a position.
fn walk_descending(merged: &Merged<'_>, wanted: Wanted<'_>, found: &mut Vec<RowId>) {
    let left = match wanted.begin {
        Begin::Rank(rank) => {
            let Some(before) = merged.len().checked_sub(rank) else { return };
            let position = merged.select(before, &merged.start(), &merged.end());
            match merged.group_around(&position) {
                None => position,
                // The page begins within a group: its first rows belong to what came before.
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

/// The group where a list begins, and where in that group.
fn first_group<'a, 'q>(
    merged: &Merged<'a>,
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
