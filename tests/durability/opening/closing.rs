use std::collections::BTreeSet;
use std::sync::Arc;

use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Facets, Name, Precondition, Query, SledStore, Store, StoreError, StoreErrorKind, UniqueKey,
};

use super::{batch, body, key, open, truth};
use crate::place::Place;
use crate::support::{compare, everything};

fn is_unavailable<T>(outcome: Result<T, StoreError>) -> bool {
    outcome.is_err_and(|error| *error.kind() == StoreErrorKind::Unavailable)
}

#[tokio::test]
async fn every_call_after_the_close_is_unavailable_also_a_second_close() {
    let folder = Place::new();
    let store = open(folder.path()).await;
    store.commit(batch(1)).await.unwrap();
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
    compare(&open(folder.path()).await, &truth([1])).await.unwrap();
}

#[tokio::test]
async fn of_two_closes_at_the_same_time_none_hangs_and_the_folder_is_free() {
    let folder = Place::new();
    let store = open(folder.path()).await;
    store.commit(batch(1)).await.unwrap();
    let (first, second) = tokio::join!(store.close(), store.close());
    assert!(first.is_ok() || second.is_ok());
    compare(&open(folder.path()).await, &truth([1])).await.unwrap();
}

#[tokio::test]
async fn what_was_asked_for_before_the_close_is_done_before_it() {
    let folder = Place::new();
    let store = open(folder.path()).await;
    let again = || {
        let mut batch = Batch::new();
        batch.put(key(1), Precondition::Any, Facets::default(), body(1));
        store.commit(batch)
    };
    // Each of them waits until the one before it is written.
    let (first, second, third, closed) = tokio::join!(again(), again(), again(), store.close());
    first.and(second).and(third).and(closed).unwrap();
    compare(&open(folder.path()).await, &truth([1])).await.unwrap();
}

#[tokio::test]
async fn a_snapshot_keeps_a_dropped_store_open_until_it_is_dropped_too() {
    let folder = Place::new();
    let store = SledStore::builder(folder.path()).cache_size(0).open().await.unwrap();
    store.commit(batch(1)).await.unwrap();
    let mut snapshot = store.snapshot().await.unwrap();
    store.commit(batch(2)).await.unwrap();
    drop(store);
    assert!(is_unavailable(SledStore::open(folder.path()).await));
    assert_eq!(snapshot.next(10).await.unwrap().len(), 1);
    assert!(snapshot.next(10).await.unwrap().is_empty());
    drop(snapshot);
    compare(&open(folder.path()).await, &truth([1, 2])).await.unwrap();
}

#[tokio::test]
async fn a_snapshot_of_a_store_that_was_closed_ends_in_an_error_and_does_not_keep_the_folder() {
    let folder = Place::new();
    let store = open(folder.path()).await;
    store.commit(batch(1)).await.unwrap();
    let store = {
        store.close().await.unwrap();
        open(folder.path()).await
    };
    let mut snapshot = store.snapshot().await.unwrap();
    store.close().await.unwrap();
    assert!(is_unavailable(snapshot.next(10).await));
    let next = open(folder.path()).await;
    assert_eq!(everything(&next).await.unwrap().len(), 1);
    assert!(is_unavailable(snapshot.next(10).await));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_what_is_committed_while_the_store_is_closed_all_is_there_that_was_acknowledged() {
    for round in 0..5 {
        let folder = Place::new();
        let store = Arc::new(open(folder.path()).await);
        let mut commits = tokio::task::JoinSet::new();
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
        let found = everything(&open(folder.path()).await).await.unwrap();
        let missing = acknowledged.iter().find(|number| !found.contains_key(&key(**number)));
        assert_eq!(missing, None, "{} acknowledged, {} found", acknowledged.len(), found.len());
    }
}

#[tokio::test]
async fn a_store_that_is_dropped_outside_of_any_runtime_lets_its_folder_go() {
    let folder = Place::new();
    let path = folder.path().to_owned();
    let store = open(&path).await;
    store.commit(batch(1)).await.unwrap();
    std::thread::spawn(move || drop(store)).join().unwrap();
    compare(&open(&path).await, &truth([1])).await.unwrap();
}
