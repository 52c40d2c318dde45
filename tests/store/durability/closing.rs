//! Closing and dropping of stores.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::JoinSet;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Facets, Name, Precondition, Query, SledStore, Store, StoreError, StoreErrorKind, UniqueKey,
};

use crate::compare::compare;
use crate::contents::entries;
use crate::fixture::{Fixture, batch, body, key, truth};

fn is_unavailable<T>(outcome: Result<T, StoreError>) -> bool {
    outcome.is_err_and(|error| *error.kind() == StoreErrorKind::Unavailable)
}

/// Creates a fixture and an open store with the first note.
async fn opened() -> (Fixture, SledStore) {
    let fixture = Fixture::new();
    let store = fixture.open().await;
    store.commit(batch(1)).await.unwrap();
    (fixture, store)
}

#[tokio::test]
async fn closed_store_is_unavailable_for_every_call() {
    let (fixture, store) = opened().await;
    store.close().await.unwrap();
    assert!(is_unavailable(store.get(&[key(1)]).await));
    assert!(is_unavailable(store.get(&[]).await));
    assert!(is_unavailable(store.get_by_unique_key(&UniqueKey::new(Name::new("mail"), "a")).await));
    assert!(is_unavailable(store.list(&Query::new(Name::new("note"))).await));
    assert!(is_unavailable(store.commit(batch(2)).await));
    assert!(is_unavailable(store.purge_expired(Timestamp::MAX).await));
    assert!(is_unavailable(store.snapshot().await));
    assert!(is_unavailable(store.verify().await));
    assert!(is_unavailable(store.close().await));
    // The closed store still exists, but holds nothing of the folder.
    fixture.assert_holds([1]).await;
}

#[tokio::test]
async fn concurrent_closes_complete_and_release_the_folder() {
    let (fixture, store) = opened().await;
    let (first, second) = tokio::join!(store.close(), store.close());
    assert!(first.is_ok() || second.is_ok());
    fixture.assert_holds([1]).await;
}

#[tokio::test]
async fn calls_before_the_close_complete_before_it() {
    let (fixture, store) = opened().await;
    let again = || {
        let mut batch = Batch::new();
        batch.put(key(1), Precondition::Any, Facets::default(), body(1));
        store.commit(batch)
    };
    // Each of them waits until the one before it is written.
    let (first, second, third, closed) = tokio::join!(again(), again(), again(), store.close());
    first.and(second).and(third).and(closed).unwrap();
    fixture.assert_holds([1]).await;
}

#[tokio::test]
async fn snapshot_keeps_a_dropped_store_open() {
    let fixture = Fixture::new();
    let store = fixture.open_with(|builder| builder.cache_size(0)).await;
    store.commit(batch(1)).await.unwrap();
    let mut snapshot = store.snapshot().await.unwrap();
    store.commit(batch(2)).await.unwrap();
    drop(store);
    assert!(is_unavailable(SledStore::open(fixture.path()).await));
    assert_eq!(snapshot.next(10).await.unwrap().len(), 1);
    assert!(snapshot.next(10).await.unwrap().is_empty());
    drop(snapshot);
    fixture.assert_holds([1, 2]).await;
}

#[tokio::test]
async fn snapshot_of_a_closed_store_is_unavailable_and_does_not_keep_the_folder() {
    let (fixture, store) = opened().await;
    store.close().await.unwrap();
    let store = fixture.open().await;
    let mut snapshot = store.snapshot().await.unwrap();
    store.close().await.unwrap();
    assert!(is_unavailable(snapshot.next(10).await));
    let next = fixture.open().await;
    compare(&next, &truth([1])).await.unwrap();
    assert!(is_unavailable(snapshot.next(10).await));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn commits_acknowledged_during_the_close_are_kept() {
    for round in 0..5 {
        let fixture = Fixture::new();
        let store = Arc::new(fixture.open().await);
        let mut commits = JoinSet::new();
        for number in 0..200 {
            let store = Arc::clone(&store);
            commits.spawn(async move { (number, store.commit(batch(number)).await) });
        }
        let mut outcomes = Vec::new();
        for _ in 0..round * 20 {
            outcomes.extend(commits.join_next().await.map(Result::unwrap));
        }
        store.close().await.unwrap();
        outcomes.extend(commits.join_all().await);
        let refused = outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().err());
        assert!(refused.clone().all(|error| *error.kind() == StoreErrorKind::Unavailable));
        let acknowledged = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).map(|(number, _)| *number);
        let acknowledged: BTreeSet<u128> = acknowledged.collect();
        let found = entries(&fixture.open().await).await.unwrap();
        let missing = acknowledged.iter().find(|number| !found.contains_key(&key(**number)));
        assert_eq!(missing, None, "{} acknowledged, {} found", acknowledged.len(), found.len());
    }
}

#[tokio::test]
async fn store_dropped_outside_of_a_runtime_releases_its_folder() {
    let (fixture, store) = opened().await;
    std::thread::spawn(move || drop(store)).join().unwrap();
    fixture.assert_holds([1]).await;
}
