//! Collecting the rows that pass the filters of a list.

use uuid::Uuid;

use super::super::filter::Filters;
use super::super::row_set::RowSet;
use super::super::run::Place;
use super::super::table::Table;
use super::super::{Index, RowId};
use super::PASSED_PER_STEP;

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
    /// Behind a record of one of the networks, by its place in the query.
    Networks { network: usize, after: Option<Uuid> },
    /// All were read.
    Exhausted,
}

impl Members {
    pub(super) fn new(index: &Index, filters: &Filters) -> Self {
        let source = match index.smallest_filter(filters) {
            Some(filter) => Source::Links { filter, target: 0, after: None },
            None if filters.networks.is_some() => Source::Networks { network: 0, after: None },
            None => return Self { set: None, source: Source::Exhausted },
        };
        Self { set: Some(RowSet::default()), source }
    }

    /// Reads a slice of at most this many steps. Returns `false` when all rows were read before.
    pub(super) fn read(&mut self, index: &Index, table: &Table, filters: &Filters, steps: usize) -> bool {
        let Some(set) = &mut self.set else { return false };
        let next = match self.source {
            Source::Exhausted => return false,
            Source::Links { filter, target, after } => {
                read_links(index, filters, set, (filter, target, after), steps)
            }
            Source::Networks { network, after } => {
                read_network((index, table), filters, set, (network, after), steps)
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
    let linked = index.links.rows(*relation, *id);
    let passed = after.map_or(0, |after| linked.partition_point(|row| *row <= after));
    let rest = linked.get(passed..).unwrap_or_default();
    let slice = rest.get(..steps.min(rest.len())).unwrap_or_default();
    for row in slice {
        if index.rows.get(*row).is_some_and(|row| filters.pass(row, index.rows.partitions())) {
            set.insert(*row);
        }
    }
    match slice.last() {
        Some(last) if slice.len() < rest.len() => Source::Links { filter, target, after: Some(*last) },
        _ => Source::Links { filter, target: target + 1, after: None },
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
