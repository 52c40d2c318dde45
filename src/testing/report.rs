use std::fmt;

use super::{Case, Fault};

/// A violation of the contract that a case found.
#[derive(Debug)]
pub struct Failure {
    case: &'static Case,
    seed: u64,
    fault: Fault,
}

impl Failure {
    pub(super) const fn new(case: &'static Case, seed: u64, fault: Fault) -> Self {
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
