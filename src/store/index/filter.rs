use uuid::Uuid;

use super::list::sorted;
use super::names::NameId;
use super::rows::Row;
use super::table::Partition;
use super::{Index, RowId};
use crate::store::{LinkFilter, Query};

/// The filters of a query but for that on ids, in the numbers of the index, with sorted values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Filters {
    pub(super) table: NameId,
    pub(super) organization: Option<Uuid>,
    pub(super) networks: Option<Vec<Uuid>>,
    pub(super) links: Vec<(NameId, Vec<Uuid>)>,
}

impl Filters {
    /// Whether a row passes.
    pub(super) fn pass(&self, row: &Row, partitions: &[Partition]) -> bool {
        let Some(partition) = partitions.get(row.partition as usize) else { return false };
        row.table == self.table
            && (self.organization.is_none() || partition.organization == self.organization)
            && self.networks.as_ref().is_none_or(|networks| {
                partition.network.is_some_and(|network| networks.binary_search(&network).is_ok())
            })
            && self.links.iter().all(|(relation, targets)| {
                row.facets
                    .links()
                    .any(|(name, target)| name == *relation && targets.binary_search(&target).is_ok())
            })
    }
}

impl Index {
    /// `None` when nothing can pass, since no record ever had a link of some relation.
    pub(super) fn filters(&self, query: &Query, table: NameId) -> Option<Filters> {
        let links = query.links.iter().map(|filter| self.link_filter(filter)).collect::<Option<_>>()?;
        let networks = query.networks.as_deref().map(sorted);
        Some(Filters { table, organization: query.organization, networks, links })
    }

    fn link_filter(&self, filter: &LinkFilter) -> Option<(NameId, Vec<Uuid>)> {
        Some((self.names.find(filter.relation)?, sorted(&filter.targets)))
    }

    /// The rows with one of these ids that pass, in no order.
    pub(super) fn rows_with_ids(&self, filters: &Filters, ids: &[Uuid]) -> Vec<RowId> {
        let rows = sorted(ids).into_iter().filter_map(|id| self.ids.find(&self.rows, filters.table, id));
        self.passing(filters, rows)
    }

    /// All rows that pass, in no order, of filters that have some on links.
    pub(super) fn linked_rows(&self, filters: &Filters) -> Vec<RowId> {
        let lists = filters.links.iter().map(|(relation, targets)| {
            targets.iter().map(|target| self.links.rows(*relation, *target)).collect::<Vec<_>>()
        });
        let fewest = lists.min_by_key(|lists| lists.iter().map(|rows| rows.len()).sum::<usize>());
        let mut rows = fewest.unwrap_or_default().concat();
        rows.sort_unstable();
        rows.dedup();
        self.passing(filters, rows.into_iter())
    }

    /// Those of some rows that pass.
    pub(super) fn passing(&self, filters: &Filters, rows: impl Iterator<Item = RowId>) -> Vec<RowId> {
        let passes = |row: &Row| filters.pass(row, &self.partitions);
        rows.filter(|row| self.rows.get(*row).is_some_and(passes)).collect()
    }
}
