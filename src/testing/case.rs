//! A case of the suite, the failures of cases, and the report of a run.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::Arc;

use super::fault::{CaseOutcome, Violation};
use super::fixture::Fixture;
use crate::store::Store;

pub(super) type Body = fn(Fixture) -> Pin<Box<dyn Future<Output = CaseOutcome> + Send>>;

/// A test of one line of the store contract.
///
/// A case creates its own records, with kinds, ids and unique keys that nothing else uses, and does not delete them.
///
/// ```no_run
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use toposcope::store::Store;
///
/// // A custom loop, here with a timeout that shows which case hangs.
/// async fn conforms(store: Arc<dyn Store>) {
///     for case in toposcope::testing::cases() {
///         let outcome = tokio::time::timeout(Duration::from_secs(60), case.run(store.clone())).await;
///         outcome.expect(case.name()).unwrap();
///     }
/// }
/// ```
pub struct Case {
    name: &'static str,
    contract: &'static str,
    body: Body,
}

impl Case {
    pub(super) const fn new(name: &'static str, contract: &'static str, body: Body) -> Self {
        Self { name, contract, body }
    }

    /// Returns the method and the name, such as `list::ties_are_ordered_by_ascending_id_in_both_directions`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the method and the sentence of its contract that the case tests.
    #[must_use]
    pub const fn contract(&self) -> &'static str {
        self.contract
    }

    /// Runs the case on a store, which may hold other records.
    ///
    /// # Errors
    /// If the store violates the contract.
    pub async fn run(&'static self, store: Arc<dyn Store>) -> Result<(), Failure> {
        self.run_seeded(store, fresh_seed()).await
    }

    /// Runs the case with the random seed of an earlier failure. The seed gives the same ids and operations.
    ///
    /// The store must not hold the records that the earlier run left behind.
    ///
    /// # Errors
    /// If the store violates the contract.
    pub async fn run_seeded(&'static self, store: Arc<dyn Store>, seed: u64) -> Result<(), Failure> {
        (self.body)(Fixture::new(store, seed)).await.map_err(|fault| Failure::new(self, seed, fault))
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Case").field("name", &self.name).field("contract", &self.contract).finish()
    }
}

/// Returns a new seed for every run. Runs on a persistent store thus use different records.
pub(super) fn fresh_seed() -> u64 {
    RandomState::new().hash_one(())
}

/// A violation of the contract that a case found.
#[derive(Debug)]
pub struct Failure {
    case: &'static Case,
    seed: u64,
    fault: Violation,
}

impl Failure {
    pub(super) const fn new(case: &'static Case, seed: u64, fault: Violation) -> Self {
        Self { case, seed, fault }
    }

    /// Returns the case that failed.
    #[must_use]
    pub const fn case(&self) -> &'static Case {
        self.case
    }

    /// Returns the random seed, with which [`Case::run_seeded`] reproduces the failure.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} (seed {})", self.case.name(), self.seed)?;
        writeln!(formatter, "    contract: {}", self.case.contract())?;
        write!(formatter, "    {}", self.fault)
    }
}

impl std::error::Error for Failure {}

/// The result of a run of all cases. Its `Display` lists the failures.
#[derive(Debug)]
#[must_use = "it may list failures"]
pub struct Report {
    cases: usize,
    failures: Vec<Failure>,
}

impl Report {
    pub(super) const fn new(cases: usize, failures: Vec<Failure>) -> Self {
        Self { cases, failures }
    }

    /// Returns the number of cases that were run.
    #[must_use]
    pub const fn cases(&self) -> usize {
        self.cases
    }

    /// Returns the failures, in the order of the cases.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Asserts that every case passed.
    ///
    /// # Panics
    /// If a case failed. The message lists all failures.
    #[track_caller]
    pub fn assert_passed(&self) {
        assert!(self.failures.is_empty(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} of {} cases failed", self.failures.len(), self.cases)?;
        self.failures.iter().try_for_each(|failure| write!(formatter, "\n\n{failure}"))
    }
}

/// Defines the cases of a file. Lists the test functions of each method, grouped by the contract sentence that they
/// cite.
macro_rules! table {
    ($(of $method:literal: $($contract:literal => $($case:ident),+;)+)+) => {
        pub(super) const CASES: &[$crate::testing::case::Case] = &[$($($(
            $crate::testing::case::Case::new(
                concat!($method, "::", stringify!($case)),
                concat!($method, ": ", $contract),
                |fixture| Box::pin($case(fixture)),
            ),
        )+)+)+];
    };
}

pub(super) use table;
