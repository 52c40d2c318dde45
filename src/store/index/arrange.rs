//! Putting a list into order as a whole, so that it can be kept.

use std::time::Duration;

use super::kept::ListKey;
use super::order::Term;
use super::row_set::RowSet;
use super::rows::Slot;
use super::run::Run;
use super::table::{Runs, Table};
use super::{Index, RowId};
use crate::store::Direction;

/// What it takes to sort a list, in nanoseconds for each of its rows.
const SORTED: usize = 800;

/// What it takes to pick a list out of a run, in nanoseconds for each row of the list, and for each row of the run.
const LISTED: usize = 10;
const PICKED: usize = 3;

/// What each term but the last takes then, in nanoseconds for each row of the list.
const REGROUPED: usize = 300;

/// What it takes to cut a page out of a list in no order, in nanoseconds for each of its rows.
const CUT: usize = 120;

/// How a list is put into order.
#[derive(Clone, Copy, Debug)]
enum Way<'t> {
    Sorted,
    /// Picked out of the runs of its organization.
    Picked(&'t Runs),
}

impl Index {
    /// Keeps a list of so many rows if enough was spent on parts of it.
    pub(super) fn keep_if_it_pays(&self, table: &Table, key: ListKey, rows: usize, spent: Duration) {
        let (way, price) = way(table, &key, rows);
        if self.kept.pays(&key, Duration::from_nanos(price as u64), spent) {
            let run = self.arranged(way, &self.listed_rows(table, &key.filters), &key.terms);
            self.kept.keep(key, run, self.rows.len());
        }
    }

    /// A list of these rows, if it is made sooner than a page is cut out of them; and what it takes to make it.
    pub(super) fn arranged_sooner(
        &self,
        table: &Table,
        key: &ListKey,
        rows: &[RowId],
    ) -> Option<(Run, Duration)> {
        let (way, price) = way(table, key, rows.len());
        let is_sooner = price < rows.len().saturating_mul(CUT);
        is_sooner.then(|| (self.arranged(way, rows, &key.terms), Duration::from_nanos(price as u64)))
    }

    fn arranged(&self, way: Way<'_>, rows: &[RowId], terms: &[Term]) -> Run {
        let rows = match way {
            Way::Sorted => self.rows.in_order(rows, terms),
            Way::Picked(runs) => self.picked(runs, rows, terms),
        };
        Run::of_sorted(&rows, |row| self.rows.prefix_by(terms, row))
    }

    /// Some rows of an organization in the order of some terms, each of which one of its runs is in the order of already.
    fn picked(&self, runs: &Runs, rows: &[RowId], terms: &[Term]) -> Vec<RowId> {
        let set = RowSet::new(rows);
        let pick = |term: &Term| {
            let ascending = runs.get(term.0).map(|run| set.pick(run.rows())).unwrap_or_default();
            match term.1 {
                Direction::Ascending => ascending,
                Direction::Descending => self.groups(&ascending, term.0).rev().flatten().copied().collect(),
            }
        };
        let Some((last, former)) = terms.split_last() else { return Vec::new() };
        let regroup = |rows: Vec<RowId>, term: &Term| self.regrouped(&rows, &pick(term), term.0);
        former.iter().rev().fold(pick(last), regroup)
    }

    /// The rows of a list as `others` has them, but those of one key as they stand in `rows`, which is the same list.
    fn regrouped(&self, rows: &[RowId], others: &[RowId], slot: Slot) -> Vec<RowId> {
        let mut group_of: Vec<u32> = vec![0; others.iter().max().map_or(0, |most| *most as usize + 1)];
        let mut next_places = Vec::new();
        let mut passed = 0;
        for (number, group) in (0..).zip(self.groups(others, slot)) {
            for row in group {
                if let Some(place) = group_of.get_mut(*row as usize) {
                    *place = number;
                }
            }
            next_places.push(passed);
            passed += group.len();
        }
        let mut regrouped = vec![0; rows.len()];
        for row in rows {
            let group = group_of.get(*row as usize).copied().unwrap_or_default();
            let Some(next) = next_places.get_mut(group as usize) else { continue };
            if let Some(place) = regrouped.get_mut(*next) {
                *place = *row;
            }
            *next += 1;
        }
        regrouped
    }

    /// Rows that are in the order of a slot, those together that have one key.
    fn groups<'r>(&'r self, rows: &'r [RowId], slot: Slot) -> impl DoubleEndedIterator<Item = &'r [RowId]> {
        rows.chunk_by(move |left, right| self.rows.sort_key(slot, *left) == self.rows.sort_key(slot, *right))
    }
}

/// The quicker way to put a list of so many rows into order, and the nanoseconds that it takes.
fn way<'t>(table: &'t Table, key: &ListKey, rows: usize) -> (Way<'t>, usize) {
    let sorted = (Way::Sorted, rows.saturating_mul(SORTED));
    let runs = table.runs_of_organization(key.filters.organization);
    let picked = runs.map(|runs| (Way::Picked(runs), price_of_picking(runs, rows, key.terms.len())));
    picked.filter(|(_, price)| *price < sorted.1).unwrap_or(sorted)
}

/// What it takes to put so many rows into the order of so many terms out of the runs of their organization.
fn price_of_picking(runs: &Runs, rows: usize, terms: usize) -> usize {
    let of_run = runs.first().map_or(0, Run::len).saturating_mul(PICKED).saturating_mul(terms);
    let of_row = LISTED + REGROUPED * terms.saturating_sub(1);
    rows.saturating_mul(of_row).saturating_add(of_run)
}
