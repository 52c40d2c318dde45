//! The conformance suite, which verifies that a backend fulfils the contract of [`Store`]. The module also has a naive
//! store to compare with, [`ReferenceStore`], and one for fault injection, [`Interceptor`].
//!
//! Enable it with the feature `testing`. [`run`] runs all cases; [`cases`] returns them one by one, for a custom loop.
//! The set of cases is exempt from semantic versioning: any release may add cases.
//!
//! The contract holds on every tokio runtime. Run the suite on a multi-threaded runtime, which exercises races, and on
//! a single-threaded one.
//!
//! The store may contain other records, and other tasks may use it during the run, as long as they neither purge nor
//! commit records that expire before the year 1000. Two suites must therefore not share a store at the same time. The
//! cases do not delete their records, and some read the whole store repeatedly, so prefer a small store.
//!
//! One line of the contract is not tested, because it needs more than one process: that a commit survives a crash.

mod cancel;
mod case;
mod changed_since;
mod commit;
mod fault;
mod fixture;
mod get;
mod interceptor;
mod list;
mod purge;
mod race_commits;
mod race_readers;
mod random_operations;
mod reference;
mod revision;
mod snapshot;
mod snapshot_facets;

use std::sync::Arc;

use crate::store::Store;

pub use case::{Case, Failure, Report};
pub use interceptor::{Call, Intercept, Interceptor, Operation, Reply};
pub use reference::ReferenceStore;

use case::{fresh_seed, table};
use fault::{CaseOutcome, Violation, expect, expect_equal, expect_error, expect_list, keys};
use fixture::{
    CHUNK, Entries, Fixture, GROUP, MAIL, OWNER, PARENT, RANK, WORD, add_chunk, as_returned, by_key, chance,
    delete, guard_only, of, put, random_bytes, random_uuid, read_all, read_chunk, run_concurrently,
    with_expiry, with_links, with_rank, with_terms, with_unique_keys,
};

/// Returns all cases.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    let files = [
        // These read whole stores often, so that they come first, before any other records.
        random_operations::CASES,
        get::CASES,
        purge::CASES,
        revision::CASES,
        changed_since::CASES,
        cancel::CASES,
        snapshot::CASES,
        snapshot_facets::CASES,
        race_commits::CASES,
        race_readers::CASES,
    ];
    files.into_iter().chain(list::CASES).chain(commit::CASES).flatten()
}

/// Runs all cases one after the other. Each case runs on the store that `make` returns for it.
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

#[cfg(test)]
mod tests {
    use super::{Case, cases};

    /// Returns the documentation of the store's contract, with single spaces between words.
    fn documentation() -> String {
        let files = [
            include_str!("../store/mod.rs"),
            include_str!("../store/batch.rs"),
            include_str!("../store/query.rs"),
            include_str!("../store/record.rs"),
            include_str!("../store/snapshot.rs"),
            include_str!("../store/error.rs"),
        ];
        let lines = files.iter().flat_map(|file| file.lines());
        let comments =
            lines.map(str::trim).filter_map(|line| line.strip_prefix("///").or(line.strip_prefix("//!")));
        comments.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    }

    /// Returns the items of the contract's lists, each with its method.
    fn points() -> Vec<(String, String)> {
        let mut points: Vec<(String, String)> = Vec::new();
        let mut open: Vec<String> = Vec::new();
        let files = [include_str!("../store/mod.rs"), include_str!("../store/snapshot.rs")];
        let lines =
            files.into_iter().flat_map(|file| file.lines().take_while(|line| !line.starts_with("impl")));
        for line in lines.map(str::trim) {
            if let Some(point) = line.strip_prefix("/// * ") {
                open.push(point.to_owned());
            } else if let (Some(more), Some(point)) = (line.strip_prefix("///   "), open.last_mut()) {
                point.push(' ');
                point.push_str(more);
            } else if line.starts_with("pub trait ") {
                points.extend(open.drain(..).map(|point| ("store".to_owned(), point)));
            } else if let Some((name, _)) =
                line.strip_prefix("async fn ").and_then(|rest| rest.split_once('('))
            {
                points.extend(open.drain(..).map(|point| (name.to_owned(), point)));
            }
        }
        points
    }

    fn cited() -> Vec<(&'static str, &'static str)> {
        cases().filter_map(|case| case.contract().split_once(": ")).collect()
    }

    #[test]
    fn every_point_of_the_contract_has_a_case() {
        let beyond_a_process = "Once `commit` has returned `Ok`, the batch survives a crash";
        let points = points();
        assert!(points.len() > 20, "only {} points were found", points.len());
        for (method, point) in points.into_iter().filter(|(_, point)| !point.starts_with(beyond_a_process)) {
            let proven = cited().iter().any(|(of, words)| *of == method && point.contains(words));
            assert!(proven, "{method}: {point}");
        }
    }

    #[test]
    fn every_case_cites_the_documentation() {
        let documentation = documentation();
        for (method, words) in cited() {
            assert!(documentation.contains(words), "{method}: {words}");
        }
    }

    #[test]
    fn every_case_has_a_name_of_its_own() {
        let mut names: Vec<_> = cases().map(Case::name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
