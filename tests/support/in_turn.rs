use std::sync::atomic::{AtomicUsize, Ordering};

use toposcope::store::{Store, Wrapper};

/// Several stores on the same records, each of which performs one operation in turn.
///
/// To the outside they are a single store, unless a store misses what another one has committed.
#[derive(Debug)]
pub(crate) struct InTurn<S> {
    stores: Vec<S>,
    operations: AtomicUsize,
}

impl<S: Store> InTurn<S> {
    pub(crate) fn new(stores: Vec<S>) -> Self {
        Self { stores, operations: AtomicUsize::new(0) }
    }

    pub(crate) fn stores(&self) -> &[S] {
        &self.stores
    }
}

impl<S: Store> Wrapper for InTurn<S> {
    fn inner(&self) -> &dyn Store {
        &self.stores[self.operations.fetch_add(1, Ordering::Relaxed) % self.stores.len()]
    }

    fn is_shared(&self) -> bool {
        self.stores.len() > 1 || self.stores.iter().any(Store::is_shared)
    }
}
