//! Inserting many postings into a block at once.

use super::{List, MAX_BLOCK_BYTES, PostingBlock, Value, rows, write};
use crate::invariant::Invariant;
use crate::store::Term;
use crate::store::index::capacity;
use crate::store::index::rows::common_values::COMMON_FROM;
use crate::store::index::run::RowId;
use crate::store::index::terms::Posting;
use crate::store::index::varint;

/// Maximum length of a list without its value and its rows, in bytes. It covers two lengths and the size.
const HEADER: usize = 2 + MAX_NUMBER;

/// Maximum length of a packed number.
const MAX_NUMBER: usize = 5;

// An empty block has room for a list of `COMMON_FROM` rows, so that shorter lists need not be divided.
const _: () = assert!(MAX_BLOCK_BYTES > HEADER + 1 + 2 * Term::MAX_LENGTH + COMMON_FROM * MAX_NUMBER);

impl PostingBlock {
    /// Inserts postings, which must be sorted. Values that become common are appended to `common`. Returns the blocks
    /// that follow, each with its first posting.
    pub(in crate::store::index::terms) fn insert_sorted(
        &mut self,
        postings: &[(&[u8], RowId)],
        common: &mut Vec<Vec<u8>>,
    ) -> Vec<(Posting, Self)> {
        let mut merged = Merged { ending: self.ending().to_vec(), ..Merged::default() };
        let mut new = postings.chunk_by(|left, right| left.0 == right.0).peekable();
        let mut lists = self.lists();
        let mut old = lists.next();
        let mut rows = Vec::new();
        loop {
            let value_of_new = new.peek().and_then(|alike| alike.first()).map(|(value, _)| *value);
            let is_old = |list: &List<'_>| value_of_new.is_none_or(|new| list.value.get() <= new);
            let list = old.filter(is_old);
            let Some(value) = list.as_ref().map(|list| list.value.get()).or(value_of_new) else { break };
            rows.clear();
            list.iter().for_each(|list| rows::unpack(list.rows, &mut rows));
            let former = rows.len();
            let grows = value_of_new == Some(value);
            if grows {
                rows.extend(new.next().into_iter().flatten().map(|(_, row)| *row));
                // This changes nothing if the rows are greater than those before, as the rows of new records are.
                rows.sort_unstable();
                rows.dedup();
            }
            if former < COMMON_FROM && rows.len() >= COMMON_FROM {
                common.push(value.to_vec());
            }
            merged.push(value, &rows, grows);
            if list.is_some() {
                old = lists.next();
            }
        }
        let mut blocks = merged.finish().into_iter();
        *self = blocks.next().map(|(_, block)| block).asserted_or_default();
        blocks.collect()
    }

    /// Cuts a block in halves. Returns the second with its first posting.
    fn halved(&mut self) -> (Posting, Self) {
        let (value, row, rest) = self.split(&[], 0);
        ((value, row), rest)
    }
}

/// Lists in sorted order, divided into blocks.
#[derive(Debug, Default)]
struct Merged {
    blocks: Vec<(Posting, PostingBlock)>,
    /// The last value of the last block.
    last: Option<Value>,
    /// Whether the last block begins with further rows of a value of the block before. It is the last value of that
    /// block, and it got new rows.
    goes_on: bool,
    /// The ending of all blocks until they are complete.
    ending: Vec<u8>,
    packed: Vec<u8>,
}

impl Merged {
    fn push(&mut self, value: &[u8], mut rows: &[RowId], grows: bool) {
        let mut is_rest = false;
        while let Some(first) = rows.first() {
            let used = self.blocks.last().map_or(MAX_BLOCK_BYTES, |(_, block)| block.bytes.len());
            let fitting = fitting(rows, MAX_BLOCK_BYTES.saturating_sub(used + HEADER + value.len()));
            if fitting < rows.len().min(COMMON_FROM) {
                self.blocks.push(((value.into(), *first), PostingBlock::with_ending(&self.ending)));
                self.last = None;
                self.goes_on = is_rest && grows;
                continue;
            }
            let (now, later) = rows.split_at(fitting);
            self.append(value, now);
            rows = later;
            is_rest = true;
        }
    }

    fn append(&mut self, value: &[u8], now: &[RowId]) {
        let Some((_, block)) = self.blocks.last_mut().asserted() else { return };
        let last = self.last.get_or_insert(Value::EMPTY);
        self.packed.clear();
        rows::pack_into(now, &mut self.packed);
        write(last.get(), value, &self.packed, &self.ending, &mut block.bytes);
        block.count += now.len();
        last.set_rest(0, value);
    }

    fn finish(mut self) -> Vec<(Posting, PostingBlock)> {
        // Otherwise each insertion into a full block would leave a nearly empty one behind. The rest of a growing list
        // stays alone, because further rows are appended to it.
        if let [.., (_, former), last] = &mut self.blocks[..]
            && !self.goes_on
            && last.1.bytes.len() < MAX_BLOCK_BYTES / 2
        {
            former.append(&last.1);
            *last = former.halved();
        }
        let is_divided = self.blocks.len() > 1;
        for (_, block) in &mut self.blocks {
            if is_divided {
                block.choose_ending();
            }
            capacity::shrink_to_fit(&mut block.bytes);
        }
        self.blocks
    }
}

/// Returns how many of the rows take at most `room` bytes.
fn fitting(rows: &[RowId], room: usize) -> usize {
    // The packed form consists of the greatest row and the differences.
    let Some(mut left) = room.checked_sub(MAX_NUMBER) else { return 0 };
    let differences = rows.iter().zip(rows.iter().skip(1)).map(|(former, next)| next - former);
    let fits = |difference: &u32| {
        let bits = u32::BITS - (difference | 1).leading_zeros();
        left.checked_sub(bits.div_ceil(varint::BITS) as usize).map(|rest| left = rest).is_some()
    };
    rows.len().min(1 + differences.take_while(fits).count())
}
