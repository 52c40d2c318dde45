//! Sessions: how they authenticate callers, and when they end.

use std::time::Duration;

use toposcope::access::{Credential, Scope};
use toposcope::inventory::{Entity, ErrorKind};
use toposcope::model::Permission;

use crate::support::{LEVELS, NOW, PASSWORD, World, at_every_moment, id, not_found, refusal, time};

#[tokio::test]
async fn a_session_tells_its_user_with_all_rights() {
    let world = World::new().await;
    for level in LEVELS {
        let user = world.user(&format!("{level}@example.net"), level, &[world.network]).await;
        let issued = world.log_in(&user).await;
        let caller = world.inventory.authenticate_session(issued.plaintext()).await.unwrap();
        assert_eq!((caller.user_id(), caller.organization_id()), (user.id, world.organization));
        assert_eq!((caller.permission(), caller.credential()), (level, Credential::Session));
        assert_eq!(caller.scope(), &Scope::granted(level, [world.network]));
    }
}

#[tokio::test]
async fn what_is_no_session_is_not_authenticated_and_ends_none() {
    let world = World::new().await;
    let user = world.owner().await;
    let issued = world.log_in(&user).await;
    let key = world.user_key(&user, |_| {}).await;
    let text = issued.plaintext();
    let unknown = "4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v8";
    let commits = world.store.commits();
    for attempt in [
        "",
        "guess",
        unknown,
        key.plaintext(),
        &issued.session().id.to_string(),
        &text[..42],
        &format!("{text}="),
        &format!("{text}A"),
        &format!(" {text}"),
        &text.to_uppercase(),
        &"🦀".repeat(11),
    ] {
        let refused = world.inventory.authenticate_session(attempt).await;
        assert_eq!(refusal(refused), ErrorKind::NotAuthenticated, "{attempt:?}");
        world.inventory.log_out(attempt).await.unwrap();
    }
    assert_eq!(world.store.commits(), commits);
    world.inventory.authenticate_session(text).await.unwrap();
}

#[tokio::test]
async fn a_session_ends_exactly_seven_days_after_its_login() {
    let world = World::new().await;
    let user = world.owner().await;
    world.clock.set(time("2026-08-14T12:34:56.789012Z"));
    let issued = world.log_in(&user).await;
    for moment in ["2026-08-14T12:34:56.789012Z", "2026-08-20T00:00:00Z", "2026-08-21T12:34:56.789011Z"] {
        world.clock.set(time(moment));
        world.inventory.authenticate_session(issued.plaintext()).await.unwrap();
    }
    for moment in ["2026-08-21T12:34:56.789012Z", "2026-08-21T12:34:57Z", "2100-01-01T00:00:00Z"] {
        world.clock.set(time(moment));
        let over = world.inventory.authenticate_session(issued.plaintext()).await;
        assert_eq!(refusal(over), ErrorKind::SessionExpired, "{moment}");
    }
}

/// Using a session does not extend it.
#[tokio::test]
async fn a_session_that_is_used_ends_all_the_same() {
    let world = World::new().await;
    let user = world.owner().await;
    let issued = world.log_in(&user).await;
    for _ in 1..7 {
        world.clock.advance(Duration::from_secs(24 * 3600));
        world.inventory.authenticate_session(issued.plaintext()).await.unwrap();
    }
    world.clock.advance(Duration::from_secs(24 * 3600));
    let over = world.inventory.authenticate_session(issued.plaintext()).await;
    assert_eq!(refusal(over), ErrorKind::SessionExpired);
}

#[tokio::test]
async fn a_session_that_is_over_is_not_told_from_an_unknown_one_when_it_is_purged() {
    let world = World::new().await;
    let user = world.owner().await;
    let issued = world.log_in(&user).await;
    world.clock.advance(Duration::from_secs(7 * 24 * 3600));
    assert_eq!(world.inventory.purge_expired().await.unwrap(), 1);
    let over = world.inventory.authenticate_session(issued.plaintext()).await;
    assert_eq!(refusal(over), ErrorKind::NotAuthenticated);
    world.clock.set(time(NOW));
    let over = world.inventory.authenticate_session(issued.plaintext()).await;
    assert_eq!(refusal(over), ErrorKind::NotAuthenticated);
}

#[tokio::test]
async fn who_logs_out_ends_that_session_alone_and_nothing_of_it_is_left() {
    let world = World::new().await;
    let user = world.owner().await;
    let other = world.user("b@example.net", Permission::Viewer, &[]).await;
    let kept = [world.log_in(&user).await, world.log_in(&other).await];
    let before = world.store.contents().await;
    let issued = world.log_in(&user).await;
    for _ in 0..2 {
        world.inventory.log_out(issued.plaintext()).await.unwrap();
        assert_eq!(world.store.contents().await, before);
        let ended = world.inventory.authenticate_session(issued.plaintext()).await;
        assert_eq!(refusal(ended), ErrorKind::NotAuthenticated);
    }
    for issued in &kept {
        world.inventory.authenticate_session(issued.plaintext()).await.unwrap();
    }
}

#[tokio::test]
async fn all_sessions_of_a_user_end_at_once_and_nobody_elses() {
    let world = World::new().await;
    let user = world.owner().await;
    let other = world.user("b@example.net", Permission::Viewer, &[]).await;
    let key = world.user_key(&user, |_| {}).await;
    let others = world.log_in(&other).await;
    let before = world.store.contents().await;
    let sessions = [world.log_in(&user).await, world.log_in(&user).await, world.log_in(&user).await];
    // Ending a session that no longer exists is not an error.
    for _ in 0..2 {
        world.inventory.end_sessions(user.id).await.unwrap();
        for session in &sessions {
            let ended = world.inventory.authenticate_session(session.plaintext()).await;
            assert_eq!(refusal(ended), ErrorKind::NotAuthenticated);
        }
        assert_eq!(world.store.contents().await, before);
    }
    world.inventory.authenticate_session(others.plaintext()).await.unwrap();
    world.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    world.log_in(&user).await;
}

#[tokio::test]
async fn sessions_of_an_unknown_user_cannot_be_ended() {
    let world = World::new().await;
    for unknown in [id(3), world.organization] {
        let attempt = world.inventory.end_sessions(unknown);
        assert_eq!(world.refusal(attempt).await, not_found(Entity::User, unknown));
    }
}

#[tokio::test]
async fn a_session_that_begins_while_all_others_end_ends_as_well() {
    at_every_moment(
        async |world: &World| {
            let user = world.owner().await;
            world.log_in(&user).await;
            user
        },
        |inventory, user| {
            let email = user.email.clone();
            async move {
                inventory.log_in(&email, PASSWORD.to_owned()).await.unwrap();
            }
        },
        async |inventory, user| inventory.end_sessions(user.id).await,
        async |world, user, result| {
            result.unwrap();
            assert_eq!(world.sessions_of(user.id).await, 0);
        },
    )
    .await;
}

#[tokio::test]
async fn a_session_that_is_over_can_be_logged_out_of() {
    let world = World::new().await;
    let user = world.owner().await;
    let issued = world.log_in(&user).await;
    world.clock.advance(Duration::from_secs(8 * 24 * 3600));
    world.inventory.log_out(issued.plaintext()).await.unwrap();
    let ended = world.inventory.authenticate_session(issued.plaintext()).await;
    assert_eq!(refusal(ended), ErrorKind::NotAuthenticated);
    assert_eq!(world.inventory.purge_expired().await.unwrap(), 0);
}
