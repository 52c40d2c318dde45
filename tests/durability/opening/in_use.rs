use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use toposcope::store::{SledStore, Store, StoreErrorKind};

use super::{assert_error, batch, fill, open, truth};
use crate::place::Place;
use crate::support::{Child, PATIENCE, compare, say};

/// Time within which an attempt to open a folder in use must fail.
const SOON: Duration = Duration::from_secs(20);

/// Adds a record and keeps the folder open until the process is killed.
pub(crate) async fn hold(arguments: &[String]) {
    let store = open(Path::new(&arguments[0])).await;
    store.commit(batch(2)).await.unwrap();
    say("held");
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_folder_that_this_process_has_open_is_refused_by_its_name_and_the_first_store_goes_on() {
    let folder = Place::new();
    let first = open(folder.path()).await;
    let begin = Instant::now();
    let error = SledStore::open(folder.path()).await.unwrap_err();
    assert_error(&error, &StoreErrorKind::Unavailable, folder.path());
    assert!(begin.elapsed() < SOON);
    first.commit(batch(1)).await.unwrap();
    compare(&first, &truth([1])).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_another_process_has_open_is_refused_until_that_process_is_gone() {
    let folder = Place::new();
    fill(folder.path()).await;
    let child = Child::start("hold", &[folder.path().to_str().unwrap().to_owned()]);
    assert_eq!(child.next(PATIENCE).as_deref(), Some("held"));
    let begin = Instant::now();
    let error = SledStore::open(folder.path()).await.unwrap_err();
    assert_error(&error, &StoreErrorKind::Unavailable, folder.path());
    assert!(begin.elapsed() < SOON);
    child.kill();
    compare(&open(folder.path()).await, &truth([1, 2])).await.unwrap();
}

#[tokio::test]
async fn a_folder_opens_at_once_after_its_store_was_closed_or_dropped_whatever_was_under_way() {
    let folder = Place::new();
    for round in 0..10 {
        let store = open(folder.path()).await;
        compare(&store, &truth(0..round)).await.unwrap();
        store.commit(batch(round)).await.unwrap();
        if round % 3 == 0 {
            store.close().await.unwrap();
        }
    }
    compare(&open(folder.path()).await, &truth(0..10)).await.unwrap();
}

#[tokio::test]
async fn a_store_that_is_waited_for_opens_when_the_one_before_lets_go() {
    let folder = Place::new();
    let first = open(folder.path()).await;
    first.commit(batch(1)).await.unwrap();
    let (second, ()) = tokio::join!(SledStore::open(folder.path()), async { drop(first) });
    compare(&second.unwrap(), &truth([1])).await.unwrap();
}

#[tokio::test]
async fn an_opening_that_is_given_up_leaves_the_folder_to_the_next() {
    let folder = Place::new();
    fill(folder.path()).await;
    for _ in 0..5 {
        let mut opening = pin!(SledStore::open(folder.path()));
        // Started on a thread of its own; this test does not wait for it.
        assert!(opening.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    compare(&open(folder.path()).await, &truth([1])).await.unwrap();
}
