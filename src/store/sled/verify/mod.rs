//! Looks for damage in both copies of the records.

mod walk;

use std::fmt;
use std::sync::Arc;

use self::walk::{Walk, still_wrong};
use super::blocking::blocking;
use super::progress::closed;
use super::store::Inner;
use crate::store::StoreError;

/// How many problems are kept in [`Verification::problems`].
const NAMED: usize = 100;

/// How many unclear records are looked up in one slice.
const LOOKUPS: usize = 256;

/// What [`SledStore::verify`](super::SledStore::verify) found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// The number of records that were read.
    pub records: u64,
    /// The total size of their bodies, in bytes.
    pub bytes: u64,
    /// The number of problems.
    pub problem_count: u64,
    /// The first hundred problems.
    pub problems: Vec<StoreError>,
}

impl Verification {
    /// Returns whether everything is as it was written.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.problem_count == 0
    }

    fn add(&mut self, problem: StoreError) {
        self.problem_count += 1;
        if self.problems.len() < NAMED {
            self.problems.push(problem);
        }
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, bytes, problem_count, problems } = self;
        write!(formatter, "{records} records with {bytes} bytes, {problem_count} problems")?;
        problems.iter().try_for_each(|problem| write!(formatter, "\n{problem}"))
    }
}

/// Runs a walk slice by slice, each on a blocking thread. Between slices nothing is locked but the turn to verify.
///
/// A record that the index does not know may have been deleted after the last checkpoint, so it is looked up again after
/// the next one.
pub(super) async fn verify(inner: &Arc<Inner>) -> Result<Verification, StoreError> {
    let shared = inner.shared();
    let _turn = shared.verifying.lock().await;
    inner.settle().await?;
    let mut walk = Walk::new(Arc::clone(shared));
    while !walk.is_over() {
        inner.require_open().map_err(|_| closed())?;
        walk = blocking(move || walk.slice()).await??;
    }
    let (mut verification, unclear) = walk.finish();
    if !unclear.is_empty() {
        inner.settle().await?;
    }
    for unclear in unclear.chunks(LOOKUPS) {
        inner.require_open().map_err(|_| closed())?;
        let (shared, unclear) = (Arc::clone(shared), unclear.to_vec());
        let problems = blocking(move || still_wrong(&shared, &unclear)).await??;
        problems.into_iter().for_each(|problem| verification.add(problem));
    }
    Ok(verification)
}
