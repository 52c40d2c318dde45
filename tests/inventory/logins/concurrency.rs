//! Concurrent and cancelled logins, and how clients share the places for them.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use tokio::task::{JoinSet, yield_now};
use toposcope::access::{ClientPrefix, PrefixLengths};
use toposcope::inventory::{Error, ErrorKind, Inventory, IssuedSession};
use toposcope::model::Permission;

use crate::support::{Fault, Fixture, PASSWORD, Probe, concurrently, refusal, settle};

const EMAIL: &str = "owner@example.net";

/// Logs in many times concurrently. Returns how many attempts failed, and how many were refused.
async fn guess(fixture: &Fixture, emails: &'static [&'static str]) -> (usize, usize) {
    let guesses = concurrently(fixture, 64, |fixture, number| async move {
        let email = emails[number as usize % emails.len()];
        fixture.inventory.log_in(email, format!("guess number {number}")).await
    });
    let (mut failed, mut blocked) = (0, 0);
    for guess in guesses.await {
        match refusal(guess) {
            ErrorKind::InvalidCredentials => failed += 1,
            ErrorKind::TooManyAttempts { retry_after: 900 } => blocked += 1,
            other => panic!("{other:?}"),
        }
    }
    (failed, blocked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn five_of_many_concurrent_guesses_are_verified_and_the_others_are_blocked() {
    let (fixture, _) = Fixture::with_owner().await;
    assert_eq!(guess(&fixture, &[EMAIL]).await, (5, 59));
    assert_eq!(guess(&fixture, &[EMAIL]).await, (0, 64));
    const CASES: &[&str] =
        &["nobody@example.net", "Nobody@Example.net", " NOBODY@EXAMPLE.NET", "nobody@example.NET\t"];
    assert_eq!(guess(&fixture, CASES).await, (5, 59));
    assert_eq!(guess(&fixture, &["a@example.net", "b@example.net"]).await, (10, 54));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn right_login_among_many_guesses_succeeds_or_is_blocked() {
    let (fixture, user) = Fixture::with_owner().await;
    let (guessing, login) =
        tokio::join!(guess(&fixture, &[EMAIL]), fixture.inventory.log_in(&user.email, PASSWORD.to_owned()));
    assert_eq!(guessing, (5, 59));
    if let Err(error) = login {
        assert_eq!(*error.kind(), ErrorKind::TooManyAttempts { retry_after: 900 });
    }
}

/// Begins a login that the store never completes, and drops it.
async fn break_off(inventory: &Inventory, password: &str) {
    tokio::select! {
        biased;
        result = inventory.log_in(EMAIL, password.to_owned()) => panic!("it does not end: {result:?}"),
        () = yield_now() => {}
    }
}

#[tokio::test]
async fn cancelled_attempt_counts_as_a_failure() {
    let (fixture, _) = Fixture::with_owner().await;
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::Silence);
    for password in ["battery staple", PASSWORD, "", "battery staple"] {
        break_off(&inventory, password).await;
    }
    assert_eq!(probe.calls(), 4, "each was begun");
    probe.set(Fault::None);
    inventory.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap();
    probe.set(Fault::Silence);
    break_off(&inventory, PASSWORD).await;
    probe.set(Fault::None);
    settle().await;
    let refused = inventory.log_in(EMAIL, PASSWORD.to_owned()).await;
    assert_eq!(refusal(refused), ErrorKind::TooManyAttempts { retry_after: 900 });
}

/// An attempt that waits for its turn does not count yet.
#[tokio::test]
async fn attempt_cancelled_while_waiting_for_another_is_no_failure() {
    let (fixture, _) = Fixture::with_owner().await;
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::Silence);
    let first = tokio::spawn({
        let inventory = inventory.clone();
        async move { inventory.log_in(EMAIL, PASSWORD.to_owned()).await }
    });
    settle().await;
    for _ in 0..10 {
        break_off(&inventory, "battery staple").await;
    }
    assert_eq!(probe.calls(), 1, "the first is under way, the others wait");
    probe.set(Fault::None);
    first.await.unwrap().unwrap();
    inventory.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap();
}

#[tokio::test]
async fn cancelled_login_does_not_block_others() {
    let (fixture, user) = Fixture::with_owner().await;
    let (inventory, probe) = fixture.probed();
    probe.set(Fault::SilentCommits);
    let mut login = Box::pin(inventory.log_in(EMAIL, PASSWORD.to_owned()));
    while probe.commits() == 0 {
        tokio::select! {
            biased;
            result = &mut login => panic!("it does not end: {result:?}"),
            () = yield_now() => {}
        }
    }
    drop(login);
    probe.set(Fault::None);
    inventory.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap();
    assert_eq!(
        fixture.sessions_of(user.id).await,
        1,
        "what was broken off before its commit began no session"
    );
}

/// A client in a /48 of its own.
fn client(number: u64) -> ClientPrefix {
    prefix(u128::from(number) << 80)
}

fn prefix(bits: u128) -> ClientPrefix {
    let address = Ipv6Addr::from_bits(0x2001_0db8 << 96 | bits | 1);
    PrefixLengths::default().prefix_of(IpAddr::from(address))
}

/// A store that answers no login until it is released. All logins therefore stay in progress.
struct Stalled {
    inventory: Inventory,
    probe: Arc<Probe>,
    under_way: JoinSet<Result<IssuedSession, Error>>,
}

impl Stalled {
    fn new(fixture: &Fixture) -> Self {
        let (inventory, probe) = fixture.probed();
        probe.set(Fault::Silence);
        Self { inventory, probe, under_way: JoinSet::new() }
    }

    /// Begins a login. Returns whether there is a place for it.
    async fn begin(&mut self, client: Option<ClientPrefix>, email: String) -> bool {
        let inventory = self.inventory.clone();
        self.under_way.spawn(async move { inventory.log_in_from(client, &email, PASSWORD.to_owned()).await });
        settle().await;
        match self.under_way.try_join_next() {
            None => true,
            Some(login) => {
                assert_eq!(refusal(login.unwrap()), ErrorKind::Busy);
                false
            }
        }
    }

    /// Begins logins until one finds no place. Returns the number of logins that found one.
    async fn fill(&mut self, login: impl Fn(u64) -> (Option<ClientPrefix>, String)) -> u64 {
        for number in 0..1_000 {
            let (client, email) = login(number);
            if !self.begin(client, email).await {
                return number;
            }
        }
        panic!("there is no bound");
    }
}

#[tokio::test]
async fn client_prefix_alone_gets_an_eighth_of_the_free_places() {
    let fixture = Fixture::new().await;
    let mut stalled = Stalled::new(&fixture);
    let hostile = stalled.fill(|number| (Some(client(0)), format!("{number}@{number}.example"))).await;
    assert_eq!(hostile, 29);
    assert!(stalled.begin(Some(client(1)), "a@example.net".to_owned()).await, "another client");
    assert!(stalled.begin(None, "b@example.net".to_owned()).await, "an unknown client");
    assert!(!stalled.begin(Some(client(0)), "c@example.net".to_owned()).await);
}

#[tokio::test]
async fn clients_of_one_ipv6_48_get_a_quarter_of_the_free_places_together() {
    let fixture = Fixture::new().await;
    let mut stalled = Stalled::new(&fixture);
    let login = |number: u64| (Some(prefix(u128::from(number) << 64)), format!("{number}@{number}.example"));
    assert_eq!(stalled.fill(login).await, 52);
    assert!(stalled.begin(Some(client(1)), "a@example.net".to_owned()).await, "another /48");
}

#[tokio::test]
async fn sixteen_client_prefixes_leave_places_for_others() {
    let fixture = Fixture::new().await;
    let mut stalled = Stalled::new(&fixture);
    for prefix in 0..16 {
        stalled.fill(|number| (Some(client(prefix)), format!("{number}@{prefix}-{number}.example"))).await;
    }
    for honest in 16..46 {
        assert!(stalled.begin(Some(client(honest)), format!("{honest}@{honest}.example")).await, "{honest}");
    }
}

#[tokio::test]
async fn domain_gets_half_of_the_places_whether_or_not_its_accounts_exist() {
    let fixture = Fixture::new().await;
    let known = fixture.user("known@home.example", Permission::Viewer, &[]).await;
    let elsewhere = fixture.user("known@abroad.example", Permission::Viewer, &[]).await;
    let mut stalled = Stalled::new(&fixture);
    let taken = stalled.fill(|number| (Some(client(number)), format!("{number}@home.example"))).await;
    assert_eq!(taken, 128);
    for email in [&*known.email, "nobody@home.example"] {
        assert!(!stalled.begin(Some(client(500)), email.to_owned()).await, "{email}");
    }
    for email in [&*elsewhere.email, "nobody@abroad.example", "nobody@nowhere.example"] {
        assert!(stalled.begin(Some(client(500)), email.to_owned()).await, "{email}");
    }
}

#[tokio::test]
async fn dropped_logins_free_their_places() {
    let fixture = Fixture::new().await;
    let mut stalled = Stalled::new(&fixture);
    for _ in 0..3 {
        let taken = stalled.fill(|number| (Some(client(0)), format!("{number}@{number}.example"))).await;
        assert_eq!(taken, 29);
        stalled.under_way.shutdown().await;
    }
}

#[tokio::test]
async fn logins_in_progress_are_bounded_and_refusals_for_lack_of_a_place_are_no_failures() {
    for email in [|number| format!("{number}@example.net"), |_| EMAIL.to_owned()] {
        let fixture = Fixture::new().await;
        let user = fixture.user("bystander@example.net", Permission::Viewer, &[]).await;
        let mut stalled = Stalled::new(&fixture);
        let taken = stalled.fill(|number| (None, email(number))).await;
        assert!(taken >= 100, "{taken}");
        for _ in 0..10 {
            let refused = stalled.inventory.log_in(&user.email, "battery staple".to_owned()).await;
            assert_eq!(refusal(refused), ErrorKind::Busy);
        }
        stalled.probe.set(Fault::None);
        while stalled.under_way.join_next().await.is_some() {}
        stalled.inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
    }
}
