//! Runs the conformance suite on the stores.

#![cfg(feature = "testing")]
#![allow(clippy::unwrap_used, reason = "a test fails where it panics")]

mod long_lists;
#[cfg(feature = "sled")]
mod settling;
#[cfg(feature = "sled")]
mod sled;

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
