//! The stores that the tests run on: in memory, and in a folder.

use std::ops::Deref;

use toposcope::store::{MemoryStore, Store};

tokio::task_local! {
    static CURRENT: Backend;
}

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Memory,
    #[cfg(feature = "sled")]
    Folder,
}

/// Runs a test once on each backend. Every fixture that it creates in its own task uses the backend.
pub(crate) async fn on_each_backend(test: impl AsyncFn()) {
    CURRENT.scope(Backend::Memory, test()).await;
    #[cfg(feature = "sled")]
    CURRENT.scope(Backend::Folder, test()).await;
}

impl Backend {
    /// Runs a future with this backend; for tasks and threads that a test spawns.
    pub(crate) async fn scope<T>(self, future: impl Future<Output = T>) -> T {
        CURRENT.scope(self, future).await
    }

    /// Returns the backend of the test; memory where the test runs on one backend only.
    pub(crate) fn current() -> Self {
        CURRENT.try_get().unwrap_or(Self::Memory)
    }

    /// Selects the number of random requests for debug and for release builds; a folder gets a tenth of the latter.
    pub(crate) fn effort(self, debug: usize, release: usize) -> usize {
        match self {
            _ if cfg!(debug_assertions) => debug,
            Self::Memory => release,
            #[cfg(feature = "sled")]
            Self::Folder => release / 10,
        }
    }
}

/// A new, empty store of the current backend.
#[derive(Debug)]
pub(crate) enum TestStore {
    Memory(MemoryStore),
    #[cfg(feature = "sled")]
    Folder(folder::FolderStore),
}

impl TestStore {
    pub(crate) async fn new() -> Self {
        match Backend::current() {
            Backend::Memory => Self::Memory(MemoryStore::new()),
            #[cfg(feature = "sled")]
            Backend::Folder => Self::Folder(folder::FolderStore::new().await),
        }
    }

    /// Asserts that every record is stored as it was written. Afterwards a folder reads all records from the disk.
    pub(crate) async fn verify(&self) {
        match self {
            Self::Memory(_) => {}
            #[cfg(feature = "sled")]
            Self::Folder(store) => store.verify().await,
        }
    }
}

impl Deref for TestStore {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Memory(store) => store,
            #[cfg(feature = "sled")]
            Self::Folder(store) => store.store(),
        }
    }
}

#[cfg(feature = "sled")]
mod folder {
    use toposcope::store::SledStore;

    use crate::place::Place;

    /// Size of the cache, so small that stored bodies are read from the disk as often as from memory.
    const CACHE_SIZE: usize = 4096;

    /// A store in a folder that lasts as long as the store.
    #[derive(Debug)]
    pub(crate) struct FolderStore {
        store: SledStore,
        /// Dropped last, because it waits for the store.
        _place: Place,
    }

    impl FolderStore {
        pub(super) async fn new() -> Self {
            let place = Place::new();
            let store = SledStore::builder(place.path().join("store")).cache_size(CACHE_SIZE).open().await;
            Self { store: store.unwrap(), _place: place }
        }

        pub(super) fn store(&self) -> &SledStore {
            &self.store
        }

        pub(super) async fn verify(&self) {
            let verification = self.store.verify().await.unwrap();
            assert!(verification.is_sound(), "{verification}");
        }
    }
}
