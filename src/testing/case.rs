use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use super::{Failure, Fixture, Outcome, Random};
use crate::store::Store;

pub(super) type Body = fn(Fixture) -> Pin<Box<dyn Future<Output = Outcome> + Send>>;

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
        self.run_seeded(store, Random::fresh_seed()).await
    }

    /// Runs the case with the random seed of an earlier failure, which gives the same ids and operations.
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

/// Defines the cases of a file: the test functions of each method, grouped by the contract sentence they cite.
macro_rules! table {
    ($(of $method:literal: $($contract:literal => $($case:ident),+;)+)+) => {
        pub(super) const CASES: &[$crate::testing::Case] = &[$($($(
            $crate::testing::Case::new(
                concat!($method, "::", stringify!($case)),
                concat!($method, ": ", $contract),
                |fixture| Box::pin($case(fixture)),
            ),
        )+)+)+];
    };
}

pub(super) use table;
