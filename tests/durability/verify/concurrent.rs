use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use toposcope::store::{Batch, Durability, Facets, Precondition, SledStore, Store, StoreError, Verification};

use super::{body, key, polled, put};
use crate::place::Place;

const RECORDS: u128 = 600;

/// Number of a record so large that a checkpoint begins after it.
const BALLAST: u128 = 1_000_000;
const BALLAST_SIZE: usize = 33 << 20;

async fn open(path: &Path) -> SledStore {
    SledStore::builder(path).durability(Durability::Buffered).cache_size(0).open().await.unwrap()
}

/// Checkpoints everything committed before, while a verification may run. A checkpoint begins when the log is
/// full, and a second one only when the first is complete.
async fn check_point(store: &SledStore) {
    for round in 0..2 {
        let mut batch = Batch::new();
        batch.put(key(BALLAST), Precondition::Any, Facets::default(), vec![7; BALLAST_SIZE]);
        store.commit(batch).await.unwrap();
        put(store, [BALLAST + 1], round).await;
    }
}

/// Replaces, deletes and adds records throughout the key order, some of them anew in each round.
async fn change(store: &SledStore, round: usize) {
    put(store, (0..RECORDS).filter(|number| number % 7 == round as u128 % 7), round).await;
    put(store, (0..40).map(|number| RECORDS + 50 * round as u128 + number), round).await;
    let mut batch = Batch::new();
    for number in (0..RECORDS).filter(|number| number % 41 == round as u128) {
        batch.delete(key(number), Precondition::Any);
    }
    store.commit(batch).await.unwrap();
}

/// Runs a verification. After each of these numbers of slices, it makes changes and checkpoints them, and
/// makes further changes that wait for a checkpoint.
async fn verify_beside(store: &SledStore, moments: &[usize]) -> Result<Verification, StoreError> {
    let mut verification: Pin<Box<dyn Future<Output = _> + '_>> = Box::pin(store.verify());
    let mut moment = 0;
    loop {
        if moments.contains(&moment) {
            change(store, moment).await;
            check_point(store).await;
            change(store, moment + 1).await;
        }
        // The first poll may find the slice in progress that the last one has begun.
        if let Some(found) = polled(&mut verification, 2).await {
            assert!(moments.iter().all(|at| *at <= moment), "over after {moment} slices");
            return found;
        }
        moment += 1;
    }
}

#[tokio::test]
async fn verification_beside_commits_and_checkpoints_raises_no_false_alarm() {
    let folder = Place::new();
    let store = open(folder.path()).await;
    put(&store, 0..RECORDS, 0).await;
    let found = verify_beside(&store, &[2, 5, 10]).await.unwrap();
    assert!(found.is_sound(), "{found}");
    let found = store.verify().await.unwrap();
    assert!(found.is_sound(), "{found}");
    store.close().await.unwrap();
}

/// Damages the bodies of these records in one copy, and adds a body without a record.
fn damage(copy: &Path, numbers: &[u128]) {
    let records = sled::Config::new().path(copy).segment_size(512 << 10).open().unwrap();
    let tree = records.open_tree("records").unwrap();
    for number in numbers {
        let body = body(*number, 0);
        let mut entries = tree.scan_prefix("b").map(Result::unwrap);
        let (key, value) = entries.find(|(_, value)| value.starts_with(&body)).unwrap();
        tree.insert(key, [&value[1..], b"?"].concat()).unwrap();
    }
    tree.insert(*b"bstrange!0000", "a body").unwrap();
    records.flush().unwrap();
}

#[tokio::test]
async fn verification_beside_commits_and_checkpoints_finds_all_damage_that_was_there() {
    let folder = Place::new();
    let store = open(folder.path()).await;
    put(&store, 0..RECORDS, 0).await;
    store.close().await.unwrap();
    // None of these is changed by the rounds 4 and 5.
    let (in_first, in_second) = ([3, 297, 598], [10, 290]);
    damage(&folder.path().join("records"), &in_first);
    damage(&folder.path().join("records.second"), &in_second);
    let store = open(folder.path()).await;
    let found = verify_beside(&store, &[4]).await.unwrap();
    let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    let damaged = in_first.iter().map(|number| format!("{} is damaged", key(*number)));
    let damaged_in_second =
        in_second.iter().map(|number| format!("{} is damaged in the second", key(*number)));
    let strays = ["1 bodies belong to no record", "1 bodies of the second copy belong"].map(str::to_owned);
    let expected: Vec<String> = damaged.chain(damaged_in_second).chain(strays).collect();
    for text in &expected {
        assert!(problems.iter().any(|problem| problem.contains(text)), "{text}: {problems:#?}");
    }
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    store.close().await.unwrap();
}
