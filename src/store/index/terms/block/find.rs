//! Finding a list of a block.

use std::cmp::Ordering;

use super::{List, MAX_BLOCK_BYTES, PostingBlock, Value, rows, shared_length};
use crate::store::index::run::RowId;
use crate::store::index::varint;

impl PostingBlock {
    /// Finds the list of a value, or the list of the first greater value. Returns it after the beginning that the
    /// value shares with the greatest smaller value.
    ///
    /// Each value is compared only where it differs from the one before it. Only the value that is found is put
    /// together.
    pub(super) fn find<'v>(&self, value: &'v [u8]) -> (&'v [u8], Option<List<'_>>) {
        let mut lists = self.lists();
        let mut shared_before = 0;
        loop {
            let start = lists.end;
            let beginning = &value[..shared_before];
            let Some(stored) = lists.read() else { return (beginning, None) };
            // It begins with more of the smaller value before it than the wanted value does, so it is smaller, too.
            if stored.shared > shared_before {
                continue;
            }
            // If it begins with less, it is greater: it has a greater byte where the wanted value agrees with the one
            // before.
            if stored.shared == shared_before {
                let wanted = &value[shared_before..];
                let (length, order) = compare(stored.rest, stored.ending, wanted);
                if order == Ordering::Less {
                    shared_before += length;
                    continue;
                }
            }
            let mut found = Value::EMPTY;
            found.set_rest(0, beginning);
            found.set_rest(stored.shared, stored.rest);
            found.set_rest(found.length, stored.ending);
            return (beginning, Some(List { value: found, start, end: lists.end, rows: stored.rows }));
        }
    }

    /// Returns the list in which a block is split. Also returns the value before it, and how many rows of the list
    /// stay.
    pub(super) fn place_of_split(&self, value: &[u8], row: RowId) -> (Value, List<'_>, usize) {
        let (beginning, inserted) = self.find(value);
        let is_last = |list: &List<'_>| list.end == self.bytes.len();
        let greatest = |list: &List<'_>| varint::read(list.rows).map(|(row, _)| row);
        // Appending leaves full blocks behind: rows that arrive in order take no spare memory.
        if let Some(last) = inserted.filter(|list| is_last(list) && greatest(list) == Some(row)) {
            let mut before = Value::EMPTY;
            before.set_rest(0, beginning);
            return (before, last, rows::count(last.rows) - 1);
        }
        let (before, half) = self.half();
        if half.rows.len() <= MAX_BLOCK_BYTES / 4 {
            return (before, half, 0);
        }
        // A long list ends its block, so that rows are appended to it.
        match self.lists_after(half).next() {
            Some(next) => (half.value, next, 0),
            None => (before, half, rows::count(half.rows) / 2),
        }
    }

    /// Returns the list in the middle of the bytes, and the value before it.
    fn half(&self) -> (Value, List<'_>) {
        let mut before = Value::EMPTY;
        for list in self.lists() {
            if list.end > self.bytes.len() / 2 {
                return (before, list);
            }
            before = list.value;
        }
        debug_assert!(false, "a block that is split has a list behind its middle");
        (before, List { value: Value::EMPTY, start: 0, end: 0, rows: &[] })
    }
}

/// Compares a rest, continued by its ending, with a wanted rest. Also returns the length of the beginning that they
/// share.
fn compare(rest: &[u8], ending: &[u8], wanted: &[u8]) -> (usize, Ordering) {
    let mut length = shared_length(rest, wanted);
    if length == rest.len() {
        length += shared_length(ending, &wanted[length..]);
    }
    let next = rest.get(length).or_else(|| ending.get(length - rest.len()));
    (length, next.cmp(&wanted.get(length)))
}
