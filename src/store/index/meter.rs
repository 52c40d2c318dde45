//! Counted work: how much answering a query costs, in steps that are the same on every machine.

/// Counts the steps of a query and stops it at a limit.
///
/// One step is a look at one row, which is a cache miss in a large index: 50 to 100 ns on today's machines. Plans are chosen
/// by steps, never by a clock, so that a query takes the same way every time.
#[derive(Debug)]
pub(super) struct Meter {
    spent: usize,
    limit: usize,
}

/// The query needs more steps than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverLimit;

impl Meter {
    pub(super) const fn new(limit: usize) -> Self {
        Self { spent: 0, limit }
    }

    /// Counts steps before they are taken.
    ///
    /// # Errors
    /// When they go beyond the limit.
    pub(super) const fn spend(&mut self, steps: usize) -> Result<(), OverLimit> {
        self.spent = self.spent.saturating_add(steps);
        if self.spent > self.limit { Err(OverLimit) } else { Ok(()) }
    }

    pub(super) const fn spent(&self) -> usize {
        self.spent
    }
}
