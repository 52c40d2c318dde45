//! A store in a folder on a single-threaded runtime.
//!
//! An operation that waits for the disk must not block other tasks.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;
use tokio::task::yield_now;
use toposcope::store::{
    Batch, Facets, Name, Precondition, Query, SledStore, Store, StoreErrorKind, UniqueKey,
};

use crate::child::TIMEOUT;
use crate::fixture::{Fixture, key};

const KIND: Name = Name::new("note");
const MAIL: Name = Name::new("mail");

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

/// Opens a pipe, waits for its writer, and drains the pipe on a signal. If the signal does not come before the timeout,
/// the test has failed, and the pipe is drained too.
fn hold_up(pipe: PathBuf, arrived: oneshot::Sender<()>, signal: Receiver<()>) -> JoinHandle<bool> {
    thread::spawn(move || {
        let mut pipe = File::open(pipe).unwrap();
        arrived.send(()).unwrap();
        let is_signaled = signal.recv_timeout(TIMEOUT) != Err(RecvTimeoutError::Timeout);
        io::copy(&mut pipe, &mut io::sink()).unwrap();
        is_signaled
    })
}

/// A checkpoint first preallocates disk space. Instead of the file for it, the checkpoint finds a pipe without a
/// reader.
#[tokio::test]
async fn reads_and_commits_proceed_while_a_checkpoint_waits_for_the_disk() {
    let fixture = Fixture::new();
    let store = fixture.open().await;
    store.commit(note(1)).await.unwrap();
    store.commit(note(2)).await.unwrap();
    let pipe = fixture.file("room");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let ((arrive, arrived), (release, signal)) = (oneshot::channel(), channel());
    let held_up = hold_up(pipe, arrive, signal);

    let mut verification = pin!(store.verify());
    tokio::select! {
        biased;
        _ = &mut verification => panic!("the pipe has no reader yet"),
        arrived = arrived => arrived.unwrap(),
    }
    read(&store, 2).await;
    // A commit waits for the log only, not for the checkpoint.
    store.commit(note(3)).await.unwrap();
    read(&store, 3).await;
    release.send(()).unwrap();
    assert!(verification.await.unwrap().is_sound());
    read(&store, 3).await;
    assert!(held_up.join().unwrap(), "the thread was held up");
}

#[tokio::test]
async fn opening_that_waits_for_another_store_does_not_block_it() {
    let fixture = Fixture::new();
    let first = fixture.open().await;
    first.commit(note(1)).await.unwrap();
    let mut second = pin!(SledStore::open(fixture.path()));
    assert!(is_pending(second.as_mut()));
    read(&first, 1).await;
    let (second, closed) = tokio::join!(second, first.close());
    closed.unwrap();
    read(&second.unwrap(), 1).await;
}

#[test]
fn store_and_its_operations_outlive_the_runtime() {
    let runtime = || tokio::runtime::Builder::new_current_thread().build().unwrap();
    let fixture = Fixture::new();
    let store = runtime().block_on(fixture.open());
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
fn read_from_disk_is_invalid_outside_of_a_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let fixture = Fixture::new();
    let store = runtime.block_on(async {
        let store = fixture.open_with(|builder| builder.cache_size(0)).await;
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
