//! The planner, which chooses how a page is found. The documentation of the [index](super) lists the ways.

mod found_by;
mod gather;
mod materialize;
mod members;
mod pick;
mod row_set;
mod scan;

pub(crate) use self::materialize::{Built, Finished};
use self::scan::{Begin, OverLimit, Sets, StepMeter, Wanted};
use super::Index;
use super::interner::NameId;
use super::list::{Filters, FoundBy, ListKey};
use super::rows::{SortField, prefix_of_key};
use super::run::{RowId, Run};
use super::table::{KindTable, length};
use crate::invariant::Invariant;
use crate::store::{Cursor, Direction, Query, Start, StoreError};

/// The rows of a page.
#[derive(Debug, Default)]
pub(crate) struct PageRows {
    pub(crate) rows: Vec<RowId>,
    pub(crate) total: u64,
    pub(crate) next: Option<Cursor>,
}

/// The result of a list query.
#[derive(Debug)]
pub(crate) enum ListResult {
    /// A page, and its list if that is worth materializing.
    Page(PageRows, Option<ListKey>),
    /// The list must be materialized first: finding the page would hold the lock too long.
    Materialize(ListKey),
}

/// The rows of a page, and the number of rows in the whole list.
type Found = (Vec<RowId>, usize);

/// Maximum number of steps for a page under the lock: about 400 microseconds.
const MAX_DIRECT_STEPS: usize = 4_096;

/// Steps to find a rank in one of several runs.
const STEPS_PER_RUN: usize = 32;

impl Index {
    pub(crate) fn list(&self, query: &Query) -> Result<ListResult, StoreError> {
        self.list_within(query, MAX_DIRECT_STEPS)
    }

    /// Answers a query in at most this many steps.
    pub(super) fn list_within(&self, query: &Query, steps: usize) -> Result<ListResult, StoreError> {
        check_order(query)?;
        let nothing = || Ok(ListResult::Page(PageRows::default(), None));
        let Some((table_id, table)) = self.table(query) else { return nothing() };
        let Some(filters) = self.filters(query, table_id) else { return nothing() };
        let mut order: Vec<SortField> =
            query.order.iter().map(|order| (table.slot(order.name), order.direction)).collect();
        if order.is_empty() {
            order.push((0, Direction::Ascending));
        }
        let begin = match &query.start {
            Start::Offset(offset) => Begin::Rank(usize::try_from(*offset).unwrap_or(usize::MAX)),
            Start::After(cursor) => Begin::Behind(cursor.keys(), cursor.id()),
        };
        // One more row than wanted shows whether others follow.
        let wanted = Wanted { begin, count: query.limit.map_or(usize::MAX, |limit| limit.saturating_add(1)) };
        let found = match &query.ids {
            Some(ids) => Ok((self.cut(self.rows_with_ids(&filters, ids), &order, wanted), None)),
            None => self.find_listed(table, filters, &order, wanted, steps),
        };
        let ((mut rows, total), worth) = match found {
            Ok(found) => found,
            Err(key) => return Ok(ListResult::Materialize(key)),
        };
        let follow = query.limit.is_some_and(|limit| rows.len() > limit);
        rows.truncate(query.limit.unwrap_or(usize::MAX));
        let last = if follow { rows.last() } else { None };
        let next = last.map(|row| self.cursor(*row, table, query));
        Ok(ListResult::Page(PageRows { rows, total: total as u64, next }, worth))
    }

    /// Finds a part of a list in one of the ways 2 to 5. The documentation of the [index](super) lists them. Also
    /// returns the key of the list if it is worth materializing.
    ///
    /// # Errors
    /// The key of the list, if the list must be materialized first.
    #[allow(clippy::result_large_err, reason = "to materialize a list costs far more than to move its key")]
    fn find_listed(
        &self,
        table: &KindTable,
        filters: Filters,
        order: &[SortField],
        wanted: Wanted<'_>,
        steps: usize,
    ) -> Result<(Found, Option<ListKey>), ListKey> {
        let orderings = match filters.organization.map(|organization| table.orderings(organization)) {
            // Links are looked up for all kinds and organizations, so they may be many although no record passes.
            Some(None) => return Ok((Found::default(), None)),
            Some(Some(orderings)) if !is_one_run(&filters, order) => orderings,
            _ => {
                let found =
                    self.find_directly(table, &filters, order, wanted, &mut StepMeter::new(usize::MAX));
                return Ok((found.ok().asserted_or_default(), None));
            }
        };
        let key = ListKey::new(filters, order);
        if let Some(found) = orderings.read(&key, |run| self.page_of_run(run, order, wanted)) {
            return Ok((found, None));
        }
        let mut meter = StepMeter::new(steps);
        let Ok(found) = self.find_directly(table, &key.filters, order, wanted, &mut meter) else {
            return Err(key);
        };
        let organization_rows = table.runs_of_organization(key.filters.organization).map_or(0, length);
        let price = materialize::price(&key, found.1, organization_rows);
        let is_worth = orderings.is_worth(&key, price, meter.spent());
        Ok((found, is_worth.then_some(key)))
    }

    fn find_directly(
        &self,
        table: &KindTable,
        filters: &Filters,
        order: &[SortField],
        wanted: Wanted<'_>,
        meter: &mut StepMeter,
    ) -> Result<Found, OverLimit> {
        if let Some((found_by, length)) = self.smallest_filter(filters) {
            // Each row is read once to be filtered and once to be sorted.
            meter.spend(2 * length)?;
            return Ok(self.cut(self.rows_found_by(filters, found_by, meter)?, order, wanted));
        }
        let Filters { organization, networks, .. } = filters;
        let fewest = table.runs(*organization, networks.as_deref());
        if filters.restrict_records() {
            // Only filters that leave rows out, or that are of all organizations.
            meter.spend(2 * fewest.iter().map(|runs| length(runs)).sum::<usize>())?;
            let rows = fewest.iter().filter_map(|runs| runs.first()).flat_map(Run::rows).collect();
            return Ok(self.cut(self.passing(filters, rows, FoundBy::Networks, meter)?, order, wanted));
        }
        if fewest.len() > 1 {
            meter.spend(fewest.len() * STEPS_PER_RUN)?;
        }
        let by_network = match order {
            [_] => Vec::new(),
            _ => table.runs_by_network(*organization, networks.as_deref()),
        };
        let total = fewest.iter().map(|runs| length(runs)).sum();
        let mut rows = Vec::with_capacity(wanted.count.min(total));
        self.scan(&Sets { fewest, by_network }, order, wanted, &mut rows, meter)?;
        Ok((rows, total))
    }

    fn page_of_run(
        &self,
        run: &Run,
        order: &[SortField],
        Wanted { begin, count }: Wanted<'_>,
    ) -> (Vec<RowId>, usize) {
        let mut rows = Vec::with_capacity(count.min(run.len()));
        if let [field] = order {
            self.scan_run(run, *field, Wanted { begin, count }, &mut rows);
            return (rows, run.len());
        }
        let from = match begin {
            Begin::Rank(rank) => run.place(rank),
            Begin::Behind(keys, id) => {
                let first = order.first().zip(keys.first());
                let prefix = first.map_or(0, |((_, direction), key)| prefix_of_key(*direction, key));
                run.partition_place(prefix..=prefix, |row| {
                    self.rows.compare_with_place(order, row, keys, id).is_le()
                })
            }
        };
        rows.extend(run.between(from, run.end()).take(count));
        (rows, run.len())
    }

    /// Returns the wanted part of unsorted rows, and their number.
    fn cut(
        &self,
        rows: Vec<RowId>,
        order: &[SortField],
        Wanted { begin, count }: Wanted<'_>,
    ) -> (Vec<RowId>, usize) {
        let total = rows.len();
        (self.sorted_part(rows, order, begin, count), total)
    }

    fn table(&self, query: &Query) -> Option<(NameId, &KindTable)> {
        let id = self.names.find(query.kind)?;
        Some((id, self.tables.get(&id)?))
    }

    fn cursor(&self, row: RowId, table: &KindTable, query: &Query) -> Cursor {
        let keys = query.order.iter().map(|order| self.rows.sort_key(table.slot(order.name), row).to_vec());
        Cursor::new(keys.collect(), self.rows.id(row))
    }
}

/// Returns whether one run holds exactly this list. Runs hold the records of an organization or of one network,
/// ordered by one sort field.
fn is_one_run(filters: &Filters, order: &[SortField]) -> bool {
    let Filters { organization, networks, .. } = filters;
    let is_one_set = organization.is_some() && networks.as_ref().is_none_or(|networks| networks.len() <= 1);
    is_one_set && !filters.restrict_records() && order.len() == 1
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
