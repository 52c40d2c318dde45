//! The filters of a query, and the key of a list. The key consists of the filters and the order of the list.

use uuid::Uuid;

use crate::invariant::Invariant;
use crate::store::index::interner::NameId;
use crate::store::index::rows::{Row, Rows, Slot, SortField};
use crate::store::index::terms::AwaitedRanges;
use crate::store::{Direction, TermRange};

/// Bytes of packed links and terms that are read in the time of a step. Ordinary rows have fewer.
const BYTES_PER_STEP: usize = 256;

/// The filters of a query, except the filter on ids. Names are replaced by their numbers, and values are sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::store::index) struct Filters {
    pub(in crate::store::index) table: NameId,
    pub(in crate::store::index) organization: Option<Uuid>,
    pub(in crate::store::index) networks: Option<Vec<Uuid>>,
    pub(in crate::store::index) links: Vec<Linked>,
    /// The links that a row must not have.
    pub(in crate::store::index) absent: Vec<Linked>,
    pub(in crate::store::index) terms: Vec<InRanges>,
    pub(in crate::store::index) keys: Vec<InRange>,
}

/// A filter by which rows are found, or left out, without reading any row. A filter on links, terms or sort keys is
/// identified by its place in the list of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store::index) enum FoundBy {
    Links(usize),
    Terms(usize),
    Keys(usize),
    Networks,
    Organization,
    /// The rows with the links of the filter are left out.
    Absent(usize),
}

impl Filters {
    /// Returns whether a row passes all filters.
    pub(in crate::store::index) fn pass(&self, row: &Row, rows: &Rows) -> bool {
        self.pass_all_but(&[], row, rows)
    }

    /// Returns whether a row passes all filters except those in `known`. The row is known to pass these, or they are
    /// evaluated elsewhere.
    pub(in crate::store::index) fn pass_all_but(&self, known: &[FoundBy], row: &Row, rows: &Rows) -> bool {
        let is_known = |filter: FoundBy| known.contains(&filter);
        let mut links = self.links.iter().enumerate();
        let mut absent = self.absent.iter().enumerate();
        let terms = self.terms.iter().enumerate().filter(|(place, _)| !is_known(FoundBy::Terms(*place)));
        self.pass_partition(is_known(FoundBy::Networks), row, rows)
            && self.pass_keys(known, row, rows)
            && links.all(|(place, filter)| is_known(FoundBy::Links(place)) || has_link(row, filter, rows))
            && absent.all(|(place, filter)| is_known(FoundBy::Absent(place)) || !has_link(row, filter, rows))
            && (!self.evaluates_terms(known) || has_terms(row, terms.map(|(_, filter)| filter), rows))
    }

    /// Returns the steps that the links and terms of a row add to its evaluation by
    /// [`pass_all_but`](Self::pass_all_but).
    pub(in crate::store::index) fn further_steps(&self, known: &[FoundBy], row: &Row) -> usize {
        let links = if self.evaluates_links(known) { row.facets.links_length() } else { 0 };
        let terms = if self.evaluates_terms(known) { row.facets.terms_length() } else { 0 };
        (links + terms) / BYTES_PER_STEP
    }

    /// Returns whether [`pass_all_but`](Self::pass_all_but) reads more of a row than its network.
    pub(in crate::store::index) fn evaluates_facets(&self, known: &[FoundBy]) -> bool {
        self.evaluates_links(known) || self.evaluates_terms(known) || self.evaluates_keys(known)
    }

    fn evaluates_links(&self, known: &[FoundBy]) -> bool {
        (0..self.links.len()).any(|place| !known.contains(&FoundBy::Links(place)))
            || (0..self.absent.len()).any(|place| !known.contains(&FoundBy::Absent(place)))
    }

    fn evaluates_keys(&self, known: &[FoundBy]) -> bool {
        (0..self.keys.len()).any(|place| !known.contains(&FoundBy::Keys(place)))
    }

    fn pass_keys(&self, known: &[FoundBy], row: &Row, rows: &Rows) -> bool {
        self.keys.iter().enumerate().all(|(place, (slot, range))| {
            known.contains(&FoundBy::Keys(place)) || range.contains(row.sort_key(*slot, rows.partitions()))
        })
    }

    /// Returns whether there are filters other than those on the organization and the networks.
    pub(in crate::store::index) fn restrict_records(&self) -> bool {
        !(self.links.is_empty() && self.absent.is_empty() && self.terms.is_empty() && self.keys.is_empty())
    }

    fn evaluates_terms(&self, known: &[FoundBy]) -> bool {
        (0..self.terms.len()).any(|place| !known.contains(&FoundBy::Terms(place)))
    }

    /// Returns whether a row passes all filters except those on links and terms. With `knows_networks`, the filter on
    /// networks is not evaluated either, because the row is known to pass it.
    fn pass_partition(&self, knows_networks: bool, row: &Row, rows: &Rows) -> bool {
        let Some(partition) = rows.partitions().get(row.partition) else { return false };
        row.table == self.table
            && (self.organization.is_none() || partition.organization == self.organization)
            && self.networks.as_ref().is_none_or(|networks| {
                knows_networks
                    || partition.network.is_some_and(|network| networks.binary_search(&network).is_ok())
            })
    }
}

/// The slot of a sort key, and the range of its values that pass. It is never the order by id.
pub(in crate::store::index) type InRange = (Slot, TermRange);

/// A relation, and its targets. Whether a row passes depends on whether it is linked to at least one of them.
pub(in crate::store::index) type Linked = (NameId, Vec<Uuid>);

fn has_link(row: &Row, (relation, targets): &Linked, rows: &Rows) -> bool {
    let mut links = row.facets.links(rows.common_values());
    links.any(|(name, target)| name == *relation && targets.binary_search(&target).is_ok())
}

/// A name of terms, and joined ranges of values. A row passes if at least one range contains one of its terms of this
/// name.
pub(in crate::store::index) type InRanges = (NameId, Vec<TermRange>);

/// Returns whether a row passes all of these filters. The terms of the row are read once for all of them.
fn has_terms<'f>(row: &Row, filters: impl Iterator<Item = &'f InRanges>, rows: &Rows) -> bool {
    let awaited = AwaitedRanges::new(filters.map(|(name, ranges)| (*name, ranges.as_slice())));
    awaited.are_met_by(row.facets.terms(rows.common_values()))
}

/// The records of a list and their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListKey {
    pub(in crate::store::index) filters: Filters,
    pub(in crate::store::index) order: Vec<SortField>,
}

impl ListKey {
    /// Creates the key of a list. A list is read in both directions of a single term, so it is kept in the ascending
    /// one.
    pub(in crate::store::index) fn new(filters: Filters, order: &[SortField]) -> Self {
        let order = match order {
            [(slot, _)] => vec![(*slot, Direction::Ascending)],
            _ => order.to_vec(),
        };
        Self { filters, order }
    }

    /// Returns the organization of the list. Only lists of an organization are materialized.
    pub(crate) fn organization(&self) -> Uuid {
        self.filters.organization.asserted_or_default()
    }

    /// Returns whether the list is in the order of a run. The list consists of some of the rows of that run.
    pub(in crate::store::index) const fn is_run_order(&self) -> bool {
        matches!(self.order.as_slice(), [(_, Direction::Ascending)])
    }
}

pub(in crate::store::index) fn sorted(ids: &[Uuid]) -> Vec<Uuid> {
    let mut ids = ids.to_vec();
    // The ids of a scope are sorted already.
    if !ids.is_sorted_by(|left, right| left < right) {
        ids.sort_unstable();
        ids.dedup();
    }
    ids
}
