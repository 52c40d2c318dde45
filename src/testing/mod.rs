//! The conformance suite, which verifies that a backend fulfils the contract of [`Store`], and a store for fault injection.
//!
//! Enable it with the feature `testing`. [`run`] runs all cases; [`cases`] returns them one by one, for a custom loop. The
//! set of cases is exempt from semantic versioning: any release may add cases.
//!
//! The contract holds on every tokio runtime. Run the suite on a multi-threaded runtime, which exercises races, and on a
//! single-threaded one.
//!
//! The store may contain other records, and other tasks may use it during the run, as long as they neither purge nor commit
//! records that expire before the year 1000. Two suites must therefore not share a store at the same time. The cases do not
//! delete their records, and some read the whole store repeatedly, so prefer a small store.
//!
//! One line of the contract is not tested, because it needs more than one process: that a commit survives a crash.

mod cancel;
mod case;
mod commit;
mod fault;
mod fixture;
mod get;
mod interceptor;
mod list;
mod model;
mod purge;
mod race_commits;
mod race_readers;
mod random_operations;
mod revision;
mod snapshot;
mod snapshot_facets;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::store::Store;

pub use case::{Case, Failure, Report};
pub use interceptor::{Call, Intercept, Interceptor, Operation, Reply};

use case::{fresh_seed, table};
use fault::{Fault, Outcome, expect, expect_equal, expect_error, expect_list, keys};
use fixture::{
    CHUNK, Entries, Fixture, GROUP, MAIL, OWNER, PARENT, RANK, add_chunk, as_returned, by_key, chance,
    delete, guard_only, of, put, random_bytes, random_uuid, read_all, read_chunk, run_concurrently,
    with_expiry, with_links, with_rank, with_unique_keys,
};
use model::Model;

/// Returns all cases.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    let files = [
        get::CASES,
        purge::CASES,
        revision::CASES,
        cancel::CASES,
        snapshot::CASES,
        snapshot_facets::CASES,
        race_commits::CASES,
        race_readers::CASES,
        random_operations::CASES,
    ];
    files.into_iter().chain(list::CASES).chain(commit::CASES).flatten()
}

/// Runs all cases one after the other, each on the store that `make` returns for it.
///
/// `make` may create a new store every time, or clone one `Arc`. A panic in the store fails the case.
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
        let seed = fresh_seed();
        let outcome = tokio::spawn(case.run_seeded(store, seed)).await;
        let outcome = outcome.unwrap_or_else(|panic| Err(Failure::new(case, seed, panic.into())));
        failures.extend(outcome.err());
    }
    Report::new(count, failures)
}
