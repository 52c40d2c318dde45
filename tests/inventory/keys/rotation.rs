//! Rotation of users' keys.

use std::time::Duration;
use toposcope::access::Caller;

use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::UserApiKey;

use super::full_key;
use crate::support::{Fixture, at_every_call, id, not_found, refusal, settle, time};

#[tokio::test]
async fn rotated_key_keeps_everything_but_its_plaintext() {
    let fixture = Fixture::new().await;
    let (owner, old) = full_key(&fixture).await;
    fixture.by_key(&old).await.unwrap();
    settle().await;
    let before = fixture
        .inventory
        .user_api_keys()
        .get(&Caller::system(old.record().organization_id), old.record().id)
        .await
        .unwrap();
    assert!(before.last_used.is_some());
    fixture.clock.advance(Duration::from_secs(1));
    let new = fixture
        .inventory
        .user_api_keys()
        .rotate(&Caller::system(before.organization_id), before.id)
        .await
        .unwrap();
    let now = time("2026-08-14T12:00:01Z");
    let masked = format!("topo_u_…{}", &new.plaintext()[new.plaintext().len() - 4..]);
    assert_eq!(new.record(), &UserApiKey { key: masked, updated_at: now, ..before });
    assert_eq!(
        fixture
            .inventory
            .user_api_keys()
            .of_user(&Caller::system(owner.organization_id), owner.id)
            .await
            .unwrap(),
        [new.record().clone()]
    );
}

#[tokio::test]
async fn rotation_refuses_the_old_plaintext_at_once_and_accepts_the_new_one() {
    let fixture = Fixture::new().await;
    let (owner, mut old) = full_key(&fixture).await;
    let caller = fixture.by_key(&old).await.unwrap();
    for _ in 0..3 {
        let records = fixture.contents().await.len();
        let new = fixture
            .inventory
            .user_api_keys()
            .rotate(&Caller::system(old.record().organization_id), old.record().id)
            .await
            .unwrap();
        assert_eq!(refusal(fixture.by_key(&old).await), ErrorKind::NotAuthenticated);
        assert_eq!(fixture.by_key(&new).await.unwrap(), caller);
        settle().await;
        assert!(fixture.contents().await.len() <= records + 1, "at most the use of the key is new");
        old = new;
    }
    fixture
        .inventory
        .user_api_keys()
        .delete(&Caller::system(old.record().organization_id), old.record().id)
        .await
        .unwrap();
    assert_eq!(refusal(fixture.by_key(&old).await), ErrorKind::NotAuthenticated);
    assert_eq!(
        fixture
            .inventory
            .user_api_keys()
            .of_user(&Caller::system(owner.organization_id), owner.id)
            .await
            .unwrap(),
        []
    );
}

#[tokio::test]
async fn rotation_is_one_commit() {
    let fixture = Fixture::new().await;
    let (_, old) = full_key(&fixture).await;
    let commits = fixture.commits();
    fixture
        .inventory
        .user_api_keys()
        .rotate(&Caller::system(old.record().organization_id), old.record().id)
        .await
        .unwrap();
    assert_eq!(fixture.commits(), commits + 1);
}

#[tokio::test]
async fn rotation_enables_no_key_that_is_disabled_or_expired() {
    let fixture = Fixture::new().await;
    let (_, old) = full_key(&fixture).await;
    let id = old.record().id;
    fixture.inventory.user_api_keys().disable(&fixture.system(), id).await.unwrap();
    let new = fixture.inventory.user_api_keys().rotate(&fixture.system(), id).await.unwrap();
    assert_eq!(refusal(fixture.by_key(&new).await), ErrorKind::Disabled { entity: Entity::UserApiKey });
    fixture.inventory.user_api_keys().enable(&fixture.system(), id).await.unwrap();
    fixture.clock.set(time("2027-01-01T00:00:00Z"));
    let new = fixture.inventory.user_api_keys().rotate(&fixture.system(), id).await.unwrap();
    assert_eq!(refusal(fixture.by_key(&new).await), ErrorKind::Expired { entity: Entity::UserApiKey });
}

#[tokio::test]
async fn unknown_key_and_key_of_a_daemon_are_not_found() {
    let fixture = Fixture::new().await;
    let daemons = fixture.daemon_key(|_| {}).await;
    for unknown in [id(3), daemons.record().id.uuid().into()] {
        let system = Caller::system(fixture.organization);
        let attempt = fixture.inventory.user_api_keys().rotate(&system, unknown);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::UserApiKey, unknown));
    }
    fixture.inventory.authenticate_daemon_key(daemons.plaintext()).await.unwrap();
}

#[tokio::test]
async fn key_that_is_deleted_during_its_rotation_does_not_come_back() {
    at_every_call(
        async |fixture: &Fixture| full_key(fixture).await,
        async |inventory, (_, issued)| {
            inventory
                .user_api_keys()
                .delete(&Caller::system(issued.record().organization_id), issued.record().id)
                .await
                .unwrap();
        },
        async |inventory, (_, issued)| {
            inventory
                .user_api_keys()
                .rotate(&Caller::system(issued.record().organization_id), issued.record().id)
                .await
        },
        async |fixture, (_, issued), result| {
            assert_eq!(refusal(result), not_found(Entity::UserApiKey, issued.record().id));
            assert_eq!(fixture.mentioning(issued.record().id).await, []);
        },
    )
    .await;
}

#[tokio::test]
async fn later_of_two_concurrent_rotations_is_valid() {
    at_every_call(
        async |fixture: &Fixture| full_key(fixture).await,
        async |inventory, (_, issued)| {
            drop(
                inventory
                    .user_api_keys()
                    .rotate(&Caller::system(issued.record().organization_id), issued.record().id)
                    .await
                    .unwrap(),
            );
        },
        async |inventory, (_, issued)| {
            inventory
                .user_api_keys()
                .rotate(&Caller::system(issued.record().organization_id), issued.record().id)
                .await
                .unwrap()
        },
        async |fixture, (owner, old), new| {
            fixture.by_key(&new).await.unwrap();
            fixture.by_key(old).await.unwrap_err();
            let digests: Vec<_> = fixture.contents().await;
            let secrets = digests.iter().filter(|stored| stored.kind() == "key_secret").count();
            assert_eq!(secrets, 1, "one plaintext is valid");
            assert_eq!(
                fixture
                    .inventory
                    .user_api_keys()
                    .of_user(&Caller::system(owner.organization_id), owner.id)
                    .await
                    .unwrap(),
                [new.record().clone()]
            );
        },
    )
    .await;
}
