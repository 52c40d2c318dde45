//! Hosts that were stored without some of their facets.

use std::sync::Arc;
use toposcope::access::Caller;

use toposcope::Inventory;
use toposcope::inventory::{Bootstrap, HostQuery, NewUser};
use toposcope::model::{Host, HostOrderField, Network, OrganizationId, Permission};
use toposcope::store::{Batch, MemoryStore, Name, Precondition, Store, UniqueKey};

use super::setup::{Setup, on_each_store};
use crate::support::{PASSWORD, inventory_in, owner_of};

/// An inventory without terms and hosts in it, and one with terms in the same store.
async fn inventories(count: usize) -> (Inventory, Inventory, OrganizationId) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let old = Inventory::new(Arc::clone(&store)).without_host_terms();
    let organization = old.organizations().create("Example").await.unwrap().id;
    let network =
        old.networks().create(&Caller::system(organization), Network::new("Office")).await.unwrap().id;
    for number in 0..count {
        old.hosts()
            .put(&Caller::system(organization), Host::new(network, format!("sw{number}")))
            .await
            .unwrap();
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
    assert_eq!(new.hosts().list(&caller, &search("sw1")).await.unwrap().total, 0);
    let mut query = HostQuery::default();
    query.order_by = Some(HostOrderField::NameNatural);
    let before = new.hosts().list(&caller, &query).await.unwrap();

    assert_eq!(new.upgrade().await.unwrap(), 20);
    assert_eq!(new.hosts().list(&caller, &search("sw1")).await.unwrap().total, 11);
    assert_eq!(new.hosts().list(&caller, &query).await.unwrap(), before);
    assert_eq!(new.upgrade().await.unwrap(), 0);
    assert_eq!(old.upgrade().await.unwrap(), 0, "terms that are not needed do no harm");
    assert_eq!(new.upgrade().await.unwrap(), 20, "hosts may have been stored without terms since");
}

#[tokio::test]
async fn bootstrap_upgrades() {
    let (old, new, organization) = inventories(3).await;
    old.bootstrap(Bootstrap::new("Another", "a@example.net")).await.unwrap();
    new.bootstrap(Bootstrap::new("Another", "a@example.net")).await.unwrap();
    assert_eq!(new.hosts().list(&owner_of(organization), &search("sw")).await.unwrap().total, 3);
}

#[test]
fn upgrade_keeps_hosts_and_the_order_by_their_hypervisor() {
    on_each_store(async |setup: &Setup| {
        let mut query = HostQuery::default();
        query.order_by = Some(HostOrderField::VirtualizedBy);
        let before = setup.inventory.hosts().list(&setup.owner(), &query).await.unwrap();
        assert_eq!(setup.inventory.upgrade().await.unwrap(), 4, "of both organizations");
        assert_eq!(setup.inventory.hosts().list(&setup.owner(), &query).await.unwrap(), before);
        for host in &setup.hosts {
            assert_eq!(
                setup.inventory.hosts().get(&Caller::system(setup.organization), host.id).await.unwrap(),
                *host
            );
        }
    });
}

/// Earlier versions took `ß` for `ss`.
#[tokio::test]
async fn upgrade_lets_users_log_in_whose_addresses_were_compared_otherwise() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let inventory = inventory_in(Arc::clone(&store));
    let organization = inventory.organizations().create("Example").await.unwrap().id;
    assert_eq!(inventory.upgrade().await.unwrap(), 0);
    let user = |email: &str| {
        let mut user = NewUser::new(email, Permission::Viewer);
        user.password = Some(PASSWORD.to_owned());
        user
    };
    let other =
        inventory.users().create(&Caller::system(organization), user("ann@example.net")).await.unwrap();
    let changed =
        inventory.users().create(&Caller::system(organization), user("straße@example.net")).await.unwrap();
    let mut snapshot = store.snapshot().await.unwrap();
    let (mut form, mut batch) = (None, Batch::new());
    for mut entry in snapshot.next(1_000).await.unwrap() {
        if entry.record.key.id == changed.id.uuid() && !entry.facets.unique_keys.is_empty() {
            entry.facets.unique_keys = vec![UniqueKey::new(Name::new("email"), "strasse@example.net")];
            entry.facets.links.clear();
            batch.put(entry.record.key, Precondition::Present, entry.facets, entry.record.body);
        } else if entry.record.key.kind.to_string() == "host_facets" {
            form = Some(entry.record.key);
        }
    }
    batch.delete(form.unwrap(), Precondition::Present);
    store.commit(batch).await.unwrap();
    let log_in = async |email: &str| inventory.log_in(email, PASSWORD.to_owned()).await;
    assert!(log_in("straße@example.net").await.is_err());

    assert_eq!(inventory.upgrade().await.unwrap(), 1);
    log_in("STRAẞE@example.net").await.unwrap();
    log_in("ann@example.net").await.unwrap();
    assert_eq!(
        inventory.users().get(&Caller::system(changed.organization_id), changed.id).await.unwrap(),
        changed
    );
    assert_eq!(inventory.users().get(&Caller::system(other.organization_id), other.id).await.unwrap(), other);
    assert_eq!(inventory.upgrade().await.unwrap(), 0);
}
