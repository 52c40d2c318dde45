//! A host that moves before its network is deleted is visible all the time.

use std::sync::Arc;

use toposcope::inventory::{ErrorKind, Inventory};
use toposcope::store::{MemoryStore, Store};

use crate::support::{Interposer, bare_host, id};

#[tokio::test]
async fn a_host_that_leaves_a_network_which_is_then_deleted_is_never_missing() {
    for what in ["read", "deleted", "put"] {
        let mut moments = 0;
        loop {
            let shared: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let plain = Inventory::new(shared.clone());
            let organization = plain.create_organization("Example").await.unwrap().id;
            let old = plain.create_network(organization, "Old").await.unwrap().id;
            let new = plain.create_network(organization, "New").await.unwrap().id;
            plain.put_host(organization, bare_host(id(1), old)).await.unwrap();
            let other = plain.clone();
            let store = Interposer::new(shared, moments, async move {
                // If the host has just been deleted, it is created again here.
                other.put_host(organization, bare_host(id(1), new)).await.unwrap();
                other.delete_network(old).await.unwrap();
            });
            let inventory = Inventory::new(store.clone());
            let result = match what {
                "read" => inventory.host(organization, id(1)).await.map(drop),
                "deleted" => inventory.delete_host(organization, id(1)).await,
                _ => inventory.put_host(organization, bare_host(id(1), new)).await.map(drop),
            };
            if !store.has_fired() {
                break;
            }
            assert_eq!(
                result.map_err(|error| error.kind().clone()),
                Ok::<(), ErrorKind>(()),
                "{what} at {moments}"
            );
            moments += 1;
        }
        // A read is one call of the store; a change is at least two.
        let calls = if what == "read" { 1 } else { 2 };
        assert!(moments >= calls, "{what}: {moments}");
    }
}
