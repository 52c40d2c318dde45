use uuid::Uuid;

use super::list::sorted;
use super::names::NameId;
use super::rows::Row;
use super::{Index, RowId};
use crate::store::{LinkFilter, Query};

/// The filters of a query, in the numbers of the index.
#[derive(Debug)]
struct Filters {
    table: NameId,
    organization: Option<Uuid>,
    networks: Option<Vec<Uuid>>,
    links: Vec<(NameId, Vec<Uuid>)>,
}

impl Index {
    /// The rows that pass all filters of a query that has some on ids or links, in no order.
    pub(super) fn candidates(&self, query: &Query, table: NameId) -> Vec<RowId> {
        let Some(links) = query.links.iter().map(|filter| self.link_filter(filter)).collect() else {
            return Vec::new();
        };
        let networks = query.networks.as_deref().map(sorted);
        let filters = Filters { table, organization: query.organization, networks, links };
        let mut rows: Vec<RowId> = match &query.ids {
            Some(ids) => {
                sorted(ids).into_iter().filter_map(|id| self.ids.find(&self.rows, table, id)).collect()
            }
            None => self.rows_linked_with_any(&filters),
        };
        rows.retain(|row| self.rows.get(*row).is_some_and(|row| self.passes(&filters, row)));
        rows
    }

    /// `None` when no record ever had a link of this relation.
    fn link_filter(&self, filter: &LinkFilter) -> Option<(NameId, Vec<Uuid>)> {
        Some((self.names.find(filter.relation)?, sorted(&filter.targets)))
    }

    /// The rows of the link filter that has the fewest.
    fn rows_linked_with_any(&self, filters: &Filters) -> Vec<RowId> {
        let lists = filters.links.iter().map(|(relation, targets)| {
            targets.iter().map(|target| self.links.rows(*relation, *target)).collect::<Vec<_>>()
        });
        let fewest = lists.min_by_key(|lists| lists.iter().map(|rows| rows.len()).sum::<usize>());
        let mut rows = fewest.unwrap_or_default().concat();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    fn passes(&self, filters: &Filters, row: &Row) -> bool {
        let Some(partition) = self.partitions.get(row.partition as usize) else { return false };
        row.table == filters.table
            && (filters.organization.is_none() || partition.organization == filters.organization)
            && filters.networks.as_ref().is_none_or(|networks| {
                partition.network.is_some_and(|network| networks.binary_search(&network).is_ok())
            })
            && filters.links.iter().all(|(relation, targets)| {
                row.facets
                    .links()
                    .any(|(name, target)| name == *relation && targets.binary_search(&target).is_ok())
            })
    }
}
