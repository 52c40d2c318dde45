//! What the tests run on: a store in a folder.

use std::ops::Deref;

use tempfile::TempDir;
use toposcope::store::SledStore;

/// So little that bodies are read from the disk, once they are there, as often as from memory.
const CACHE_SIZE: usize = 4096;

/// A store of a test's own, with nothing in it, in a folder that lasts as long.
#[derive(Debug)]
pub(crate) struct Backend {
    /// Dropped first, so that nothing is put away that nobody will look for.
    _folder: TempDir,
    store: SledStore,
}

impl Backend {
    pub(crate) async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let store = SledStore::builder(folder.path().join("store")).cache_size(CACHE_SIZE).open().await;
        Self { _folder: folder, store: store.unwrap() }
    }

    /// Whether everything is kept as it was written. From then on it is on the disk, and read from there.
    pub(crate) async fn verify(&self) {
        let verification = self.store.verify().await.unwrap();
        assert!(verification.is_sound(), "{verification}");
    }
}

impl Deref for Backend {
    type Target = SledStore;

    fn deref(&self) -> &SledStore {
        &self.store
    }
}

/// How much is tried where requests are made up, of what is tried on a store in memory.
pub(crate) const fn effort(debug: usize, release: usize) -> usize {
    if cfg!(debug_assertions) { debug } else { release / 10 }
}
