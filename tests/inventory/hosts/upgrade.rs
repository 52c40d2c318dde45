//! Hosts that were stored without some of their facets.

use std::sync::Arc;

use toposcope::Inventory;
use toposcope::inventory::{Bootstrap, HostQuery};
use toposcope::model::{Host, HostOrderField};
use toposcope::store::{MemoryStore, Store};

use super::setup::{Setup, on_each_store};
use crate::support::owner_of;

/// An inventory without terms and hosts in it, and one with terms in the same store.
async fn inventories(count: usize) -> (Inventory, Inventory, uuid::Uuid) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let old = Inventory::new(Arc::clone(&store)).without_host_terms();
    let organization = old.create_organization("Example").await.unwrap().id;
    let network = old.create_network(organization, "Office").await.unwrap().id;
    for number in 0..count {
        old.put_host(organization, Host::new(network, format!("sw{number}"))).await.unwrap();
    }
    (old, Inventory::new(store), organization)
}

fn search(text: &str) -> HostQuery {
    let mut query = HostQuery::default();
    query.search = Some(text.to_owned());
    query
}

#[tokio::test]
async fn upgrade_makes_hosts_found_and_changes_nothing_else() {
    let (old, new, organization) = inventories(20).await;
    let caller = owner_of(organization);
    assert_eq!(old.upgrade().await.unwrap(), 20, "the store does not tell how its hosts were stored");
    assert_eq!(new.list_hosts(&caller, &search("sw1")).await.unwrap().total, 0);
    let mut query = HostQuery::default();
    query.order_by = Some(HostOrderField::NameNatural);
    let before = new.list_hosts(&caller, &query).await.unwrap();

    assert_eq!(new.upgrade().await.unwrap(), 20);
    assert_eq!(new.list_hosts(&caller, &search("sw1")).await.unwrap().total, 11);
    assert_eq!(new.list_hosts(&caller, &query).await.unwrap(), before);
    assert_eq!(new.upgrade().await.unwrap(), 0);
    assert_eq!(old.upgrade().await.unwrap(), 0, "terms that are not needed do no harm");
    assert_eq!(new.upgrade().await.unwrap(), 20, "hosts may have been stored without terms since");
}

#[tokio::test]
async fn bootstrap_upgrades() {
    let (old, new, organization) = inventories(3).await;
    old.bootstrap(Bootstrap::new("Another", "a@example.net")).await.unwrap();
    new.bootstrap(Bootstrap::new("Another", "a@example.net")).await.unwrap();
    assert_eq!(new.list_hosts(&owner_of(organization), &search("sw")).await.unwrap().total, 3);
}

#[test]
fn upgrade_keeps_hosts_and_the_order_by_their_hypervisor() {
    on_each_store(async |setup: &Setup| {
        let mut query = HostQuery::default();
        query.order_by = Some(HostOrderField::VirtualizedBy);
        let before = setup.inventory.list_hosts(&setup.owner(), &query).await.unwrap();
        assert_eq!(setup.inventory.upgrade().await.unwrap(), 4, "of both organizations");
        assert_eq!(setup.inventory.list_hosts(&setup.owner(), &query).await.unwrap(), before);
        for host in &setup.hosts {
            assert_eq!(setup.inventory.host(setup.organization, host.id).await.unwrap(), *host);
        }
    });
}
