//! Union-find: disjoint sets of numbers that are joined step by step.
//!
//! Paths are halved while they are followed (R. E. Tarjan, J. van Leeuwen: Worst-case Analysis of Set Union Algorithms,
//! 1984). The smallest member represents its set, so that results do not depend on the order in which sets are joined.

#![allow(
    clippy::indexing_slicing,
    reason = "members are below the count given to `new`, and so are all representatives that they lead to"
)]

/// The sets of the numbers from 0 to a count.
#[derive(Debug)]
pub(crate) struct UnionFind {
    /// A smaller member of the same set, or the member itself if it is the smallest.
    parents: Vec<u32>,
}

impl UnionFind {
    /// Creates one set for each number.
    pub(crate) fn new(count: usize) -> Self {
        Self { parents: (0..).take(count).collect() }
    }

    /// Returns whether every set has a single member.
    pub(crate) fn are_single(&self) -> bool {
        self.parents.iter().enumerate().all(|(member, parent)| member == *parent as usize)
    }

    /// Returns the smallest member of a set.
    pub(crate) fn find(&mut self, mut member: usize) -> usize {
        loop {
            let parent = self.parents[member] as usize;
            if parent == member {
                return member;
            }
            let next = self.parents[parent];
            self.parents[member] = next;
            member = next as usize;
        }
    }

    /// Joins the sets of two members.
    pub(crate) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        self.parents[one.max(other)] = self.parents[one.min(other)];
    }

    /// Joins the sets of all these members.
    pub(crate) fn join_all(&mut self, members: impl IntoIterator<Item = usize>) {
        let mut members = members.into_iter();
        if let Some(first) = members.next() {
            members.for_each(|member| self.join(first, member));
        }
    }
}
