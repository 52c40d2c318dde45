//! The conformance suite for stores: whoever writes a [`Store`] runs it to learn whether the store keeps the contract.
//!
//! It comes with the feature `testing`. [`run`] tries everything; [`cases`] gives the single cases, as data, to those who
//! want a loop of their own. It is outside semver: a later version may have more cases.
//!
//! The cases only call the store, spawn tasks and wait, so they run on every runtime of tokio's; the contract asks to be
//! kept on all of them, so run the suite on a multi-threaded runtime, where the races are races, and on a
//! single-threaded one.
//!
//! The store may be shared with other records, but with nobody who purges or commits records that expire before the year
//! 1000 while the suite runs: not with a second suite, then. What the cases put, they leave behind. Some read the whole
//! store again and again, so on one that holds much they take their time. What cannot be tried from within a process is
//! left out: that a commit outlives a crash.

mod body;
mod cancel;
mod case;
mod commit;
mod entries;
mod fault;
mod fixture;
mod get;
mod get_by_unique_key;
mod list;
mod model;
mod purge;
mod race;
mod random;
mod random_operations;
mod report;
mod revision;
mod snapshot;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::store::Store;

pub use case::Case;
pub use report::{Failure, Report};

use case::table;
use entries::{CHUNK, Entries, add_chunk, as_returned, by_key, read_all, read_chunk};
use fault::{Fault, Outcome, expect, expect_equal, expect_error, expect_list, keys};
use fixture::{
    Fixture, GROUP, MAIL, OWNER, PARENT, RANK, delete, guard_only, of, put, with_expiry, with_links,
    with_rank, with_unique_keys,
};
use model::Model;
use random::Random;

/// All cases, method by method.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    let files =
        [get::CASES, get_by_unique_key::CASES, body::CASES, purge::CASES, revision::CASES, cancel::CASES];
    files
        .into_iter()
        .chain(list::CASES)
        .chain(commit::CASES)
        .chain(snapshot::CASES)
        .chain(race::CASES)
        .chain([random_operations::CASES])
        .flatten()
}

/// Tries all cases one after the other, each on a store that `make` makes for it, or on clones of one `Arc`.
///
/// A store that panics fails the case.
///
/// ```no_run
/// use toposcope::store::MemoryStore;
///
/// # #[tokio::main]
/// # async fn main() {
/// toposcope::testing::run(async || MemoryStore::new()).await.assert_passed();
/// # }
/// ```
pub async fn run<S: Store>(mut make: impl AsyncFnMut() -> S) -> Report {
    let mut failures = Vec::new();
    let mut count = 0;
    for case in cases() {
        count += 1;
        let store = Arc::new(make().await);
        let seed = Random::fresh_seed();
        let outcome = tokio::spawn(case.run_seeded(store, seed)).await;
        let outcome = outcome.unwrap_or_else(|panic| Err(Failure::new(case, seed, panic.into())));
        failures.extend(outcome.err());
    }
    Report::new(count, failures)
}
