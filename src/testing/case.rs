use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use super::{Failure, Fixture, Outcome, Random};
use crate::store::Store;

pub(super) type Body = fn(Fixture) -> Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// One behaviour that a store must have, and what tries whether it has.
///
/// A case makes records of its own, under ids, kinds and unique keys that nothing else uses, and leaves them behind.
///
/// ```no_run
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use toposcope::store::Store;
///
/// // A loop of one's own: here, to learn which case it is that hangs.
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

    /// The method, and the behaviour in words: `list::ties_go_by_ascending_id_in_both_directions`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The method, and the words of its contract that the case proves.
    #[must_use]
    pub const fn contract(&self) -> &'static str {
        self.contract
    }

    /// Tries the behaviour on a store, which may hold other records.
    ///
    /// # Errors
    /// When the store does not have it.
    pub async fn run(&'static self, store: Arc<dyn Store>) -> Result<(), Failure> {
        self.run_seeded(store, Random::fresh_seed()).await
    }

    /// The same with the random numbers of an earlier failure: the same ids, the same operations. Not on a store where
    /// that failure left its records.
    ///
    /// # Errors
    /// When the store does not have the behaviour.
    pub async fn run_seeded(&'static self, store: Arc<dyn Store>, seed: u64) -> Result<(), Failure> {
        (self.body)(Fixture::new(store, seed)).await.map_err(|fault| Failure::new(self, seed, fault))
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Case").field("name", &self.name).field("contract", &self.contract).finish()
    }
}

/// The cases of a file: under each method, and each sentence of its contract, the functions that prove it.
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
