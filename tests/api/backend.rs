//! The stores that the tests run on: in memory, and in a folder.

use std::sync::Arc;

use tokio::runtime::Builder;
#[cfg(feature = "sled")]
use toposcope::store::SledStore;
use toposcope::store::{MemoryStore, Store};

#[cfg(feature = "sled")]
use crate::place::Place;

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

/// Runs a test once on each backend, on a runtime with one thread.
pub(crate) fn run(test: impl AsyncFn()) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(on_each_backend(test));
}

/// Runs a test once on each backend, on a runtime with four threads.
pub(crate) fn run_on_threads(test: impl AsyncFn()) {
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(on_each_backend(test));
}

/// Runs a test once on each backend, each time with a new fixture.
pub(crate) fn run_with<F>(fixture: impl AsyncFn() -> F, test: impl AsyncFn(F)) {
    run(async || test(fixture().await).await);
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
pub(crate) struct TestStore {
    store: Arc<dyn Store>,
    #[cfg(feature = "sled")]
    folder: Option<Folder>,
}

impl TestStore {
    pub(crate) async fn new() -> Self {
        match Backend::current() {
            Backend::Memory => Self {
                store: Arc::new(MemoryStore::new()),
                #[cfg(feature = "sled")]
                folder: None,
            },
            #[cfg(feature = "sled")]
            Backend::Folder => {
                let place = Place::new();
                let builder = SledStore::builder(place.path().join("store")).cache_size(CACHE_SIZE);
                let store = Arc::new(builder.open().await.unwrap());
                Self { store: store.clone(), folder: Some(Folder { store, _place: place }) }
            }
        }
    }

    /// Returns the store. Drop it before this value, which removes the folder.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Asserts that every record is stored as it was written. Afterwards a folder reads all records from the disk.
    #[cfg_attr(
        not(feature = "sled"),
        expect(clippy::unused_async, reason = "a store in memory needs no check")
    )]
    pub(crate) async fn verify(&self) {
        #[cfg(feature = "sled")]
        if let Some(folder) = &self.folder {
            let verification = folder.store.verify().await.unwrap();
            assert!(verification.is_sound(), "{verification}");
        }
    }
}

/// Size of the cache, so small that stored bodies are read from the disk as often as from memory.
#[cfg(feature = "sled")]
const CACHE_SIZE: usize = 4096;

/// A store in a folder that lasts as long as the store.
#[cfg(feature = "sled")]
#[derive(Debug)]
struct Folder {
    store: Arc<SledStore>,
    /// Dropped last, because it waits for the store.
    _place: Place,
}
