//! Conditions of a successful login.

use std::time::Duration;

use toposcope::inventory::{ErrorKind, NewUser, Problem};
use toposcope::model::{Permission, Session};

use crate::support::{Fixture, PASSWORD, invalid, refusal, time};

#[tokio::test]
async fn a_login_tells_who_came_in_and_begins_a_session() {
    let fixture = Fixture::new().await;
    let user = fixture.user("a@example.net", Permission::Member, &[fixture.network]).await;
    fixture.clock.set(time("2026-08-15T00:00:00.000001Z"));
    let issued = fixture.log_in(&user).await;
    let expected = Session {
        id: issued.session().id,
        user_id: user.id,
        organization_id: fixture.organization,
        created_at: time("2026-08-15T00:00:00.000001Z"),
        expires_at: time("2026-08-22T00:00:00.000001Z"),
    };
    assert_eq!((issued.user(), issued.session()), (&user, &expected));
    assert_eq!(issued.plaintext().len(), 43);
    assert!(!issued.plaintext().contains(&expected.id.to_string()));
}

#[tokio::test]
async fn an_address_is_the_same_in_every_case() {
    let fixture = Fixture::new().await;
    let user = fixture.user("Jürgen.MÜLLER@Example.NET", Permission::Viewer, &[]).await;
    for email in [
        "jürgen.müller@example.net",
        "Jürgen.MÜLLER@Example.NET",
        "JÜRGEN.MÜLLER@EXAMPLE.NET",
        " \tjürgen.müller@example.net\n",
    ] {
        let issued = fixture.inventory.log_in(email, PASSWORD.to_owned()).await.unwrap();
        assert_eq!(issued.user(), &user, "{email:?}");
    }
}

#[tokio::test]
async fn whatever_is_wrong_is_one_answer_and_leaves_no_trace() {
    let fixture = Fixture::new().await;
    fixture.owner().await;
    let disabled = fixture.user("disabled@example.net", Permission::Owner, &[]).await;
    fixture.inventory.set_user_enabled(disabled.id, false).await.unwrap();
    let without = NewUser::new(fixture.organization, "without@example.net", Permission::Owner);
    fixture.inventory.create_user(without).await.unwrap();
    let long = "x".repeat(100_000);
    let longest_email = format!("{}@example.net", "n".repeat(254 - "@example.net".len()));
    for (email, password) in [
        ("owner@example.net", "battery staple"),
        ("owner@example.net", "Correct horse"),
        ("owner@example.net", "correct horse "),
        ("owner@example.net", ""),
        ("disabled@example.net", PASSWORD),
        ("disabled@example.net", "battery staple"),
        ("without@example.net", PASSWORD),
        ("without@example.net", ""),
        ("nobody@example.net", PASSWORD),
        ("nobody", PASSWORD),
        ("n@e", PASSWORD),
        ("   n@e ", PASSWORD),
        (longest_email.as_str(), PASSWORD),
        ("owner@example.net\u{0}", PASSWORD),
        ("somebody@example.net", long.as_str()),
    ] {
        let attempt = fixture.inventory.log_in(email, password.to_owned());
        assert_eq!(fixture.refusal(attempt).await, ErrorKind::InvalidCredentials);
    }
}

#[tokio::test]
async fn what_is_no_address_by_its_length_is_told_and_is_no_failure() {
    let fixture = Fixture::new().await;
    let (inventory, probe) = fixture.probed();
    let (too_long, longest) = ("n".repeat(255), "n".repeat(254));
    for (email, problem) in [
        ("", Problem::Empty),
        (" \u{2003}\t", Problem::Empty),
        ("n@", Problem::MinLength { min: 3 }),
        (" 🦀🦀 ", Problem::MinLength { min: 3 }),
        (too_long.as_str(), Problem::MaxLength { max: 254 }),
    ] {
        for _ in 0..6 {
            let refused = inventory.log_in(email, PASSWORD.to_owned()).await;
            assert_eq!(refusal(refused), invalid("email", problem.clone()));
        }
    }
    assert_eq!(probe.calls(), 0, "nobody is looked up");
    for email in ["🦀🦀🦀", longest.as_str()] {
        let refused = inventory.log_in(email, PASSWORD.to_owned()).await;
        assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    }
}

#[tokio::test]
async fn two_logins_at_once_begin_two_sessions() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let log_in = || fixture.inventory.log_in(&user.email, PASSWORD.to_owned());
    let (first, second) = tokio::join!(log_in(), log_in());
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_ne!(first.plaintext(), second.plaintext());
    assert_ne!(first.session().id, second.session().id);
    for issued in [&first, &second] {
        let caller = fixture.inventory.authenticate_session(issued.plaintext()).await.unwrap();
        assert_eq!(caller.user_id(), user.id);
    }
    fixture.inventory.log_out(first.plaintext()).await.unwrap();
    let ended = fixture.inventory.authenticate_session(first.plaintext()).await;
    assert_eq!(refusal(ended), ErrorKind::NotAuthenticated);
    fixture.inventory.authenticate_session(second.plaintext()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn every_right_login_of_many_at_once_gets_in() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    let logins = (0..16).map(|_| {
        let (inventory, email) = (fixture.inventory.clone(), user.email.clone());
        tokio::spawn(async move { inventory.log_in(&email, PASSWORD.to_owned()).await.unwrap() })
    });
    let mut texts = Vec::new();
    for login in logins.collect::<Vec<_>>() {
        texts.push(login.await.unwrap().plaintext().to_owned());
    }
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), 16);
}

#[tokio::test]
async fn a_login_takes_no_api_access() {
    let fixture = Fixture::new().await;
    let user = fixture.owner().await;
    fixture.inventory.set_api_access(fixture.organization, false).await.unwrap();
    fixture.clock.advance(Duration::from_secs(1));
    let issued = fixture.log_in(&user).await;
    fixture.inventory.authenticate_session(issued.plaintext()).await.unwrap();
}
