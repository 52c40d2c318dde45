use std::sync::Arc;

use tempfile::TempDir;
use toposcope::store::{Durability, SledStore, SledStoreBuilder, Store};
use toposcope::testing;

use super::settling::Settling;

/// Number of cases that share a store: opening one takes longer than most cases. Snapshots contain the
/// records of all of them.
const CASES: usize = 16;

/// Runs all cases on stores opened and wrapped in these ways, and verifies the final contents.
async fn conforms<S: Store>(options: fn(SledStoreBuilder) -> SledStoreBuilder, see: fn(Arc<SledStore>) -> S) {
    let folder = TempDir::new().unwrap();
    let (mut stores, mut seen) = (Vec::<Arc<SledStore>>::new(), None);
    let mut cases = 0;
    let make = async || {
        if cases % CASES == 0 {
            put_away(stores.last()).await;
            let path = folder.path().join(cases.to_string());
            let store = Arc::new(options(SledStore::builder(path)).open().await.unwrap());
            seen = Some(Arc::new(see(Arc::clone(&store))));
            stores.push(store);
        }
        cases += 1;
        seen.clone().unwrap()
    };
    testing::run(make).await.assert_passed();
    put_away(stores.last()).await;
}

async fn put_away(store: Option<&Arc<SledStore>>) {
    let Some(store) = store else { return };
    let verification = store.verify().await.unwrap();
    assert!(verification.is_sound(), "{verification}");
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_store_in_a_folder_keeps_the_contract_on_several_threads() {
    conforms(|builder| builder, |store| store).await;
}

#[tokio::test]
async fn the_store_in_a_folder_keeps_the_contract_on_one_thread() {
    conforms(|builder| builder, |store| store).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_store_in_a_folder_keeps_the_contract_where_every_body_is_read_from_the_disk() {
    conforms(|builder| builder.cache_size(0), Settling::new).await;
}

#[tokio::test]
async fn the_store_in_a_folder_keeps_the_contract_where_nothing_waits_for_the_disk() {
    conforms(|builder| builder.durability(Durability::Buffered), |store| store).await;
}
