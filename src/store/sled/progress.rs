use super::copies::Side;
use super::records::{Base, Cursor};
use crate::store::{Key, StoreError};

/// How far a verification has read the heads of a copy, kept in step by the checkpoints that run between its slices.
///
/// The lock around it is the lock for changing the records: see the module's documentation. It holds no more than this,
/// however many checkpoints run during a verification. What a dropped verification leaves behind is of no consequence: the
/// next one begins with [`begin`](Self::begin).
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The copy, and the position up to which its heads were read.
    passed: Option<(Side, Cursor)>,
    /// The number of the heads that lie before the position, and the sum of their checksums.
    found: Base,
    /// How many checkpoints have failed since the store was opened.
    failures: u64,
    /// Whether the last checkpoint failed, so that the copies may differ.
    is_failed: bool,
    is_closed: bool,
}

impl Progress {
    /// Begins to count the heads of a copy.
    pub(super) fn begin(&mut self, side: Side) {
        (self.passed, self.found) = (Some((side, Cursor::before_heads())), Base::default());
    }

    /// Returns the position up to which the heads were read.
    pub(super) fn position(&self) -> Cursor {
        self.passed.as_ref().map_or_else(Cursor::before_heads, |(_, position)| position.clone())
    }

    /// Counts a head in and moves behind it.
    pub(super) fn pass(&mut self, key: Key, checksum: u32) {
        self.found.add(checksum);
        if let Some((_, position)) = &mut self.passed {
            *position = Cursor::behind_head(key);
        }
    }

    /// Moves behind the last head and returns what was counted.
    pub(super) fn finish(&mut self) -> Base {
        self.passed = None;
        self.found
    }

    /// Takes note of a change that a checkpoint makes: the base of the copy before it and after it.
    pub(super) fn note(&mut self, side: Side, key: Key, before: &Base, after: &Base) {
        if self.passed.as_ref().is_some_and(|(of, position)| *of == side && position.is_behind(key)) {
            self.found.follow(before, after);
        }
    }

    /// Takes note of how a checkpoint ended.
    pub(super) fn end_checkpoint(&mut self, is_failed: bool) {
        self.is_failed = is_failed;
        self.failures += u64::from(is_failed);
    }

    /// Takes note that both copies are closed.
    pub(super) const fn close(&mut self) {
        self.is_closed = true;
    }

    /// Returns how many checkpoints have failed so far, for [`require_unchanged`](Self::require_unchanged).
    ///
    /// # Errors
    /// `Unavailable` when the last one failed or the copies are closed.
    pub(super) fn require_applied(&self) -> Result<u64, StoreError> {
        let failures = if self.is_failed { Err(interrupted()) } else { Ok(self.failures) };
        failures.and_then(|failures| self.require_unchanged(failures).map(|()| failures))
    }

    /// Checks that both copies are open and that no checkpoint has failed since this number was returned.
    ///
    /// # Errors
    /// `Unavailable` otherwise.
    pub(super) fn require_unchanged(&self, failures: u64) -> Result<(), StoreError> {
        if self.is_closed {
            return Err(closed());
        }
        if self.failures == failures { Ok(()) } else { Err(interrupted()) }
    }
}

/// The error of a verification that ends early because the store is closed.
pub(super) fn closed() -> StoreError {
    StoreError::unavailable("the store was closed before the verification was complete")
}

/// A checkpoint that failed leaves a copy in part as it was, which cannot be told from damage.
fn interrupted() -> StoreError {
    StoreError::unavailable("a checkpoint failed during the verification: verify again once commits succeed")
}
