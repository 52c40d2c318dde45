use uuid::Uuid;

use super::interner::NameId;
use super::list::sorted;
use super::partitions::Partitions;
use super::rows::Row;
use super::{Index, RowId};
use crate::store::{LinkFilter, Query};

/// The filters of a query except the one on ids, with names as numbers and values sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Filters {
    pub(super) table: NameId,
    pub(super) organization: Option<Uuid>,
    pub(super) networks: Option<Vec<Uuid>>,
    pub(super) links: Vec<Linked>,
}

impl Filters {
    /// Returns whether a row passes all filters.
    pub(super) fn pass(&self, row: &Row, partitions: &Partitions) -> bool {
        self.pass_unlinked(row, partitions) && self.links.iter().all(|filter| has_link(row, filter))
    }

    /// Returns whether a row passes all filters except those on links.
    fn pass_unlinked(&self, row: &Row, partitions: &Partitions) -> bool {
        let Some(partition) = partitions.get(row.partition) else { return false };
        row.table == self.table
            && (self.organization.is_none() || partition.organization == self.organization)
            && self.networks.as_ref().is_none_or(|networks| {
                partition.network.is_some_and(|network| networks.binary_search(&network).is_ok())
            })
    }
}

/// A relation, and targets of which a row must be linked to at least one.
pub(super) type Linked = (NameId, Vec<Uuid>);

fn has_link(row: &Row, (relation, targets): &Linked) -> bool {
    row.facets.links().any(|(name, target)| name == *relation && targets.binary_search(&target).is_ok())
}

impl Index {
    /// Translates the filters of a query. `None` when nothing can pass, because no record ever had a link of some
    /// relation.
    pub(super) fn filters(&self, query: &Query, table: NameId) -> Option<Filters> {
        let links = query.links.iter().map(|filter| self.link_filter(filter)).collect::<Option<_>>()?;
        let networks = query.networks.as_deref().map(sorted);
        Some(Filters { table, organization: query.organization, networks, links })
    }

    fn link_filter(&self, filter: &LinkFilter) -> Option<Linked> {
        Some((self.names.find(filter.relation)?, sorted(&filter.targets)))
    }

    /// Returns the rows with one of these ids that pass the filters, in no particular order.
    pub(super) fn rows_with_ids(&self, filters: &Filters, ids: &[Uuid]) -> Vec<RowId> {
        let rows = sorted(ids).into_iter().filter_map(|id| self.ids.find(&self.rows, filters.table, id));
        self.passing(rows, |row| filters.pass(row, self.rows.partitions()))
    }

    /// Returns the place of the link filter with the fewest rows, or `None` without link filters.
    pub(super) fn smallest_filter(&self, filters: &Filters) -> Option<usize> {
        let lengths = filters.links.iter().map(|filter| self.linked_length(filter)).enumerate();
        lengths.min_by_key(|(_, length)| *length).map(|(place, _)| place)
    }

    /// Counts the rows linked to the targets of a filter, once for each target.
    pub(super) fn linked_length(&self, (relation, targets): &Linked) -> usize {
        targets.iter().map(|target| self.links.rows(*relation, *target).len()).sum()
    }

    /// Returns all rows that pass, found through one of the link filters, in no particular order.
    pub(super) fn linked_rows(&self, filters: &Filters, place: usize) -> Vec<RowId> {
        let Some((relation, targets)) = filters.links.get(place) else { return Vec::new() };
        let lists: Vec<&[RowId]> = targets.iter().map(|target| self.links.rows(*relation, *target)).collect();
        let mut rows = lists.concat();
        rows.sort_unstable();
        rows.dedup();
        // The filter by which a row was found is not evaluated again: reading its links is a cache miss.
        let has_others = |row: &Row| {
            filters.links.iter().enumerate().all(|(other, filter)| other == place || has_link(row, filter))
        };
        self.passing(rows.into_iter(), |row| {
            filters.pass_unlinked(row, self.rows.partitions()) && has_others(row)
        })
    }

    fn passing(&self, rows: impl Iterator<Item = RowId>, passes: impl Fn(&Row) -> bool) -> Vec<RowId> {
        rows.filter(|row| self.rows.get(*row).is_some_and(&passes)).collect()
    }
}
