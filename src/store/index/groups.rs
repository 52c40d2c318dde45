use super::merge::Merged;
use super::run::{Place, RowId, Run};
use crate::store::Direction;

/// The records that have one key, as a range of positions.
///
/// Records with equal keys are in ascending order of id in both directions. A descending list is therefore not a
/// reversed ascending one: its groups descend, and the records within a group ascend.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) key: &'a [u8],
    pub(super) from: Vec<Place>,
    pub(super) to: Vec<Place>,
}

impl<'a> Merged<'a> {
    /// Returns the group that holds the record of this rank, and the number of records before the group.
    pub(super) fn group_of_rank(&self, rank: usize, direction: Direction) -> Option<(Group<'a>, usize)> {
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

    /// Returns the group of a key, or the next group in the list if no record has the key.
    pub(super) fn group_from_key(&self, key: &[u8], direction: Direction) -> Option<Group<'a>> {
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
    pub(super) fn group_after(&self, group: Group<'a>, direction: Direction) -> Option<Group<'a>> {
        match direction {
            Direction::Ascending => self.group_behind(group.to),
            Direction::Descending => self.group_before(group.from),
        }
    }

    /// Returns the group that ends at a position.
    fn group_before(&self, to: Vec<Place>) -> Option<Group<'a>> {
        let key = self.key(self.last_before(&to)?);
        let from = self.runs.iter().zip(&to).map(|(run, to)| self.group_start(run, *to, key)).collect();
        Some(Group { key, from, to })
    }

    /// Returns the group that begins at a position.
    fn group_behind(&self, from: Vec<Place>) -> Option<Group<'a>> {
        let key = self.key(self.least(&from, &self.end())?);
        let to = self.runs.iter().zip(&from).map(|(run, from)| self.group_end(run, *from, key)).collect();
        Some(Group { key, from, to })
    }

    /// Returns the group that a position divides, if the position is inside one.
    pub(super) fn group_around(&self, position: &[Place]) -> Option<Group<'a>> {
        let before = self.key(self.last_before(position)?);
        let behind = self.key(self.least(position, &self.end())?);
        if before == behind { Some(self.group_of_key(before)) } else { None }
    }

    /// Returns the greatest row before a position.
    fn last_before(&self, to: &[Place]) -> Option<RowId> {
        let lasts = self.runs.iter().zip(to).filter_map(|(run, to)| run.at(run.before(*to)?));
        lasts.max_by(|left, right| self.compare(*left, *right))
    }

    /// Returns the group of a key: an empty range at its place if no record has the key.
    pub(super) fn group_of_key<'k>(&self, key: &'k [u8]) -> Group<'k> {
        let from = self.partition(key, None, |(other, _)| other < key);
        let to = self.runs.iter().zip(&from).map(|(run, from)| self.group_end(run, *from, key)).collect();
        Group { key, from, to }
    }

    /// Compares the neighbour before searching the run, because most groups have one record.
    fn group_end(&self, run: &Run, from: Place, key: &[u8]) -> Place {
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

    fn group_start(&self, run: &Run, to: Place, key: &[u8]) -> Place {
        let last = run.before(to).filter(|place| run.at(*place).is_some_and(|row| self.key(row) == key));
        last.map_or(to, |last| self.group_start_before(run, last, key))
    }

    /// Returns where the group of a key begins in its run, given the place of one of its rows.
    pub(super) fn group_start_before(&self, run: &Run, place: Place, key: &[u8]) -> Place {
        let former = run.before(place).and_then(|place| run.at(place));
        if former.is_some_and(|row| self.key(row) == key) {
            run.partition_place(self.prefixes(key, None), |row| self.key(row) < key)
        } else {
            place
        }
    }
}
