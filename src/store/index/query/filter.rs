//! The filters of a query, and the key of a list: its filters and its order.

use uuid::Uuid;

use crate::store::Direction;
use crate::store::index::interner::{NameId, Partitions};
use crate::store::index::rows::{Row, Term};

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
    pub(super) fn pass_unlinked(&self, row: &Row, partitions: &Partitions) -> bool {
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

pub(super) fn has_link(row: &Row, (relation, targets): &Linked) -> bool {
    row.facets.links().any(|(name, target)| name == *relation && targets.binary_search(&target).is_ok())
}

/// The records of a list and their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListKey {
    pub(super) filters: Filters,
    pub(super) terms: Vec<Term>,
}

impl ListKey {
    /// A list is read in both directions of a single term, so it is kept in the ascending one.
    pub(super) fn new(filters: Filters, terms: &[Term]) -> Self {
        let terms = match terms {
            [(slot, _)] => vec![(*slot, Direction::Ascending)],
            _ => terms.to_vec(),
        };
        Self { filters, terms }
    }

    /// The organization whose list it is.
    pub(crate) fn organization(&self) -> Uuid {
        self.filters.organization.unwrap_or_default()
    }

    /// Whether the list is in the order of a run, of which it has some rows.
    pub(super) const fn is_run_order(&self) -> bool {
        matches!(self.terms.as_slice(), [(_, Direction::Ascending)])
    }
}

pub(super) fn sorted(ids: &[Uuid]) -> Vec<Uuid> {
    let mut ids = ids.to_vec();
    // The ids of a scope are sorted already.
    if !ids.is_sorted_by(|left, right| left < right) {
        ids.sort_unstable();
        ids.dedup();
    }
    ids
}
