//! Users' keys: their creation, their rights, and their deletion by their users.

use std::time::Duration;

use serde_json::{Value, json};
use toposcope::access::{Caller, Credential, Scope};
use toposcope::inventory::{Entity, Error, ErrorKind, IssuedKey, NewUser, NewUserApiKey};
use toposcope::model::{Network, Permission, User, UserApiKey};
use uuid::Uuid;

use super::full_key;
use crate::support::{
    Fixture, LEVELS, access_denied, at_every_call, id, in_person, not_found, reference_invalid, refusal,
    settle, through_a_key, uuid,
};

#[tokio::test]
async fn new_key_has_at_most_the_level_of_its_owner() {
    let fixture = Fixture::new().await;
    for of_user in LEVELS {
        let user = fixture.user(&format!("{of_user}@example.net"), of_user, &[fixture.network]).await;
        for of_key in LEVELS {
            let commits = fixture.commits();
            let new = NewUserApiKey::new(user.id, "level", of_key);
            let result =
                fixture.inventory.user_api_keys().create(&Caller::system(user.organization_id), new).await;
            if of_key <= of_user {
                assert_eq!(result.unwrap().record().permissions, of_key);
            } else {
                assert_eq!(refusal(result), ErrorKind::PermissionDenied);
                assert_eq!(fixture.commits(), commits);
            }
        }
    }
}

#[tokio::test]
async fn new_key_reaches_only_networks_that_its_owner_can_access() {
    let fixture = Fixture::new().await;
    for level in LEVELS {
        let user = fixture.user(&format!("{level}@example.net"), level, &[fixture.network]).await;
        let commits = fixture.commits();
        let mut new = NewUserApiKey::new(user.id, "reach", Permission::Viewer);
        new.network_ids = vec![fixture.network, fixture.other_network];
        let result =
            fixture.inventory.user_api_keys().create(&Caller::system(user.organization_id), new).await;
        if level.sees_every_network() {
            assert_eq!(result.unwrap().record().network_ids, [fixture.network, fixture.other_network]);
        } else {
            let denied = access_denied(fixture.other_network);
            assert_eq!(refusal(result), denied);
            assert_eq!(fixture.commits(), commits);
        }
    }
}

#[tokio::test]
async fn new_key_has_networks_and_tags_of_its_organization_only() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    for level in [Permission::Owner, Permission::Viewer] {
        let user = fixture.user(&format!("{level}@example.net"), level, &[fixture.network]).await;
        for bad in [foreign.network, id(7)] {
            let mut new = NewUserApiKey::new(user.id, "networks", Permission::Viewer);
            new.network_ids = vec![fixture.network, bad];
            let refused = fixture
                .refusal(fixture.inventory.user_api_keys().create(&Caller::system(user.organization_id), new))
                .await;
            assert_eq!(refused, reference_invalid(Entity::Network, "network_ids.1"));
        }
        for bad in [foreign.tag, id(7)] {
            let mut new = NewUserApiKey::new(user.id, "tags", Permission::Viewer);
            new.tags = vec![fixture.tags[0], bad];
            let refused = fixture
                .refusal(fixture.inventory.user_api_keys().create(&Caller::system(user.organization_id), new))
                .await;
            assert_eq!(refused, reference_invalid(Entity::Tag, "tags.1"));
        }
    }
}

#[tokio::test]
async fn keys_are_listed_by_age_for_their_user_only() {
    let (fixture, owner) = Fixture::with_owner().await;
    let other = fixture.user("b@example.net", Permission::Viewer, &[]).await;
    let mut records = Vec::new();
    for name in ["z", "a", "m"] {
        fixture.clock.advance(Duration::from_micros(1));
        records.push(fixture.user_key(&owner, |new| new.name = name.to_owned()).await.record().clone());
    }
    let others = fixture.user_key(&other, |_| {}).await.record().clone();
    assert_eq!(
        fixture
            .inventory
            .user_api_keys()
            .of_user(&Caller::system(owner.organization_id), owner.id)
            .await
            .unwrap(),
        records
    );
    assert_eq!(
        fixture
            .inventory
            .user_api_keys()
            .of_user(&Caller::system(other.organization_id), other.id)
            .await
            .unwrap(),
        [others]
    );
    fixture
        .inventory
        .user_api_keys()
        .delete(&Caller::system(records[1].organization_id), records[1].id)
        .await
        .unwrap();
    records.remove(1);
    assert_eq!(
        fixture
            .inventory
            .user_api_keys()
            .of_user(&Caller::system(owner.organization_id), owner.id)
            .await
            .unwrap(),
        records
    );
}

#[tokio::test]
async fn user_may_not_delete_the_key_of_another() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let user = fixture.user("a@example.net", Permission::Viewer, &[]).await;
    let key = fixture.user_key(&user, |_| {}).await.record().id;
    let owner = fixture.owner().await;
    let namesake = Caller::new(foreign.organization, user.id, Permission::Owner, Scope::all());
    for caller in [in_person(&owner), namesake] {
        let attempt = fixture.inventory.user_api_keys().delete(&caller, key);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::UserApiKey, key));
    }
}

#[tokio::test]
async fn key_may_not_delete_keys() {
    let fixture = Fixture::new().await;
    let (owner, issued) = full_key(&fixture).await;
    let caller = through_a_key(&owner);
    for key in [issued.record().id, id(3)] {
        let attempt = fixture.inventory.user_api_keys().delete(&caller, key);
        assert_eq!(fixture.refusal(attempt).await, ErrorKind::SessionRequired);
    }
}

#[tokio::test]
async fn second_of_two_concurrent_deletions_finds_no_key() {
    at_every_call(
        async |fixture: &Fixture| full_key(fixture).await,
        async |inventory, (_, issued)| {
            inventory
                .user_api_keys()
                .delete(&Caller::system(issued.record().organization_id), issued.record().id)
                .await
                .unwrap();
        },
        async |inventory, (owner, issued)| {
            inventory.user_api_keys().delete(&in_person(owner), issued.record().id).await
        },
        async |fixture, (_, issued), result| {
            assert_eq!(refusal(result), not_found(Entity::UserApiKey, issued.record().id));
            assert_eq!(fixture.mentioning(issued.record().id).await, []);
        },
    )
    .await;
}

/// A user with this level and both networks, and a key for both.
async fn issue(
    fixture: &Fixture,
    level: Permission,
    adapt: impl FnOnce(&mut NewUserApiKey),
) -> (User, IssuedKey<UserApiKey>) {
    let mut new = NewUser::new("owner@example.net", level);
    new.network_ids = vec![fixture.network, fixture.other_network];
    let user = fixture.inventory.users().create(&fixture.system(), new).await.unwrap();
    let mut new = NewUserApiKey::new(user.id, "key", level);
    new.network_ids = vec![fixture.network, fixture.other_network];
    adapt(&mut new);
    let system = Caller::system(user.organization_id);
    let key = fixture.inventory.user_api_keys().create(&system, new).await.unwrap();
    (user, key)
}

async fn authenticate(fixture: &Fixture, issued: &IssuedKey<UserApiKey>) -> Result<Caller, Error> {
    fixture.by_key(issued).await
}

fn is_record(id: Uuid, field: &'static str) -> impl Fn(&Value) -> bool {
    move |body| body["id"] == json!(id) && body.get(field).is_some()
}

#[tokio::test]
async fn keys_of_one_user_are_told_apart() {
    let fixture = Fixture::new().await;
    let (user, first) = issue(&fixture, Permission::Owner, |_| {}).await;
    let new = NewUserApiKey::new(user.id, "second", Permission::Viewer);
    let second =
        fixture.inventory.user_api_keys().create(&Caller::system(user.organization_id), new).await.unwrap();
    for issued in [&first, &second] {
        let caller = authenticate(&fixture, issued).await.unwrap();
        assert_eq!(caller.credential(), Credential::UserApiKey { id: issued.record().id });
        assert_eq!(caller.permission(), issued.record().permissions);
    }
}

#[tokio::test]
async fn key_acts_with_the_lower_of_both_current_levels() {
    let fixture = Fixture::new().await;
    let (user, issued) = issue(&fixture, Permission::Owner, |new| new.permissions = Permission::Member).await;
    for present in LEVELS {
        fixture.alter(is_record(user.id.uuid(), "email"), |user| user["permissions"] = json!(present)).await;
        let caller = authenticate(&fixture, &issued).await.unwrap();
        assert_eq!(caller.permission(), present.min(Permission::Member));
    }
}

#[tokio::test]
async fn key_reaches_those_of_its_networks_that_its_owner_can_currently_access() {
    let fixture = Fixture::new().await;
    let (user, issued) = issue(&fixture, Permission::Member, |_| {}).await;
    let third =
        fixture.inventory.networks().create(&fixture.system(), Network::new("Third")).await.unwrap().id;
    for granted in [vec![], vec![fixture.network], vec![third], vec![third, fixture.other_network]] {
        let both = granted.iter().copied().filter(|network| *network != third);
        let expected = Scope::only(both);
        fixture.alter(is_record(user.id.uuid(), "email"), |user| user["network_ids"] = json!(granted)).await;
        assert_eq!(authenticate(&fixture, &issued).await.unwrap().scope(), &expected);
    }
    // An Admin needs no grants, but the key still reaches only its own networks.
    fixture.alter(is_record(user.id.uuid(), "email"), |user| user["permissions"] = json!("Admin")).await;
    let caller = authenticate(&fixture, &issued).await.unwrap();
    assert_eq!(caller.scope(), &Scope::only([fixture.network, fixture.other_network]));
    assert_eq!(caller.permission(), Permission::Member);
}

#[tokio::test]
async fn key_requires_api_access_of_its_organization() {
    let fixture = Fixture::new().await;
    let (_, issued) = issue(&fixture, Permission::Owner, |_| {}).await;
    let is_organization = is_record(fixture.organization.uuid(), "api_access");
    fixture.alter(is_organization, |record| record["api_access"] = json!(false)).await;
    assert_eq!(refusal(authenticate(&fixture, &issued).await), ErrorKind::ApiAccessRequired);
    let is_organization = is_record(fixture.organization.uuid(), "api_access");
    fixture.alter(is_organization, |record| record["api_access"] = json!(true)).await;
    authenticate(&fixture, &issued).await.unwrap();
}

#[tokio::test]
async fn key_without_its_record_owner_or_organization_is_not_authenticated() {
    for gone in ["is_enabled", "email", "api_access"] {
        let fixture = Fixture::new().await;
        let (_, issued) = issue(&fixture, Permission::Owner, |_| {}).await;
        fixture.remove(|body| body.get(gone).is_some()).await;
        assert_eq!(refusal(authenticate(&fixture, &issued).await), ErrorKind::NotAuthenticated, "{gone}");
    }
}

#[tokio::test]
async fn new_key_has_the_rights_that_were_asked_for() {
    let (fixture, owner) = Fixture::with_owner().await;
    let issued = fixture.user_key(&owner, |new| {
        new.permissions = Permission::Member;
        new.network_ids = vec![fixture.other_network, fixture.network];
    });
    let issued = issued.await;
    let record = issued.record();
    assert_eq!((record.user_id, record.organization_id), (owner.id, fixture.organization));
    assert_eq!(record.network_ids, [fixture.other_network, fixture.network]);
    assert_eq!(record.permissions, Permission::Member);
    assert_eq!(&fixture.inventory.user_api_keys().get(&fixture.system(), record.id).await.unwrap(), record);
    assert_eq!(
        fixture
            .inventory
            .user_api_keys()
            .of_user(&Caller::system(owner.organization_id), owner.id)
            .await
            .unwrap(),
        std::slice::from_ref(record)
    );
    let caller = fixture.by_key(&issued).await.unwrap();
    assert_eq!((caller.user_id(), caller.organization_id()), (owner.id, fixture.organization));
    assert_eq!(caller.credential(), Credential::UserApiKey { id: record.id });
    assert_eq!(caller.permission(), Permission::Member);
    assert_eq!(caller.scope(), &Scope::only([fixture.network, fixture.other_network]));
}

#[tokio::test]
async fn key_without_networks_reaches_none_even_of_an_owner() {
    let fixture = Fixture::new().await;
    let issued = fixture.user_key(&fixture.owner().await, |_| {}).await;
    let caller = fixture.by_key(&issued).await.unwrap();
    assert_eq!((caller.scope(), caller.permission()), (&Scope::only([]), Permission::Owner));
    assert_eq!(caller.scope().networks(), Some(&[][..]));
}

#[tokio::test]
async fn keys_of_an_unknown_user_are_not_found() {
    let (fixture, owner) = Fixture::with_owner().await;
    assert_eq!(
        refusal(fixture.inventory.user_api_keys().of_user(&fixture.system(), id(3)).await),
        not_found(Entity::User, uuid(3))
    );
    let new = NewUserApiKey::new(id(3), "key", Permission::Viewer);
    let system = Caller::system(fixture.organization);
    let attempt = fixture.inventory.user_api_keys().create(&system, new);
    assert_eq!(fixture.refusal(attempt).await, not_found(Entity::User, uuid(3)));
    let of_daemon = fixture.daemon_key(|_| {}).await.record().id;
    for unknown in [id(3), owner.id.uuid().into(), of_daemon.uuid().into()] {
        let (caller, expected) = (in_person(&owner), not_found(Entity::UserApiKey, unknown));
        let attempt = fixture.inventory.user_api_keys().delete(&caller, unknown);
        assert_eq!(fixture.refusal(attempt).await, expected);
    }
}

#[tokio::test]
async fn user_deletes_own_keys() {
    let (fixture, owner) = Fixture::with_owner().await;
    // A caller supplied by the host application counts as a user session too.
    let by_host = Caller::new(fixture.organization, owner.id, Permission::Viewer, Scope::only([]));
    for caller in [in_person(&owner), by_host] {
        let before = fixture.contents().await;
        let issued = fixture.user_key(&owner, |new| new.tags = fixture.tags.to_vec()).await;
        fixture.by_key(&issued).await.unwrap();
        settle().await;
        let key = issued.record().id;
        assert_eq!(fixture.contents().await.len(), before.len() + 3, "the key, its secret and its use");
        fixture.inventory.user_api_keys().delete(&caller, key).await.unwrap();
        assert_eq!(fixture.contents().await, before);
        assert_eq!(refusal(fixture.by_key(&issued).await), ErrorKind::NotAuthenticated);
        let again = refusal(fixture.inventory.user_api_keys().delete(&caller, key).await);
        assert_eq!(again, not_found(Entity::UserApiKey, key));
    }
}
