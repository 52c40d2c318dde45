//! Runs the conformance suite on the store.

use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;
use toposcope::testing;
use toposcope_sqlite_store::SqliteStore;

/// Runs all cases, each on a database of its own.
async fn assert_conforms() {
    let (folder, cases) = (TempDir::new().unwrap(), AtomicUsize::new(0));
    let make = async || {
        let path = folder.path().join(format!("{}.db", cases.fetch_add(1, Ordering::Relaxed)));
        SqliteStore::open(path).await.unwrap()
    };
    testing::run(make).await.assert_passed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sqlite_store_conforms_on_several_threads() {
    assert_conforms().await;
}

#[tokio::test]
async fn sqlite_store_conforms_on_one_thread() {
    assert_conforms().await;
}
