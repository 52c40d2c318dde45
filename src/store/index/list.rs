use std::cmp::Ordering;

use uuid::Uuid;

use super::groups::Group;
use super::merge::Merged;
use super::names::NameId;
use super::rows::Slot;
use super::run::Place;
use super::table::{Runs, Table, length};
use super::{Index, RowId};
use crate::store::{Cursor, Direction, Query, Start, StoreError};

/// The rows of a page.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) rows: Vec<RowId>,
    pub(crate) total: u64,
    pub(crate) next: Option<Cursor>,
}

/// A term of an order, by slot.
type Term = (Slot, Direction);

/// Where the wanted part of a list begins.
#[derive(Clone, Copy, Debug)]
enum Begin<'q> {
    Rank(usize),
    Behind(&'q [Vec<u8>], Uuid),
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
            let runs = match terms.as_slice() {
                [_] => table.runs(query.organization, networks.as_deref()),
                _ => table.runs_by_network(query.organization, networks.as_deref()),
            };
            let mut rows = Vec::with_capacity(wanted.min(1024));
            self.walk(&runs, &terms, begin, wanted, &mut rows);
            (rows, runs.iter().map(|runs| length(runs)).sum())
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

    /// Appends the rows of a list that begin at `begin`, until there are `wanted`.
    fn walk(&self, sets: &[&Runs], terms: &[Term], begin: Begin<'_>, wanted: usize, found: &mut Vec<RowId>) {
        let Some(((slot, direction), rest)) = terms.split_first() else { return };
        let runs = sets.iter().filter_map(|runs| runs.get(*slot)).collect();
        let merged = Merged { rows: &self.rows, slot: *slot, runs };
        if rest.is_empty() && *direction == Direction::Ascending {
            let from = match begin {
                Begin::Rank(rank) => merged.select(rank, &merged.start(), &merged.end()),
                Begin::Behind(keys, id) => {
                    let place = (keys.first().map_or(&[][..], Vec::as_slice), id);
                    merged.partition(|key| key <= place)
                }
            };
            merged.take(&from, &merged.end(), wanted, found);
            return;
        }
        let Some((mut group, mut begin)) = first_group(&merged, *direction, begin) else { return };
        loop {
            self.walk_group(sets, &merged, &group, rest, begin, wanted, found);
            if found.len() >= wanted {
                return;
            }
            begin = Begin::Rank(0);
            if rest.is_empty() && *direction == Direction::Descending {
                merged.take_single_descending(&mut group.from, wanted, found);
            }
            match merged.group_after(group, *direction) {
                Some(next) => group = next,
                None => return,
            }
        }
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "the parts of one recursive walk, which no type of their own would clear"
    )]
    fn walk_group(
        &self,
        sets: &[&Runs],
        merged: &Merged<'_>,
        group: &Group<'_>,
        rest: &[Term],
        begin: Begin<'_>,
        wanted: usize,
        found: &mut Vec<RowId>,
    ) {
        if rest.is_empty() {
            let from = match begin {
                Begin::Rank(0) => group.from.clone(),
                Begin::Rank(rank) => merged.select(rank, &group.from, &group.to),
                Begin::Behind(_, id) => merged.partition(|key| key <= (group.key, id)),
            };
            merged.take(&from, &group.to, wanted, found);
        } else if let Some(whole) = whole_runs(sets, merged, group) {
            self.walk(&whole, rest, begin, wanted, found);
        } else {
            let spans = merged.runs.iter().zip(&group.from).zip(&group.to);
            let rows = spans.flat_map(|((run, from), to)| run.between(*from, *to)).collect();
            found.extend(self.window(rows, rest, begin, wanted - found.len()));
        }
    }

    /// Puts rows into order and cuts out what is wanted.
    fn window(&self, mut rows: Vec<RowId>, terms: &[Term], begin: Begin<'_>, wanted: usize) -> Vec<RowId> {
        let compare = |left: &RowId, right: &RowId| self.compare_by(terms, *left, *right);
        let start = match begin {
            Begin::Rank(rank) => rank.min(rows.len()),
            Begin::Behind(keys, id) => {
                rows.retain(|row| self.compare_with_place(terms, *row, keys, id).is_gt());
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

    fn compare_by(&self, terms: &[Term], left: RowId, right: RowId) -> Ordering {
        let by_key = terms.iter().map(|(slot, direction)| {
            directed(self.rows.sort_key(*slot, left).cmp(self.rows.sort_key(*slot, right)), *direction)
        });
        first_difference(by_key).then_with(|| self.rows.id(left).cmp(&self.rows.id(right)))
    }

    fn compare_with_place(&self, terms: &[Term], row: RowId, keys: &[Vec<u8>], id: Uuid) -> Ordering {
        let by_key = terms.iter().zip(keys).map(|((slot, direction), key)| {
            directed(self.rows.sort_key(*slot, row).cmp(key.as_slice()), *direction)
        });
        first_difference(by_key).then_with(|| self.rows.id(row).cmp(&id))
    }
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

/// The sets of runs that make up a group, if each belongs to it whole or not at all. Their order by the terms that
/// follow is then there already, and nothing need be sorted.
fn whole_runs<'s>(sets: &[&'s Runs], merged: &Merged<'_>, group: &Group<'_>) -> Option<Vec<&'s Runs>> {
    let mut whole = Vec::new();
    for (((set, run), from), to) in sets.iter().zip(&merged.runs).zip(&group.from).zip(&group.to) {
        if from == to {
            continue;
        }
        if *from != Place::default() || *to != run.end() {
            return None;
        }
        whole.push(*set);
    }
    Some(whole)
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

fn directed(ordering: Ordering, direction: Direction) -> Ordering {
    match direction {
        Direction::Ascending => ordering,
        Direction::Descending => ordering.reverse(),
    }
}

fn first_difference(mut orderings: impl Iterator<Item = Ordering>) -> Ordering {
    orderings.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
}

pub(super) fn sorted(ids: &[Uuid]) -> Vec<Uuid> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    ids
}
