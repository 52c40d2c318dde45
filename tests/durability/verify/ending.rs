use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use toposcope::store::{Export, SledStore, Store, StoreErrorKind};

use super::{polled, put};
use crate::place::Place;
use crate::support::{chain, copy, start_runtime};

/// Far longer than any operation here takes.
const PATIENCE: Duration = Duration::from_secs(60);

const RECORDS: u128 = 500;

/// Outcome of a call: the kind and the text of its error, if it failed.
type Outcome = Result<(), (StoreErrorKind, String)>;
type Call = for<'s> fn(&'s SledStore) -> Pin<Box<dyn Future<Output = Outcome> + 's>>;

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

/// Fails the test when the work does not end, instead of hanging.
fn within<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, outcome) = channel();
    let worker = thread::spawn(move || {
        let outcome = work();
        let _ = done.send(());
        outcome
    });
    if outcome.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
        panic!("{what}: hangs");
    }
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Ends everything after the call was polled 0, 1, 2 … times, until it completes. The folder must be free at
/// once each time.
fn end_at_every_moment(name: &str, call: Call, ending: Ending) {
    let folder = Place::new();
    let mut moment = 0;
    loop {
        let path = folder.path().to_owned();
        let what = format!("{name}, {ending:?} after {moment} polls");
        let is_over = within(&what, move || end_at(&path, call, ending, moment));
        if is_over {
            break;
        }
        moment += 1;
    }
    assert!(moment > 2, "the call of {name} was over after {moment} polls");
    start_runtime().block_on(async {
        let store = SledStore::open(folder.path()).await.unwrap();
        let found = store.verify().await.unwrap();
        assert!(found.is_sound() && found.records == u64::try_from(RECORDS).unwrap(), "{found}");
        store.close().await.unwrap();
    });
}

/// Returns whether the call had completed by then.
fn end_at(path: &Path, call: Call, ending: Ending, moment: usize) -> bool {
    let runtime = start_runtime();
    let store = runtime.block_on(async {
        let store = SledStore::builder(path).cache_size(0).open().await.unwrap();
        // Gives the next checkpoint something to do.
        put(&store, 0..RECORDS, moment).await;
        store
    });
    let is_over = runtime.block_on(async {
        let mut future = call(&store);
        if polled(&mut future, moment).await.is_some() {
            return true;
        }
        match ending {
            Ending::Close => {
                let (closed, outcome) = tokio::join!(store.close(), future);
                closed.unwrap();
                if let Err((kind, text)) = outcome {
                    assert_eq!(kind, StoreErrorKind::Unavailable, "{text}");
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
    });
    drop(store);
    drop(runtime);
    is_over
}

fn verify(store: &SledStore) -> Pin<Box<dyn Future<Output = Outcome> + '_>> {
    Box::pin(async {
        let found = store.verify().await.map_err(|error| (error.kind().clone(), chain(&error)))?;
        assert!(found.is_sound(), "{found}");
        Ok(())
    })
}

fn snapshot(store: &SledStore) -> Pin<Box<dyn Future<Output = Outcome> + '_>> {
    Box::pin(async {
        let told = |error: toposcope::store::StoreError| (error.kind().clone(), chain(&error));
        let mut snapshot = store.snapshot().await.map_err(told)?;
        while !snapshot.next(100).await.map_err(told)?.is_empty() {}
        Ok(())
    })
}

fn export(store: &SledStore) -> Pin<Box<dyn Future<Output = Outcome> + '_>> {
    Box::pin(async {
        let outcome = Export::new().write(store, tokio::io::sink()).await;
        let text = |error: toposcope::store::TransferError| {
            let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            (StoreErrorKind::Unavailable, format!("{error}: {source}"))
        };
        outcome.map(|_| ()).map_err(text)
    })
}

#[test]
fn store_closes_at_every_moment_of_a_verification() {
    end_at_every_moment("verify", verify, Ending::Close);
}

#[test]
fn store_closes_after_a_verification_was_dropped_at_every_moment() {
    end_at_every_moment("verify", verify, Ending::DropAndClose);
}

#[test]
fn runtime_ends_after_a_verification_and_its_store_were_dropped_at_every_moment() {
    end_at_every_moment("verify", verify, Ending::DropAll);
}

#[test]
fn store_closes_at_every_moment_of_a_snapshot() {
    end_at_every_moment("snapshot", snapshot, Ending::Close);
    end_at_every_moment("snapshot", snapshot, Ending::DropAndClose);
}

#[test]
fn runtime_ends_after_a_snapshot_and_its_store_were_dropped_at_every_moment() {
    end_at_every_moment("snapshot", snapshot, Ending::DropAll);
}

#[test]
fn store_closes_at_every_moment_of_an_export() {
    end_at_every_moment("export", export, Ending::Close);
    end_at_every_moment("export", export, Ending::DropAndClose);
}

#[test]
fn runtime_ends_after_an_export_and_its_store_were_dropped_at_every_moment() {
    end_at_every_moment("export", export, Ending::DropAll);
}

/// Creates a closed folder with this many records.
fn filled(path: &Path, records: u128) {
    start_runtime().block_on(async {
        let store = SledStore::open(path).await.unwrap();
        put(&store, 0..records, 0).await;
        store.close().await.unwrap();
    });
}

#[test]
fn store_closes_while_5000_records_are_verified_and_the_verification_ends_early() {
    let folder = Place::new();
    let path = folder.path().to_owned();
    within("close", move || {
        filled(&path, 5_000);
        start_runtime().block_on(async {
            let store = SledStore::open(&path).await.unwrap();
            let mut verification: Pin<Box<dyn Future<Output = _> + '_>> = Box::pin(store.verify());
            assert!(polled(&mut verification, 2).await.is_none());
            let (closed, outcome) = tokio::join!(store.close(), verification);
            closed.unwrap();
            let error = outcome.unwrap_err();
            assert_eq!(*error.kind(), StoreErrorKind::Unavailable);
            assert!(error.to_string().contains("closed"), "{error}");
        });
    });
}

#[test]
fn runtime_ends_while_5000_records_are_verified_and_all_was_dropped() {
    let folder = Place::new();
    let path = folder.path().to_owned();
    within("drop", move || {
        filled(&path, 5_000);
        let runtime = start_runtime();
        runtime.block_on(async {
            let store = SledStore::open(&path).await.unwrap();
            let mut verification: Pin<Box<dyn Future<Output = _> + '_>> = Box::pin(store.verify());
            assert!(polled(&mut verification, 2).await.is_none());
        });
    });
}

#[test]
fn repair_dropped_at_every_moment_leaves_a_folder_that_a_repair_saves_whole() {
    let folder = Place::new();
    let path = folder.path().join("store");
    filled(&path, RECORDS);
    for moment in 0.. {
        let (path, damaged) = (path.clone(), folder.path().join(format!("damaged {moment}")));
        let is_over = within(&format!("repair after {moment} polls"), move || {
            copy(&path, &damaged);
            std::fs::write(damaged.join("records/db"), "nothing of what there was").unwrap();
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
        let mut repair: Pin<Box<dyn Future<Output = _>>> = Box::pin(SledStore::repair(folder));
        polled(&mut repair, moment).await.is_some()
    });
    drop(runtime);
    start_runtime().block_on(async {
        if !is_over {
            let repair = SledStore::repair(folder).await.unwrap();
            assert!(repair.is_complete(), "{repair}");
        }
        let store = SledStore::open(folder).await.unwrap();
        let found = store.verify().await.unwrap();
        assert!(found.is_sound() && found.records == u64::try_from(RECORDS).unwrap(), "{found}");
        store.close().await.unwrap();
    });
    is_over
}
