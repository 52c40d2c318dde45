//! Finding rows through the posting lists of one filter, on links or on terms.

use super::filter::{Filters, InRanges, Linked};
use crate::store::index::Index;
use crate::store::index::rows::{Row, Rows};
use crate::store::index::run::RowId;
use crate::store::index::table::Table;
use crate::store::index::terms::{Postings, Section};

/// A filter whose posting lists hold all rows of a list, by its place in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundBy {
    Links(usize),
    Terms(usize),
}

/// Number of postings of a term filter beyond which they are not counted: a longer list is materialized.
const COUNTED: usize = 1 << 18;

impl Index {
    /// Returns the filter with the fewest postings, and about their number. `None` without filters on links or terms.
    pub(super) fn smallest_filter(&self, filters: &Filters) -> Option<(FoundBy, usize)> {
        let links = filters.links.iter().map(|filter| self.linked_length(filter)).enumerate();
        let links = links.min_by_key(|(_, length)| *length);
        let mut smallest = links.map(|(place, length)| (FoundBy::Links(place), length));
        for (place, filter) in filters.terms.iter().enumerate() {
            let most = smallest.map_or(COUNTED, |(_, length)| length);
            let length = self.terms_length(filters, filter, most);
            if smallest.is_none() || length < most {
                smallest = Some((FoundBy::Terms(place), length));
            }
        }
        smallest
    }

    /// Counts the rows linked to the targets of a filter, once for each target.
    fn linked_length(&self, (relation, targets): &Linked) -> usize {
        targets.iter().map(|target| self.links.rows(&self.rows, *relation, *target).len()).sum()
    }

    /// Counts the postings in the ranges of a filter, up to about `most`.
    fn terms_length(&self, filters: &Filters, (name, ranges): &InRanges, most: usize) -> usize {
        let mut length = 0;
        for postings in self.postings(filters) {
            for range in ranges {
                if length >= most {
                    return length;
                }
                length += postings.count(*name, range, most - length);
            }
        }
        length
    }

    /// Returns the posting lists that the terms of a list may be in: those of its organization.
    fn postings(&self, filters: &Filters) -> impl Iterator<Item = &Postings> {
        let table = self.tables.get(&filters.table);
        table.into_iter().flat_map(|table| Table::postings(table, filters.organization))
    }

    /// Returns all rows that pass, found through one filter, in no particular order.
    pub(super) fn rows_found_by(&self, filters: &Filters, found_by: FoundBy) -> Vec<RowId> {
        let mut rows = match found_by {
            FoundBy::Links(place) => self.linked_rows(filters, place),
            FoundBy::Terms(place) => self.rows_with_terms(filters, place),
        };
        rows.sort_unstable();
        rows.dedup();
        if !filters.is_only(found_by) {
            rows.retain(|row| {
                self.rows.get(*row).is_some_and(|row| filters.pass_beside(found_by, row, &self.rows))
            });
        }
        rows
    }

    fn linked_rows(&self, filters: &Filters, place: usize) -> Vec<RowId> {
        let Some((relation, targets)) = filters.links.get(place) else { return Vec::new() };
        let lists: Vec<&[RowId]> =
            targets.iter().map(|target| self.links.rows(&self.rows, *relation, *target)).collect();
        lists.concat()
    }

    fn rows_with_terms(&self, filters: &Filters, place: usize) -> Vec<RowId> {
        let Some((name, ranges)) = filters.terms.get(place) else { return Vec::new() };
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
    /// Returns whether a row that was found through a filter passes the others. The filter itself is not evaluated again:
    /// reading the links or terms of a row is a cache miss.
    pub(super) fn pass_beside(&self, found_by: FoundBy, row: &Row, rows: &Rows) -> bool {
        self.pass_all_but(Some(found_by), row, rows)
    }

    /// Returns whether all rows with postings of a filter pass: postings of terms are those of one organization.
    pub(super) fn is_only(&self, found_by: FoundBy) -> bool {
        let is_alone = self.links.is_empty() && self.terms.len() == 1 && self.networks.is_none();
        is_alone && matches!(found_by, FoundBy::Terms(_))
    }
}
