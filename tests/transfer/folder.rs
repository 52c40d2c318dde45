//! Transfer from memory to a folder and back.

use toposcope::store::{Facets, MemoryStore, Restore, SledStore, UniqueKey};

use crate::place::Place;
use crate::support::{MAIL, SplitMix64, contents, export, note, put, small_store};

#[tokio::test]
async fn a_store_moves_into_a_folder_and_back() {
    let store = small_store().await;
    let mut random = SplitMix64(4);
    for number in 10..1500 {
        let facets = Facets::default().with_unique_keys([UniqueKey::new(MAIL, random.bytes(8))]);
        put(&store, note(number), facets, random.bytes(40)).await;
    }
    let (before, folder) = (contents(&store).await, Place::new());

    let kept = SledStore::open(folder.path()).await.unwrap();
    Restore::new().read(&kept, &export(&store).await[..]).await.unwrap();
    kept.close().await.unwrap();

    let again = SledStore::open(folder.path()).await.unwrap();
    assert!(contents(&again).await == before);
    let back = MemoryStore::new();
    Restore::new().read(&back, &export(&again).await[..]).await.unwrap();
    assert!(contents(&back).await == before);
}
