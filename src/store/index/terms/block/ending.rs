//! Choosing the ending of a block.

use super::{PostingBlock, Value, shared_length, write};

/// Number of endings among which one is chosen.
const MAX_CANDIDATES: usize = 8;

impl PostingBlock {
    /// Gives the block the ending that saves most bytes, if that makes it shorter.
    pub(super) fn choose_ending(&mut self) {
        let values: Vec<Value> = self.lists().map(|list| list.value).collect();
        let ending = best_ending(&rests(&values)).to_vec();
        if ending != self.ending() {
            let changed = self.with_other_ending(&ending);
            if changed.bytes.len() < self.bytes.len() {
                *self = changed;
            }
        }
    }

    /// Returns a block of the same postings with this ending.
    pub(super) fn with_other_ending(&self, ending: &[u8]) -> Self {
        let mut changed = Self::with_ending(ending);
        let mut before = Value::EMPTY;
        for list in self.lists() {
            write(before.get(), list.value.get(), list.rows, ending, &mut changed.bytes);
            before = list.value;
        }
        changed.count = self.count;
        changed
    }
}

/// Returns the part of each value that it does not share with the value before.
fn rests(values: &[Value]) -> Vec<&[u8]> {
    let mut before: &[u8] = &[];
    let rests = values.iter().map(|value| {
        let shared = shared_length(before, value.get());
        before = value.get();
        &before[shared..]
    });
    rests.collect()
}

/// Returns the ending that saves most bytes, among some candidates. A candidate is an ending that a rest shares with
/// one of the two rests after it.
///
/// A name and its hostname alternate in a block, so neighbors may have nothing in common.
fn best_ending<'v>(rests: &[&'v [u8]]) -> &'v [u8] {
    let step = (rests.len() / MAX_CANDIDATES).max(1);
    let alike = rests.windows(3).step_by(step).filter_map(|rests| match rests {
        [first, second, third] => {
            let candidates = [common_ending(first, second), common_ending(first, third)];
            candidates.into_iter().max_by_key(|candidate| candidate.len())
        }
        _ => None,
    });
    let saved = |ending: &&[u8]| ending.len() * rests.iter().filter(|rest| rest.ends_with(ending)).count();
    alike.filter(|ending| !ending.is_empty()).max_by_key(saved).unwrap_or(&[])
}

fn common_ending<'v>(left: &'v [u8], right: &[u8]) -> &'v [u8] {
    let length = left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count();
    &left[left.len() - length..]
}
