//! Authentication by a user's API key.

use std::time::Duration;

use serde_json::{Value, json};
use toposcope::access::{Caller, Credential, KeyKind, KeyText, Scope};
use toposcope::inventory::{Entity, Error, ErrorKind, IssuedKey, NewUser, NewUserApiKey};
use toposcope::model::{Permission, User, UserApiKey};
use uuid::Uuid;

use crate::support::{Fixture, LEVELS, Seeded, refusal, time};

/// A user with this level and both networks, and a key for both.
async fn issue(
    fixture: &Fixture,
    level: Permission,
    adapt: impl FnOnce(&mut NewUserApiKey),
) -> (User, IssuedKey<UserApiKey>) {
    let mut new = NewUser::new(fixture.organization, "owner@example.net", level);
    new.network_ids = vec![fixture.network, fixture.other_network];
    let user = fixture.inventory.create_user(new).await.unwrap();
    let mut new = NewUserApiKey::new(user.id, "key", level);
    new.network_ids = vec![fixture.network, fixture.other_network];
    adapt(&mut new);
    (user, fixture.inventory.create_user_api_key(new).await.unwrap())
}

async fn authenticate(fixture: &Fixture, issued: &IssuedKey<UserApiKey>) -> Result<Caller, Error> {
    fixture.inventory.authenticate_user_key(issued.plaintext()).await
}

fn is_record(id: Uuid, field: &'static str) -> impl Fn(&Value) -> bool {
    move |body| body["id"] == json!(id) && body.get(field).is_some()
}

#[tokio::test]
async fn a_key_tells_its_owner_and_itself() {
    let fixture = Fixture::new().await;
    let (user, issued) = issue(&fixture, Permission::Member, |_| {}).await;
    let caller = authenticate(&fixture, &issued).await.unwrap();
    assert_eq!((caller.user_id(), caller.organization_id()), (user.id, fixture.organization));
    assert_eq!(caller.credential(), Credential::UserApiKey { id: issued.record().id });
    assert_eq!(caller.permission(), Permission::Member);
    assert_eq!(caller.scope(), &Scope::only([fixture.network, fixture.other_network]));
}

#[tokio::test]
async fn each_key_is_told_from_the_others() {
    let fixture = Fixture::new().await;
    let (user, first) = issue(&fixture, Permission::Owner, |_| {}).await;
    let new = NewUserApiKey::new(user.id, "second", Permission::Viewer);
    let second = fixture.inventory.create_user_api_key(new).await.unwrap();
    for issued in [&first, &second] {
        let caller = authenticate(&fixture, issued).await.unwrap();
        assert_eq!(caller.credential(), Credential::UserApiKey { id: issued.record().id });
        assert_eq!(caller.permission(), issued.record().permissions);
    }
}

#[tokio::test]
async fn what_is_no_key_of_a_user_is_not_authenticated() {
    let fixture = Fixture::new().await;
    let (_, issued) = issue(&fixture, Permission::Owner, |_| {}).await;
    let text = issued.plaintext();
    let unknown = KeyText::generate(KeyKind::User, &Seeded::default()).unwrap();
    let daemons = KeyText::generate(KeyKind::Daemon, &Seeded::default()).unwrap();
    let swapped = text.replacen("topo_u_", "topo_d_", 1);
    for attempt in [
        "",
        "topo_u_",
        "not a key",
        unknown.expose(),
        daemons.expose(),
        &swapped,
        &issued.record().key,
        &text[..text.len() - 1],
        &format!("{text}0"),
        &format!(" {text}"),
        &format!("{text}\u{0}"),
        &text.to_uppercase(),
        &"🦀".repeat(20),
    ] {
        let refused = refusal(fixture.inventory.authenticate_user_key(attempt).await);
        assert_eq!(refused, ErrorKind::NotAuthenticated, "{attempt:?}");
    }
}

#[tokio::test]
async fn a_key_acts_with_the_lower_of_both_levels_as_they_are_now() {
    let fixture = Fixture::new().await;
    let (user, issued) = issue(&fixture, Permission::Owner, |new| new.permissions = Permission::Member).await;
    for present in LEVELS {
        fixture.alter(is_record(user.id, "email"), |user| user["permissions"] = json!(present)).await;
        let caller = authenticate(&fixture, &issued).await.unwrap();
        assert_eq!(caller.permission(), present.min(Permission::Member));
    }
}

#[tokio::test]
async fn a_key_reaches_those_of_its_networks_that_its_owner_can_access_now() {
    let fixture = Fixture::new().await;
    let (user, issued) = issue(&fixture, Permission::Member, |_| {}).await;
    let third = fixture.inventory.create_network(fixture.organization, "Third").await.unwrap().id;
    for granted in [vec![], vec![fixture.network], vec![third], vec![third, fixture.other_network]] {
        let both = granted.iter().copied().filter(|network| *network != third);
        let expected = Scope::only(both);
        fixture.alter(is_record(user.id, "email"), |user| user["network_ids"] = json!(granted)).await;
        assert_eq!(authenticate(&fixture, &issued).await.unwrap().scope(), &expected);
    }
    // An Admin needs no grants, but the key still reaches only its own networks.
    fixture.alter(is_record(user.id, "email"), |user| user["permissions"] = json!("Admin")).await;
    let caller = authenticate(&fixture, &issued).await.unwrap();
    assert_eq!(caller.scope(), &Scope::only([fixture.network, fixture.other_network]));
    assert_eq!(caller.permission(), Permission::Member);
}

#[tokio::test]
async fn an_owners_key_without_networks_reaches_none() {
    let fixture = Fixture::new().await;
    let (_, issued) = issue(&fixture, Permission::Owner, |new| new.network_ids.clear()).await;
    let caller = authenticate(&fixture, &issued).await.unwrap();
    assert_eq!(caller.scope(), &Scope::only([]));
    assert_eq!(caller.permission(), Permission::Owner);
}

#[tokio::test]
async fn a_key_that_is_switched_off_is_refused_until_it_is_switched_on() {
    let fixture = Fixture::new().await;
    let (_, issued) = issue(&fixture, Permission::Owner, |new| new.is_enabled = false).await;
    let disabled = ErrorKind::Disabled { entity: Entity::UserApiKey };
    assert_eq!(refusal(authenticate(&fixture, &issued).await), disabled);
    let id = issued.record().id;
    fixture.alter(is_record(id, "is_enabled"), |key| key["is_enabled"] = json!(true)).await;
    authenticate(&fixture, &issued).await.unwrap();
}

#[tokio::test]
async fn a_key_is_over_from_its_end_on() {
    let fixture = Fixture::new().await;
    let end = time("2026-08-14T13:00:00Z");
    let (_, issued) = issue(&fixture, Permission::Owner, |new| new.expires_at = Some(end)).await;
    fixture.clock.set(time("2026-08-14T12:59:59.999999Z"));
    authenticate(&fixture, &issued).await.unwrap();
    let expired = ErrorKind::Expired { entity: Entity::UserApiKey };
    fixture.clock.set(end);
    assert_eq!(refusal(authenticate(&fixture, &issued).await), expired);
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(refusal(authenticate(&fixture, &issued).await), expired);
}

#[tokio::test]
async fn keys_work_only_where_the_organization_has_api_access() {
    let fixture = Fixture::new().await;
    let (_, issued) = issue(&fixture, Permission::Owner, |_| {}).await;
    let is_organization = is_record(fixture.organization, "api_access");
    fixture.alter(is_organization, |record| record["api_access"] = json!(false)).await;
    assert_eq!(refusal(authenticate(&fixture, &issued).await), ErrorKind::ApiAccessRequired);
    let is_organization = is_record(fixture.organization, "api_access");
    fixture.alter(is_organization, |record| record["api_access"] = json!(true)).await;
    authenticate(&fixture, &issued).await.unwrap();
}

#[tokio::test]
async fn a_key_whose_record_owner_or_organization_is_gone_is_not_authenticated() {
    for gone in ["is_enabled", "email", "api_access"] {
        let fixture = Fixture::new().await;
        let (_, issued) = issue(&fixture, Permission::Owner, |_| {}).await;
        fixture.remove(|body| body.get(gone).is_some()).await;
        assert_eq!(refusal(authenticate(&fixture, &issued).await), ErrorKind::NotAuthenticated, "{gone}");
    }
}
