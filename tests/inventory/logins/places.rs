//! How the places for concurrent logins are shared.

use std::net::{IpAddr, Ipv6Addr};

use tokio::task::JoinSet;
use toposcope::access::{ClientPrefix, PrefixLengths};
use toposcope::inventory::{Error, ErrorKind, Inventory, IssuedSession};
use toposcope::model::Permission;

use crate::support::{Fault, Fixture, PASSWORD, refusal, settle};

fn client(number: u64) -> ClientPrefix {
    let address = Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(number) << 64 | 1);
    PrefixLengths::default().prefix_of(IpAddr::from(address))
}

/// A store that answers no login until it is released, so that all logins stay in progress.
struct Stalled {
    inventory: Inventory,
    under_way: JoinSet<Result<IssuedSession, Error>>,
}

impl Stalled {
    fn new(fixture: &Fixture) -> Self {
        let (inventory, probe) = fixture.probed();
        probe.set(Fault::Silence);
        Self { inventory, under_way: JoinSet::new() }
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
