//! Hosts that exist already, occur twice, or are of other networks and organizations.

use std::collections::BTreeSet;
use toposcope::access::{Caller, Clock};

use std::time::Duration;

use fastrand::Rng;
use serde_json::json;
use toposcope::inventory::{ErrorKind, Import, ImportReport};
use toposcope::model::{HostId, Network, NetworkId, Protocol};

use crate::support::{
    Fixture, bare_host, concurrently, documents, guest_of, id, jsonl, numbered_hosts, port, refusal,
    refusal_of_second, rich_host, uuid,
};

#[tokio::test]
async fn later_line_replaces_an_earlier_one_of_the_same_host() {
    // Next to each other, in one portion, and far apart.
    for between in [0, 10, 600] {
        let fixture = Fixture::new().await;
        let mut hosts = numbered_hosts(fixture.network, between + 3);
        hosts[0].name = "first".to_owned();
        for (place, name) in [(between as usize + 1, "second"), (between as usize + 2, "last")] {
            hosts[place] = bare_host(id(1), fixture.other_network);
            hosts[place].name = name.to_owned();
        }
        let report = fixture.import(jsonl(&hosts)).await;
        let lines = hosts.len() as u64;
        assert_eq!((report.imported, report.replaced, report.refused), (lines, 2, 0), "{report}");
        assert_eq!(fixture.documents().await.len() as u64, lines - 2);
        let host = fixture.host(id(1)).await;
        assert_eq!((host.name.as_str(), host.network_id), ("last", fixture.other_network));
    }
}

#[tokio::test]
async fn host_in_every_line_is_stored_as_in_the_last() {
    let fixture = Fixture::new().await;
    let hosts: Vec<_> = (0..500)
        .map(|number| {
            let mut host = bare_host(id(1), fixture.network);
            host.name = number.to_string();
            host
        })
        .collect();
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.replaced, report.refused), (500, 499, 0));
    assert_eq!(fixture.documents().await.len(), 1);
    assert_eq!(fixture.host(id(1)).await.name, "499");
}

#[tokio::test]
async fn refused_second_line_leaves_the_first() {
    let fixture = Fixture::new().await;
    let first = bare_host(id(1), fixture.network);
    let mut second = first.clone();
    second.tags = vec![id(7)];
    let report = fixture.import(jsonl(&[first.clone(), second])).await;
    assert_eq!((report.imported, report.replaced, report.refused), (1, 0, 1), "{report}");
    assert_eq!(fixture.host(id(1)).await, first);
}

#[tokio::test]
async fn existing_hosts_are_replaced_and_counted() {
    let fixture = Fixture::new().await;
    let hosts = numbered_hosts(fixture.network, 700);
    assert_eq!(fixture.import(jsonl(&hosts[..350])).await.replaced, 0);
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.replaced), (700, 350));
}

#[tokio::test]
async fn description_of_a_stored_host_keeps_ids_and_times_and_is_written_only_if_it_differs() {
    let fixture = Fixture::new().await;
    let described = |name: &str, port: u16| {
        json!({
            "id": id::<HostId>(1), "network_id": fixture.network, "name": name,
            "interfaces": [{"ip_address": "192.0.2.1", "mac_address": "00:1b:21:3c:4d:5e"}, {"ip_address": "192.0.2.2"}],
            "ports": [{"number": 22, "protocol": "Tcp"}, {"number": port, "protocol": "Tcp"}],
            "services": [{"name": "web", "service_definition": "nginx"}],
            "if_entries": [{"if_index": 1, "if_descr": "eth0"}],
        })
    };
    assert_eq!(fixture.import(described("sw", 80).to_string()).await.imported, 1);
    let before = fixture.host(id(1)).await;
    fixture.clock.advance(Duration::from_secs(60));

    let report = fixture.import(described("sw", 80).to_string()).await;
    assert_eq!((report.imported, report.unchanged), (0, 1), "{report}");
    assert_eq!(fixture.host(id(1)).await, before);

    let report = fixture.import(described("renamed", 443).to_string()).await;
    assert_eq!((report.imported, report.replaced, report.unchanged), (1, 1, 0), "{report}");
    let after = fixture.host(id(1)).await;
    assert_eq!((after.created_at, after.interfaces), (before.created_at, before.interfaces));
    assert!(after.updated_at > before.updated_at);
    assert_eq!((after.services, after.if_entries), (before.services, before.if_entries));
    assert_eq!(after.ports[0], before.ports[0]);
    assert_ne!(after.ports[1].id, before.ports[1].id);
}

#[tokio::test]
async fn copy_of_a_host_keeps_its_own_times_and_the_ids_of_stored_parts() {
    let fixture = Fixture::new().await;
    let copy = |name: &str| {
        let line = json!({
            "id": id::<HostId>(1), "network_id": fixture.network, "name": name, "created_at": "2020-01-01T00:00:00Z",
            "ports": [{"number": 22, "protocol": "Tcp"}],
        });
        line.to_string()
    };
    fixture.import(copy("a")).await;
    let before = fixture.host(id(1)).await;
    let lines = [copy("b"), copy("c")].join("\n");
    let report = fixture.import(lines).await;
    assert_eq!((report.imported, report.replaced), (2, 2), "{report}");
    let after = fixture.host(id(1)).await;
    assert_eq!((after.name.as_str(), after.created_at), ("c", before.created_at));
    assert_eq!(after.ports[0].id, before.ports[0].id);
}

#[tokio::test]
async fn line_with_other_times_keeps_these_and_the_creation_of_the_stored_host() {
    let fixture = Fixture::new().await;
    let line = json!({"id": id::<HostId>(1), "network_id": fixture.network, "name": "sw"});
    fixture.import(line.to_string()).await;
    let before = fixture.host(id(1)).await;
    fixture.clock.advance(Duration::from_secs(60));
    let mut seen = line.clone();
    seen["last_seen_at"] = json!("2026-01-02T03:04:05Z");
    let report = fixture.import(seen.to_string()).await;
    assert_eq!((report.replaced, report.unchanged), (1, 0), "{report}");
    let after = fixture.host(id(1)).await;
    assert_eq!(
        (after.last_seen_at, after.created_at),
        (Some("2026-01-02T03:04:05Z".parse().unwrap()), before.created_at)
    );
    assert!(after.updated_at > before.updated_at);
}

#[tokio::test]
async fn line_that_moves_a_host_gets_nothing_of_the_stored_one() {
    let fixture = Fixture::new().await;
    let line = |network: NetworkId, times: bool| {
        let mut line = json!({
            "id": id::<HostId>(1), "network_id": network, "name": "sw",
            "interfaces": [{"ip_address": "192.0.2.1"}], "ports": [{"number": 22, "protocol": "Tcp"}],
        });
        if times {
            line["created_at"] = json!("2020-01-01T00:00:00Z");
        }
        line.to_string()
    };
    fixture.import(line(fixture.network, true)).await;
    let before = fixture.host(id(1)).await;
    let report = fixture.import(line(fixture.other_network, false)).await;
    assert_eq!((report.imported, report.replaced), (1, 1), "{report}");
    let after = fixture.host(id(1)).await;
    assert_eq!(after.network_id, fixture.other_network);
    assert!(after.interfaces.iter().all(|interface| interface.network_id == fixture.other_network));
    assert_ne!(after.ports[0].id, before.ports[0].id);
}

#[tokio::test]
async fn repairs_of_a_line_that_changes_nothing_are_reported() {
    let fixture = Fixture::new().await;
    let line = json!({
        "id": id::<HostId>(1), "network_id": fixture.network, "name": "sw",
        "ports": [{"number": 0, "protocol": "Tcp"}, {"number": 22, "protocol": "Tcp"}],
    });
    for unchanged in [0, 1] {
        let report = fixture.import(line.to_string()).await;
        assert_eq!((report.unchanged, report.dropped_ports.len()), (unchanged, 1), "{report}");
    }
}

#[tokio::test]
async fn change_is_later_than_the_one_before_however_long_the_import_takes() {
    let fixture = Fixture::new().await;
    let line =
        |name: &str| json!({"id": id::<HostId>(1), "network_id": fixture.network, "name": name}).to_string();
    fixture.import(line("a")).await;
    let clock = fixture.clock.clone();
    let network = fixture.network;
    let (inventory, system) = (fixture.inventory.clone(), fixture.system());
    let (sender, input) = tokio::io::duplex(1 << 16);
    let import = tokio::spawn(async move {
        inventory.hosts().import(&system, input, Import::new().only_network(network)).await.unwrap()
    });
    tokio::task::yield_now().await;
    clock.advance(Duration::from_secs(60));
    let mut edited = fixture.host(id(1)).await;
    edited.description = Some("edited".to_owned());
    fixture.inventory.hosts().put(&fixture.system(), edited).await.unwrap();
    let between = clock.now();
    let mut sender = sender;
    tokio::io::AsyncWriteExt::write_all(&mut sender, line("b").as_bytes()).await.unwrap();
    drop(sender);
    assert_eq!(import.await.unwrap().imported, 1);
    assert!(fixture.host(id(1)).await.updated_at >= between);
}

#[tokio::test]
async fn one_invalid_host_among_hundreds_is_the_only_one_refused() {
    for (count, bad) in [(300, 0), (300, 150), (300, 255), (300, 256), (300, 299), (600, 400)] {
        let fixture = Fixture::new().await;
        let mut hosts = numbered_hosts(fixture.network, count);
        hosts[bad].tags = vec![fixture.tags[0], id(7)];
        let report = fixture.import(jsonl(&hosts)).await;
        assert_eq!((u128::from(report.imported), report.refused), (count - 1, 1), "{report}");
        let refusal = &report.refusals[0];
        assert_eq!((refusal.line, refusal.field.as_deref()), (bad as u64 + 1, Some("tags.1")));
        assert_eq!(fixture.documents().await.len() as u128, count - 1);
        assert!(fixture.try_host(hosts[bad].id).await.is_err());
    }
}

#[tokio::test]
async fn port_that_two_lines_claim_belongs_to_the_first() {
    for between in [0, 300] {
        let fixture = Fixture::new().await;
        let mut hosts = numbered_hosts(fixture.network, between + 2);
        let last = hosts.len() - 1;
        for place in [0, last] {
            hosts[place].ports = vec![port(&hosts[place], id(0x99), 443, Protocol::Tcp)];
        }
        let report = fixture.import(jsonl(&hosts)).await;
        assert_eq!((report.imported, report.refused), (last as u64, 1), "{report}");
        let refusal = &report.refusals[0];
        assert_eq!(refusal.line, last as u64 + 1);
        assert!(refusal.reason.contains("Port") && refusal.reason.contains(&uuid(0x99).to_string()));
        assert_eq!(fixture.host(id(1)).await.ports.len(), 1);
    }
}

#[tokio::test]
async fn line_with_two_ports_of_one_number_and_protocol_is_refused() {
    let fixture = Fixture::new().await;
    let mut hosts = numbered_hosts(fixture.network, 3);
    let host = &mut hosts[1];
    host.ports = vec![
        port(host, id(0x11), 53, Protocol::Tcp),
        port(host, id(0x12), 53, Protocol::Udp),
        port(host, id(0x13), 53, Protocol::Tcp),
    ];
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.refused, report.refusals[0].line), (2, 1, 2), "{report}");
    assert!(report.refusals[0].reason.contains("53/Tcp"), "{report}");
}

#[tokio::test]
async fn line_with_a_tag_of_another_organization_is_refused() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let mut hosts = numbered_hosts(fixture.network, 3);
    hosts[1].tags = vec![foreign.tag];
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!(refusal_of_second(&report, "tag").field.as_deref(), Some("tags.0"));
}

#[tokio::test]
async fn host_id_of_another_organization_is_replaced_by_a_random_one_and_reported() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let theirs = rich_host(2, foreign.network, &[]);
    fixture.inventory.hosts().put(&foreign.system(), theirs.clone()).await.unwrap();
    let mut hosts: Vec<_> = (1..=3).map(|number| rich_host(number, fixture.network, &fixture.tags)).collect();
    hosts.extend(numbered_hosts(fixture.network, 600).split_off(3));
    hosts.push(hosts[1].clone());
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.replaced, report.reassigned), (601, 1, 2), "{report}");
    let lines: Vec<_> = report.reassignments.iter().map(|known| (known.line, known.given_id)).collect();
    assert_eq!(lines, [(2, id(2)), (601, id(2))]);
    let new = report.reassignments[0].id;
    assert_eq!((report.reassignments[1].id, new.uuid().get_version_num()), (new, 4));
    assert!(report.to_string().contains(&format!("line 2: {} stored as {new}", uuid(2))), "{report}");
    let ours = fixture.host(new).await;
    assert!(ours.ports.iter().all(|port| port.host_id == new));
    assert_eq!((ours.ports.len(), &ours.tags), (3, &hosts[1].tags));
    assert_eq!(fixture.inventory.hosts().get(&foreign.system(), id(2)).await.unwrap(), theirs);

    // Its ports belong to the host that was created before.
    let again = fixture.import(jsonl(&hosts[..2])).await;
    assert_eq!((again.imported, again.refused), (1, 1), "{again}");
    let bare = fixture.import(jsonl([&bare_host(id(2), fixture.network)])).await;
    assert_ne!(bare.reassignments[0].id, new);
}

#[tokio::test]
async fn number_of_listed_reassignments_is_limited_and_the_count_is_not() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    fixture.inventory.hosts().put(&foreign.system(), bare_host(id(1), foreign.network)).await.unwrap();
    let lines = jsonl(&[bare_host(id(1), fixture.network)]).repeat(1100);
    let report = fixture.import(&lines).await;
    assert_eq!((report.reassigned, report.reassignments.len()), (1100, ImportReport::MAX_DETAILS));
    assert!(report.to_string().contains("100 more"));
    assert_eq!(fixture.documents().await.len(), 1);
}

/// A port moves to another host if an earlier line removes it from its host. Between neighbouring lines, which are
/// stored together, the order does not matter.
#[tokio::test]
async fn port_moves_to_another_host_after_or_next_to_the_line_that_removes_it() {
    for (is_freed_first, between, passes) in
        [(true, 0, true), (true, 300, true), (false, 0, true), (false, 300, false)]
    {
        let fixture = Fixture::new().await;
        let mut holder = bare_host(id(1), fixture.network);
        holder.ports = vec![port(&holder, id(0x99), 443, Protocol::Tcp)];
        fixture.put(&holder).await;
        let mut heir = bare_host(id(2), fixture.network);
        heir.ports = vec![port(&heir, id(0x99), 443, Protocol::Tcp)];
        let mut hosts = vec![bare_host(id(1), fixture.network)];
        hosts.extend((0..between).map(|number| bare_host(id(1000 + number), fixture.network)));
        hosts.push(heir);
        if !is_freed_first {
            hosts.reverse();
        }
        let report = fixture.import(jsonl(&hosts)).await;
        assert_eq!(report.refused == 0, passes, "freed first: {is_freed_first}, {between} between: {report}");
    }
}

#[tokio::test]
async fn listed_documents_are_imported_unchanged() {
    let fixture = Fixture::new().await;
    let mut random = Rng::with_seed(3);
    for number in 1..=50 {
        let mut host = rich_host(number, fixture.network, &fixture.tags);
        host.description = Some((0..100).map(|_| char::from(random.u8(..))).collect());
        guest_of(&mut host, id(((number % 7 + 1) << 32) + 21));
        fixture.put(&host).await;
    }
    fixture.put(&bare_host(id(1000), fixture.other_network)).await;
    let first = fixture.documents().await;
    let lines = first.join(&b'\n');
    for round in 0..2 {
        let report = fixture.import(&lines).await;
        assert_eq!((report.imported, report.replaced, report.refused), (51, 51, 0), "{report}");
        assert!(report.alterations.is_empty(), "{report}");
        assert_eq!(fixture.documents().await, first, "round {round}");
    }
}

#[tokio::test]
async fn listed_documents_are_imported_unchanged_into_another_inventory() {
    let fixture = Fixture::new().await;
    for number in 1..=300 {
        fixture.put(&rich_host(number, fixture.network, &[])).await;
    }
    let first = fixture.documents().await;
    let other = Fixture::new().await;
    other
        .inventory
        .networks()
        .create_with_id(&Caller::system(other.organization), id(5), Network::new("unrelated"))
        .await
        .unwrap();
    let import = Import::new().create_missing_networks();
    let report = other.import_with(first.join(&b'\n'), import).await;
    assert_eq!((report.imported, report.refused), (300, 0), "{report}");
    assert_eq!(documents(&other.inventory, other.organization).await, first);
}

#[tokio::test]
async fn put_and_imported_hosts_have_the_same_documents() {
    let (put, imported) = (Fixture::new().await, Fixture::new().await);
    let hosts: Vec<_> = (1..=20).map(|number| rich_host(number, put.network, &put.tags)).collect();
    for host in &hosts {
        put.put(host).await;
    }
    // Both fixtures have the same records, ids included.
    assert_eq!(put.network, imported.network);
    imported.import(jsonl(&hosts)).await;
    assert_eq!(put.documents().await, imported.documents().await);
}

fn create() -> Import<'static> {
    Import::new().create_missing_networks()
}

#[tokio::test]
async fn hosts_of_unknown_networks_are_refused_by_default() {
    let fixture = Fixture::new().await;
    let hosts =
        [bare_host(id(1), fixture.network), bare_host(id(2), id(0xa)), bare_host(id(3), fixture.network)];
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.refused), (2, 1), "{report}");
    assert_eq!((report.refusals[0].line, report.refusals[0].field.as_deref()), (2, Some("network_id")));
    assert_eq!(report.created_networks, 0);
    assert!(matches!(
        refusal(fixture.inventory.networks().get(&fixture.system(), id(0xa)).await),
        ErrorKind::NotFound { .. }
    ));
}

#[tokio::test]
async fn unknown_networks_are_created_on_request() {
    let fixture = Fixture::new().await;
    let networks = [id(0xa), fixture.network, id(0xb), id(0xa), id(0xb)];
    let hosts: Vec<_> = (1..).zip(networks).map(|(number, network)| bare_host(id(number), network)).collect();
    let report = fixture.import_with(jsonl(&hosts), create()).await;
    assert_eq!((report.imported, report.refused), (5, 0), "{report}");
    assert_eq!(report.created_networks, 2);
    let known = fixture.inventory.networks().all(&fixture.system()).await.unwrap();
    let known: BTreeSet<_> = known.iter().map(|network| network.id).collect();
    assert_eq!(known, BTreeSet::from([fixture.network, fixture.other_network, id(0xa), id(0xb)]));
    for created in [id(0xa), id(0xb)] {
        let network = fixture.inventory.networks().get(&fixture.system(), created).await.unwrap();
        assert_eq!((network.organization_id, network.name), (fixture.organization, created.to_string()));
    }
    assert_eq!(
        fixture.inventory.networks().get(&fixture.system(), fixture.network).await.unwrap().name,
        "Office"
    );
    let again = fixture.import_with(jsonl(&hosts), create()).await;
    assert_eq!(again.created_networks, 0);
}

#[tokio::test]
async fn network_of_another_organization_is_not_taken_over() {
    for import in [Import::new(), create()] {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let before = fixture.inventory.networks().get(&foreign.system(), foreign.network).await.unwrap();
        let hosts = [
            bare_host(id(1), fixture.network),
            bare_host(id(2), foreign.network),
            bare_host(id(3), fixture.network),
        ];
        let report = fixture.import_with(jsonl(&hosts), import).await;
        assert_eq!((report.imported, report.refused), (2, 1), "{report}");
        assert_eq!((report.refusals[0].line, report.refusals[0].field.as_deref()), (2, Some("network_id")));
        assert_eq!(report.created_networks, 0);
        assert_eq!(
            fixture.inventory.networks().get(&foreign.system(), foreign.network).await.unwrap(),
            before
        );
        assert!(documents(&fixture.inventory, foreign.organization).await.is_empty());
    }
}

#[tokio::test]
async fn invalid_lines_create_no_network() {
    let fixture = Fixture::new().await;
    let mut line = serde_json::to_value(bare_host(id(1), id(0xa))).unwrap();
    line["name"] = serde_json::Value::Null;
    let report = fixture.import_with(line.to_string(), create()).await;
    assert_eq!((report.imported, report.refused), (0, 1));
    assert_eq!(report.created_networks, 0);
    assert!(fixture.inventory.networks().get(&fixture.system(), id(0xa)).await.is_err());
}

#[tokio::test]
async fn import_into_an_unknown_organization_stores_nothing() {
    let fixture = Fixture::new().await;
    let commits = fixture.commits();
    let lines = jsonl(&[bare_host(id(1), fixture.network), bare_host(id(2), id(0xa))]);
    for import in [Import::new(), create()] {
        match fixture.inventory.hosts().import(&Caller::system(id(77)), &lines[..], import).await {
            Ok(report) => assert_eq!((report.imported, report.refused), (0, 2), "{report}"),
            Err(error) => assert!(matches!(error.kind(), ErrorKind::NotFound { .. }), "{error}"),
        }
    }
    assert_eq!(fixture.commits(), commits);
}

#[tokio::test]
async fn created_networks_are_counted() {
    let fixture = Fixture::new().await;
    let hosts: Vec<_> =
        (1..=1100).map(|number| bare_host(id(number), NetworkId::from_u128(number << 64))).collect();
    let report = fixture.import_with(jsonl(&hosts), create()).await;
    assert_eq!((report.imported, report.created_networks), (1100, 1100));
    assert!(report.to_string().contains("1100 networks created"), "{report}");
}

#[tokio::test]
async fn concurrent_imports_create_the_same_networks_once() {
    let fixture = Fixture::new().await;
    let imports = concurrently(&fixture, 8, |fixture, number| async move {
        let first = 1 + 1000 * u128::from(number);
        let hosts: Vec<_> =
            (0..300).map(|place| bare_host(id(first + place), id(0xa000 + place % 10))).collect();
        fixture.import_with(jsonl(&hosts), create()).await
    });
    let mut created = 0;
    for report in imports.await {
        assert_eq!((report.imported, report.refused), (300, 0), "{report}");
        created += report.created_networks;
    }
    assert_eq!(created, 10, "each is created once");
    assert_eq!(fixture.documents().await.len(), 2400);
}
