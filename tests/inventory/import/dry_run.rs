//! Imports that check every line and store nothing.

use toposcope::inventory::{Import, ImportReport, Quotas};
use toposcope::model::{Host, Protocol};

use crate::support::{Fixture, bare_host, guest_of, id, jsonl, numbered_hosts, port, rich_host};

/// Returns lines with every kind of outcome that does not depend on earlier groups.
async fn various_lines(fixture: &Fixture) -> Vec<u8> {
    let foreign = fixture.foreign().await;
    fixture.inventory.hosts().put(&foreign.system(), bare_host(id(3), foreign.network)).await.unwrap();
    let existing = rich_host(1, fixture.network, &fixture.tags);
    fixture.put(&existing).await;
    let with_port = |number, part| {
        let mut host = bare_host(id(number), fixture.network);
        host.ports = vec![port(&host, id(part), 443, Protocol::Tcp)];
        host
    };
    let mut renamed = existing.clone();
    renamed.services[0].name = "renamed".to_owned();
    let mut guest = bare_host(id(2), fixture.network);
    guest_of(&mut guest, renamed.services[0].id);
    let mut unknown_tag = bare_host(id(4), fixture.network);
    unknown_tag.tags = vec![id(7)];
    let mut hosts = vec![renamed, guest, bare_host(id(3), fixture.network), unknown_tag];
    hosts.extend([with_port(5, 0x99), with_port(6, 0x99), bare_host(id(8), id(0xa))]);
    hosts.push(Host { id: id(9), ..with_port(9, existing.ports[0].id.as_u128()) });
    hosts.extend(numbered_hosts(fixture.network, 600).split_off(10));
    [&jsonl(&hosts)[..], b"bad\n"].concat()
}

/// Returns a report without the random ids.
fn without_ids(mut report: ImportReport) -> ImportReport {
    report.reassignments.iter_mut().for_each(|known| known.id = known.given_id);
    report
}

#[tokio::test]
async fn later_line_of_a_host_is_compared_with_the_earlier_one() {
    let fixture = Fixture::new().await;
    let line = |name: &str| {
        serde_json::json!({"id": bare_host(id(1), fixture.network).id, "network_id": fixture.network, "name": name}).to_string()
    };
    fixture.import(line("stored")).await;
    let lines = [line("other"), line("stored"), line("stored")].join("\n");
    for is_dry in [true, false] {
        let import = if is_dry { Import::new().dry_run() } else { Import::new() };
        let report =
            fixture.inventory.hosts().import(&fixture.system(), lines.as_bytes(), import).await.unwrap();
        assert_eq!((report.replaced, report.unchanged), (2, 1), "{report}");
    }
}

#[tokio::test]
async fn dry_run_stores_nothing_and_reports_what_an_import_does() {
    for is_creating in [false, true] {
        let import = || if is_creating { Import::new().create_missing_networks() } else { Import::new() };
        let fixture = Fixture::new().await;
        let lines = various_lines(&fixture).await;
        let (before, commits) = (fixture.contents().await, fixture.commits());
        let dry = fixture.import_with(&lines, import().dry_run()).await;
        assert_eq!((fixture.contents().await, fixture.commits()), (before, commits));
        let real = fixture.import_with(&lines, import()).await;
        assert_eq!(without_ids(dry), without_ids(real.clone()));
        assert_eq!((real.replaced, real.reassigned), (1, 1), "{real}");
        assert_eq!(real.refused, if is_creating { 4 } else { 5 }, "{real}");
    }
}

#[tokio::test]
async fn dry_run_counts_against_the_quota() {
    let mut quotas = Quotas::default();
    quotas.hosts_per_organization = Some(300);
    let mut fixture = Fixture::new().await;
    fixture.inventory = fixture.inventory.with_quotas(quotas);
    let lines = jsonl(&numbered_hosts(fixture.network, 600));
    let dry = fixture.import_with(&lines, Import::new().dry_run()).await;
    assert_eq!((dry.imported, dry.refused), (300, 300));
    assert_eq!(dry, fixture.import_with(&lines, Import::new()).await);
}
