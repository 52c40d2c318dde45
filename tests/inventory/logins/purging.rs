//! Removal of expired sessions from the store.

use std::time::Duration;

use toposcope::inventory::{ErrorKind, NewShare};
use toposcope::model::Permission;

use crate::support::{Fault, Fixture, PASSWORD, in_person, refusal, settle, time};

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
