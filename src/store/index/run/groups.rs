//! The groups of equal keys in a merged sequence.

use super::merge::MergedRuns;
use super::{RowId, Run, RunPosition};
use crate::store::Direction;

/// The records that have one key, as a range of positions.
///
/// Records with equal keys are in ascending order of id in both directions. A descending list is therefore not a
/// reversed ascending one: its groups descend, and the records within a group ascend.
#[derive(Debug)]
pub(in crate::store::index) struct Group<'a> {
    pub(in crate::store::index) key: &'a [u8],
    pub(in crate::store::index) from: Vec<RunPosition>,
    pub(in crate::store::index) to: Vec<RunPosition>,
}

impl<'a> MergedRuns<'a> {
    /// Returns the group that holds the record of this rank. Also returns the number of records before the group.
    pub(in crate::store::index) fn group_of_rank(
        &self,
        rank: usize,
        direction: Direction,
    ) -> Option<(Group<'a>, usize)> {
        let total = self.len();
        let ascending = match direction {
            Direction::Ascending => rank,
            Direction::Descending => total.checked_sub(rank)?.checked_sub(1)?,
        };
        let end = self.end();
        let position = self.select(ascending, &self.start(), &end);
        let group = self.group_of_key(self.key(self.least(&position, &end)?));
        let before = match direction {
            Direction::Ascending => self.rank(&group.from),
            Direction::Descending => total - self.rank(&group.to),
        };
        Some((group, before))
    }

    /// Returns the group of a key. If no record has the key, returns the next group in the list.
    pub(in crate::store::index) fn group_from_key(
        &self,
        key: &[u8],
        direction: Direction,
    ) -> Option<Group<'a>> {
        let row = match direction {
            Direction::Ascending => {
                self.least(&self.partition(key, None, |(other, _)| other < key), &self.end())?
            }
            Direction::Descending => {
                self.last_before(&self.partition(key, None, |(other, _)| other <= key))?
            }
        };
        Some(self.group_of_key(self.key(row)))
    }

    /// Returns the next group of the list.
    pub(in crate::store::index) fn group_after(
        &self,
        group: Group<'a>,
        direction: Direction,
    ) -> Option<Group<'a>> {
        match direction {
            Direction::Ascending => self.group_behind(group.to),
            Direction::Descending => self.group_before(group.from),
        }
    }

    /// Returns the group that ends at a position.
    fn group_before(&self, to: Vec<RunPosition>) -> Option<Group<'a>> {
        let key = self.key(self.last_before(&to)?);
        let from = self.runs.iter().zip(&to).map(|(run, to)| self.group_start(run, *to, key)).collect();
        Some(Group { key, from, to })
    }

    /// Returns the group that begins at a position.
    fn group_behind(&self, from: Vec<RunPosition>) -> Option<Group<'a>> {
        let key = self.key(self.least(&from, &self.end())?);
        let to = self.runs.iter().zip(&from).map(|(run, from)| self.group_end(run, *from, key)).collect();
        Some(Group { key, from, to })
    }

    /// Returns the group that a position divides, if the position is inside one.
    pub(in crate::store::index) fn group_around(&self, position: &[RunPosition]) -> Option<Group<'a>> {
        let before = self.key(self.last_before(position)?);
        let behind = self.key(self.least(position, &self.end())?);
        if before == behind { Some(self.group_of_key(before)) } else { None }
    }

    /// Returns the greatest row before a position.
    fn last_before(&self, to: &[RunPosition]) -> Option<RowId> {
        let lasts = self.runs.iter().zip(to).filter_map(|(run, to)| run.at(run.before(*to)?));
        lasts.max_by(|left, right| self.compare(*left, *right))
    }

    /// Returns the group of a key. If no record has the key, the group is an empty range at its place.
    pub(in crate::store::index) fn group_of_key<'k>(&self, key: &'k [u8]) -> Group<'k> {
        let from = self.partition(key, None, |(other, _)| other < key);
        let to = self.runs.iter().zip(&from).map(|(run, from)| self.group_end(run, *from, key)).collect();
        Group { key, from, to }
    }

    /// Returns where the group of a key ends in a run. Compares the neighbour before searching the run, because most
    /// groups have one record.
    fn group_end(&self, run: &Run, from: RunPosition, key: &[u8]) -> RunPosition {
        let in_group = |place| run.at(place).is_some_and(|row| self.key(row) == key);
        if !in_group(from) {
            return from;
        }
        let next = run.next(from);
        if in_group(next) {
            run.partition_place(self.prefixes(key, None), |row| self.key(row) <= key)
        } else {
            next
        }
    }

    fn group_start(&self, run: &Run, to: RunPosition, key: &[u8]) -> RunPosition {
        let last = run.before(to).filter(|place| run.at(*place).is_some_and(|row| self.key(row) == key));
        last.map_or(to, |last| self.group_start_before(run, last, key))
    }

    /// Returns where the group of a key begins in its run. `place` is the place of one of its rows.
    pub(in crate::store::index) fn group_start_before(
        &self,
        run: &Run,
        place: RunPosition,
        key: &[u8],
    ) -> RunPosition {
        let former = run.before(place).and_then(|place| run.at(place));
        if former.is_some_and(|row| self.key(row) == key) {
            run.partition_place(self.prefixes(key, None), |row| self.key(row) < key)
        } else {
            place
        }
    }
}
