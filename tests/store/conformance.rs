//! Runs the conformance suite on the stores.

use toposcope::store::MemoryStore;
use toposcope::testing::{self, ReferenceStore};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_store_conforms_on_several_threads() {
    testing::run(async || MemoryStore::new()).await.assert_passed();
}

#[tokio::test]
async fn memory_store_conforms_on_one_thread() {
    testing::run(async || MemoryStore::new()).await.assert_passed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reference_store_conforms_on_several_threads() {
    testing::run(async || ReferenceStore::default()).await.assert_passed();
}

#[tokio::test]
async fn reference_store_conforms_on_one_thread() {
    testing::run(async || ReferenceStore::default()).await.assert_passed();
}

#[cfg(feature = "sled")]
mod folder {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use toposcope::store::{Durability, SledStore, SledStoreBuilder, Store, StoreError};
    use toposcope::testing::{self, Call, Intercept, Interceptor, Operation, Reply};

    use crate::fixture::{Fixture, assert_sound};

    /// Number of cases that share a store: opening one takes longer than most cases. Snapshots contain the
    /// records of all of them.
    const CASES: usize = 16;

    /// Number of commits after which a checkpoint is forced.
    const COMMITS: usize = 100;

    /// A hook that occasionally checkpoints all commits before a read. The records are then read from the sled trees,
    /// and changed there by the next commits.
    #[derive(Debug)]
    struct Checkpoints {
        store: Arc<SledStore>,
        commits: AtomicUsize,
    }

    #[async_trait]
    impl Intercept for Checkpoints {
        async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
            if matches!(call.operation(), Operation::Commit(_) | Operation::PurgeExpired(_)) {
                self.commits.fetch_add(1, Ordering::Relaxed);
            } else if self.commits.load(Ordering::Relaxed) >= COMMITS {
                self.commits.store(0, Ordering::Relaxed);
                let verification = self.store.verify().await?;
                if !verification.is_sound() {
                    return Err(StoreError::corrupt(verification.to_string()));
                }
            }
            call.proceed().await
        }
    }

    /// Runs all cases on stores opened and wrapped like this, and verifies the contents.
    async fn assert_conforms<S: Store>(
        options: fn(SledStoreBuilder) -> SledStoreBuilder,
        wrap: fn(Arc<SledStore>) -> S,
    ) {
        let (mut current, mut cases) = (None, 0);
        let make = async || {
            if cases % CASES == 0 {
                close(current.take()).await;
                let fixture = Fixture::new();
                let store = Arc::new(fixture.open_with(options).await);
                current = Some((fixture, Arc::clone(&store), Arc::new(wrap(store))));
            }
            cases += 1;
            current.as_ref().map(|(.., wrapped)| Arc::clone(wrapped)).unwrap()
        };
        testing::run(make).await.assert_passed();
        close(current).await;
    }

    async fn close<S>(current: Option<(Fixture, Arc<SledStore>, S)>) {
        if let Some((_fixture, store, _)) = current {
            assert_sound(&store).await;
            store.close().await.unwrap();
        }
    }

    // Together these cover one and several threads, both kinds of durability, and bodies in memory and on disk.
    #[tokio::test]
    async fn sled_store_conforms_on_one_thread() {
        assert_conforms(|builder| builder, |store| store).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn sled_store_that_does_not_wait_for_the_disk_conforms_on_several_threads() {
        assert_conforms(|builder| builder.durability(Durability::Buffered), |store| store).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn sled_store_conforms_on_several_threads_where_every_body_is_read_from_disk() {
        let wrap = |store: Arc<SledStore>| {
            let hook = Checkpoints { store: Arc::clone(&store), commits: AtomicUsize::new(0) };
            Interceptor::new(store, hook)
        };
        assert_conforms(|builder| builder.cache_size(0), wrap).await;
    }
}
