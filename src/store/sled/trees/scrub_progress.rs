use super::layout::{Manifest, ScanPosition};
use super::mirror::Side;
use crate::store::{Key, StoreError};

/// How far a scrub has read the headers of a copy; checkpoints between its slices keep it current.
///
/// The lock around it is the lock for changing the trees: see the documentation of [`sled`](super::super). Its size
/// is constant, however many checkpoints run during a scrub. A dropped scrub leaves no state behind that matters,
/// because the next one starts with [`begin`](Self::begin).
#[derive(Debug, Default)]
pub(in crate::store::sled) struct ScrubProgress {
    /// The copy, and the position up to which its headers were read.
    passed: Option<(Side, ScanPosition)>,
    /// Number and checksum sum of the headers before that position.
    found: Manifest,
    /// Number of checkpoints that have failed since the store was opened.
    failures: u64,
    /// Whether the last checkpoint failed, so that the copies may differ.
    last_failed: bool,
    is_closed: bool,
}

impl ScrubProgress {
    /// Starts to count the headers of a copy.
    pub(in crate::store::sled) fn begin(&mut self, side: Side) {
        (self.passed, self.found) = (Some((side, ScanPosition::before_headers())), Manifest::default());
    }

    /// Returns the position up to which the headers were read.
    pub(in crate::store::sled) fn position(&self) -> ScanPosition {
        self.passed.as_ref().map_or_else(ScanPosition::before_headers, |(_, position)| position.clone())
    }

    /// Counts a header and moves past it.
    pub(in crate::store::sled) fn advance(&mut self, key: Key, checksum: u32) {
        self.found.count_in(checksum);
        if let Some((_, position)) = &mut self.passed {
            *position = ScanPosition::after_header(key);
        }
    }

    /// Moves past the last header and returns the count.
    pub(in crate::store::sled) fn finish(&mut self) -> Manifest {
        self.passed = None;
        self.found
    }

    /// Adjusts the count for a change by a checkpoint, given the manifest before and after it.
    pub(in crate::store::sled) fn record_change(
        &mut self,
        side: Side,
        key: Key,
        before: &Manifest,
        after: &Manifest,
    ) {
        if self.passed.as_ref().is_some_and(|(of, position)| *of == side && position.is_after(key)) {
            self.found.apply_delta(before, after);
        }
    }

    /// Records how a checkpoint ended.
    pub(in crate::store::sled) fn end_checkpoint(&mut self, last_failed: bool) {
        self.last_failed = last_failed;
        self.failures += u64::from(last_failed);
    }

    /// Records that both copies are closed.
    pub(in crate::store::sled) const fn mark_closed(&mut self) {
        self.is_closed = true;
    }

    /// Returns how many checkpoints have failed so far, for [`require_unchanged`](Self::require_unchanged).
    ///
    /// # Errors
    /// `Unavailable` when the last one failed or the copies are closed.
    pub(in crate::store::sled) fn require_applied(&self) -> Result<u64, StoreError> {
        let failures = if self.last_failed { Err(interrupted()) } else { Ok(self.failures) };
        failures.and_then(|failures| self.require_unchanged(failures).map(|()| failures))
    }

    /// Checks that both copies are open and that no checkpoint has failed since `failures` was returned.
    ///
    /// # Errors
    /// `Unavailable` otherwise.
    pub(in crate::store::sled) fn require_unchanged(&self, failures: u64) -> Result<(), StoreError> {
        if self.is_closed {
            return Err(closed_during_scrub());
        }
        if self.failures == failures { Ok(()) } else { Err(interrupted()) }
    }
}

/// Returns the error of a scrub that ends early because the store is closed.
pub(in crate::store::sled) fn closed_during_scrub() -> StoreError {
    StoreError::unavailable("the store was closed before the verification completed")
}

/// A failed checkpoint leaves a copy partly unchanged, which cannot be distinguished from damage.
fn interrupted() -> StoreError {
    StoreError::unavailable("a checkpoint failed during the verification: run it again once commits succeed")
}
