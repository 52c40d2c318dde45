/// A row of the index, by number.
pub(crate) type RowId = u32;

/// How many rows a block holds at most: 2 KB, so that inserting moves little and the list of blocks stays short.
const BLOCK: usize = 512;

/// By how many rows a block grows at most: one that doubled would be empty by a third on average.
const GROWTH: usize = 32;

/// Rows in some order, with selection by rank: a list of short blocks, and a Fenwick tree over their lengths.
///
/// A run knows nothing of keys. Whoever searches it brings a predicate that is true for a beginning of the run and false
/// for the rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    blocks: Vec<Vec<RowId>>,
    tree: Vec<u32>,
    length: usize,
}

/// A place in a run: the block, and the offset in it. The end of a run is the offset 0 of the block behind the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    block: usize,
    offset: usize,
}

impl Run {
    /// A run of rows that are in order. Its blocks are full: it takes no more room than it needs.
    pub(super) fn of_sorted(rows: &[RowId]) -> Self {
        let blocks = rows.chunks(BLOCK).map(<[RowId]>::to_vec).collect();
        let mut run = Self { blocks, tree: Vec::new(), length: rows.len() };
        run.rebuild_tree();
        run
    }

    pub(super) const fn len(&self) -> usize {
        self.length
    }

    /// The place of a rank; of every rank behind the end, the end.
    pub(super) fn place(&self, rank: usize) -> Place {
        if rank >= self.length {
            return self.end();
        }
        let mut block = 0;
        let mut offset = rank;
        let mut step = self.tree.len().next_power_of_two();
        while step > 0 {
            if let Some(count) = (block + step).checked_sub(1).and_then(|node| self.tree.get(node))
                && *count as usize <= offset
            {
                block += step;
                offset -= *count as usize;
            }
            step /= 2;
        }
        Place { block, offset }
    }

    pub(super) fn rank(&self, place: Place) -> usize {
        let mut rank = place.offset;
        let mut node = place.block;
        while node > 0 {
            rank += self.tree.get(node - 1).copied().unwrap_or_default() as usize;
            node &= node - 1;
        }
        rank
    }

    pub(super) const fn end(&self) -> Place {
        Place { block: self.blocks.len(), offset: 0 }
    }

    pub(super) fn at(&self, place: Place) -> Option<RowId> {
        self.blocks.get(place.block)?.get(place.offset).copied()
    }

    pub(super) fn next(&self, place: Place) -> Place {
        if self.blocks.get(place.block).is_some_and(|block| place.offset + 1 < block.len()) {
            Place { block: place.block, offset: place.offset + 1 }
        } else {
            Place { block: (place.block + 1).min(self.blocks.len()), offset: 0 }
        }
    }

    pub(super) fn before(&self, place: Place) -> Option<Place> {
        if place.offset > 0 {
            return Some(Place { block: place.block, offset: place.offset - 1 });
        }
        let block = place.block.checked_sub(1)?;
        Some(Place { block, offset: self.blocks.get(block)?.len().checked_sub(1)? })
    }

    /// The rows from one place to another.
    pub(super) fn between(&self, from: Place, to: Place) -> impl Iterator<Item = RowId> + '_ {
        let last = to.block.min(self.blocks.len().saturating_sub(1));
        (from.block..=last)
            .flat_map(move |block| {
                let rows = self.blocks.get(block).map(Vec::as_slice).unwrap_or_default();
                let start = if block == from.block { from.offset } else { 0 };
                let end = if block == to.block { to.offset } else { rows.len() };
                rows.get(start..end).unwrap_or_default()
            })
            .copied()
    }

    /// The first place where `is_before` is false.
    pub(super) fn partition_place(&self, is_before: impl Fn(RowId) -> bool) -> Place {
        self.partition_between(Place::default(), self.end(), is_before)
    }

    /// The same where it is known to be true before one place and false from another on.
    pub(super) fn partition_between(
        &self,
        from: Place,
        to: Place,
        is_before: impl Fn(RowId) -> bool,
    ) -> Place {
        let whole = self.blocks.get(from.block..to.block).unwrap_or_default();
        let passed = whole.partition_point(|rows| rows.last().is_some_and(|row| is_before(*row)));
        let block = from.block + passed;
        let begin = if passed == 0 { from.offset } else { 0 };
        let rows = self.blocks.get(block).map(Vec::as_slice).unwrap_or_default();
        let end = if block == to.block { to.offset } else { rows.len() };
        let rows = rows.get(begin..end).unwrap_or_default();
        Place { block, offset: begin + rows.partition_point(|row| is_before(*row)) }
    }

    /// Inserts a row behind all those for which `is_before` is true.
    pub(super) fn insert(&mut self, row: RowId, is_before: impl Fn(RowId) -> bool) {
        let mut place = self.partition_place(is_before);
        if place == self.end()
            && let Some(last) = self.blocks.len().checked_sub(1)
        {
            place = Place { block: last, offset: self.blocks.get(last).map_or(0, Vec::len) };
        }
        self.length += 1;
        let Some(rows) = self.blocks.get_mut(place.block) else {
            self.blocks.push(vec![row]);
            return self.rebuild_tree();
        };
        if rows.len() < BLOCK {
            insert_tightly(rows, place.offset, row);
            self.count(place.block, 1);
            return;
        }
        // Appending leaves full blocks behind: what arrives in order, as times do, takes no more room than it needs.
        let tail = if place.offset == rows.len() {
            vec![row]
        } else {
            let mut tail = rows.split_off(BLOCK / 2);
            rows.shrink_to(BLOCK / 2);
            match place.offset.checked_sub(rows.len()) {
                Some(offset) => insert_tightly(&mut tail, offset, row),
                None => insert_tightly(rows, place.offset, row),
            }
            tail
        };
        self.blocks.insert(place.block + 1, tail);
        self.rebuild_tree();
    }

    /// Removes the row at the first place where `is_before` is false, if it is this one.
    pub(super) fn remove(&mut self, row: RowId, is_before: impl Fn(RowId) -> bool) {
        let place = self.partition_place(is_before);
        let Some(rows) = self.blocks.get_mut(place.block) else { return };
        if rows.get(place.offset) != Some(&row) {
            return;
        }
        rows.remove(place.offset);
        self.length -= 1;
        let left = rows.len();
        let follower = self.blocks.get(place.block + 1).map(Vec::len);
        if left == 0 {
            self.blocks.remove(place.block);
            self.rebuild_tree();
        } else if follower.is_some_and(|follower| left + follower <= BLOCK / 2) {
            let mut follower = self.blocks.remove(place.block + 1);
            if let Some(rows) = self.blocks.get_mut(place.block) {
                rows.append(&mut follower);
            }
            self.rebuild_tree();
        } else {
            self.count(place.block, -1);
        }
    }

    fn count(&mut self, block: usize, change: i32) {
        let mut node = block + 1;
        while let Some(count) = self.tree.get_mut(node - 1) {
            *count = count.wrapping_add_signed(change);
            node += node & node.wrapping_neg();
        }
    }

    fn rebuild_tree(&mut self) {
        self.tree.clear();
        self.tree.extend(self.blocks.iter().map(|rows| rows.len() as u32));
        for node in 1..=self.tree.len() {
            let parent = node + (node & node.wrapping_neg());
            let count = self.tree.get(node - 1).copied().unwrap_or_default();
            if let Some(total) = self.tree.get_mut(parent - 1) {
                *total += count;
            }
        }
    }
}

fn insert_tightly(rows: &mut Vec<RowId>, offset: usize, row: RowId) {
    if rows.len() == rows.capacity() {
        rows.reserve_exact(rows.len().clamp(1, GROWTH));
    }
    rows.insert(offset, row);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows are their own keys here: a run of numbers against a sorted vector.
    #[test]
    fn a_run_agrees_with_a_sorted_vector_through_random_insertions_and_removals() {
        let mut run = Run::default();
        let mut model: Vec<RowId> = Vec::new();
        let mut state = 0x2545_F491_4F6C_DD1D_u64;
        for step in 0..60_000_u32 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // Grows through the first half and shrinks through the second, so that blocks split and merge.
            let grow = state % 10 < if step < 30_000 { 8 } else { 2 };
            let row = if step % 3 == 0 { step } else { (state >> 32) as u32 % 50_000 };
            match model.binary_search(&row) {
                Err(place) if grow => {
                    model.insert(place, row);
                    run.insert(row, |other| other < row);
                }
                Ok(place) if !grow => {
                    model.remove(place);
                    run.remove(row, |other| other < row);
                }
                Err(place) if !model.is_empty() && !grow => {
                    let row = model.remove(place.min(model.len() - 1));
                    run.remove(row, |other| other < row);
                }
                _ => run.remove(u32::MAX, |other| other < row),
            }
            if step % 997 == 0 {
                assert_same(&run, &model);
            }
        }
        assert_same(&run, &model);
    }

    fn assert_same(run: &Run, model: &[RowId]) {
        assert_eq!(run.len(), model.len());
        assert_eq!(run.between(run.place(0), run.end()).collect::<Vec<_>>(), model);
        for rank in (0..model.len()).step_by(61) {
            let place = run.place(rank);
            assert_eq!(run.at(place), Some(model[rank]));
            assert_eq!(run.rank(place), rank);
            assert_eq!(run.at(run.next(place)), model.get(rank + 1).copied());
            assert_eq!(
                run.before(place).and_then(|place| run.at(place)),
                rank.checked_sub(1).map(|rank| model[rank])
            );
            let bound = model[rank];
            assert_eq!(run.rank(run.partition_place(|row| row < bound)), rank);
            let end = run.place((rank + 700).min(model.len()));
            assert_eq!(
                run.between(place, end).collect::<Vec<_>>(),
                &model[rank..(rank + 700).min(model.len())]
            );
        }
        assert_eq!(run.at(run.end()), None);
        assert_eq!(run.rank(run.end()), model.len());
    }
}
