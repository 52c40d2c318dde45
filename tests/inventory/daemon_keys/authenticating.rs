//! Authentication of daemons by their keys.

use std::time::Duration;

use toposcope::inventory::{Entity, ErrorKind};

use crate::support::{NOW, World, at_every_moment, refusal, settle, time};

#[tokio::test]
async fn a_key_tells_its_network_and_itself() {
    let world = World::new().await;
    for network in [world.network, world.other_network] {
        let issued = world.daemon_key(|new| new.network_id = network).await;
        let daemon = world.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
        assert_eq!((daemon.key_id, daemon.network_id), (issued.record().id, network));
        assert_eq!(daemon.organization_id, world.organization);
    }
}

#[tokio::test]
async fn what_is_no_key_of_a_daemon_is_not_authenticated() {
    let world = World::new().await;
    let issued = world.daemon_key(|_| {}).await;
    let text = issued.plaintext();
    let owner = world.owner().await;
    let users = world.user_key(&owner, |_| {}).await;
    let unknown = "topo_d_0123456789ABCDEFGHIJKLMNOPQRSTUV0r6Ij5";
    for attempt in [
        "",
        "topo_d_",
        "not a key",
        unknown,
        users.plaintext(),
        &users.plaintext().replacen("topo_u_", "topo_d_", 1),
        &text.replacen("topo_d_", "topo_u_", 1),
        &issued.record().key,
        &text[..text.len() - 1],
        &format!("{text}0"),
        &format!(" {text}"),
        &text.to_uppercase(),
    ] {
        let refused = refusal(world.inventory.authenticate_daemon_key(attempt).await);
        assert_eq!(refused, ErrorKind::NotAuthenticated, "{attempt:?}");
    }
}

#[tokio::test]
async fn a_key_that_is_switched_off_is_refused_until_it_is_switched_on() {
    let world = World::new().await;
    let issued = world.daemon_key(|new| new.is_enabled = false).await;
    let disabled = ErrorKind::Disabled { entity: Entity::DaemonApiKey };
    for _ in 0..2 {
        assert_eq!(refusal(world.inventory.authenticate_daemon_key(issued.plaintext()).await), disabled);
        world.inventory.enable_daemon_api_key(issued.record().id).await.unwrap();
        world.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
        world.inventory.disable_daemon_api_key(issued.record().id).await.unwrap();
    }
}

#[tokio::test]
async fn a_key_is_over_from_its_end_on() {
    let world = World::new().await;
    let end = time("2026-08-14T13:00:00Z");
    let issued = world.daemon_key(|new| new.expires_at = Some(end)).await;
    world.clock.set(time("2026-08-14T12:59:59.999999Z"));
    world.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
    let expired = ErrorKind::Expired { entity: Entity::DaemonApiKey };
    for moment in [end, time("2026-08-14T13:00:01Z"), time("9999-01-01T00:00:00Z")] {
        world.clock.set(moment);
        assert_eq!(refusal(world.inventory.authenticate_daemon_key(issued.plaintext()).await), expired);
    }
    world.clock.set(time(NOW));
    world.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
}

#[tokio::test]
async fn a_key_without_end_works_for_a_thousand_years_and_without_api_access() {
    let world = World::new().await;
    let issued = world.daemon_key(|_| {}).await;
    world.inventory.disable_api_access(world.organization).await.unwrap();
    world.clock.advance(Duration::from_secs(1000 * 365 * 24 * 3600));
    world.inventory.authenticate_daemon_key(issued.plaintext()).await.unwrap();
}

/// A daemon's key is recognized as such where a user is needed only while the key is valid.
#[tokio::test]
async fn a_daemons_key_is_told_from_an_unknown_one_where_a_user_is_needed() {
    let world = World::new().await;
    let issued = world.daemon_key(|new| new.expires_at = Some(time("2026-08-14T13:00:00Z"))).await;
    let (key, text) = (issued.record().id, issued.plaintext());
    let told = async || refusal(world.inventory.authenticate_user_key(text).await);
    assert_eq!(told().await, ErrorKind::UserContextRequired);
    world.inventory.disable_daemon_api_key(key).await.unwrap();
    assert_eq!(told().await, ErrorKind::Disabled { entity: Entity::DaemonApiKey });
    world.inventory.enable_daemon_api_key(key).await.unwrap();
    world.clock.set(time("2026-08-14T13:00:00Z"));
    assert_eq!(told().await, ErrorKind::Expired { entity: Entity::DaemonApiKey });
    world.inventory.delete_daemon_api_key(key).await.unwrap();
    assert_eq!(told().await, ErrorKind::NotAuthenticated);
}

#[tokio::test]
async fn a_key_that_is_deleted_while_it_is_shown_is_not_authenticated() {
    at_every_moment(
        async |world: &World| world.daemon_key(|_| {}).await,
        |inventory, issued| {
            let key = issued.record().id;
            async move { inventory.delete_daemon_api_key(key).await.unwrap() }
        },
        async |inventory, issued| inventory.authenticate_daemon_key(issued.plaintext()).await,
        async |world, issued, result| {
            assert_eq!(refusal(result), ErrorKind::NotAuthenticated);
            settle().await;
            assert_eq!(world.store.mentioning(issued.record().id).await, []);
        },
    )
    .await;
}
