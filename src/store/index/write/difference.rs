//! The difference between a record and the write that replaces it.
//!
//! A record with thousands of terms usually gains or loses a few. Finding these takes longer than the lock may be held,
//! so a [`Packer`](super::Packer) finds them outside of it. A difference is valid for one version of the record: if the
//! record has another version at the commit, the difference is computed again under the lock.

use uuid::Uuid;

use crate::store::index::interner::NameId;
use crate::store::index::rows::Row;
use crate::store::index::rows::common_values::CommonValues;
use crate::store::index::rows::packed::PackedFacets;

/// The links, terms and unique keys that a record loses and gains.
#[derive(Debug, Default)]
pub(super) struct FacetDifference {
    pub(super) links: FacetChange<Uuid>,
    pub(super) terms: FacetChange<Box<[u8]>>,
    pub(super) unique_keys: FacetChange<Box<[u8]>>,
}

/// Named values that a record loses and gains.
#[derive(Debug)]
pub(super) struct FacetChange<V> {
    pub(super) lost: Vec<(NameId, V)>,
    pub(super) gained: Vec<(NameId, V)>,
}

impl<V> FacetChange<V> {
    pub(super) const fn is_empty(&self) -> bool {
        self.lost.is_empty() && self.gained.is_empty()
    }
}

impl<V> Default for FacetChange<V> {
    fn default() -> Self {
        Self { lost: Vec::new(), gained: Vec::new() }
    }
}

impl FacetDifference {
    /// Compares the facets of a record before and after a write.
    ///
    /// The terms of a record that moves to another organization or network are all lost and gained, because another
    /// organization has other postings.
    pub(super) fn new(
        before: &PackedFacets,
        after: &PackedFacets,
        moves: bool,
        common: &CommonValues,
    ) -> Self {
        let mut difference = Self::default();
        if !before.has_links_of(after, common) {
            difference.links.lost = before.links_beside(after, common).collect();
            difference.links.gained = after.links_beside(before, common).collect();
        }
        if moves || !before.has_terms_of(after, common) {
            let kept = |facets| Some(facets).filter(|_| !moves);
            difference.terms.lost = owned(before.terms_beside(kept(after), common));
            difference.terms.gained = owned(after.terms_beside(kept(before), common));
        }
        difference.unique_keys.lost = owned(before.unique_keys_beside(after));
        difference.unique_keys.gained = owned(after.unique_keys_beside(before));
        difference
    }
}

fn owned<'v>(values: impl Iterator<Item = (NameId, &'v [u8])>) -> Vec<(NameId, Box<[u8]>)> {
    values.map(|(name, value)| (name, value.into())).collect()
}

/// Borrows named values.
pub(super) fn borrowed(values: &[(NameId, Box<[u8]>)]) -> impl Iterator<Item = (NameId, &[u8])> {
    values.iter().map(|(name, value)| (*name, &**value))
}

/// The rows that a batch has replaced or deleted, and the differences from the new ones.
///
/// The caller drops them after it has released the lock: freeing megabytes takes time.
#[derive(Debug, Default)]
pub(crate) struct ReplacedRows(Vec<(Row, FacetDifference)>);

impl ReplacedRows {
    pub(super) fn add(&mut self, row: Option<Row>, difference: FacetDifference) {
        self.0.extend(row.map(|row| (row, difference)));
    }
}
