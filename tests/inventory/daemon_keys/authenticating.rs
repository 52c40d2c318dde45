//! Authentication of daemons by their keys.

use std::time::Duration;

use toposcope::access::{KeyKind, KeyText};
use toposcope::inventory::{Entity, ErrorKind};

use crate::support::{Fixture, NOW, Seeded, at_every_call, refusal, settle, time};

#[tokio::test]
async fn a_key_tells_its_network_and_itself() {
    let fixture = Fixture::new().await;
    for network in [fixture.network, fixture.other_network] {
        let issued = fixture.daemon_key(|new| new.network_id = network).await;
        let daemon = fixture.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
        assert_eq!((daemon.key_id, daemon.network_id), (issued.record().id, network));
        assert_eq!(daemon.organization_id, fixture.organization);
    }
}

#[tokio::test]
async fn what_is_no_key_of_a_daemon_is_not_authenticated() {
    let fixture = Fixture::new().await;
    let issued = fixture.daemon_key(|_| {}).await;
    let text = issued.plaintext();
    let owner = fixture.owner().await;
    let users = fixture.user_key(&owner, |_| {}).await;
    let unknown = KeyText::generate(KeyKind::Daemon, &Seeded::default()).unwrap();
    for attempt in [
        "",
        "topo_d_",
        "not a key",
        unknown.expose(),
        users.plaintext(),
        &users.plaintext().replacen("topo_u_", "topo_d_", 1),
        &text.replacen("topo_d_", "topo_u_", 1),
        &issued.record().key,
        &text[..text.len() - 1],
        &format!("{text}0"),
        &format!(" {text}"),
        &text.to_uppercase(),
    ] {
        let refused = refusal(fixture.inventory.authenticate_daemon_key(attempt).await);
        assert_eq!(refused, ErrorKind::NotAuthenticated, "{attempt:?}");
    }
}

#[tokio::test]
async fn a_key_that_is_switched_off_is_refused_until_it_is_switched_on() {
    let fixture = Fixture::new().await;
    let issued = fixture.daemon_key(|new| new.is_enabled = false).await;
    let disabled = ErrorKind::Disabled { entity: Entity::DaemonApiKey };
    for _ in 0..2 {
        assert_eq!(refusal(fixture.inventory.authenticate_daemon_key(issued.plaintext()).await), disabled);
        fixture.inventory.set_daemon_api_key_enabled(issued.record().id, true).await.unwrap();
        fixture.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
        fixture.inventory.set_daemon_api_key_enabled(issued.record().id, false).await.unwrap();
    }
}

#[tokio::test]
async fn a_key_is_over_from_its_end_on() {
    let fixture = Fixture::new().await;
    let end = time("2026-08-14T13:00:00Z");
    let issued = fixture.daemon_key(|new| new.expires_at = Some(end)).await;
    fixture.clock.set(time("2026-08-14T12:59:59.999999Z"));
    fixture.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
    let expired = ErrorKind::Expired { entity: Entity::DaemonApiKey };
    for moment in [end, time("2026-08-14T13:00:01Z"), time("9999-01-01T00:00:00Z")] {
        fixture.clock.set(moment);
        assert_eq!(refusal(fixture.inventory.authenticate_daemon_key(issued.plaintext()).await), expired);
    }
    fixture.clock.set(time(NOW));
    fixture.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
}

#[tokio::test]
async fn a_key_without_end_works_for_a_thousand_years_and_without_api_access() {
    let fixture = Fixture::new().await;
    let issued = fixture.daemon_key(|_| {}).await;
    fixture.inventory.set_api_access(fixture.organization, false).await.unwrap();
    fixture.clock.advance(Duration::from_secs(1000 * 365 * 24 * 3600));
    fixture.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
}

/// A daemon's key is recognized as such where a user is needed only while the key is valid.
#[tokio::test]
async fn a_daemons_key_is_told_from_an_unknown_one_where_a_user_is_needed() {
    let fixture = Fixture::new().await;
    let issued = fixture.daemon_key(|new| new.expires_at = Some(time("2026-08-14T13:00:00Z"))).await;
    let (key, text) = (issued.record().id, issued.plaintext());
    let told = async || refusal(fixture.inventory.authenticate_user_key(text).await);
    assert_eq!(told().await, ErrorKind::UserContextRequired);
    fixture.inventory.set_daemon_api_key_enabled(key, false).await.unwrap();
    assert_eq!(told().await, ErrorKind::Disabled { entity: Entity::DaemonApiKey });
    fixture.inventory.set_daemon_api_key_enabled(key, true).await.unwrap();
    fixture.clock.set(time("2026-08-14T13:00:00Z"));
    assert_eq!(told().await, ErrorKind::Expired { entity: Entity::DaemonApiKey });
    fixture.inventory.delete_daemon_api_key(key).await.unwrap();
    assert_eq!(told().await, ErrorKind::NotAuthenticated);
}

#[tokio::test]
async fn a_key_that_is_deleted_while_it_is_shown_is_not_authenticated() {
    at_every_call(
        async |fixture: &Fixture| fixture.daemon_key(|_| {}).await,
        async |inventory, issued| inventory.delete_daemon_api_key(issued.record().id).await.unwrap(),
        async |inventory, issued| inventory.authenticate_daemon_key(issued.plaintext()).await,
        async |fixture, issued, result| {
            assert_eq!(refusal(result), ErrorKind::NotAuthenticated);
            settle().await;
            assert_eq!(fixture.mentioning(issued.record().id).await, []);
        },
    )
    .await;
}
