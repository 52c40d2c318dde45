//! Sessions: how they authenticate callers, when they end, and when they are removed from the store.

use std::time::Duration;

use toposcope::access::{Credential, Scope, SessionId};
use toposcope::inventory::{Entity, ErrorKind, NewShare};
use toposcope::model::Permission;

use crate::support::{
    Fault, Fixture, LEVELS, NOW, PASSWORD, Seeded, at_every_call, id, in_person, not_found, refusal, settle,
    time,
};

#[tokio::test]
async fn a_session_tells_its_user_with_all_rights() {
    let fixture = Fixture::new().await;
    for level in LEVELS {
        let user = fixture.user(&format!("{level}@example.net"), level, &[fixture.network]).await;
        let issued = fixture.log_in(&user).await;
        let caller = fixture.inventory.authenticate_session(issued.plaintext()).await.unwrap();
        assert_eq!((caller.user_id(), caller.organization_id()), (user.id, fixture.organization));
        assert_eq!((caller.permission(), caller.credential()), (level, Credential::Session));
        assert_eq!(caller.scope(), &Scope::granted(level, [fixture.network]));
    }
}

#[tokio::test]
async fn what_is_no_session_is_not_authenticated_and_ends_none() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let issued = fixture.log_in(&user).await;
    let key = fixture.user_key(&user, |_| {}).await;
    let text = issued.plaintext();
    let unknown = SessionId::generate(&Seeded::default()).unwrap();
    let commits = fixture.commits();
    for attempt in [
        "",
        "guess",
        unknown.expose(),
        key.plaintext(),
        &issued.session().id.to_string(),
        &text[..42],
        &format!("{text}="),
        &format!("{text}A"),
        &format!(" {text}"),
        &text.to_uppercase(),
        &"🦀".repeat(11),
    ] {
        let refused = fixture.inventory.authenticate_session(attempt).await;
        assert_eq!(refusal(refused), ErrorKind::NotAuthenticated, "{attempt:?}");
        fixture.inventory.log_out(attempt).await.unwrap();
    }
    assert_eq!(fixture.commits(), commits);
    fixture.inventory.authenticate_session(text).await.unwrap();
}

#[tokio::test]
async fn a_session_ends_exactly_seven_days_after_its_login() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    fixture.clock.set(time("2026-08-14T12:34:56.789012Z"));
    let issued = fixture.log_in(&user).await;
    for moment in ["2026-08-14T12:34:56.789012Z", "2026-08-20T00:00:00Z", "2026-08-21T12:34:56.789011Z"] {
        fixture.clock.set(time(moment));
        fixture.inventory.authenticate_session(issued.plaintext()).await.unwrap();
    }
    for moment in ["2026-08-21T12:34:56.789012Z", "2026-08-21T12:34:57Z", "2100-01-01T00:00:00Z"] {
        fixture.clock.set(time(moment));
        let over = fixture.inventory.authenticate_session(issued.plaintext()).await;
        assert_eq!(refusal(over), ErrorKind::SessionExpired, "{moment}");
    }
}

/// Using a session does not extend it.
#[tokio::test]
async fn a_session_that_is_used_ends_all_the_same() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let issued = fixture.log_in(&user).await;
    for _ in 1..7 {
        fixture.clock.advance(Duration::from_secs(24 * 3600));
        fixture.inventory.authenticate_session(issued.plaintext()).await.unwrap();
    }
    fixture.clock.advance(Duration::from_secs(24 * 3600));
    let over = fixture.inventory.authenticate_session(issued.plaintext()).await;
    assert_eq!(refusal(over), ErrorKind::SessionExpired);
}

#[tokio::test]
async fn a_session_that_is_over_is_not_told_from_an_unknown_one_when_it_is_purged() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let issued = fixture.log_in(&user).await;
    fixture.clock.advance(Duration::from_secs(7 * 24 * 3600));
    assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 1);
    let over = fixture.inventory.authenticate_session(issued.plaintext()).await;
    assert_eq!(refusal(over), ErrorKind::NotAuthenticated);
    fixture.clock.set(time(NOW));
    let over = fixture.inventory.authenticate_session(issued.plaintext()).await;
    assert_eq!(refusal(over), ErrorKind::NotAuthenticated);
}

#[tokio::test]
async fn who_logs_out_ends_that_session_alone_and_nothing_of_it_is_left() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let other = fixture.user("b@example.net", Permission::Viewer, &[]).await;
    let kept = [fixture.log_in(&user).await, fixture.log_in(&other).await];
    let before = fixture.contents().await;
    let issued = fixture.log_in(&user).await;
    for _ in 0..2 {
        fixture.inventory.log_out(issued.plaintext()).await.unwrap();
        assert_eq!(fixture.contents().await, before);
        let ended = fixture.inventory.authenticate_session(issued.plaintext()).await;
        assert_eq!(refusal(ended), ErrorKind::NotAuthenticated);
    }
    for issued in &kept {
        fixture.inventory.authenticate_session(issued.plaintext()).await.unwrap();
    }
}

#[tokio::test]
async fn all_sessions_of_a_user_end_at_once_and_nobody_elses() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let other = fixture.user("b@example.net", Permission::Viewer, &[]).await;
    let key = fixture.user_key(&user, |_| {}).await;
    let others = fixture.log_in(&other).await;
    let before = fixture.contents().await;
    let sessions = [fixture.log_in(&user).await, fixture.log_in(&user).await, fixture.log_in(&user).await];
    // Ending a session that no longer exists is not an error.
    for _ in 0..2 {
        fixture.inventory.end_sessions(user.id).await.unwrap();
        for session in &sessions {
            let ended = fixture.inventory.authenticate_session(session.plaintext()).await;
            assert_eq!(refusal(ended), ErrorKind::NotAuthenticated);
        }
        assert_eq!(fixture.contents().await, before);
    }
    fixture.inventory.authenticate_session(others.plaintext()).await.unwrap();
    fixture.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    fixture.log_in(&user).await;
}

#[tokio::test]
async fn sessions_of_an_unknown_user_cannot_be_ended() {
    let fixture = Fixture::new().await;
    for unknown in [id(3), fixture.organization] {
        let attempt = fixture.inventory.end_sessions(unknown);
        assert_eq!(fixture.refusal(attempt).await, not_found(Entity::User, unknown));
    }
}

#[tokio::test]
async fn a_session_that_begins_while_all_others_end_ends_as_well() {
    at_every_call(
        async |fixture: &Fixture| {
            let user = fixture.owner().await;
            fixture.log_in(&user).await;
            user
        },
        async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap(),
        async |inventory, user| inventory.end_sessions(user.id).await,
        async |fixture, user, result| {
            result.unwrap();
            assert_eq!(fixture.sessions_of(user.id).await, 0);
        },
    )
    .await;
}

#[tokio::test]
async fn a_session_that_is_over_can_be_logged_out_of() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let issued = fixture.log_in(&user).await;
    fixture.clock.advance(Duration::from_secs(8 * 24 * 3600));
    fixture.inventory.log_out(issued.plaintext()).await.unwrap();
    let ended = fixture.inventory.authenticate_session(issued.plaintext()).await;
    assert_eq!(refusal(ended), ErrorKind::NotAuthenticated);
    assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 0);
}

const DAY: Duration = Duration::from_secs(24 * 3600);

#[tokio::test]
async fn sessions_that_are_over_are_purged_and_counted_and_nothing_else() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    // Other expired records stay visible to their owners.
    let end = time("2026-08-15T00:00:00Z");
    let key = fixture.user_key(&user, |new| new.expires_at = Some(end)).await;
    fixture.inventory.authenticate_user_key(key.plaintext()).await.unwrap();
    settle().await;
    fixture.daemon_key(|new| new.expires_at = Some(end)).await;
    let mut share = NewShare::new(fixture.organization, "over");
    share.expires_at = Some(end);
    share.password = Some(PASSWORD.to_owned());
    fixture.inventory.create_share(share).await.unwrap();
    fixture.inventory.submit_referral(&in_person(&user), "reddit", None).await.unwrap();
    let others = fixture.contents().await;
    let mut sessions = Vec::new();
    for _ in 0..5 {
        sessions.push(fixture.log_in(&user).await);
        fixture.clock.advance(DAY);
    }
    assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 0);
    assert_eq!(fixture.contents().await.len(), others.len() + 5);
    fixture.clock.advance(2 * DAY - Duration::from_micros(1));
    assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 0);
    fixture.clock.advance(Duration::from_micros(1));
    assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 1);
    assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 0);
    fixture.clock.advance(3 * DAY);
    assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 3);
    for over in &sessions[..4] {
        let refused = fixture.inventory.authenticate_session(over.plaintext()).await;
        assert_eq!(refusal(refused), ErrorKind::NotAuthenticated);
    }
    fixture.inventory.authenticate_session(sessions[4].plaintext()).await.unwrap();
    fixture.clock.advance(100 * DAY);
    assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 1);
    assert_eq!(fixture.contents().await, others);
}

#[tokio::test]
async fn a_login_purges_at_most_once_an_hour() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let issued = fixture.log_in(&user).await;
    settle().await;
    assert_eq!(fixture.purges(), 1);
    fixture.clock.advance(7 * DAY - Duration::from_secs(1800));
    fixture.log_in(&user).await;
    settle().await;
    assert_eq!(fixture.purges(), 2);
    for (advance, purges, is_there) in [
        (Duration::from_secs(1800), 2, true),
        (Duration::from_secs(1800) - Duration::from_micros(1), 2, true),
        (Duration::from_micros(1), 3, false),
        (Duration::from_secs(1), 3, false),
    ] {
        fixture.clock.advance(advance);
        fixture.log_in(&user).await;
        // Clones share the state of the inventory.
        fixture.inventory.clone().log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
        settle().await;
        assert_eq!(fixture.purges(), purges);
        let over = refusal(fixture.inventory.authenticate_session(issued.plaintext()).await);
        let expected = if is_there { ErrorKind::SessionExpired } else { ErrorKind::NotAuthenticated };
        assert_eq!(over, expected);
    }
}

#[tokio::test]
async fn a_clock_that_was_set_back_does_not_hold_up_the_purging() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    fixture.log_in(&user).await;
    settle().await;
    fixture.clock.set(time("2020-01-01T00:00:00Z"));
    fixture.log_in(&user).await;
    fixture.log_in(&user).await;
    settle().await;
    assert_eq!(fixture.purges(), 2);
}

#[tokio::test]
async fn of_many_logins_at_once_one_purges() {
    let fixture = Fixture::new().await;
    for number in 0..8 {
        fixture.user(&format!("{number}@example.net"), Permission::Viewer, &[]).await;
    }
    let logins = (0..8).map(|number| {
        let inventory = fixture.inventory.clone();
        tokio::spawn(async move {
            inventory.log_in(&format!("{number}@example.net"), PASSWORD.to_owned()).await.map(drop)
        })
    });
    for login in logins.collect::<Vec<_>>() {
        login.await.unwrap().unwrap();
    }
    settle().await;
    assert_eq!(fixture.purges(), 1);
}

#[tokio::test]
async fn who_does_not_get_in_purges_nothing() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    for _ in 0..6 {
        fixture.inventory.log_in(&user.email, "battery staple".to_owned()).await.unwrap_err();
    }
    settle().await;
    assert_eq!(fixture.purges(), 0);
}

/// A login neither waits for the purge nor fails because of it.
#[tokio::test]
async fn a_purge_that_takes_its_time_or_fails_keeps_nobody_out() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::SilentPurges);
    inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
    settle().await;
    assert_eq!((probe.calls(), fixture.purges()), (6, 0), "it is under way");
    probe.set(Fault::None);
    settle().await;
    assert_eq!(fixture.purges(), 1);
    fixture.clock.advance(DAY);
    // The login lists decoys, looks up the user, reads the password and that of a decoy, and stores the
    // session; then it purges.
    probe.set(Fault::UnavailableAt(5));
    let issued = inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
    settle().await;
    assert_eq!((probe.calls(), fixture.purges()), (6, 1));
    fixture.inventory.authenticate_session(issued.plaintext()).await.unwrap();
}
