//! The log of failed logins.

use std::time::Duration;

use serde_json::json;
use toposcope::inventory::NewShare;
use tracing::dispatcher::set_default;

use crate::backend::run_with;
use crate::common::{Fixture, Log, PASSWORD, Reply, from, log_in, send_json};

const MINUTE: Duration = Duration::from_secs(60);

/// Returns the fields of each new line of the security log.
fn lines(log: &Log) -> Vec<String> {
    let log = log.take();
    let lines = log.lines().filter_map(|line| line.split_once("toposcope::security: "));
    lines
        .map(|(before, line)| {
            assert!(before.trim_start().starts_with("WARN"), "{before}");
            line.to_owned()
        })
        .collect()
}

/// Returns the value of a field of a line.
fn field<'l>(line: &'l str, name: &str) -> &'l str {
    let value = line.split_once(&format!(" {name}=")).expect(line).1;
    value.split(' ').next().unwrap().trim_matches('"')
}

async fn fail(fixture: &Fixture, address: &str, email: &str) -> Reply {
    fixture.send(from(address, log_in(email, "not the password"))).await
}

async fn one_instance() -> Fixture {
    Fixture::new().await.on_one_instance()
}

#[test]
fn failed_login_is_logged_with_the_address_and_a_digest_of_the_account() {
    run_with(one_instance, async |fixture| {
        let log = Log::default();
        let _guard = set_default(&log.dispatch());
        assert_eq!(fail(&fixture, "192.0.2.1", "user0@example.net").await.status, 401);
        assert_eq!(fail(&fixture, "192.0.2.2", "USER0@example.net").await.status, 401);
        assert_eq!(fail(&fixture, "2001:db8::7", "nobody@example.net").await.status, 401);
        let lines = lines(&log);
        let addresses: Vec<&str> = lines.iter().map(|line| field(line, "address")).collect();
        assert_eq!(addresses, ["192.0.2.1", "192.0.2.2", "2001:db8::"], "of IPv6, a client has a /64");
        let accounts: Vec<&str> = lines.iter().map(|line| field(line, "account")).collect();
        assert_eq!(accounts[0], accounts[1], "the same account, in any case");
        assert_ne!(accounts[0], accounts[2]);
        assert!(accounts.iter().all(|account| account.len() == 16), "{accounts:?}");
        assert!(lines.iter().all(|line| field(line, "count") == "1" && field(line, "locked_out") == "false"));
    });
}

#[test]
fn address_has_one_line_a_minute_with_the_number_of_failures() {
    run_with(one_instance, async |fixture| {
        let log = Log::default();
        let _guard = set_default(&log.dispatch());
        for status in [401, 401, 401, 401, 401, 429, 429] {
            assert_eq!(fail(&fixture, "192.0.2.1", "user0@example.net").await.status, status);
        }
        assert_eq!(lines(&log).len(), 1);
        fixture.clock.advance(MINUTE - Duration::from_micros(1));
        fail(&fixture, "192.0.2.1", "user0@example.net").await;
        fail(&fixture, "192.0.2.9", "user0@example.net").await;
        let other = lines(&log);
        assert_eq!((other.len(), field(&other[0], "address")), (1, "192.0.2.9"));
        fixture.clock.advance(Duration::from_micros(1));
        fail(&fixture, "192.0.2.1", "user0@example.net").await;
        let next = lines(&log);
        assert_eq!((next.len(), field(&next[0], "count")), (1, "8"));
        assert_eq!(field(&next[0], "locked_out"), "true");
    });
}

#[test]
fn wrong_password_of_a_share_is_logged() {
    run_with(one_instance, async |fixture| {
        let mut share = NewShare::new("a share");
        share.password = Some(PASSWORD.to_owned());
        let share = fixture.inventory.shares().create(&fixture.system(), share).await.unwrap();
        let verify = |password: &str| {
            let path = format!("/api/v1/shares/public/{}/verify", share.id);
            from("192.0.2.3", send_json("POST", &path, &json!({"password": password})))
        };
        let log = Log::default();
        let _guard = set_default(&log.dispatch());
        assert_eq!(fixture.send(verify(PASSWORD)).await.status, 200);
        assert_eq!(fixture.send(log_in("user0@example.net", PASSWORD)).await.status, 200);
        assert!(lines(&log).is_empty(), "successes are not failures");
        assert_eq!(fixture.send(verify("not the password")).await.status, 403);
        let lines = lines(&log);
        assert_eq!((lines.len(), field(&lines[0], "address")), (1, "192.0.2.3"));
    });
}

#[test]
fn failures_of_many_addresses_share_a_line_and_all_are_counted() {
    run_with(one_instance, async |fixture| {
        // Logins through the inventory, without the limits of the service.
        let inventory = fixture.inventory.clone();
        let log = Log::default();
        let _guard = set_default(&log.dispatch());
        let failures = 1_500;
        for number in 0..failures {
            let address = std::net::Ipv4Addr::from_bits(0x0a00_0000 + number).into();
            let client = toposcope::access::PrefixLengths::default().prefix_of(address);
            let account = format!("{number}@example.net");
            let login = inventory.log_in_from(Some(client), &account, "wrong".to_owned());
            login.await.unwrap_err();
        }
        let mut shown = lines(&log);
        assert_eq!(shown.len(), 1_025, "one for each address that is remembered, and one for all others");
        assert_eq!(field(shown.last().unwrap(), "address"), "others");
        // Dropping the inventory logs the failures that have no line yet.
        drop(inventory);
        drop(fixture);
        shown.extend(lines(&log));
        let counted: u32 = shown.iter().map(|line| field(line, "count").parse::<u32>().unwrap()).sum();
        assert_eq!(counted, failures);
    });
}
