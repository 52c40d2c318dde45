//! The store of the tests: in a folder.

use std::ops::Deref;

use toposcope::store::SledStore;

use crate::place::Place;

/// Size of the cache, so small that stored bodies are read from the disk as often as from memory.
const CACHE_SIZE: usize = 4096;

/// A new, empty store, in a folder that lasts as long as the store.
#[derive(Debug)]
pub(crate) struct Backend {
    store: SledStore,
    /// Dropped last, because it waits for the store.
    _place: Place,
}

impl Backend {
    pub(crate) async fn new() -> Self {
        let place = Place::new();
        let store = SledStore::builder(place.path().join("store")).cache_size(CACHE_SIZE).open().await;
        Self { store: store.unwrap(), _place: place }
    }

    /// Asserts that every record is stored as it was written. Afterwards all records are on the disk and read
    /// from there.
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

/// Selects the number of random requests; in release builds, a tenth of that on a memory store.
pub(crate) const fn effort(debug: usize, release: usize) -> usize {
    if cfg!(debug_assertions) { debug } else { release / 10 }
}
