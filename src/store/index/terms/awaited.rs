//! Evaluating many filters on the terms of one row.

use crate::store::TermRange;
use crate::store::index::interner::NameId;

/// Filters that none of the terms read so far has passed.
///
/// Terms are sorted, and so are the ranges of each filter. The filter whose next range begins first is therefore the
/// only one that has to be compared with a term.
#[derive(Debug)]
pub(in crate::store::index) struct AwaitedRanges<'f> {
    /// The name and the remaining ranges of each filter, in descending order of where these begin.
    filters: Vec<(NameId, &'f [TermRange])>,
    /// Whether the terms read so far rule out that all filters pass.
    has_failed: bool,
}

impl<'f> AwaitedRanges<'f> {
    /// Awaits a term in a range of each filter. The ranges of a filter must be [joined](super::joined).
    pub(in crate::store::index) fn new(filters: impl Iterator<Item = (NameId, &'f [TermRange])>) -> Self {
        let mut filters: Vec<_> = filters.collect();
        let has_failed = filters.iter().any(|(_, ranges)| ranges.is_empty());
        filters.sort_unstable_by(|left, right| start_of(right).cmp(&start_of(left)));
        Self { filters, has_failed }
    }

    /// Returns whether every filter in `terms`, which are sorted by name and value, has a term.
    pub(in crate::store::index) fn are_met_by<'t>(
        mut self,
        terms: impl Iterator<Item = (NameId, &'t [u8])>,
    ) -> bool {
        for (name, value) in terms {
            if self.filters.is_empty() || self.has_failed {
                break;
            }
            self.compare(name, value);
        }
        self.filters.is_empty() && !self.has_failed
    }

    /// Compares a term with the filters whose next range begins at it or before it.
    fn compare(&mut self, name: NameId, value: &[u8]) {
        while let Some(filter) = self.filters.pop_if(|filter| start_of(filter) <= (name, value)) {
            let (of, ranges) = filter;
            // No later term has an earlier name.
            let passed = ranges.partition_point(|range| range.to.as_deref().is_some_and(|to| to <= value));
            let rest = if of == name { &ranges[passed..] } else { &[] };
            let Some(next) = rest.first() else {
                self.has_failed = true;
                return;
            };
            if next.contains(value) {
                continue;
            }
            let filter = (of, rest);
            let place = self.filters.partition_point(|other| start_of(other) > start_of(&filter));
            self.filters.insert(place, filter);
        }
    }
}

/// Returns where the remaining ranges of a filter begin.
fn start_of<'f>((name, ranges): &(NameId, &'f [TermRange])) -> (NameId, &'f [u8]) {
    (*name, ranges.first().map_or(&[], |range| range.from.as_slice()))
}
