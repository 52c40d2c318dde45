//! What the tests run on: a store in a folder.

use std::ops::Deref;

use toposcope::store::SledStore;

use crate::place::Place;

/// So little that bodies are read from the disk, once they are there, as often as from memory.
const CACHE_SIZE: usize = 4096;

/// A store of a test's own, with nothing in it, in a folder that lasts as long.
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
