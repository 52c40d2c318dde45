//! Several runs seen as one sorted sequence, and the groups of equal keys in it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

use uuid::Uuid;

use super::sort::prefix;
use super::{RowId, Run, RunPosition};
use crate::invariant::Invariant;
use crate::store::index::rows::{Rows, Slot};

/// Several runs of one slot, seen as one sorted sequence. A position consists of one [`RunPosition`] for each run.
#[derive(Debug)]
pub(in crate::store::index) struct MergedRuns<'a> {
    pub(in crate::store::index) rows: &'a Rows,
    pub(in crate::store::index) slot: Slot,
    pub(in crate::store::index) runs: Vec<&'a Run>,
}

impl<'a> MergedRuns<'a> {
    pub(in crate::store::index) fn len(&self) -> usize {
        self.runs.iter().map(|run| run.len()).sum()
    }

    pub(in crate::store::index) fn start(&self) -> Vec<RunPosition> {
        vec![RunPosition::default(); self.runs.len()]
    }

    pub(in crate::store::index) fn end(&self) -> Vec<RunPosition> {
        self.runs.iter().map(|run| run.end()).collect()
    }

    pub(in crate::store::index) fn rank(&self, position: &[RunPosition]) -> usize {
        self.runs.iter().zip(position).map(|(run, place)| run.rank(*place)).sum()
    }

    pub(in crate::store::index) fn key(&self, row: RowId) -> &'a [u8] {
        self.rows.sort_key(self.slot, row)
    }

    /// Returns the first position where `is_before` is false. The predicate takes key and id; it must be true up to
    /// some point of the sequence and false after it.
    pub(in crate::store::index) fn partition(
        &self,
        key: &[u8],
        id: Option<Uuid>,
        is_before: impl Fn((&[u8], Uuid)) -> bool,
    ) -> Vec<RunPosition> {
        let is_before = |row| is_before(self.rows.rank_key(self.slot, row));
        let prefixes = self.prefixes(key, id);
        self.runs.iter().map(|run| run.partition_place(prefixes.clone(), is_before)).collect()
    }

    /// Returns the range of prefixes that rows with a key may have. With an id, it is the range for the row with the
    /// key and this id.
    pub(in crate::store::index) fn prefixes(&self, key: &[u8], id: Option<Uuid>) -> RangeInclusive<u128> {
        match (self.slot, id) {
            // All keys of this slot are empty.
            (0, Some(id)) if key.is_empty() => id.as_u128()..=id.as_u128(),
            (0, _) => 0..=u128::MAX,
            _ => prefix(key)..=prefix(key),
        }
    }

    /// Returns the position with `rank` records between `from` and it, but not beyond `to`.
    ///
    /// Each step probes one row, counts the smaller rows in every run, and narrows the bounds. Even steps probe
    /// where the rank would be if rows were spread evenly, which is close when networks are alike; odd steps probe
    /// the middle, so that no distribution is slow.
    pub(in crate::store::index) fn select(
        &self,
        rank: usize,
        from: &[RunPosition],
        to: &[RunPosition],
    ) -> Vec<RunPosition> {
        if let ([run], [from], [to]) = (self.runs.as_slice(), from, to) {
            return vec![run.place(run.rank(*from).saturating_add(rank).min(run.rank(*to)))];
        }
        let (mut low, mut high) = (self.bound(from), self.bound(to));
        let target = low.rank.saturating_add(rank);
        for step in 0_usize.. {
            if target <= low.rank || high.rank <= low.rank {
                break;
            }
            if target >= high.rank {
                return high.position;
            }
            let spans = low.ranks.iter().zip(&high.ranks).map(|(low, high)| high - low);
            let Some((widest, span)) = spans.enumerate().max_by_key(|(_, span)| *span).asserted() else {
                break;
            };
            let (part, whole) = (target - low.rank, high.rank - low.rank);
            let ahead = if step % 2 == 0 { interpolate(span, part, whole) } else { span / 2 };
            let run = self.runs[widest];
            let probe = run.place(low.ranks[widest] + ahead);
            let Some(pivot) = run.at(probe).asserted() else { break };
            let mut split = self.bound(&self.split(&low, &high, widest, probe, pivot));
            if split.rank > target {
                high = split;
                continue;
            }
            if split.rank < target {
                split.position[widest] = run.next(probe);
                split = self.bound(&split.position);
            }
            low = split;
        }
        low.position
    }

    fn bound(&self, position: &[RunPosition]) -> Bound {
        let ranks: Vec<usize> = self.runs.iter().zip(position).map(|(run, place)| run.rank(*place)).collect();
        Bound { rank: ranks.iter().sum(), ranks, position: position.to_vec() }
    }

    /// Returns the position of a row between two bounds. The row stands at `place` in the run `own`.
    fn split(
        &self,
        low: &Bound,
        high: &Bound,
        own: usize,
        place: RunPosition,
        row: RowId,
    ) -> Vec<RunPosition> {
        let pivot = self.rows.rank_key(self.slot, row);
        let prefixes = self.prefixes(pivot.0, Some(pivot.1));
        let bounds = low.position.iter().zip(&high.position);
        let runs = self.runs.iter().enumerate().zip(bounds);
        let split = runs.map(|((number, run), (from, to))| {
            if number == own {
                place
            } else {
                let is_before = |row| self.rows.rank_key(self.slot, row) < pivot;
                run.partition_between(*from, *to, prefixes.clone(), is_before)
            }
        });
        split.collect()
    }

    /// Returns the smallest row between two positions.
    pub(in crate::store::index) fn least(&self, from: &[RunPosition], to: &[RunPosition]) -> Option<RowId> {
        let heads = self.runs.iter().zip(from).zip(to).filter(|((_, from), to)| from < to);
        heads.filter_map(|((run, from), _)| run.at(*from)).min_by(|left, right| self.compare(*left, *right))
    }

    /// Appends the rows between two positions in order, until `found` holds `wanted` rows.
    pub(in crate::store::index) fn take(
        &self,
        from: &[RunPosition],
        to: &[RunPosition],
        wanted: usize,
        found: &mut Vec<RowId>,
    ) {
        let missing = wanted.saturating_sub(found.len());
        if let ([run], [from], [to]) = (self.runs.as_slice(), from, to) {
            found.extend(run.between(*from, *to).take(missing));
            return;
        }
        let mut heads: BinaryHeap<_> = (0..self.runs.len())
            .zip(from)
            .filter_map(|(run, place)| self.head(run, *place, to).map(Reverse))
            .collect();
        for _ in 0..missing {
            let Some(mut smallest) = heads.peek_mut() else { return };
            let Head { row, run, place, .. } = smallest.0;
            found.push(row);
            match self.head(run, self.runs[run].next(place), to) {
                Some(head) => *smallest = Reverse(head),
                None => {
                    std::collections::binary_heap::PeekMut::pop(smallest);
                }
            }
        }
    }

    /// Appends the rows before a position in descending order of key. Rows with equal keys are in ascending order of
    /// id. It stops when `found` holds `wanted` rows.
    ///
    /// Most keys occur once, and a single row needs no group.
    pub(in crate::store::index) fn take_descending(
        &self,
        before: &[RunPosition],
        wanted: usize,
        found: &mut Vec<RowId>,
    ) {
        if let ([run], [before]) = (self.runs.as_slice(), before) {
            return self.take_descending_of(run, *before, wanted, found);
        }
        let ends = (0..self.runs.len()).zip(before);
        let mut tails: BinaryHeap<_> = ends.filter_map(|(run, end)| self.tail(run, *end)).collect();
        while found.len() < wanted {
            let Some(last) = tails.pop() else { return };
            let start = self.group_ending_with(&last);
            if start == last.place && tails.peek().is_none_or(|next| next.key != last.key) {
                found.push(last.row);
                tails.extend(self.tail(last.run, start));
                continue;
            }
            let (mut from, mut to) = (self.start(), self.start());
            let mut next = Some(last);
            while let Some(last) = next {
                from[last.run] = self.group_ending_with(&last);
                to[last.run] = self.runs[last.run].next(last.place);
                let is_of_group = tails.peek().is_some_and(|other| other.key == last.key);
                next = if is_of_group { tails.pop() } else { None };
            }
            self.take(&from, &to, wanted, found);
            let emptied = from.iter().zip(&to).enumerate().filter(|(_, (from, to))| from < to);
            tails.extend(emptied.filter_map(|(run, (from, _))| self.tail(run, *from)));
        }
    }

    fn take_descending_of(&self, run: &Run, before: RunPosition, wanted: usize, found: &mut Vec<RowId>) {
        let last_before = |place| {
            let place = run.before(place)?;
            let row = run.at(place)?;
            Some((place, row, self.key(row)))
        };
        let mut next = last_before(before);
        while found.len() < wanted
            && let Some((place, row, key)) = next
        {
            next = last_before(place);
            if next.is_none_or(|(_, _, other)| other != key) {
                found.push(row);
                continue;
            }
            let start = run.partition_place(self.prefixes(key, None), |row| self.key(row) < key);
            found.extend(run.between(start, run.next(place)).take(wanted - found.len()));
            next = last_before(start);
        }
    }

    /// Returns where the group that ends with this row begins in its run.
    fn group_ending_with(&self, last: &Head<'_>) -> RunPosition {
        self.group_start_before(self.runs[last.run], last.place, last.key)
    }

    /// Returns the last row of a run before a place.
    fn tail(&self, run: usize, before: RunPosition) -> Option<Head<'a>> {
        let place = self.runs[run].before(before)?;
        self.row_at(run, place)
    }

    fn head(&self, run: usize, place: RunPosition, to: &[RunPosition]) -> Option<Head<'a>> {
        if place < to[run] { self.row_at(run, place) } else { None }
    }

    fn row_at(&self, run: usize, place: RunPosition) -> Option<Head<'a>> {
        let row = self.runs[run].at(place).asserted()?;
        let (key, id) = self.rows.rank_key(self.slot, row);
        Some(Head { key, id, run, place, row })
    }

    pub(in crate::store::index) fn compare(&self, left: RowId, right: RowId) -> std::cmp::Ordering {
        self.rows.compare(self.slot, left, right)
    }
}

/// A position with its rank in each run and in total.
#[derive(Debug)]
struct Bound {
    position: Vec<RunPosition>,
    ranks: Vec<usize>,
    rank: usize,
}

/// The next row of a run in a merge. Ordered by key and id, which are therefore its first fields.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Head<'a> {
    key: &'a [u8],
    id: Uuid,
    run: usize,
    place: RunPosition,
    row: RowId,
}

fn interpolate(span: usize, part: usize, whole: usize) -> usize {
    let ahead = span as u128 * part as u128 / whole.max(1) as u128;
    usize::try_from(ahead).unwrap_or(span).min(span.saturating_sub(1))
}
