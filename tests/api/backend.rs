//! What the tests run on: a store in memory.

use std::ops::Deref;

use toposcope::store::MemoryStore;

/// A store of a test's own, with nothing in it.
#[derive(Debug)]
pub(crate) struct Backend(MemoryStore);

impl Backend {
    #[allow(clippy::unused_async, reason = "others are opened")]
    pub(crate) async fn new() -> Self {
        Self(MemoryStore::new())
    }

    /// Whether everything is kept as it was written: of what is nowhere else, there is nothing to compare.
    #[allow(clippy::unused_async, reason = "others read it all again")]
    pub(crate) async fn verify(&self) {}
}

impl Deref for Backend {
    type Target = MemoryStore;

    fn deref(&self) -> &MemoryStore {
        &self.0
    }
}

/// How much is tried where requests are made up, in debug builds and in others.
pub(crate) const fn effort(debug: usize, release: usize) -> usize {
    if cfg!(debug_assertions) { debug } else { release }
}
