//! The stores against the conformance suite.

#![cfg(feature = "testing")]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

use toposcope::store::MemoryStore;
use toposcope::testing;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_memory_store_keeps_the_contract_on_several_threads() {
    testing::run(async || MemoryStore::new()).await.assert_passed();
}

#[tokio::test]
async fn the_memory_store_keeps_the_contract_on_one_thread() {
    testing::run(async || MemoryStore::new()).await.assert_passed();
}

#[cfg(feature = "sled")]
mod sled {
    use tempfile::TempDir;
    use toposcope::store::{SledStore, SledStoreBuilder};
    use toposcope::testing;

    async fn conforms(open: impl Fn(SledStoreBuilder) -> SledStoreBuilder) {
        let folder = TempDir::new().unwrap();
        let mut number = 0;
        let make = async || {
            number += 1;
            open(SledStore::builder(folder.path().join(number.to_string()))).open().await.unwrap()
        };
        testing::run(make).await.assert_passed();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn the_store_in_a_folder_keeps_the_contract_on_several_threads() {
        conforms(|builder| builder).await;
    }

    #[tokio::test]
    async fn the_store_in_a_folder_keeps_the_contract_on_one_thread() {
        conforms(|builder| builder).await;
    }
}
