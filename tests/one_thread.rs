//! A store in a folder on a single-threaded runtime: an operation that waits for the disk does not block
//! other tasks.

#![cfg(all(feature = "sled", unix))]
#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "support/place.rs"]
mod place;

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::yield_now;
use toposcope::store::{
    Batch, Facets, Key, Name, Precondition, Query, SledStore, Store, StoreErrorKind, UniqueKey,
};
use uuid::Uuid;

use self::place::Place;

const KIND: Name = Name::new("note");
const MAIL: Name = Name::new("mail");

/// Far longer than any operation in these tests takes.
const FOR_EVER: Duration = Duration::from_secs(60);

fn key(number: u128) -> Key {
    Key::new(KIND, Uuid::from_u128(number))
}

fn note(number: u128) -> Batch {
    let mut batch = Batch::new();
    let unique_key = UniqueKey::new(MAIL, number.to_be_bytes());
    batch.put(key(number), Precondition::Absent, Facets::default().with_unique_keys([unique_key]), "a note");
    batch
}

/// Runs every kind of read again and again, while other tasks get their turns.
async fn read(store: &SledStore, count: u64) {
    for _ in 0..20 {
        assert!(store.get(&[key(1)]).await.unwrap()[0].is_some());
        assert!(
            store.get_by_unique_key(&UniqueKey::new(MAIL, 1_u128.to_be_bytes())).await.unwrap().is_some()
        );
        assert_eq!(store.list(&Query::new(KIND)).await.unwrap().total, count);
        assert_eq!(store.snapshot().await.unwrap().next(10).await.unwrap().len() as u64, count);
        yield_now().await;
    }
}

fn is_pending<F: Future>(future: Pin<&mut F>) -> bool {
    matches!(future.poll(&mut Context::from_waker(Waker::noop())), Poll::Pending)
}

/// Opens a pipe, waits for its writer, and drains it when told to, or after the timeout, when the test has
/// failed.
fn hold_up(pipe: PathBuf, arrived: oneshot::Sender<()>, told: Receiver<()>) -> JoinHandle<bool> {
    thread::spawn(move || {
        let mut pipe = File::open(pipe).unwrap();
        arrived.send(()).unwrap();
        let is_told = told.recv_timeout(FOR_EVER) != Err(RecvTimeoutError::Timeout);
        io::copy(&mut pipe, &mut io::sink()).unwrap();
        is_told
    })
}

/// A checkpoint first preallocates disk space. Where it would write for that, it finds a pipe without a
/// reader.
#[tokio::test]
async fn while_a_checkpoint_waits_for_the_disk_others_read_and_write() {
    let folder = Place::new();
    let store = SledStore::open(folder.path().join("store")).await.unwrap();
    store.commit(note(1)).await.unwrap();
    store.commit(note(2)).await.unwrap();
    let pipe = store.folder().join("room");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let ((arrive, arrived), (tell, told)) = (oneshot::channel(), channel());
    let held_up = hold_up(pipe, arrive, told);

    let mut verification = pin!(store.verify());
    tokio::select! {
        biased;
        _ = &mut verification => panic!("nobody has read from the pipe"),
        arrived = arrived => arrived.unwrap(),
    }
    read(&store, 2).await;
    // A commit waits for the log only, not for the checkpoint.
    store.commit(note(3)).await.unwrap();
    read(&store, 3).await;
    tell.send(()).unwrap();
    assert!(verification.await.unwrap().is_sound());
    read(&store, 3).await;
    assert!(held_up.join().unwrap(), "the thread was held up");
}

#[tokio::test]
async fn an_opening_that_waits_for_a_former_holder_lets_it_go() {
    let folder = Place::new();
    let path = folder.path().join("store");
    let first = SledStore::open(&path).await.unwrap();
    first.commit(note(1)).await.unwrap();
    let mut second = pin!(SledStore::open(&path));
    assert!(is_pending(second.as_mut()));
    read(&first, 1).await;
    let (second, closed) = tokio::join!(second, first.close());
    closed.unwrap();
    read(&second.unwrap(), 1).await;
}

#[test]
fn a_store_outlives_the_runtime_and_so_does_what_was_begun_there() {
    let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
    let folder = Place::new();
    let store = runtime().block_on(SledStore::open(folder.path().join("store"))).unwrap();
    runtime().block_on(async {
        let begun = store.commit(note(1));
        is_pending(pin!(begun).as_mut());
    });
    runtime().block_on(async {
        // A later operation waits for the earlier ones.
        store.purge_expired("2026-08-14T12:00:00Z".parse().unwrap()).await.unwrap();
        read(&store, 1).await;
        store.close().await.unwrap();
    });
}

#[test]
fn what_needs_the_disk_is_refused_outside_of_any_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let folder = Place::new();
    let store = runtime.block_on(async {
        let store = SledStore::builder(folder.path().join("store")).cache_size(0).open().await.unwrap();
        store.commit(note(1)).await.unwrap();
        store.verify().await.unwrap();
        store
    });
    let keys = [key(1)];
    let mut reading = pin!(store.get(&keys));
    let outcome = reading.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(Err(error)) = outcome else { panic!("{outcome:?}") };
    assert_eq!(*error.kind(), StoreErrorKind::Invalid, "{error}");
}
