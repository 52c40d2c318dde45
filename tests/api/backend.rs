//! The store of the tests: in memory.

use std::ops::Deref;

use toposcope::store::MemoryStore;

/// A new, empty store.
#[derive(Debug)]
pub(crate) struct Backend(MemoryStore);

impl Backend {
    #[allow(clippy::unused_async, reason = "others are opened")]
    pub(crate) async fn new() -> Self {
        Self(MemoryStore::new())
    }

    /// Asserts that every record is stored as it was written; a store in memory has no second copy to
    /// compare.
    #[allow(clippy::unused_async, reason = "others read it all again")]
    pub(crate) async fn verify(&self) {}
}

impl Deref for Backend {
    type Target = MemoryStore;

    fn deref(&self) -> &MemoryStore {
        &self.0
    }
}

/// Selects the number of random requests for debug and for release builds.
pub(crate) const fn effort(debug: usize, release: usize) -> usize {
    if cfg!(debug_assertions) { debug } else { release }
}
