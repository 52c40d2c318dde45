//! API keys of all networks of their user.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Bootstrap, ErrorKind, NewUserApiKey};
use toposcope::model::{Network, Permission, UserApiKey};

use crate::support::{Fixture, refusal, time};

#[tokio::test]
async fn key_of_all_networks_reaches_networks_made_later() {
    let (fixture, owner) = Fixture::with_owner().await;
    let inventory = &fixture.inventory;
    let issued = fixture.user_key(&owner, |new| new.all_networks = true).await;
    let known = |key: &UserApiKey| {
        let mut ids = key.network_ids.clone();
        ids.sort_unstable();
        ids
    };
    let sorted = |mut ids: Vec<_>| {
        ids.sort_unstable();
        ids
    };
    let both = vec![fixture.network, fixture.other_network];
    assert_eq!(known(issued.record()), sorted(both.clone()));
    let new = inventory.networks().create(&fixture.system(), Network::new("Warehouse")).await.unwrap().id;
    let caller = inventory.authenticate_user_key(issued.plaintext()).await.unwrap();
    assert_eq!(caller.scope(), &Scope::all());
    let all = sorted([both.as_slice(), &[new]].concat());
    let id = issued.record().id;
    assert_eq!(known(&inventory.user_api_keys().get(&fixture.system(), id).await.unwrap()), all);
    assert_eq!(
        known(
            &inventory
                .user_api_keys()
                .of_user(&Caller::system(owner.organization_id), owner.id)
                .await
                .unwrap()[0]
        ),
        all
    );
    assert_eq!(known(&inventory.user_api_keys().get(&caller, id).await.unwrap()), all);
    assert_eq!(known(&inventory.user_api_keys().disable(&fixture.system(), id).await.unwrap()), all);
    assert_eq!(known(&inventory.user_api_keys().enable(&fixture.system(), id).await.unwrap()), all);
    let rotated = inventory.user_api_keys().rotate(&fixture.system(), id).await.unwrap();
    assert!(rotated.record().all_networks);
    assert_eq!(known(rotated.record()), all);
    // The key grants nothing that must be revoked.
    inventory.networks().delete(&fixture.system(), new).await.unwrap();
    assert_eq!(known(&inventory.user_api_keys().get(&fixture.system(), id).await.unwrap()), sorted(both));
}

#[tokio::test]
async fn key_of_all_networks_never_exceeds_its_user() {
    let fixture = Fixture::new().await;
    let inventory = &fixture.inventory;
    let member = fixture.user("m@example.net", Permission::Member, &[fixture.network]).await;
    let issued = fixture.user_key(&member, |new| new.all_networks = true).await;
    assert_eq!(issued.record().network_ids, [fixture.network]);
    let scope = async || inventory.authenticate_user_key(issued.plaintext()).await.unwrap().scope().clone();
    assert_eq!(scope().await, Scope::only([fixture.network]));
    let granted = vec![fixture.network, fixture.other_network];
    inventory
        .users()
        .set_rights(&Caller::system(member.organization_id), member.id, Permission::Member, granted.clone())
        .await
        .unwrap();
    assert_eq!(scope().await, Scope::only(granted));
}

#[tokio::test]
async fn caller_with_fewer_networks_than_the_user_cannot_issue_a_key_of_all() {
    let (fixture, owner) = Fixture::with_owner().await;
    let caller = |scope| Caller::new(fixture.organization, owner.id, Permission::Owner, scope);
    let mut new = NewUserApiKey::new(owner.id, "key", Permission::Viewer);
    new.all_networks = true;
    let limited = caller(Scope::only([fixture.network]));
    let refused = fixture.inventory.user_api_keys().create(&limited, new.clone()).await;
    assert_eq!(refusal(refused), ErrorKind::PermissionDenied);
    let issued = fixture.inventory.user_api_keys().create(&caller(Scope::all()), new).await.unwrap();
    assert!(issued.record().all_networks);
    let narrow = fixture.user_key(&owner, |new| new.network_ids = vec![fixture.network]).await;
    let widen = |key: &mut UserApiKey| {
        key.all_networks = true;
        Ok(())
    };
    let id = narrow.record().id;
    let refused = fixture.inventory.records().update(&limited, id, widen).await;
    assert_eq!(refusal(refused), ErrorKind::PermissionDenied);
    let widened = fixture.inventory.records().update(&caller(Scope::all()), id, widen).await.unwrap();
    assert_eq!(widened.network_ids.len(), 2);
    let reached = fixture.inventory.authenticate_user_key(narrow.plaintext()).await.unwrap();
    assert_eq!(reached.scope(), &Scope::all());
}

#[tokio::test]
async fn bootstrap_issues_a_key_of_all_networks() {
    let fixture = Fixture::new().await;
    let inventory = &fixture.inventory;
    let start = inventory.bootstrap(Bootstrap::new("Fresh", "f@example.net")).await.unwrap();
    let key = start.issued_key.unwrap();
    assert!(key.record().all_networks);
    assert_eq!(key.record().network_ids, [start.network.id]);
    let caller = inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    // A key of level Admin or above creates networks, which it then reaches.
    let made = inventory.records().create(&caller, Network::new("Made by the key")).await.unwrap();
    assert!(inventory.networks().get(&caller, made.id).await.is_ok());
    fixture.clock.set(time("2026-10-01T00:00:00Z"));
    let again = inventory.bootstrap(Bootstrap::new("Fresh", "f@example.net").rotate_key()).await.unwrap();
    assert_eq!(again.issued_key.unwrap().record().network_ids.len(), 2);
}
