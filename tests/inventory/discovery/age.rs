use toposcope::discovery::report::{Device, Table};
use toposcope::inventory::{DiscoveryOutcome, HostQuery};
use toposcope::model::{Host, HostId, Source, Timestamp};

use super::support::{discover, discover_one, hosts_revision, open_ports, outcomes, switch};
use crate::backend::run;
use crate::support::{Fixture, id, owner_of, time};

fn scan(number: u8, ports: &[u16]) -> Device {
    let mut device = switch(number);
    device.tables.ports = Some(Table::complete(open_ports(ports)));
    device
}

async fn found(fixture: &Fixture, query: HostQuery) -> Vec<HostId> {
    fixture.list(&query).await.documents.iter().map(|document| host_of(document).id).collect()
}

fn host_of(document: &[u8]) -> Host {
    serde_json::from_slice(document.strip_prefix(b",").unwrap_or(document)).unwrap()
}

async fn seen_since(fixture: &Fixture, at: &str) -> Vec<HostId> {
    let mut query = HostQuery::default();
    query.seen_since = Some(time(at));
    found(fixture, query).await
}

async fn stale(fixture: &Fixture, is_stale: bool) -> Vec<HostId> {
    let mut query = HostQuery::default();
    query.stale = Some(is_stale);
    found(fixture, query).await
}

#[test]
fn host_and_parts_have_the_hour_of_the_latest_report() {
    run(async || {
        let fixture = Fixture::new().await;
        let (_, host) = discover_one(&fixture, scan(1, &[22]), "2026-08-01T12:34:56Z").await;
        let hour = Some(time("2026-08-01T12:00:00Z"));
        assert_eq!((host.last_seen_at, host.is_stale), (hour, false));
        assert_eq!((host.interfaces[0].last_seen_at, host.ports[0].last_seen_at), (hour, hour));
        assert!(host.if_entries.iter().all(|entry| entry.last_seen_at == hour && !entry.is_stale));

        // Within the hour, nothing is written.
        let revision = hosts_revision(&fixture).await;
        let (outcome, same) = discover_one(&fixture, scan(1, &[22]), "2026-08-01T12:59:59Z").await;
        assert_eq!((outcome, &same), (DiscoveryOutcome::Unchanged, &host));
        assert_eq!(hosts_revision(&fixture).await, revision);

        // In the next hour, only the times move.
        let (outcome, later) = discover_one(&fixture, scan(1, &[22]), "2026-08-01T13:00:00Z").await;
        assert_eq!(outcome, DiscoveryOutcome::Unchanged);
        assert_eq!(later.last_seen_at, Some(time("2026-08-01T13:00:00Z")));
        assert_eq!(
            (later.updated_at, later.ports[0].updated_at),
            (host.updated_at, host.ports[0].updated_at)
        );
        // An older report does not turn back time.
        let (_, after) = discover_one(&fixture, scan(1, &[22]), "2026-08-01T09:00:00Z").await;
        assert_eq!(after.last_seen_at, later.last_seen_at);
    });
}

#[test]
fn part_that_three_complete_tables_lack_is_stale_until_it_is_seen_again() {
    run(async || {
        let fixture = Fixture::new().await;
        discover_one(&fixture, scan(1, &[22, 443]), "2026-08-01T12:00:00Z").await;
        for (hour, is_stale) in [(13, false), (14, false), (15, true), (16, true)] {
            let at = format!("2026-08-01T{hour}:00:00Z");
            let (_, host) = discover_one(&fixture, scan(1, &[22]), &at).await;
            let ages: Vec<_> = host.ports.iter().map(|port| (port.last_seen_at, port.is_stale)).collect();
            let first = Some(time("2026-08-01T12:00:00Z"));
            assert_eq!(ages, [(Some(time(&at)), false), (first, is_stale)]);
            assert!(!host.is_stale);
        }
        let (_, host) = discover_one(&fixture, scan(1, &[22, 443]), "2026-08-01T17:00:00Z").await;
        assert!(host.ports.iter().all(|port| !port.is_stale));
    });
}

#[test]
fn host_all_of_whose_parts_are_stale_is_stale() {
    run(async || {
        let fixture = Fixture::new().await;
        let mut device = Device::default();
        device.serial_number = Some("FOC1234X0AB".to_owned());
        device.tables.ports = Some(Table::complete(open_ports(&[22, 443])));
        let (_, host) = discover_one(&fixture, device.clone(), "2026-08-01T12:00:00Z").await;
        device.tables.ports = Some(Table::complete(Vec::new()));
        for (hour, is_stale) in [(13, false), (14, false), (15, true)] {
            let at = format!("2026-08-01T{hour}:00:00Z");
            let (_, after) = discover_one(&fixture, device.clone(), &at).await;
            assert_eq!((after.id, after.is_stale), (host.id, is_stale), "{at}");
        }
        assert_eq!((stale(&fixture, true).await, stale(&fixture, false).await), (vec![host.id], vec![]));
    });
}

#[test]
fn host_that_no_report_shows_for_seven_days_is_stale_until_one_does() {
    run(async || {
        let fixture = Fixture::new().await;
        let answer = discover(&fixture, vec![switch(1), switch(2)], "2026-08-01T12:00:00Z").await;
        let (away, there) = (answer.hosts[0].id.unwrap(), answer.hosts[1].id.unwrap());
        let mut manual = Host::with_id(id(1), fixture.network, "desk");
        manual.source = Source::Manual;
        fixture.put(&manual).await;
        let before = fixture.host(away).await;
        discover(&fixture, vec![switch(2)], "2026-08-08T11:00:00Z").await;
        assert!(stale(&fixture, true).await.is_empty());
        discover(&fixture, vec![switch(2)], "2026-08-08T12:00:00Z").await;
        assert_eq!(stale(&fixture, true).await, [away]);
        assert_eq!(fixture.host(away).await, Host { is_stale: true, ..before });
        assert_eq!(seen_since(&fixture, "2026-08-08T12:30:00Z").await, [there]);
        let mut both = [away, there];
        both.sort_unstable();
        let mut found = seen_since(&fixture, "2026-08-01T12:59:59Z").await;
        found.sort_unstable();
        assert_eq!(found, both);
        assert!(seen_since(&fixture, "2026-08-08T13:00:00Z").await.is_empty());

        // An older report does not show that the host is there.
        discover(&fixture, vec![switch(1)], "2026-07-30T12:00:00Z").await;
        assert_eq!(stale(&fixture, true).await, [away]);
        let (_, back) = discover_one(&fixture, switch(1), "2026-08-09T12:00:00Z").await;
        assert_eq!((back.id, back.is_stale), (away, false));
    });
}

#[test]
fn age_is_no_edit_and_users_cannot_set_it() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        let (_, host) = discover_one(&fixture, scan(1, &[22]), "2026-08-01T12:00:00Z").await;
        let pretend = |host: &mut Host| {
            host.name = "renamed".to_owned();
            (host.last_seen_at, host.is_stale) = (Some(Timestamp::UNIX_EPOCH), true);
            (host.ports[0].last_seen_at, host.ports[0].is_stale) = (None, true);
            Ok(())
        };
        let updated = fixture.inventory.hosts().update(&caller, host.id, pretend).await.unwrap();
        assert_eq!((updated.last_seen_at, updated.is_stale), (host.last_seen_at, false));
        assert_eq!(updated.ports, host.ports);
        let mut draft = Host::with_id(id(7), fixture.network, "draft");
        (draft.last_seen_at, draft.is_stale) = (host.last_seen_at, true);
        let created = fixture.inventory.hosts().create(&caller, draft).await.unwrap();
        assert_eq!((created.last_seen_at, created.is_stale), (None, false));
        let answer = discover(&fixture, vec![scan(1, &[22])], "2026-08-01T13:00:00Z").await;
        assert_eq!(outcomes(&answer), [DiscoveryOutcome::Unchanged]);
        assert_eq!(fixture.host(host.id).await.ports[0].last_seen_at, Some(time("2026-08-01T13:00:00Z")));
    });
}

#[test]
fn hosts_of_earlier_versions_have_no_age() {
    let text = r#"{"id":"133e671d-8ee1-51bd-903c-32657d3d8ef1","network_id":"8476cd6d-34bc-5725-8e5b-3c2adcf38402",
        "name":"core","created_at":"2026-08-14T12:00:14Z","updated_at":"2026-08-14T12:00:14Z"}"#;
    let host: Host = serde_json::from_str(text).unwrap();
    assert_eq!((host.last_seen_at, host.is_stale), (None, false));
    let written = serde_json::to_value(&host).unwrap();
    assert!(written.get("last_seen_at").is_none() && written.get("is_stale").is_none());
}
