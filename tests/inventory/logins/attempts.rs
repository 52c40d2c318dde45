//! Limits on repeated failed logins for one address.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use toposcope::access::{Caller, ClientPrefix, Clock, LoginLimits, PrefixLengths};
use toposcope::inventory::{Entity, ErrorKind, Inventory, NewUser};
use toposcope::model::{Permission, Timestamp};

use crate::support::{Fault, Fixture, NOW, PASSWORD, refusal, time};

const EMAIL: &str = "owner@example.net";

fn after_micros(micros: i64) -> Timestamp {
    time(NOW).plus_micros(micros)
}

fn blocked(retry_after: u64) -> ErrorKind {
    ErrorKind::TooManyAttempts { retry_after }
}

/// Advances the clock to this time.
fn wait_until(fixture: &Fixture, moment: Timestamp) {
    let micros = moment.unix_micros() - fixture.clock.now().unix_micros();
    fixture.clock.advance(Duration::from_micros(micros.try_into().unwrap()));
}

async fn fail(inventory: &Inventory, email: &str, times: usize) {
    for _ in 0..times {
        let refused = inventory.log_in(email, "battery staple".to_owned()).await;
        assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    }
}

/// Asserts how long logins for an address are refused. The wait is the same with the right password and with a wrong
/// one.
async fn assert_blocked(inventory: &Inventory, email: &str, retry_after: u64) {
    for password in ["battery staple", PASSWORD, ""] {
        assert_eq!(refusal(inventory.log_in(email, password.to_owned()).await), blocked(retry_after));
    }
}

#[tokio::test]
async fn fifth_failure_blocks_an_address_with_or_without_an_account() {
    let (fixture, _) = Fixture::with_owner().await;
    let without = NewUser::new("without@example.net", Permission::Viewer);
    fixture.inventory.users().create(&fixture.system(), without).await.unwrap();
    let longest = "x".repeat(254);
    let disabled = fixture.user("disabled@example.net", Permission::Viewer, &[]).await;
    fixture.inventory.users().disable(&Caller::system(disabled.organization_id), disabled.id).await.unwrap();
    for password in [PASSWORD, "", "battery staple", PASSWORD, PASSWORD] {
        let refused = fixture.inventory.log_in(&disabled.email, password.to_owned()).await;
        assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    }
    assert_blocked(&fixture.inventory, &disabled.email, 900).await;
    for email in [EMAIL, "without@example.net", "nobody@example.net", "nobody", &longest] {
        fail(&fixture.inventory, email, 5).await;
        assert_blocked(&fixture.inventory, email, 900).await;
    }
}

#[tokio::test]
async fn blocked_address_is_released_when_its_oldest_failure_is_fifteen_minutes_old() {
    const SECOND: i64 = 1_000_000;
    let (fixture, _) = Fixture::with_owner().await;
    for failure in 0..5 {
        wait_until(&fixture, after_micros(failure * 10 * SECOND));
        fail(&fixture.inventory, EMAIL, 1).await;
    }
    for (micros, retry_after) in [
        (40 * SECOND, 860),
        (40 * SECOND + 1, 860),
        (41 * SECOND - 1, 860),
        (41 * SECOND, 859),
        (898 * SECOND, 2),
        (899 * SECOND - 1, 2),
        (899 * SECOND, 1),
        (899 * SECOND + 1, 1),
        (900 * SECOND - 1, 1),
    ] {
        wait_until(&fixture, after_micros(micros));
        assert_blocked(&fixture.inventory, EMAIL, retry_after).await;
    }
    wait_until(&fixture, after_micros(900 * SECOND));
    fixture.try_log_in(EMAIL).await.unwrap();
}

#[tokio::test]
async fn each_failure_that_leaves_the_window_allows_one_more_attempt() {
    let (fixture, _) = Fixture::with_owner().await;
    let at = |seconds: i64| after_micros(seconds * 1_000_000);
    for failure in 0..5 {
        wait_until(&fixture, at(failure * 10));
        fail(&fixture.inventory, EMAIL, 1).await;
    }
    for round in 1..=3 {
        for failure in 0..5 {
            let moment = round * 900 + failure * 10;
            wait_until(&fixture, at(moment - 1));
            assert_blocked(&fixture.inventory, EMAIL, 1).await;
            wait_until(&fixture, at(moment));
            fail(&fixture.inventory, EMAIL, 1).await;
            assert_blocked(&fixture.inventory, EMAIL, if failure == 4 { 860 } else { 10 }).await;
        }
    }
    // A refused attempt is not a failure: after a quarter of an hour without failures, five attempts are
    // available again.
    wait_until(&fixture, at(3 * 900 + 40 + 900));
    fail(&fixture.inventory, EMAIL, 5).await;
    assert_blocked(&fixture.inventory, EMAIL, 900).await;
}

#[tokio::test]
async fn successful_login_neither_counts_as_a_failure_nor_resets_them() {
    let (fixture, user) = Fixture::with_owner().await;
    for _ in 0..6 {
        fixture.log_in(&user).await;
    }
    fail(&fixture.inventory, EMAIL, 4).await;
    for _ in 0..6 {
        fixture.log_in(&user).await;
    }
    fail(&fixture.inventory, EMAIL, 1).await;
    assert_blocked(&fixture.inventory, EMAIL, 900).await;
}

#[tokio::test]
async fn failures_in_every_case_variant_of_an_address_count_together() {
    let fixture = Fixture::new().await;
    fixture.user("jürgen@example.net", Permission::Owner, &[]).await;
    for variants in [
        [
            "jürgen@example.net",
            "JÜRGEN@EXAMPLE.NET",
            " Jürgen@Example.Net\n",
            "jürgeN@example.net",
            "\tJüRGEN@example.net",
        ],
        ["ΣΊΣΥΦΟΣ@e.net", "σίσυφος@e.net", "σίσυφοσ@e.net", " Σίσυφος@e.net", "ΣΊΣΥΦΟς@E.NET"],
    ] {
        for email in variants {
            fail(&fixture.inventory, email, 1).await;
        }
        for email in variants {
            assert_blocked(&fixture.inventory, email, 900).await;
        }
    }
}

#[tokio::test]
async fn failures_of_one_address_do_not_block_another() {
    let fixture = Fixture::new().await;
    let users = [fixture.owner().await, fixture.user("owner@example.net.", Permission::Viewer, &[]).await];
    fail(&fixture.inventory, EMAIL, 5).await;
    fail(&fixture.inventory, "wner@example.net", 5).await;
    assert_blocked(&fixture.inventory, &users[0].email, 900).await;
    fixture.log_in(&users[1]).await;
}

/// Times before and after [`NOW`].
const JUMPS: [&str; 4] =
    ["2020-01-01T00:00:00Z", "2026-08-13T12:00:00Z", "2026-08-15T12:00:00Z", "9999-12-31T23:59:59Z"];

#[tokio::test]
async fn wall_clock_jump_does_not_release_a_blocked_address() {
    for moment in JUMPS {
        let (fixture, _) = Fixture::with_owner().await;
        fail(&fixture.inventory, EMAIL, 5).await;
        fixture.clock.set(time(moment));
        assert_blocked(&fixture.inventory, EMAIL, 900).await;
        fixture.clock.advance(Duration::from_secs(899));
        assert_blocked(&fixture.inventory, EMAIL, 1).await;
        fixture.clock.advance(Duration::from_secs(1));
        fixture.try_log_in(EMAIL).await.unwrap();
    }
}

#[tokio::test]
async fn wall_clock_jump_neither_forgets_nor_repeats_failures() {
    for moment in JUMPS {
        let (fixture, _) = Fixture::with_owner().await;
        fail(&fixture.inventory, EMAIL, 3).await;
        fixture.clock.advance(Duration::from_secs(60));
        fixture.clock.set(time(moment));
        fail(&fixture.inventory, EMAIL, 2).await;
        fixture.clock.set(time(NOW));
        assert_blocked(&fixture.inventory, EMAIL, 840).await;
        fixture.clock.advance(Duration::from_secs(840));
        fixture.try_log_in(EMAIL).await.unwrap();
    }
}

#[tokio::test]
async fn failure_of_the_store_is_no_failed_attempt() {
    let (fixture, _) = Fixture::with_owner().await;
    let (inventory, probe) = fixture.probed();
    fail(&inventory, EMAIL, 4).await;
    for password in [PASSWORD, "battery staple"] {
        for _ in 0..6 {
            probe.set(Fault::Unavailable);
            let refused = inventory.log_in(EMAIL, password.to_owned()).await;
            assert_eq!(refusal(refused), ErrorKind::StoreUnavailable);
        }
    }
    for _ in 0..3 {
        probe.set(Fault::Unmet(0));
        let refused = refusal(inventory.log_in(EMAIL, PASSWORD.to_owned()).await);
        assert!(matches!(refused, ErrorKind::Conflict { entity: Entity::User, .. }), "{refused:?}");
    }
    probe.set(Fault::None);
    fail(&inventory, EMAIL, 1).await;
    assert_blocked(&inventory, EMAIL, 900).await;
}

#[tokio::test]
async fn clones_of_an_inventory_count_failures_together_and_other_inventories_do_not() {
    let (fixture, _) = Fixture::with_owner().await;
    fail(&fixture.inventory, EMAIL, 3).await;
    fail(&fixture.inventory.clone(), EMAIL, 2).await;
    assert_blocked(&fixture.inventory, EMAIL, 900).await;
    let other = fixture.second_inventory();
    other.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap();
    fail(&other, EMAIL, 5).await;
}

/// The client of a /64 in one of the /48.
fn client(site: u16, subnet: u16) -> Option<ClientPrefix> {
    let address = Ipv6Addr::from([0x2001, 0xdb8, site, subnet, 0, 0, 0, 1]);
    Some(PrefixLengths::default().prefix_of(IpAddr::from(address)))
}

/// Makes attempts with a wrong password until one is refused. Returns how many were made.
async fn fail_from(inventory: &Inventory, client: Option<ClientPrefix>, most: usize) -> usize {
    for attempt in 0..most {
        match refusal(inventory.log_in_from(client, EMAIL, "battery staple".to_owned()).await) {
            ErrorKind::InvalidCredentials => {}
            ErrorKind::TooManyAttempts { .. } => return attempt,
            other => panic!("{other:?}"),
        }
    }
    most
}

#[tokio::test]
async fn client_with_many_failures_locks_only_itself_out_of_an_address() {
    let (fixture, _) = Fixture::with_owner().await;
    let inventory = &fixture.inventory;
    for _ in 0..100 {
        fail_from(inventory, client(1, 1), 10).await;
    }
    let refused = inventory.log_in_from(client(1, 1), EMAIL, PASSWORD.to_owned()).await;
    assert_eq!(refusal(refused), blocked(900));
    for other in [client(1, 2), client(2, 1), None] {
        inventory.log_in_from(other, EMAIL, PASSWORD.to_owned()).await.unwrap();
    }
}

#[tokio::test]
async fn clients_of_one_ipv6_48_have_fifteen_attempts_together() {
    let (fixture, _) = Fixture::with_owner().await;
    let mut attempts = 0;
    for subnet in 0..20 {
        attempts += fail_from(&fixture.inventory, client(1, subnet), 10).await;
    }
    assert_eq!(attempts, 15);
    let refused = fixture.inventory.log_in_from(client(1, 500), EMAIL, PASSWORD.to_owned()).await;
    assert_eq!(refusal(refused), blocked(900));
    fixture.inventory.log_in_from(client(2, 0), EMAIL, PASSWORD.to_owned()).await.unwrap();
}

#[tokio::test]
async fn fifty_failures_from_anywhere_lock_all_clients_out_of_an_address() {
    let (fixture, _) = Fixture::with_owner().await;
    for (limits, expected) in [
        (LoginLimits::default(), 50),
        (LoginLimits::default().account_failures(7), 7),
        (LoginLimits::default().account_failures(0), 5),
    ] {
        let inventory = fixture.inventory.clone().with_login_limits(limits);
        let mut attempts = 0;
        for site in 0..30 {
            attempts += fail_from(&inventory, client(site, 0), 10).await;
        }
        assert_eq!(attempts, expected);
        for other in [client(1_000, 0), None] {
            let refused = inventory.log_in_from(other, EMAIL, PASSWORD.to_owned()).await;
            assert_eq!(refusal(refused), blocked(900));
        }
        fixture.clock.advance(Duration::from_secs(900));
        inventory.log_in_from(None, EMAIL, PASSWORD.to_owned()).await.unwrap();
    }
}
