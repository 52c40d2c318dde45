//! Finding rows through the posting lists of one filter, on links or on terms.

use super::scan::{OverLimit, StepMeter};
use crate::invariant::Invariant;
use crate::store::index::Index;
use crate::store::index::list::{Filters, FoundBy, InRanges, Linked};
use crate::store::index::run::sort::prefix;
use crate::store::index::run::{RowId, Run, RunPosition};
use crate::store::index::table::KindTable;
use crate::store::index::terms::{Postings, Section};

/// Number of rows found through a filter in the time to evaluate another filter on one row.
const FOUND_PER_READ: usize = 16;

/// Number of postings of a term filter beyond which they are not counted. A longer list is materialized.
const MAX_COUNTED: usize = 1 << 18;

impl Index {
    /// Returns the filter with the fewest postings, and about their number. `None` without filters on links or terms.
    pub(super) fn smallest_filter(&self, filters: &Filters) -> Option<(FoundBy, usize)> {
        let links = filters.links.iter().map(|filter| self.linked_length(filter)).enumerate();
        let links = links.min_by_key(|(_, length)| *length);
        let mut smallest = links.map(|(place, length)| (FoundBy::Links(place), length));
        for place in 0..filters.keys.len() {
            let Some(length) = self.keys_length(filters, place) else { continue };
            if smallest.is_none_or(|(_, least)| length < least) {
                smallest = Some((FoundBy::Keys(place), length));
            }
        }
        for (place, filter) in filters.terms.iter().enumerate() {
            let max = smallest.map_or(MAX_COUNTED, |(_, length)| length);
            let length = self.terms_length(filters, filter, max);
            if smallest.is_none() || length < max {
                smallest = Some((FoundBy::Terms(place), length));
            }
        }
        smallest
    }

    /// Returns the filters through which the rows of a list are found fastest. The filter on links or terms with the
    /// fewest rows comes first, if there is one. It is followed by the filters with so few rows that finding them
    /// takes no longer than reading the rows of the first.
    ///
    /// The filters by which rows are left out come last.
    pub(super) fn filters_to_find_by(&self, table: &KindTable, filters: &Filters) -> Vec<FoundBy> {
        let absent = (0..filters.absent.len()).map(FoundBy::Absent);
        let networks = filters.networks.is_some().then_some(FoundBy::Networks);
        let Some((smallest, length)) = self.smallest_filter(filters) else {
            let all = filters.restrict_records().then_some(FoundBy::Organization);
            return networks.or(all).into_iter().chain(absent).collect();
        };
        let max = length.saturating_mul(FOUND_PER_READ);
        let links = filters.links.iter().enumerate();
        let links = links.filter(|(_, filter)| self.linked_length(filter) <= max);
        let terms = filters.terms.iter().enumerate();
        let is_short = |filter| max > MAX_COUNTED || self.terms_length(filters, filter, max + 1) <= max;
        let terms = terms.filter(|(_, filter)| is_short(filter));
        let networks = networks.filter(|_| filters.rows_on_networks(table) <= max);
        let links = links.map(|(place, _)| FoundBy::Links(place));
        let keys = (0..filters.keys.len())
            .filter(|place| self.keys_length(filters, *place).is_some_and(|length| length <= max));
        let keys = keys.map(FoundBy::Keys);
        let others = links.chain(terms.map(|(place, _)| FoundBy::Terms(place))).chain(keys).chain(networks);
        std::iter::once(smallest).chain(others.filter(|other| *other != smallest)).chain(absent).collect()
    }

    /// Counts the rows linked to the targets of a filter, once for each target.
    fn linked_length(&self, (relation, targets): &Linked) -> usize {
        targets.iter().map(|target| self.links.rows(&self.rows, *relation, *target).len()).sum()
    }

    /// Counts the postings in the ranges of a filter, up to about `max`.
    fn terms_length(&self, filters: &Filters, (name, ranges): &InRanges, max: usize) -> usize {
        let mut length = 0;
        for postings in self.postings(filters) {
            for range in ranges {
                if length >= max {
                    return length;
                }
                length += postings.count(*name, range, max - length);
            }
        }
        length
    }

    /// Counts the rows of the organization whose sort key is in the range of a filter. `None` without an organization.
    fn keys_length(&self, filters: &Filters, place: usize) -> Option<usize> {
        let (run, from, to) = self.span_of_keys(filters, place)?;
        Some(run.rank(to) - run.rank(from))
    }

    /// Returns the organization's run in the order of a filter on a sort key, and the range of the filter in it.
    /// `None` without an organization.
    pub(super) fn span_of_keys(
        &self,
        filters: &Filters,
        place: usize,
    ) -> Option<(&Run, RunPosition, RunPosition)> {
        let (slot, range) = filters.keys.get(place).asserted()?;
        let table = self.tables.get(&filters.table)?;
        let run = table.runs_of_organization(filters.organization)?.get(*slot)?;
        let first_from = |key: &[u8]| {
            let prefix = prefix(key);
            run.partition_place(prefix..=prefix, |row| self.rows.sort_key(*slot, row) < key)
        };
        let from = first_from(&range.from);
        // The range may end before it begins.
        let to = range.to.as_deref().map_or(run.end(), |to| first_from(to).max(from));
        Some((run, from, to))
    }

    /// Returns the postings that may contain the terms of a list. These are the postings of its organization.
    fn postings(&self, filters: &Filters) -> impl Iterator<Item = &Postings> {
        let table = self.tables.get(&filters.table);
        table.into_iter().flat_map(|table| KindTable::postings(table, filters.organization))
    }

    /// Returns all rows that pass, found through a filter on links or terms. They are in no particular order.
    ///
    /// # Errors
    /// When evaluating rows with many links or terms takes more steps than the meter allows.
    pub(super) fn rows_found_by(
        &self,
        filters: &Filters,
        found_by: FoundBy,
        meter: &mut StepMeter,
    ) -> Result<Vec<RowId>, OverLimit> {
        let mut rows = match found_by {
            FoundBy::Links(place) => self.linked_rows(filters, place),
            FoundBy::Terms(place) => self.rows_with_terms(filters, place),
            FoundBy::Keys(place) => {
                let span = self.span_of_keys(filters, place);
                span.into_iter().flat_map(|(run, from, to)| run.between(from, to)).collect()
            }
            FoundBy::Networks | FoundBy::Organization | FoundBy::Absent(_) => Vec::new(),
        };
        rows.sort_unstable();
        rows.dedup();
        if filters.are_all(&[found_by]) {
            return Ok(rows);
        }
        self.passing(filters, rows, found_by, meter)
    }

    /// Returns those of the rows that pass the filters. They are known to pass one of them.
    ///
    /// # Errors
    /// When evaluating rows with many links or terms takes more steps than the meter allows.
    pub(super) fn passing(
        &self,
        filters: &Filters,
        rows: Vec<RowId>,
        found_by: FoundBy,
        meter: &mut StepMeter,
    ) -> Result<Vec<RowId>, OverLimit> {
        let known = [found_by];
        let mut passing = Vec::with_capacity(rows.len());
        self.rows.read_ahead(&rows, filters.evaluates_facets(&known));
        for id in rows {
            let Some(row) = self.rows.get(id).asserted() else { continue };
            meter.spend(filters.further_steps(&known, row))?;
            if filters.pass_all_but(&known, row, &self.rows) {
                passing.push(id);
            }
        }
        Ok(passing)
    }

    fn linked_rows(&self, filters: &Filters, place: usize) -> Vec<RowId> {
        let Some((relation, targets)) = filters.links.get(place).asserted() else { return Vec::new() };
        let mut rows = Vec::new();
        for target in targets {
            rows.extend_from_slice(&self.links.rows(&self.rows, *relation, *target));
        }
        rows
    }

    fn rows_with_terms(&self, filters: &Filters, place: usize) -> Vec<RowId> {
        let Some((name, ranges)) = filters.terms.get(place).asserted() else { return Vec::new() };
        let mut rows = Vec::new();
        for postings in self.postings(filters) {
            for range in ranges {
                let section = Section { name: *name, range, after: None };
                postings.read(section, usize::MAX, |slice| rows.extend_from_slice(slice));
            }
        }
        rows
    }
}

impl Filters {
    /// Returns whether all rows that are found through each of these different filters pass.
    ///
    /// Postings of terms and runs belong to one kind of record and one organization.
    pub(super) fn are_all(&self, found_by: &[FoundBy]) -> bool {
        let records = self.links.len() + self.absent.len() + self.terms.len() + self.keys.len();
        let is_filter = |found: &&FoundBy| **found != FoundBy::Organization;
        found_by.iter().filter(is_filter).count() == records + usize::from(self.networks.is_some())
            && found_by.iter().any(|filter| !matches!(filter, FoundBy::Links(_) | FoundBy::Absent(_)))
    }

    /// Counts the rows on the networks of the filter.
    fn rows_on_networks(&self, table: &KindTable) -> usize {
        let networks = self.networks.iter().flatten();
        networks.filter_map(|network| table.run_by_id(self.organization, *network)).map(Run::len).sum()
    }
}
