//! Sessions: how they authenticate callers, when they end, and when they are purged.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use toposcope::access::{Caller, Credential, Scope};
use toposcope::inventory::{Entity, ErrorKind, Inventory, NewShare, Quotas};
use toposcope::model::Permission;
use toposcope::store::StoreError;
use toposcope::testing::{Call, Intercept, Interceptor, Operation, Reply};

use crate::support::{
    Fault, Fixture, LEVELS, NOW, PASSWORD, concurrently, in_person, inventory_in, refusal, settle, time,
};

#[tokio::test]
async fn session_authenticates_its_user_with_all_rights() {
    let fixture = Fixture::new().await;
    for level in LEVELS {
        let user = fixture.user(&format!("{level}@example.net"), level, &[fixture.network]).await;
        let issued = fixture.log_in(&user).await;
        let caller = fixture.by_session(&issued).await.unwrap();
        assert_eq!((caller.user_id(), caller.organization_id()), (user.id, fixture.organization));
        assert_eq!((caller.permission(), caller.credential()), (level, Credential::Session));
        assert_eq!(caller.scope(), &Scope::granted(level, [fixture.network]));
    }
}

#[tokio::test]
async fn text_that_is_no_session_id_is_not_authenticated_and_ends_no_session() {
    let (fixture, user) = Fixture::with_owner().await;
    let issued = fixture.log_in(&user).await;
    let key = fixture.user_key(&user, |_| {}).await;
    let text = issued.plaintext();
    let unknown = "4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v8";
    let commits = fixture.commits();
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
        let refused = fixture.inventory.authenticate_session(attempt).await;
        assert_eq!(refusal(refused), ErrorKind::NotAuthenticated, "{attempt:?}");
        fixture.inventory.log_out(attempt).await.unwrap();
    }
    assert_eq!(fixture.commits(), commits);
    fixture.inventory.authenticate_session(text).await.unwrap();
}

#[tokio::test]
async fn session_ends_exactly_seven_days_after_its_login() {
    let (fixture, user) = Fixture::with_owner().await;
    fixture.clock.set(time("2026-08-14T12:34:56.789012Z"));
    let issued = fixture.log_in(&user).await;
    for moment in ["2026-08-14T12:34:56.789012Z", "2026-08-20T00:00:00Z", "2026-08-21T12:34:56.789011Z"] {
        fixture.clock.set(time(moment));
        fixture.by_session(&issued).await.unwrap();
    }
    for moment in ["2026-08-21T12:34:56.789012Z", "2026-08-21T12:34:57Z", "2100-01-01T00:00:00Z"] {
        fixture.clock.set(time(moment));
        assert_eq!(refusal(fixture.by_session(&issued).await), ErrorKind::SessionExpired, "{moment}");
    }
}

/// Using a session does not extend it.
#[tokio::test]
async fn use_of_a_session_does_not_extend_it() {
    let (fixture, issued) = Fixture::with_session().await;
    for _ in 1..7 {
        fixture.clock.advance(Duration::from_secs(24 * 3600));
        fixture.by_session(&issued).await.unwrap();
    }
    fixture.clock.advance(Duration::from_secs(24 * 3600));
    assert_eq!(refusal(fixture.by_session(&issued).await), ErrorKind::SessionExpired);
}

#[tokio::test]
async fn logout_ends_one_session_and_leaves_no_record_of_it() {
    let (fixture, user) = Fixture::with_owner().await;
    let other = fixture.user("b@example.net", Permission::Viewer, &[]).await;
    let kept = [fixture.log_in(&user).await, fixture.log_in(&other).await];
    let before = fixture.contents().await;
    let issued = fixture.log_in(&user).await;
    for _ in 0..2 {
        fixture.inventory.log_out(issued.plaintext()).await.unwrap();
        assert_eq!(fixture.contents().await, before);
        assert_eq!(refusal(fixture.by_session(&issued).await), ErrorKind::NotAuthenticated);
    }
    for issued in &kept {
        fixture.by_session(issued).await.unwrap();
    }
}

#[tokio::test]
async fn expired_session_that_is_purged_or_logged_out_of_is_unknown() {
    for is_purged in [true, false] {
        let (fixture, issued) = Fixture::with_session().await;
        fixture.clock.advance(7 * DAY);
        if is_purged {
            assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 1);
        } else {
            fixture.inventory.log_out(issued.plaintext()).await.unwrap();
            assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 0);
        }
        assert_eq!(refusal(fixture.by_session(&issued).await), ErrorKind::NotAuthenticated);
        fixture.clock.set(time(NOW));
        assert_eq!(refusal(fixture.by_session(&issued).await), ErrorKind::NotAuthenticated);
    }
}

const DAY: Duration = Duration::from_secs(24 * 3600);

#[tokio::test]
async fn purge_removes_and_counts_expired_sessions_only() {
    let (fixture, user) = Fixture::with_owner().await;
    // Other expired records stay visible to their owners.
    let end = time("2026-08-15T00:00:00Z");
    let key = fixture.user_key(&user, |new| new.expires_at = Some(end)).await;
    fixture.by_key(&key).await.unwrap();
    settle().await;
    fixture.daemon_key(|new| new.expires_at = Some(end)).await;
    let mut share = NewShare::new("over");
    share.expires_at = Some(end);
    share.password = Some(PASSWORD.to_owned());
    fixture.inventory.shares().create(&fixture.system(), share).await.unwrap();
    fixture.inventory.users().submit_referral(&in_person(&user), "reddit", None).await.unwrap();
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
        assert_eq!(refusal(fixture.by_session(over).await), ErrorKind::NotAuthenticated);
    }
    fixture.by_session(&sessions[4]).await.unwrap();
    fixture.clock.advance(100 * DAY);
    assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 1);
    assert_eq!(fixture.contents().await, others);
}

#[tokio::test]
async fn login_purges_at_most_once_an_hour() {
    let (fixture, user) = Fixture::with_owner().await;
    for email in [&user.email, "nobody@example.net"] {
        for _ in 0..if email == user.email { 4 } else { 6 } {
            fixture.inventory.log_in(email, "battery staple".to_owned()).await.unwrap_err();
        }
    }
    settle().await;
    assert_eq!(fixture.purges(), 0, "a refused login purges nothing");
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
        let over = refusal(fixture.by_session(&issued).await);
        assert_eq!(over, if is_there { ErrorKind::SessionExpired } else { ErrorKind::NotAuthenticated });
    }
}

#[tokio::test]
async fn clock_that_was_set_back_does_not_delay_the_purge() {
    let (fixture, user) = Fixture::with_owner().await;
    fixture.log_in(&user).await;
    settle().await;
    fixture.clock.set(time("2020-01-01T00:00:00Z"));
    fixture.log_in(&user).await;
    fixture.log_in(&user).await;
    settle().await;
    assert_eq!(fixture.purges(), 2);
}

#[tokio::test]
async fn one_of_many_concurrent_logins_purges() {
    let fixture = Fixture::new().await;
    for number in 0..8 {
        fixture.user(&format!("{number}@example.net"), Permission::Viewer, &[]).await;
    }
    let logins = concurrently(&fixture, 8, |fixture, number| async move {
        fixture.try_log_in(&format!("{number}@example.net")).await.unwrap();
    });
    logins.await;
    settle().await;
    assert_eq!(fixture.purges(), 1);
}

/// A login neither waits for the purge nor fails because of it.
#[tokio::test]
async fn login_succeeds_while_the_purge_is_slow_or_fails() {
    let (fixture, user) = Fixture::with_owner().await;
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::SilentPurges);
    inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
    settle().await;
    assert_eq!((probe.calls(), fixture.purges()), (9, 0), "it is under way");
    probe.set(Fault::None);
    settle().await;
    assert_eq!(fixture.purges(), 1);
    fixture.clock.advance(DAY);
    // The login lists decoys, looks up the user in two ways, reads the user's password and a decoy's, counts the user's
    // sessions, reads the user for the entry, and stores the session. Then it purges, and looks for interrupted deletions and changes.
    probe.set(Fault::UnavailableAt(8));
    let issued = inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
    settle().await;
    assert_eq!((probe.calls(), fixture.purges()), (14, 1));
    fixture.by_session(&issued).await.unwrap();
}

#[tokio::test]
async fn login_beyond_the_limit_ends_the_oldest_session() {
    let (fixture, user) = Fixture::with_owner().await;
    for limit in [3, 1] {
        let mut quotas = Quotas::default();
        quotas.sessions_per_user = Some(limit);
        let inventory = fixture.inventory.clone().with_quotas(quotas);
        let mut sessions = Vec::new();
        for _ in 0..5 {
            fixture.clock.advance(Duration::from_secs(1));
            sessions.push(inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap());
        }
        let ended = sessions.len() - usize::try_from(limit).unwrap();
        for (number, session) in sessions.iter().enumerate() {
            assert_eq!(fixture.by_session(session).await.is_err(), number < ended, "{limit}: {number}");
        }
        assert_eq!(fixture.sessions_of(user.id).await as u64, limit);
    }
}

#[tokio::test]
async fn user_has_at_most_a_hundred_sessions_by_default() {
    let (fixture, user) = Fixture::with_owner().await;
    for _ in 0..103 {
        fixture.log_in(&user).await;
    }
    assert_eq!(fixture.sessions_of(user.id).await, 100);
}

/// A hook that logs a user in whenever sessions have been listed.
#[derive(Debug)]
struct LogsIn {
    inventory: Inventory,
    email: String,
}

#[async_trait]
impl Intercept for LogsIn {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        let lists_sessions =
            matches!(call.operation(), Operation::List(query) if query.kind.as_str() == "session");
        let reply = call.proceed().await?;
        if lists_sessions {
            drop(self.inventory.log_in(&self.email, PASSWORD.to_owned()).await);
        }
        Ok(reply)
    }
}

#[tokio::test]
async fn logins_meanwhile_cannot_keep_a_user_enabled_or_undeleted() {
    for is_deleted in [false, true] {
        let (fixture, user) = Fixture::with_owner().await;
        fixture.log_in(&user).await;
        let hook = LogsIn { inventory: fixture.inventory.clone(), email: user.email.clone() };
        let inventory = inventory_in(Arc::new(Interceptor::new(fixture.store.clone(), hook)));
        if is_deleted {
            inventory.users().delete(&Caller::system(user.organization_id), user.id).await.unwrap();
        } else {
            inventory.users().disable(&Caller::system(user.organization_id), user.id).await.unwrap();
        }
        assert_eq!(fixture.sessions_of(user.id).await, 0);
        let login = fixture.try_log_in(&user.email).await;
        assert_eq!(refusal(login), ErrorKind::InvalidCredentials);
    }
}

#[tokio::test]
async fn sessions_that_an_interrupted_disabling_left_never_become_valid_again() {
    let (fixture, user) = Fixture::with_owner().await;
    let session = fixture.log_in(&user).await;
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::UnavailableAfterCommits(1));
    inventory.users().disable(&Caller::system(user.organization_id), user.id).await.unwrap();
    assert_eq!(fixture.sessions_of(user.id).await, 1);
    let refused = refusal(fixture.by_session(&session).await);
    assert_eq!(refused, ErrorKind::Disabled { entity: Entity::User });
    fixture.inventory.users().enable(&Caller::system(user.organization_id), user.id).await.unwrap();
    assert_eq!(refusal(fixture.by_session(&session).await), ErrorKind::NotAuthenticated);
}
