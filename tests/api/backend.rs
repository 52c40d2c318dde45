//! The stores that the tests run on: in memory, in a folder, and in PostgreSQL.
//!
//! In PostgreSQL, two instances serve the operations in turn.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
#[cfg(feature = "sled")]
use toposcope::store::SledStore;
use toposcope::store::{MemoryStore, Store};

#[cfg(all(feature = "postgres", unix))]
use crate::cluster::is_wanted;
#[cfg(feature = "sled")]
use crate::place::Place;
#[cfg(all(feature = "postgres", unix))]
use crate::postgres::Postgres;

/// The time after which a test is taken for one that waits for ever: many times that of the slowest.
const MAX_DURATION: Duration = Duration::from_secs(15 * 60);

tokio::task_local! {
    static CURRENT: Backend;
}

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Memory,
    #[cfg(feature = "sled")]
    Folder,
    /// Runs only where PostgreSQL is installed.
    #[cfg(all(feature = "postgres", unix))]
    Postgres,
}

/// Runs a test in a folder, and before that in memory if the tests are optimized or there is no store in a folder.
///
/// The store in memory has the same index as the one in a folder and passes the same suite of tests, so that a second run
/// finds little. If `TOPOSCOPE_POSTGRES` is `all`, a test runs on PostgreSQL instead. Every fixture that the test creates in
/// its own task uses the backend.
async fn on_each_backend(test: &impl AsyncFn()) {
    #[cfg(all(feature = "postgres", unix))]
    if is_wanted() {
        if Postgres::is_installed() {
            CURRENT.scope(Backend::Postgres, test()).await;
        }
        return;
    }
    if !cfg!(all(feature = "sled", debug_assertions)) {
        CURRENT.scope(Backend::Memory, test()).await;
    }
    #[cfg(feature = "sled")]
    CURRENT.scope(Backend::Folder, test()).await;
}

/// Runs a test once on each backend, on a runtime with one thread.
pub(crate) fn run(test: impl AsyncFn()) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    run_on(&runtime, async || on_each_backend(&test).await);
}

/// Runs a test once on each backend, on a runtime with four threads.
pub(crate) fn run_on_threads(test: impl AsyncFn()) {
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    run_on(&runtime, async || on_each_backend(&test).await);
}

/// Runs a test, and fails if it does not end.
pub(crate) fn run_on(runtime: &Runtime, test: impl AsyncFn()) {
    let ended = runtime.block_on(async { timeout(MAX_DURATION, test()).await });
    assert!(ended.is_ok(), "the test does not end");
}

/// Runs a test once on each backend, each time with a new fixture.
pub(crate) fn run_with<F>(fixture: impl AsyncFn() -> F, test: impl AsyncFn(F)) {
    run(async || test(fixture().await).await);
}

impl Backend {
    /// Runs a future with this backend. Tasks and threads that a test spawns need it.
    pub(crate) async fn scope<T>(self, future: impl Future<Output = T>) -> T {
        CURRENT.scope(self, future).await
    }

    /// Returns the backend of the test. It is memory if the test runs on one backend only.
    pub(crate) fn current() -> Self {
        CURRENT.try_get().unwrap_or(Self::Memory)
    }

    /// Returns whether several processes may use the store at the same time.
    pub(crate) fn is_shared(self) -> bool {
        match self {
            Self::Memory => false,
            #[cfg(feature = "sled")]
            Self::Folder => false,
            #[cfg(all(feature = "postgres", unix))]
            Self::Postgres => true,
        }
    }

    /// Selects the number of random requests for the build and the backend. In release builds, a folder and PostgreSQL
    /// get a tenth of `release`.
    pub(crate) fn effort(self, debug: usize, release: usize) -> usize {
        match self {
            _ if cfg!(debug_assertions) => debug,
            Self::Memory => release,
            #[cfg(feature = "sled")]
            Self::Folder => release / 10,
            #[cfg(all(feature = "postgres", unix))]
            Self::Postgres => release / 10,
        }
    }
}

/// A new, empty store of the current backend.
#[derive(Debug)]
pub(crate) struct TestStore {
    store: Arc<dyn Store>,
    place: Kept,
}

/// Resources of a store that must live as long as the store.
#[derive(Debug)]
enum Kept {
    Nothing,
    #[cfg(feature = "sled")]
    Folder(Folder),
    #[cfg(all(feature = "postgres", unix))]
    Postgres(Postgres),
}

impl TestStore {
    pub(crate) async fn new() -> Self {
        match Backend::current() {
            Backend::Memory => Self { store: Arc::new(MemoryStore::new()), place: Kept::Nothing },
            #[cfg(feature = "sled")]
            Backend::Folder => {
                let place = Place::new();
                let builder = SledStore::builder(place.path().join("store")).cache_size(CACHE_SIZE);
                let store = Arc::new(builder.open().await.unwrap());
                Self { store: store.clone(), place: Kept::Folder(Folder { store, _place: place }) }
            }
            #[cfg(all(feature = "postgres", unix))]
            Backend::Postgres => {
                let postgres = Postgres::open().await;
                Self { store: postgres.store(), place: Kept::Postgres(postgres) }
            }
        }
    }

    /// Returns the store. Drop it before this value, which removes the folder.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Asserts that every record is stored as it was written. Afterwards a folder reads all records from the disk.
    pub(crate) async fn verify(&self) {
        match &self.place {
            Kept::Nothing => {}
            #[cfg(feature = "sled")]
            Kept::Folder(folder) => {
                let verification = folder.store.verify().await.unwrap();
                assert!(verification.is_sound(), "{verification}");
            }
            #[cfg(all(feature = "postgres", unix))]
            Kept::Postgres(postgres) => postgres.verify().await,
        }
    }
}

/// Size of the cache, in bytes. It is so small that stored bodies are often read from the disk.
#[cfg(feature = "sled")]
const CACHE_SIZE: usize = 4096;

/// A store in a folder that lasts as long as the store.
#[cfg(feature = "sled")]
#[derive(Debug)]
struct Folder {
    store: Arc<SledStore>,
    /// Dropped last, because it may wait for the store.
    _place: Place,
}
