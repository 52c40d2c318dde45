//! Stores around a store.

use std::mem::{Discriminant, discriminant};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use toposcope::model::Timestamp;
use toposcope::store::{Batch, Key, MemoryStore, Name, Query, Store, StoreError, UniqueKey, Wrapper};
use toposcope::testing::{Call, Intercept, Interceptor, Operation, Reply};
use uuid::Uuid;

const NOTE: Name = Name::new("note");

/// A wrapper that changes nothing.
#[derive(Debug)]
struct Bare<S>(S);

impl<S: Store> Wrapper for Bare<S> {
    fn inner(&self) -> &dyn Store {
        &self.0
    }
}

/// A wrapper that refuses commits.
#[derive(Debug)]
struct ReadOnly<S>(S);

#[async_trait]
impl<S: Store> Wrapper for ReadOnly<S> {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    async fn commit(&self, _: Batch) -> Result<(), StoreError> {
        Err(StoreError::unavailable("read-only"))
    }
}

/// Records which operations arrive.
#[derive(Debug, Default)]
struct Arrivals(Mutex<Vec<Discriminant<Operation>>>);

#[async_trait]
impl Intercept for Arrivals {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        self.0.lock().unwrap().push(discriminant(call.operation()));
        call.proceed().await
    }
}

async fn call_every_method(store: &dyn Store) {
    store.get(&[Key::new(NOTE, Uuid::nil())]).await.unwrap();
    store.get_by_unique_key(&UniqueKey::new(NOTE, "a")).await.unwrap();
    store.list(&Query::new(NOTE)).await.unwrap();
    let _ = store.commit(Batch::new()).await;
    store.purge_expired(Timestamp::UNIX_EPOCH).await.unwrap();
    store.snapshot().await.unwrap();
    assert!(store.revision(NOTE, Uuid::nil()).await.unwrap().is_some());
    // That of `MemoryStore`, not the default of the trait.
    assert!(!store.is_shared());
}

#[tokio::test]
async fn wrapper_passes_on_every_method_that_it_does_not_change() {
    let arrivals = Arc::new(Arrivals::default());
    let store = Interceptor::new(MemoryStore::new(), Arc::clone(&arrivals));
    call_every_method(&Bare(Bare(Arc::new(store)))).await;
    let seen = std::mem::take(&mut *arrivals.0.lock().unwrap());
    assert_eq!(seen.len(), 7);
    assert!((1..7).all(|place| !seen[..place].contains(&seen[place])), "each operation once: {seen:?}");
}

#[tokio::test]
async fn wrapper_changes_only_the_methods_that_it_implements() {
    let arrivals = Arc::new(Arrivals::default());
    let store = ReadOnly(Interceptor::new(MemoryStore::new(), Arc::clone(&arrivals)));
    call_every_method(&store).await;
    assert!(Store::commit(&store, Batch::new()).await.is_err());
    assert_eq!(arrivals.0.lock().unwrap().len(), 6);
}
