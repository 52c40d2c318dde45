//! Verification concurrent with commits, checkpoints, and the end of the store.

use std::error::Error;
use std::fs;
use std::future::{Future, poll_fn};
use std::path::Path;
use std::pin::Pin;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::task::Poll;
use std::thread;

use bytes::Bytes;
use toposcope::store::{
    Batch, Durability, Export, Facets, Precondition, SledStore, Store, StoreError, StoreErrorKind,
    Verification,
};

use super::start_runtime;
use crate::child::TIMEOUT;
use crate::contents::chain;
use crate::fixture::{Fixture, assert_sound, copy, key};

/// An operation of a store in progress.
type Running<'s, T> = Pin<Box<dyn Future<Output = T> + 's>>;

/// Polls a future at most this many times. Returns `None` if it is not ready by then.
async fn polled<T>(future: &mut Running<'_, T>, times: usize) -> Option<T> {
    let mut left = times;
    poll_fn(|context| {
        if left > 0 {
            left -= 1;
            if let Poll::Ready(outcome) = future.as_mut().poll(context) {
                return Poll::Ready(Some(outcome));
            }
        }
        if left == 0 { Poll::Ready(None) } else { Poll::Pending }
    })
    .await
}

/// Returns a body that is short enough to be stored as it is.
fn body(number: u128, round: usize) -> Vec<u8> {
    format!("body {number} of round {round} ").into_bytes().repeat(10)
}

/// Puts records whose bodies contain the round, in one batch.
async fn put(store: &SledStore, numbers: impl IntoIterator<Item = u128>, round: usize) {
    let mut batch = Batch::new();
    for number in numbers {
        batch.put(key(number), Precondition::Any, Facets::default(), body(number, round));
    }
    store.commit(batch).await.unwrap();
}

/// Number of records in the store while commits and checkpoints are made.
const RECORDS: u128 = 600;

/// Number of a record that fills a file of the log. It does so either at once or by its replacements.
const BALLAST: u128 = 1_000_000;

/// Opens a store without a cache. Only checkpoints are written to the disk at once.
async fn open_buffered(fixture: &Fixture) -> SledStore {
    fixture.open_with(|builder| builder.durability(Durability::Buffered).cache_size(0)).await
}

/// Checkpoints everything committed before, while a verification may run. A checkpoint begins when the log is
/// full, and a second one only when the first is complete.
async fn check_point(store: &SledStore) {
    // The first is cheap, because it applies one replacement only. After the second, verification takes long.
    for (round, (size, replacements)) in [(1 << 20, 33), (33 << 20, 1)].into_iter().enumerate() {
        let body = Bytes::from(vec![7; size]);
        for _ in 0..replacements {
            let mut batch = Batch::new();
            batch.put(key(BALLAST), Precondition::Any, Facets::default(), body.clone());
            store.commit(batch).await.unwrap();
        }
        put(store, [BALLAST + 1], round).await;
    }
}

/// Replaces, deletes and adds records throughout the key order. The round determines which records change.
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
    let mut verification: Running<'_, _> = Box::pin(store.verify());
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
    let fixture = Fixture::new();
    let store = open_buffered(&fixture).await;
    put(&store, 0..RECORDS, 0).await;
    let found = verify_beside(&store, &[2, 4]).await.unwrap();
    assert!(found.is_sound(), "{found}");
    assert_sound(&store).await;
    store.close().await.unwrap();
}

/// Damages the bodies of these records in one copy. It also adds a body without a record.
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
async fn verification_beside_commits_and_checkpoints_finds_all_earlier_damage() {
    let fixture = Fixture::new();
    let store = open_buffered(&fixture).await;
    put(&store, 0..RECORDS, 0).await;
    store.close().await.unwrap();
    // None of these is changed by the rounds 4 and 5.
    let (in_first, in_second) = ([3, 297, 598], [10, 290]);
    damage(&fixture.file("records"), &in_first);
    damage(&fixture.file("records.second"), &in_second);
    let store = open_buffered(&fixture).await;
    let found = verify_beside(&store, &[4]).await.unwrap();
    let problems: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    let damaged = in_first.iter().map(|number| format!("{} is damaged", key(*number)));
    let damaged_in_mirror =
        in_second.iter().map(|number| format!("{} is damaged in the mirror", key(*number)));
    let strays = ["1 bodies belong to no record", "1 bodies of the mirror belong"].map(str::to_owned);
    let expected: Vec<String> = damaged.chain(damaged_in_mirror).chain(strays).collect();
    for text in &expected {
        assert!(problems.iter().any(|problem| problem.contains(text)), "{text}: {problems:#?}");
    }
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
    store.close().await.unwrap();
}

/// Number of records that are read while everything ends, enough for several slices.
const READ_RECORDS: u128 = 300;

/// A call, and the text of its error if it fails.
type Call = for<'s> fn(&'s SledStore) -> Running<'s, Result<(), String>>;

/// How everything ends while a call is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The store is closed; the call and the close are awaited.
    Close,
    /// The call is dropped, and then the store is closed.
    DropAndClose,
    /// The call, the store and the runtime are dropped.
    DropAll,
}

/// Fails the test instead of hanging if the work does not end.
fn within<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, outcome) = channel();
    let worker = thread::spawn(move || {
        let outcome = work();
        let _ = done.send(());
        outcome
    });
    if outcome.recv_timeout(TIMEOUT) == Err(RecvTimeoutError::Timeout) {
        panic!("{what}: hangs");
    }
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Asserts that the store can be opened and is whole. This must be possible at once after everything has ended.
async fn assert_whole(path: &Path) {
    let store = SledStore::open(path).await.unwrap();
    let found = store.verify().await.unwrap();
    assert!(found.is_sound() && u128::from(found.records) == READ_RECORDS, "{found}");
    store.close().await.unwrap();
}

/// Creates a closed folder with this many records.
async fn filled(records: u128) -> Fixture {
    let fixture = Fixture::new();
    let store = fixture.open().await;
    put(&store, 0..records, 0).await;
    store.close().await.unwrap();
    fixture
}

/// Ends everything after the call was polled 0, 1, 2 … times, until it completes. The folder must be free at
/// once each time.
fn end_at_every_moment(call: Call) {
    for ending in [Ending::Close, Ending::DropAndClose, Ending::DropAll] {
        let fixture = start_runtime().block_on(filled(READ_RECORDS));
        let is_over = |moment| {
            let path = fixture.path().to_owned();
            let what = format!("{ending:?} after {moment} polls");
            within(&what, move || end_at(&path, call, ending, moment))
        };
        let moments = (0..).find(|moment| is_over(*moment)).unwrap();
        assert!(moments > 2, "{ending:?}: the call was over after {moments} polls");
        start_runtime().block_on(assert_whole(fixture.path()));
    }
}

/// Returns whether the call had completed by then.
fn end_at(path: &Path, call: Call, ending: Ending, moment: usize) -> bool {
    let runtime = start_runtime();
    let store = runtime.block_on(async {
        let store = SledStore::builder(path).cache_size(0).open().await.unwrap();
        // The next checkpoint then has records to write.
        put(&store, (0..READ_RECORDS).step_by(7), moment).await;
        store
    });
    runtime.block_on(async {
        let mut future = call(&store);
        if polled(&mut future, moment).await.is_some() {
            return true;
        }
        match ending {
            Ending::Close => {
                let (closed, outcome) = tokio::join!(store.close(), future);
                closed.unwrap();
                if let Err(text) = outcome {
                    assert!(text.starts_with("Unavailable"), "{text}");
                    assert!(text.contains("closed") || text.contains("not open"), "{text}");
                }
            }
            Ending::DropAndClose => {
                drop(future);
                store.close().await.unwrap();
            }
            Ending::DropAll => drop(future),
        }
        false
    })
}

fn verify(store: &SledStore) -> Running<'_, Result<(), String>> {
    Box::pin(async {
        let found = store.verify().await.map_err(|error| chain(&error))?;
        assert!(found.is_sound(), "{found}");
        Ok(())
    })
}

fn snapshot(store: &SledStore) -> Running<'_, Result<(), String>> {
    Box::pin(async {
        let mut snapshot = store.snapshot().await.map_err(|error| chain(&error))?;
        while !snapshot.next(60).await.map_err(|error| chain(&error))?.is_empty() {
            // The next chunk may be there already.
            tokio::task::yield_now().await;
        }
        Ok(())
    })
}

fn export(store: &SledStore) -> Running<'_, Result<(), String>> {
    Box::pin(async {
        let outcome = Export::new().write(store, tokio::io::sink()).await;
        outcome.map(|_| ()).map_err(|error| {
            let source = error.source().and_then(|source| source.downcast_ref());
            source.map_or_else(|| error.to_string(), chain)
        })
    })
}

#[test]
fn verification_can_end_with_its_store_at_every_moment() {
    end_at_every_moment(verify);
}

#[test]
fn snapshot_can_end_with_its_store_at_every_moment() {
    end_at_every_moment(snapshot);
}

#[test]
fn export_can_end_with_its_store_at_every_moment() {
    end_at_every_moment(export);
}

#[test]
fn long_verification_ends_early_when_its_store_closes_or_is_dropped() {
    for ending in [Ending::Close, Ending::DropAll] {
        within(&format!("{ending:?}"), move || {
            let runtime = start_runtime();
            let fixture = runtime.block_on(filled(5_000));
            runtime.block_on(async {
                let store = fixture.open().await;
                let mut verification: Running<'_, _> = Box::pin(store.verify());
                assert!(polled(&mut verification, 2).await.is_none());
                if ending == Ending::Close {
                    let (closed, outcome) = tokio::join!(store.close(), verification);
                    closed.unwrap();
                    let error = outcome.unwrap_err();
                    assert_eq!(*error.kind(), StoreErrorKind::Unavailable);
                    assert!(error.to_string().contains("closed"), "{error}");
                }
            });
            drop(runtime);
        });
    }
}

#[test]
fn repair_dropped_at_every_moment_leaves_a_folder_that_can_be_repaired() {
    let fixture = start_runtime().block_on(filled(READ_RECORDS));
    for moment in 0.. {
        let (path, damaged) = (fixture.path().to_owned(), fixture.beside(&format!("damaged {moment}")));
        let is_over = within(&format!("repair after {moment} polls"), move || {
            copy(&path, &damaged);
            fs::write(damaged.join("records/db"), "nothing of the records").unwrap();
            end_repair_at(&damaged, moment)
        });
        if is_over {
            return;
        }
    }
}

/// Returns whether the repair had completed by then.
fn end_repair_at(folder: &Path, moment: usize) -> bool {
    let runtime = start_runtime();
    let is_over = runtime.block_on(async {
        let mut repair: Running<'_, _> = Box::pin(SledStore::repair(folder));
        polled(&mut repair, moment).await.is_some()
    });
    drop(runtime);
    start_runtime().block_on(async {
        if !is_over {
            let repair = SledStore::repair(folder).await.unwrap();
            assert!(repair.is_complete(), "{repair}");
        }
        assert_whole(folder).await;
    });
    is_over
}
