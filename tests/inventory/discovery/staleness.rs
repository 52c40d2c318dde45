use toposcope::discovery::report::{Device, Table, TableKind};
use toposcope::inventory::DiscoveryOutcome;
use toposcope::model::{Host, Timestamp};

use super::support::{FIRST, discover_one, open_ports, switch};
use crate::backend::run;
use crate::support::{Fixture, owner_of};

fn scan(complete: bool, ports: &[u16]) -> Device {
    let mut device = switch(1);
    let rows = open_ports(ports);
    device.tables.ports = Some(if complete { Table::complete(rows) } else { Table::truncated(rows) });
    device
}

fn numbers(host: &Host) -> Vec<u16> {
    host.ports.iter().map(|port| port.number.get()).collect()
}

/// Returns the number of scans that have missed each port.
async fn missed(fixture: &Fixture, host: &Host) -> Vec<u32> {
    let caller = owner_of(fixture.organization);
    let claims =
        fixture.inventory.discovery().claims(&caller, host.id, Some(TableKind::Ports)).await.unwrap();
    claims[0].parts.iter().map(|part| part.missed_scans).collect()
}

fn day(day: u32) -> String {
    let text = format!("2026-08-{day:02}T12:00:00Z");
    assert!(text.parse::<Timestamp>().is_ok());
    text
}

#[test]
fn truncated_report_without_a_port_loses_nothing() {
    run(async || {
        let fixture = Fixture::new().await;
        discover_one(&fixture, scan(true, &[22, 443]), FIRST).await;
        for at in 2..8 {
            let (outcome, host) = discover_one(&fixture, scan(false, &[22]), &day(at)).await;
            assert_eq!((outcome, numbers(&host)), (DiscoveryOutcome::Unchanged, vec![22, 443]));
            assert_eq!(missed(&fixture, &host).await, [0, 0]);
        }
        let caller = owner_of(fixture.organization);
        let deleted = fixture.inventory.discovery().delete_stale(&caller, fixture.network).await.unwrap();
        assert_eq!((deleted.hosts, deleted.ports), (0, 0));
    });
}

#[test]
fn port_is_stale_after_three_complete_scans_and_deleted_on_request() {
    run(async || {
        let fixture = Fixture::new().await;
        let caller = owner_of(fixture.organization);
        discover_one(&fixture, scan(true, &[22, 443]), FIRST).await;
        for count in 1..=3 {
            let deleted = fixture.inventory.discovery().delete_stale(&caller, fixture.network).await.unwrap();
            assert_eq!(deleted.hosts, 0);
            let (outcome, host) = discover_one(&fixture, scan(true, &[22]), &day(count + 1)).await;
            assert_eq!((outcome, numbers(&host)), (DiscoveryOutcome::Unchanged, vec![22, 443]));
            // The same report again is not another scan.
            discover_one(&fixture, scan(true, &[22]), &day(count + 1)).await;
            assert_eq!(missed(&fixture, &host).await, [0, count]);
        }
        let deleted = fixture.inventory.discovery().delete_stale(&caller, fixture.network).await.unwrap();
        assert_eq!((deleted.hosts, deleted.ports), (1, 1));
        let again = fixture.inventory.discovery().delete_stale(&caller, fixture.network).await.unwrap();
        assert_eq!(again.hosts, 0);
        let (_, host) = discover_one(&fixture, scan(true, &[22]), &day(5)).await;
        assert_eq!(numbers(&host), [22]);
        let (_, host) = discover_one(&fixture, scan(true, &[22, 443]), &day(6)).await;
        assert_eq!(numbers(&host), [22, 443], "what is deleted as stale may return");
    });
}
