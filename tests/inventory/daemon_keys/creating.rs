//! Creation of daemon keys by the host application and by users.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, ErrorKind, NewDaemonApiKey, Problem};
use toposcope::model::Permission;

use crate::support::{
    Fixture, LEVELS, NOW, access_denied, at_every_call, id, in_person, invalid, not_found, owner_of,
    reference_invalid, refusal, through_a_key, time,
};

#[tokio::test]
async fn a_key_is_recorded_as_asked_for_with_the_key_itself_masked() {
    let fixture = Fixture::new().await;
    let now = time("2026-08-15T00:00:00Z");
    fixture.clock.set(now);
    let mut new = NewDaemonApiKey::new(fixture.network, " scanner ");
    new.tags = vec![fixture.tags[1], fixture.tags[0], fixture.tags[1]];
    new.expires_at = Some(time("2026-08-15T00:00:00.000001Z"));
    new.is_enabled = false;
    let by_host = fixture.inventory.create_daemon_api_key(new.clone()).await.unwrap();
    let owner = fixture.owner().await;
    let by_user = fixture.inventory.create_daemon_api_key_as(&in_person(&owner), new).await.unwrap();
    for issued in [&by_host, &by_user] {
        let (record, text) = (issued.record(), issued.plaintext());
        assert_eq!((record.name.as_str(), record.network_id), ("scanner", fixture.network));
        assert_eq!(record.tags, [fixture.tags[1], fixture.tags[0]]);
        assert_eq!((record.created_at, record.updated_at, record.last_used), (now, now, None));
        assert_eq!(record.expires_at, Some(time("2026-08-15T00:00:00.000001Z")));
        assert!(!record.is_enabled);
        assert_eq!(text.len(), "topo_d_".len() + 38);
        assert!(text.starts_with("topo_d_"));
        assert_eq!(record.key, format!("topo_d_…{}", &text[text.len() - 4..]));
        assert_eq!(&fixture.inventory.daemon_api_key(record.id).await.unwrap(), record);
    }
    assert_ne!(by_host.record().id, by_user.record().id);
    assert_ne!(by_host.plaintext(), by_user.plaintext());
}

#[tokio::test]
async fn a_key_works_without_end_and_bears_no_tag_unless_told_otherwise() {
    let fixture = Fixture::new().await;
    let record = fixture.daemon_key(|_| {}).await.record().clone();
    assert!(record.is_enabled);
    assert_eq!((record.expires_at, record.tags.as_slice()), (None, &[][..]));
}

/// Asserts that the host application and a user get the same refusal.
async fn assert_refused(fixture: &Fixture, expected: ErrorKind, adapt: impl Fn(&mut NewDaemonApiKey)) {
    let mut new = NewDaemonApiKey::new(fixture.network, "scanner");
    adapt(&mut new);
    let caller = owner_of(fixture.organization);
    let by_user = fixture.inventory.create_daemon_api_key_as(&caller, new.clone());
    assert_eq!(fixture.refusal(by_user).await, expected);
    assert_eq!(fixture.refusal(fixture.inventory.create_daemon_api_key(new)).await, expected);
}

#[tokio::test]
async fn a_name_has_one_to_a_hundred_characters() {
    let fixture = Fixture::new().await;
    for (name, problem) in [
        (String::new(), Problem::Empty),
        (" \u{2003}\t".to_owned(), Problem::Empty),
        ("🦀".repeat(101), Problem::MaxLength { max: 100 }),
    ] {
        assert_refused(&fixture, invalid("name", problem), |new| new.name.clone_from(&name)).await;
    }
    fixture.daemon_key(|new| new.name = "🦀".repeat(100)).await;
}

#[tokio::test]
async fn a_key_does_not_end_now_or_earlier() {
    let fixture = Fixture::new().await;
    let now = time("2026-08-14T12:00:00.5Z");
    fixture.clock.set(now);
    for end in ["2026-08-14T12:00:00.5Z", "2026-08-14T12:00:00.499999Z", "0000-01-01T00:00:00Z"] {
        let expected = invalid("expires_at", Problem::NotInFuture { now });
        assert_refused(&fixture, expected, |new| new.expires_at = Some(time(end))).await;
    }
}

#[tokio::test]
async fn tags_are_the_organizations_own() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    for bad in [foreign.tag, id(7), fixture.network] {
        let expected = reference_invalid(Entity::Tag, "tags.1");
        assert_refused(&fixture, expected, |new| new.tags = vec![fixture.tags[0], bad]).await;
    }
    // The tags are those of the network's organization, for every caller.
    let mut new = NewDaemonApiKey::new(foreign.network, "theirs");
    new.tags = vec![fixture.tags[0]];
    let attempt = fixture.inventory.create_daemon_api_key(new);
    assert_eq!(fixture.refusal(attempt).await, reference_invalid(Entity::Tag, "tags.0"));
}

#[tokio::test]
async fn an_unknown_network_is_not_found_by_the_host_and_denied_to_a_user() {
    let fixture = Fixture::new().await;
    for unknown in [id(7), fixture.organization] {
        let new = NewDaemonApiKey::new(unknown, "scanner");
        let attempt = fixture.inventory.create_daemon_api_key(new.clone());
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::Network, unknown));
        let caller = owner_of(fixture.organization);
        let attempt = fixture.inventory.create_daemon_api_key_as(&caller, new);
        assert_eq!(fixture.refusal(attempt).await, access_denied(unknown));
    }
}

#[tokio::test]
async fn a_user_makes_keys_for_networks_within_reach_alone() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
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
            let attempt = fixture.inventory.create_daemon_api_key_as(caller, new);
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

/// A scope is not tied to an organization: including a foreign network does not grant access to it.
#[tokio::test]
async fn a_scope_that_names_a_foreign_network_does_not_open_it() {
    let fixture = Fixture::new().await;
    let foreign = fixture.foreign().await;
    let scope = Scope::only([foreign.network]);
    let caller = Caller::new(fixture.organization, id(1), Permission::Owner, scope);
    let new = NewDaemonApiKey::new(foreign.network, "scanner");
    let attempt = fixture.inventory.create_daemon_api_key_as(&caller, new);
    assert_eq!(fixture.refusal(attempt).await, access_denied(foreign.network));
}

/// Everything is invalid at first, and is corrected in the order in which errors are reported.
#[tokio::test]
async fn what_is_wrong_with_a_new_key_is_told_in_order() {
    let fixture = Fixture::new().await;
    let viewer = fixture.user("v@example.net", Permission::Viewer, &[]).await;
    let member = fixture.user("m@example.net", Permission::Member, &[fixture.network]).await;
    let mut new = NewDaemonApiKey::new(fixture.other_network, "");
    new.tags = vec![id(7)];
    new.expires_at = Some(time("2000-01-01T00:00:00Z"));
    let told = async |caller: &Caller, new: &NewDaemonApiKey| {
        fixture.refusal(fixture.inventory.create_daemon_api_key_as(caller, new.clone())).await
    };
    let caller = in_person(&member);
    assert_eq!(told(&in_person(&viewer), &new).await, ErrorKind::PermissionDenied);
    assert_eq!(told(&caller, &new).await, invalid("name", Problem::Empty));
    new.name = "scanner".to_owned();
    let now = time(NOW);
    assert_eq!(told(&caller, &new).await, invalid("expires_at", Problem::NotInFuture { now }));
    new.expires_at = None;
    assert_eq!(told(&caller, &new).await, access_denied(fixture.other_network));
    new.network_id = fixture.network;
    assert_eq!(told(&caller, &new).await, reference_invalid(Entity::Tag, "tags.0"));
    new.tags.clear();
    fixture.inventory.create_daemon_api_key_as(&caller, new).await.unwrap();
}

#[tokio::test]
async fn a_key_whose_network_is_deleted_meanwhile_is_not_made() {
    at_every_call(
        async |fixture: &Fixture| fixture.network,
        async |inventory, network| inventory.delete_network(*network).await.unwrap(),
        async |inventory, network| {
            inventory.create_daemon_api_key(NewDaemonApiKey::new(*network, "scanner")).await
        },
        async |fixture, network, result| {
            assert_eq!(refusal(result), not_found(Entity::Network, *network));
            assert_eq!(fixture.mentioning(*network).await, []);
        },
    )
    .await;
}
