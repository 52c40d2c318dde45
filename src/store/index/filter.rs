use uuid::Uuid;

use super::list::sorted;
use super::names::NameId;
use super::partitions::Partitions;
use super::rows::Row;
use super::{Index, RowId};
use crate::store::{LinkFilter, Query};

/// The filters of a query but for that on ids, in the numbers of the index, with sorted values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Filters {
    pub(super) table: NameId,
    pub(super) organization: Option<Uuid>,
    pub(super) networks: Option<Vec<Uuid>>,
    pub(super) links: Vec<Linked>,
}

impl Filters {
    /// Whether a row passes.
    pub(super) fn pass(&self, row: &Row, partitions: &Partitions) -> bool {
        self.pass_unlinked(row, partitions) && self.links.iter().all(|filter| has_link(row, filter))
    }

    /// Whether a row passes all filters but those on links.
    fn pass_unlinked(&self, row: &Row, partitions: &Partitions) -> bool {
        let Some(partition) = partitions.get(row.partition) else { return false };
        row.table == self.table
            && (self.organization.is_none() || partition.organization == self.organization)
            && self.networks.as_ref().is_none_or(|networks| {
                partition.network.is_some_and(|network| networks.binary_search(&network).is_ok())
            })
    }
}

/// A relation, and targets of which a row must be linked to one.
pub(super) type Linked = (NameId, Vec<Uuid>);

fn has_link(row: &Row, (relation, targets): &Linked) -> bool {
    row.facets.links().any(|(name, target)| name == *relation && targets.binary_search(&target).is_ok())
}

impl Index {
    /// `None` when nothing can pass, since no record ever had a link of some relation.
    pub(super) fn filters(&self, query: &Query, table: NameId) -> Option<Filters> {
        let links = query.links.iter().map(|filter| self.link_filter(filter)).collect::<Option<_>>()?;
        let networks = query.networks.as_deref().map(sorted);
        Some(Filters { table, organization: query.organization, networks, links })
    }

    fn link_filter(&self, filter: &LinkFilter) -> Option<Linked> {
        Some((self.names.find(filter.relation)?, sorted(&filter.targets)))
    }

    /// The rows with one of these ids that pass, in no order.
    pub(super) fn rows_with_ids(&self, filters: &Filters, ids: &[Uuid]) -> Vec<RowId> {
        let rows = sorted(ids).into_iter().filter_map(|id| self.ids.find(&self.rows, filters.table, id));
        self.passing(rows, |row| filters.pass(row, self.rows.partitions()))
    }

    /// The link filter with the fewest rows, by its place, if there are any filters.
    pub(super) fn smallest_filter(&self, filters: &Filters) -> Option<usize> {
        let lengths = filters.links.iter().map(|filter| self.linked_length(filter)).enumerate();
        lengths.min_by_key(|(_, length)| *length).map(|(place, _)| place)
    }

    /// The rows linked to the targets of a filter; a row counts once for each target.
    pub(super) fn linked_length(&self, (relation, targets): &Linked) -> usize {
        targets.iter().map(|target| self.links.rows(*relation, *target).len()).sum()
    }

    /// All rows that pass, in no order, found through one of the link filters.
    pub(super) fn linked_rows(&self, filters: &Filters, place: usize) -> Vec<RowId> {
        let Some((relation, targets)) = filters.links.get(place) else { return Vec::new() };
        let lists: Vec<&[RowId]> = targets.iter().map(|target| self.links.rows(*relation, *target)).collect();
        let mut rows = lists.concat();
        rows.sort_unstable();
        rows.dedup();
        // The links by which rows were found are not compared again: they stand far away from the row.
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
