//! Keys of daemons: their creation by the host application and by users, and their rights.

use std::time::Duration;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, NewDaemonApiKey, Problem};
use toposcope::model::{DaemonApiKey, Permission};

use crate::support::{
    Fixture, LEVELS, NOW, access_denied, id, in_person, invalid, not_found, owner_of, reference_invalid,
    refusal, through_a_key, time, uuid,
};

/// Asserts that the host application and a user get the same refusal.
async fn assert_refused(fixture: &Fixture, expected: ErrorKind, adapt: impl Fn(&mut NewDaemonApiKey)) {
    let mut new = NewDaemonApiKey::new(fixture.network, "scanner");
    adapt(&mut new);
    let caller = owner_of(fixture.organization);
    let by_user = fixture.inventory.daemon_api_keys().create(&caller, new.clone());
    assert_eq!(fixture.refusal(by_user).await, expected);
    assert_eq!(
        fixture.refusal(fixture.inventory.daemon_api_keys().create(&fixture.system(), new)).await,
        expected
    );
}

#[tokio::test]
async fn invalid_new_key_is_refused_for_the_host_and_for_a_user() {
    let fixture = Fixture::new().await;
    for (name, problem) in [
        (String::new(), Problem::Empty),
        (" \u{2003}\t".to_owned(), Problem::Empty),
        ("🦀".repeat(101), Problem::MaxLength { max: 100 }),
    ] {
        assert_refused(&fixture, invalid("name", problem), |new| new.name.clone_from(&name)).await;
    }
    let now = time(NOW);
    for end in [NOW, "2026-08-14T11:59:59.999999Z", "0000-01-01T00:00:00Z"] {
        let expected = invalid("expires_at", Problem::NotInFuture { now });
        assert_refused(&fixture, expected, |new| new.expires_at = Some(time(end))).await;
    }
}

#[tokio::test]
async fn new_key_has_tags_of_its_organization_only() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    for bad in [foreign.tag, id(7), fixture.network.uuid().into()] {
        let expected = reference_invalid(Entity::Tag, "tags.1");
        assert_refused(&fixture, expected, |new| new.tags = vec![fixture.tags[0], bad]).await;
    }
    // The tags are those of the network's organization, for every caller.
    let mut new = NewDaemonApiKey::new(foreign.network, "theirs");
    new.tags = vec![fixture.tags[0]];
    let system = Caller::system(foreign.organization);
    let attempt = fixture.inventory.daemon_api_keys().create(&system, new);
    assert_eq!(fixture.refusal(attempt).await, reference_invalid(Entity::Tag, "tags.0"));
}

#[tokio::test]
async fn unknown_network_is_not_found_for_the_host_and_denied_to_a_user() {
    let fixture = Fixture::new().await;
    for unknown in [id(7), fixture.organization] {
        let new = NewDaemonApiKey::new(unknown.uuid().into(), "scanner");
        let system = Caller::system(fixture.organization);
        let attempt = fixture.inventory.daemon_api_keys().create(&system, new.clone());
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::Network, unknown));
        let caller = owner_of(fixture.organization);
        let attempt = fixture.inventory.daemon_api_keys().create(&caller, new);
        assert_eq!(fixture.refusal(attempt).await, access_denied(unknown.uuid().into()));
    }
}

#[tokio::test]
async fn user_creates_keys_for_accessible_networks_only() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    for level in LEVELS {
        let user = fixture.user(&format!("{level}@example.net"), level, &[fixture.network]).await;
        let (person, key) = (in_person(&user), through_a_key(&user));
        for (caller, network, reaches) in [
            (&person, fixture.network, true),
            (&key, fixture.network, true),
            (&person, fixture.other_network, level.sees_every_network()),
            (&key, fixture.other_network, false),
            (&person, foreign.network, false),
            (&key, foreign.network, false),
        ] {
            let new = NewDaemonApiKey::new(network, "scanner");
            let attempt = fixture.inventory.daemon_api_keys().create(caller, new);
            if level == Permission::Viewer {
                assert_eq!(fixture.refusal(attempt).await, ErrorKind::PermissionDenied);
            } else if reaches {
                assert_eq!(attempt.await.unwrap().record().network_id, network);
            } else {
                assert_eq!(fixture.refusal(attempt).await, access_denied(network));
            }
        }
    }
}

/// A scope is not tied to an organization. Including a foreign network does not grant access to it.
#[tokio::test]
async fn scope_with_a_foreign_network_does_not_grant_it() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let scope = Scope::only([foreign.network]);
    let caller = Caller::new(fixture.organization, id(1), Permission::Owner, scope);
    let new = NewDaemonApiKey::new(foreign.network, "scanner");
    let attempt = fixture.inventory.daemon_api_keys().create(&caller, new);
    assert_eq!(fixture.refusal(attempt).await, access_denied(foreign.network));
}

/// All fields are invalid at first. They are corrected in the order in which errors are reported.
#[tokio::test]
async fn first_error_of_a_new_key_is_reported() {
    let fixture = Fixture::new().await;
    let viewer = fixture.user("v@example.net", Permission::Viewer, &[]).await;
    let member = fixture.user("m@example.net", Permission::Member, &[fixture.network]).await;
    let mut new = NewDaemonApiKey::new(fixture.other_network, "");
    new.tags = vec![id(7)];
    new.expires_at = Some(time("2000-01-01T00:00:00Z"));
    let refusal_of = async |caller: &Caller, new: &NewDaemonApiKey| {
        fixture.refusal(fixture.inventory.daemon_api_keys().create(caller, new.clone())).await
    };
    let caller = in_person(&member);
    assert_eq!(refusal_of(&in_person(&viewer), &new).await, ErrorKind::PermissionDenied);
    assert_eq!(refusal_of(&caller, &new).await, invalid("name", Problem::Empty));
    new.name = "scanner".to_owned();
    let now = time(NOW);
    assert_eq!(refusal_of(&caller, &new).await, invalid("expires_at", Problem::NotInFuture { now }));
    new.expires_at = None;
    assert_eq!(refusal_of(&caller, &new).await, access_denied(fixture.other_network));
    new.network_id = fixture.network;
    assert_eq!(refusal_of(&caller, &new).await, reference_invalid(Entity::Tag, "tags.0"));
    new.tags.clear();
    fixture.inventory.daemon_api_keys().create(&caller, new).await.unwrap();
}

#[tokio::test]
async fn keys_are_listed_by_age_for_their_organization_only() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let mut records = Vec::new();
    for (name, network) in [("z", fixture.network), ("a", fixture.other_network), ("m", fixture.network)] {
        fixture.clock.advance(Duration::from_micros(1));
        let issued = fixture.daemon_key(|new| {
            new.name = name.to_owned();
            new.network_id = network;
        });
        records.push(issued.await.record().clone());
    }
    let theirs = NewDaemonApiKey::new(foreign.network, "theirs");
    let theirs =
        fixture.inventory.daemon_api_keys().create(&foreign.system(), theirs).await.unwrap().record().clone();
    assert_eq!(fixture.inventory.daemon_api_keys().all(&fixture.system()).await.unwrap(), records);
    assert_eq!(fixture.inventory.daemon_api_keys().all(&foreign.system()).await.unwrap(), [theirs]);
    let homeless = fixture.inventory.daemon_api_keys().all(&Caller::system(id(9))).await;
    assert_eq!(refusal(homeless), not_found(Entity::Organization, uuid(9)));
    fixture.inventory.daemon_api_keys().delete(&fixture.system(), records[1].id).await.unwrap();
    records.remove(1);
    assert_eq!(fixture.inventory.daemon_api_keys().all(&fixture.system()).await.unwrap(), records);
}

#[tokio::test]
async fn key_authenticates_a_daemon_of_its_network() {
    let fixture = Fixture::new().await;
    for network in [fixture.network, fixture.other_network] {
        let issued = fixture.daemon_key(|new| new.network_id = network).await;
        let daemon = fixture.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
        assert_eq!((daemon.key_id, daemon.network_id), (issued.record().id, network));
        assert_eq!(daemon.organization_id, fixture.organization);
    }
}

#[tokio::test]
async fn key_requires_no_api_access() {
    let fixture = Fixture::new().await;
    let issued = fixture.daemon_key(|_| {}).await;
    fixture.inventory.organizations().disable_api_access(fixture.organization).await.unwrap();
    fixture.clock.advance(Duration::from_secs(1000 * 365 * 24 * 3600));
    fixture.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
}

/// A daemon's key is recognized only while it is valid. Otherwise a method that requires a user reports the key's own
/// fault.
#[tokio::test]
async fn valid_daemon_key_is_refused_as_such_where_a_user_is_required() {
    let fixture = Fixture::new().await;
    let issued = fixture.daemon_key(|new| new.expires_at = Some(time("2026-08-14T13:00:00Z"))).await;
    let (key, text) = (issued.record().id, issued.plaintext());
    let refusal_of = async || refusal(fixture.inventory.authenticate_user_key(text).await);
    assert_eq!(refusal_of().await, ErrorKind::UserContextRequired);
    fixture.inventory.daemon_api_keys().disable(&fixture.system(), key).await.unwrap();
    assert_eq!(refusal_of().await, ErrorKind::Disabled { entity: Entity::DaemonApiKey });
    fixture.inventory.daemon_api_keys().enable(&fixture.system(), key).await.unwrap();
    fixture.clock.set(time("2026-08-14T13:00:00Z"));
    assert_eq!(refusal_of().await, ErrorKind::Expired { entity: Entity::DaemonApiKey });
    fixture.inventory.daemon_api_keys().delete(&fixture.system(), key).await.unwrap();
    assert_eq!(refusal_of().await, ErrorKind::NotAuthenticated);
}

#[tokio::test]
async fn new_key_is_of_its_network_whether_the_host_or_a_user_creates_it() {
    let (fixture, owner) = Fixture::with_owner().await;
    let mut new = NewDaemonApiKey::new(fixture.network, " scanner ");
    new.tags = vec![fixture.tags[1], fixture.tags[0], fixture.tags[1]];
    new.is_enabled = false;
    let by_host = fixture.inventory.daemon_api_keys().create(&fixture.system(), new.clone()).await.unwrap();
    let by_user = fixture.inventory.daemon_api_keys().create(&in_person(&owner), new).await.unwrap();
    assert_ne!(by_host.plaintext(), by_user.plaintext());
    let (id, key) = (by_user.record().id, by_user.record().key.clone());
    assert_ne!(by_host.record().id, id);
    assert_eq!(by_user.record(), &DaemonApiKey { id, key, ..by_host.record().clone() });
    assert_eq!(
        &fixture.inventory.daemon_api_keys().get(&fixture.system(), id).await.unwrap(),
        by_user.record()
    );
}
