//! The part of their neighbors that two nodes share.

use std::cmp::Ordering;

use super::{MAX_OPPOSITE, Neighborhoods};

/// The part of their neighbors that two nodes share.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedPart {
    common: usize,
    all: usize,
}

impl Ord for SharedPart {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.common * other.all).cmp(&(other.common * self.all))
    }
}

impl PartialOrd for SharedPart {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SharedPart {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SharedPart {}

impl Neighborhoods<'_> {
    /// Returns whether two nodes share at least this part of their neighbors, apart from themselves.
    pub(super) fn are_similar(
        &self,
        one: usize,
        other: usize,
        part: (usize, usize),
        budget: &mut usize,
    ) -> bool {
        self.shared(one, other, part, budget).is_some()
    }

    /// Returns which part of their neighbors two nodes share, apart from themselves; `None` if it is less than this.
    pub(super) fn shared(
        &self,
        one: usize,
        other: usize,
        (part, whole): (usize, usize),
        budget: &mut usize,
    ) -> Option<SharedPart> {
        let (first, second) = (&self.compared[one], &self.compared[other]);
        let (few, many) = (first.len().min(second.len()), first.len().max(second.len()));
        *budget = budget.saturating_sub(1);
        if few * whole + whole < many * part || *budget < few + many {
            return None;
        }
        *budget -= few + many;
        let (mut common, mut all) = (0, 0);
        let (mut of_one, mut of_other) = (Vec::new(), Vec::new());
        let (mut left, mut right) = (first.iter().peekable(), second.iter().peekable());
        while let Some(next) = left.peek().into_iter().chain(right.peek()).copied().min().copied() {
            let in_first = left.next_if(|node| **node == next).is_some();
            let in_second = right.next_if(|node| **node == next).is_some();
            if next != one && next != other {
                all += 1;
                common += usize::from(in_first && in_second);
                match (in_first, in_second) {
                    (true, false) => of_one.push(next),
                    (false, true) => of_other.push(next),
                    _ => {}
                }
            }
        }
        if common > 0 && self.network.neighbors(one).binary_search(&other).is_ok() {
            let opposite = self.opposite(&of_one, &of_other);
            (common, all) = (common + opposite, all - opposite);
        }
        (all > 0 && common * whole >= all * part).then_some(SharedPart { common, all })
    }

    /// Returns the number of neighbors of two adjacent nodes that are adjacent to each other, as the cores of two data centers are: each
    /// has one neighbor of the other center.
    fn opposite(&self, of_one: &[usize], of_other: &[usize]) -> usize {
        if of_one.len() > MAX_OPPOSITE || of_other.len() > MAX_OPPOSITE {
            return 0;
        }
        let mut is_taken = vec![false; of_other.len()];
        let mut count = 0;
        for node in of_one {
            let is_beside = |other: &usize| self.inner[*node].binary_search(other).is_ok();
            let found = (0..of_other.len()).find(|place| !is_taken[*place] && is_beside(&of_other[*place]));
            if let Some(place) = found {
                is_taken[place] = true;
                count += 1;
            }
        }
        count
    }
}
