//! A block of postings.

mod ending;
mod find;
mod merge;

use super::{Posting, rows};
use crate::invariant::Invariant;
use crate::store::index::capacity;
use crate::store::index::run::RowId;
use crate::store::index::varint;
use crate::store::{Term, TermRange};

/// Maximum size of a block in bytes.
///
/// An insertion scans the values of a block and moves half of its bytes. Blocks of 2,048 bytes would save 20 bytes of
/// memory for each host, but bulk requests would take 5 % longer (`cargo bench --bench import -- bulk`).
const MAX_BLOCK_BYTES: usize = 1_024;

/// Bytes by which a block grows. Doubling would leave a third of it empty on average.
const BLOCK_GROWTH: usize = 64;

/// Consecutive postings of one name: each value once, with the list of its rows.
///
/// A value is stored as the length of the beginning that it shares with the value before, the length of the rest, the
/// length of the list, the rest, and the list. The first value of a block shares nothing. The length of a list of one
/// row is left out, and so is the ending of the block, which is stored once before all lists: hostnames and their
/// parts end with the same domain. Flags in the two lengths indicate both.
#[derive(Debug)]
pub(super) struct PostingBlock {
    /// The length of the ending, the ending, the lists.
    bytes: Vec<u8>,
    count: usize,
}

/// Flag in the length of the shared beginning. It is set if the ending of the block follows the rest.
const HAS_ENDING: u8 = 1 << 7;

/// Flag in the length of the rest. It is set if the list has one row.
const IS_SINGLE: u8 = 1 << 7;

const _: () = assert!(Term::MAX_LENGTH < HAS_ENDING as usize && Term::MAX_LENGTH < IS_SINGLE as usize);

impl PostingBlock {
    /// The length of most blocks, in bytes: a full block is split into halves, which grow again.
    pub(super) const USUAL_BYTES: usize = MAX_BLOCK_BYTES * 3 / 4;

    /// Returns the length in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

impl Default for PostingBlock {
    fn default() -> Self {
        Self { bytes: vec![0], count: 0 }
    }
}

/// A value of a term.
#[derive(Clone, Copy, Debug)]
struct Value {
    bytes: [u8; Term::MAX_LENGTH],
    length: usize,
}

impl Value {
    const EMPTY: Self = Self { bytes: [0; Term::MAX_LENGTH], length: 0 };

    fn get(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Replaces everything after the shared beginning.
    fn set_rest(&mut self, shared: usize, rest: &[u8]) {
        self.length = shared + rest.len();
        self.bytes[shared..self.length].copy_from_slice(rest);
    }
}

/// A value of a block with its rows.
#[derive(Clone, Copy, Debug)]
struct List<'b> {
    value: Value,
    /// Where the list begins and ends in the block.
    start: usize,
    end: usize,
    rows: &'b [u8],
}

/// The stored form of a list.
#[derive(Clone, Copy, Debug)]
struct Stored<'b> {
    /// The length of the beginning that the value shares with the value before.
    shared: usize,
    /// The part of the value after the beginning, up to the ending.
    rest: &'b [u8],
    /// The ending of the block, or nothing.
    ending: &'b [u8],
    rows: &'b [u8],
}

/// The lists of a block, one after the other.
#[derive(Clone, Copy, Debug)]
struct Lists<'b> {
    bytes: &'b [u8],
    ending: &'b [u8],
    end: usize,
    value: Value,
}

impl<'b> Lists<'b> {
    /// Moves to the next value, and returns its rows. Unlike [`next`](Self::next), it does not copy the value.
    fn advance(&mut self) -> Option<&'b [u8]> {
        let Stored { shared, rest, ending, rows } = self.read()?;
        self.value.set_rest(shared, rest);
        self.value.set_rest(shared + rest.len(), ending);
        Some(rows)
    }

    /// Moves to the next value, and returns its rows. The value itself is not known after this.
    fn skip_value(&mut self) -> Option<&'b [u8]> {
        self.read().map(|stored| stored.rows)
    }

    /// Moves to the end of the next list, and returns its stored form.
    fn read(&mut self) -> Option<Stored<'b>> {
        let start = self.end;
        let ([first, length], bytes) = self.bytes[start..].split_first_chunk()?;
        let is_single = length & IS_SINGLE != 0;
        let (size, header) = if is_single { (0, 0) } else { varint::read(bytes).asserted()? };
        let (rest, bytes) = bytes[header..].split_at(usize::from(length & !IS_SINGLE));
        let size = if is_single { varint::read(bytes).asserted()?.1 } else { size as usize };
        self.end = start + 2 + header + rest.len() + size;
        let ending = if first & HAS_ENDING == 0 { &[] } else { self.ending };
        Some(Stored { shared: usize::from(first & !HAS_ENDING), rest, ending, rows: &bytes[..size] })
    }
}

impl<'b> Iterator for Lists<'b> {
    type Item = List<'b>;

    fn next(&mut self) -> Option<List<'b>> {
        let start = self.end;
        let rows = self.advance()?;
        Some(List { value: self.value, start, end: self.end, rows })
    }
}

impl PostingBlock {
    /// Creates an empty block with the capacity of a full one. A block that is kept must be shrunk.
    fn with_ending(ending: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(MAX_BLOCK_BYTES);
        bytes.push(ending.len() as u8);
        bytes.extend_from_slice(ending);
        Self { bytes, count: 0 }
    }

    pub(super) fn of(value: &[u8], row: RowId) -> Self {
        let mut block = Self::default();
        block.insert(value, row);
        block
    }

    pub(super) const fn len(&self) -> usize {
        self.count
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) const fn is_full(&self) -> bool {
        self.bytes.len() > MAX_BLOCK_BYTES
    }

    pub(super) const fn is_small(&self) -> bool {
        self.bytes.len() < MAX_BLOCK_BYTES / 4
    }

    /// Returns whether the next block should be appended.
    pub(super) const fn has_room_for(&self, next: &Self) -> bool {
        self.is_empty() || self.bytes.len() + next.bytes.len() <= MAX_BLOCK_BYTES / 2
    }

    /// Counts the postings in a range.
    pub(super) fn count(&self, range: &TermRange) -> usize {
        let (mut lists, mut count) = (self.lists(), 0);
        while let Some(rows) = lists.advance() {
            let value = lists.value.get();
            if range.to.as_deref().is_some_and(|to| value >= to) {
                break;
            }
            if value >= range.from.as_slice() {
                count += rows::count(rows);
            }
        }
        count
    }

    /// Visits the values in a range with their rows, beginning after a posting. It stops at the first visit that
    /// returns `false`. Returns whether no visit did.
    pub(super) fn visit(
        &self,
        range: &TermRange,
        after: Option<&Posting>,
        mut visit: impl FnMut(&[u8], &[RowId]) -> bool,
    ) -> bool {
        let (mut lists, mut unpacked) = (self.lists(), Vec::new());
        while let Some(rows) = lists.advance() {
            let value = lists.value.get();
            if value < range.from.as_slice() {
                continue;
            }
            if range.to.as_deref().is_some_and(|to| value >= to) {
                break;
            }
            let after = after.filter(|(after, _)| value <= &**after);
            if after.is_some_and(|(after, _)| value < &**after) {
                continue;
            }
            unpacked.clear();
            rows::unpack(rows, &mut unpacked);
            let passed = after.map_or(0, |(_, after)| unpacked.partition_point(|row| row <= after));
            let following = &unpacked[passed..];
            if !following.is_empty() && !visit(value, following) {
                return false;
            }
        }
        true
    }

    /// Visits the rows of all values.
    pub(super) fn visit_all(&self, mut visit: impl FnMut(&[RowId])) {
        let (mut lists, mut unpacked) = (self.lists(), Vec::new());
        while let Some(rows) = lists.skip_value() {
            match varint::read(rows) {
                Some((row, length)) if length == rows.len() => visit(&[row]),
                _ => {
                    unpacked.clear();
                    rows::unpack(rows, &mut unpacked);
                    visit(&unpacked);
                }
            }
        }
    }

    /// Inserts a posting unless it exists. Returns the number of rows that its value then has in the block, or 0 if
    /// the posting exists.
    pub(super) fn insert(&mut self, value: &[u8], row: RowId) -> usize {
        let (beginning, list) = self.find(value);
        let next = list.filter(|list| list.value.get() != value);
        let (start, end) = list.map_or((self.bytes.len(), self.bytes.len()), |list| (list.start, list.end));
        let former = if next.is_none() { list.map_or(&[][..], |list| list.rows) } else { &[] };
        let Some(rows) = rows::with(former, row) else { return 0 };
        let ending = self.ending();
        let mut changed = Vec::with_capacity(2 * (Term::MAX_LENGTH + rows.len()));
        write(beginning, value, &rows, ending, &mut changed);
        if let Some(next) = next {
            write(value, next.value.get(), next.rows, ending, &mut changed);
        }
        self.replace(start, end, &changed);
        self.count += 1;
        rows::count(&rows)
    }

    /// Removes a posting. Returns whether it existed.
    pub(super) fn remove(&mut self, value: &[u8], row: RowId) -> bool {
        let (beginning, list) = self.find(value);
        let Some(list) = list.filter(|list| list.value.get() == value) else { return false };
        let Some(rows) = rows::without(list.rows, row) else { return false };
        let (mut changed, mut end) = (Vec::new(), list.end);
        if !rows.is_empty() {
            write(beginning, value, &rows, self.ending(), &mut changed);
        } else if let Some(next) = self.lists_after(list).next() {
            write(beginning, next.value.get(), next.rows, self.ending(), &mut changed);
            end = next.end;
        }
        self.replace(list.start, end, &changed);
        self.count -= 1;
        true
    }

    /// Splits a full block after a posting was inserted. Returns the second part with its first posting.
    pub(super) fn split(&mut self, value: &[u8], row: RowId) -> (Box<[u8]>, RowId, Self) {
        let (before, list, kept) = self.place_of_split(value, row);
        let mut unpacked = Vec::new();
        rows::unpack(list.rows, &mut unpacked);
        let (kept, moved) = unpacked.split_at(kept);
        let ending = self.ending();
        let mut second = Self::with_ending(ending);
        write(&[], list.value.get(), &rows::pack(moved), ending, &mut second.bytes);
        second.count = moved.len();
        if let Some(next) = self.lists_after(list).next() {
            write(list.value.get(), next.value.get(), next.rows, ending, &mut second.bytes);
            second.bytes.extend_from_slice(&self.bytes[next.end..]);
            second.count += self.lists_after(list).map(|list| rows::count(list.rows)).sum::<usize>();
        }
        let mut changed = Vec::new();
        if !kept.is_empty() {
            write(before.get(), list.value.get(), &rows::pack(kept), ending, &mut changed);
        }
        let (start, end) = (list.start, self.bytes.len());
        let first = (list.value.get().into(), moved[0]);
        self.replace(start, end, &changed);
        self.count -= second.count;
        for half in [&mut *self, &mut second] {
            half.choose_ending();
            capacity::shrink_to_fit(&mut half.bytes);
        }
        (first.0, first.1, second)
    }

    /// Appends the next block.
    pub(super) fn append(&mut self, next: &Self) {
        let rewritten;
        let next = if next.ending() == self.ending() {
            next
        } else {
            rewritten = next.with_other_ending(self.ending());
            &rewritten
        };
        let Some(first) = next.lists().next() else { return };
        let rest = &next.bytes[first.end..];
        let last = self.lists().last();
        let mut changed = Vec::new();
        let start = match last {
            Some(last) if last.value.get() == first.value.get() => {
                let mut unpacked = Vec::new();
                rows::unpack(last.rows, &mut unpacked);
                rows::unpack(first.rows, &mut unpacked);
                let (beginning, _) = self.find(last.value.get());
                write(beginning, last.value.get(), &rows::pack(&unpacked), self.ending(), &mut changed);
                last.start
            }
            _ => {
                let last = last.map_or(Value::EMPTY, |last| last.value);
                write(last.get(), first.value.get(), first.rows, self.ending(), &mut changed);
                self.bytes.len()
            }
        };
        changed.extend_from_slice(rest);
        self.replace(start, self.bytes.len(), &changed);
        self.count += next.count;
    }

    fn lists(&self) -> Lists<'_> {
        let ending = self.ending();
        Lists { bytes: &self.bytes, ending, end: 1 + ending.len(), value: Value::EMPTY }
    }

    fn lists_after<'b>(&'b self, list: List<'b>) -> Lists<'b> {
        Lists { end: list.end, value: list.value, ..self.lists() }
    }

    fn ending(&self) -> &[u8] {
        &self.bytes[1..1 + usize::from(self.bytes[0])]
    }

    fn replace(&mut self, start: usize, end: usize, changed: &[u8]) {
        let more = changed.len().saturating_sub(end - start);
        if self.bytes.capacity() - self.bytes.len() < more {
            let growth = more.max(self.bytes.len().min(BLOCK_GROWTH));
            capacity::reserve_exact(&mut self.bytes, growth);
        }
        let (length, moved) = (self.bytes.len(), start + changed.len());
        self.bytes.resize(length + more, 0);
        self.bytes.copy_within(end..length, moved);
        self.bytes.truncate(moved + length - end);
        self.bytes[start..moved].copy_from_slice(changed);
    }
}

/// Writes a list behind one of a smaller value.
fn write(before: &[u8], value: &[u8], rows: &[u8], ending: &[u8], bytes: &mut Vec<u8>) {
    let shared = shared_length(before, value);
    let rest = &value[shared..];
    let stored = if ending.is_empty() { None } else { rest.strip_suffix(ending) };
    let ending_flag = if stored.is_some() { HAS_ENDING } else { 0 };
    let is_single = varint::read(rows).is_some_and(|(_, length)| length == rows.len());
    let single_flag = if is_single { IS_SINGLE } else { 0 };
    let rest = stored.unwrap_or(rest);
    bytes.extend_from_slice(&[shared as u8 | ending_flag, rest.len() as u8 | single_flag]);
    if !is_single {
        varint::write(rows.len() as u32, bytes);
    }
    bytes.extend_from_slice(rest);
    bytes.extend_from_slice(rows);
}

/// Returns the length of the beginning that two values share.
fn shared_length(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}
