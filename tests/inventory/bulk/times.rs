//! Created, updated and unchanged hosts, and their times.

use std::time::Duration;

use serde_json::json;
use toposcope::access::Clock;
use toposcope::inventory::{BulkChange, BulkHost, Written};
use toposcope::model::{BindingTarget, Host};

use super::MODES;
use crate::support::{Document, Fixture, bare_host, id, rich_host, time, uuid};

#[tokio::test]
async fn hosts_are_created_then_unchanged_then_updated() {
    for mode in MODES {
        let fixture = Fixture::new().await;
        let mut hosts: Vec<Host> =
            (1..=3).map(|number| rich_host(number, fixture.network, &fixture.tags)).collect();
        let ids: Vec<_> = hosts.iter().map(|host| host.id).collect();
        let all = |change| ids.iter().map(|id| (*id, change)).collect::<Vec<_>>();
        assert_eq!(fixture.bulk(hosts.clone(), mode).await, all(BulkChange::Created));

        let (commits, before) = (fixture.commits(), fixture.documents().await);
        fixture.clock.advance(Duration::from_secs(60));
        let listed: Vec<_> = before.iter().map(|document| BulkHost::from_json(document.clone())).collect();
        assert_eq!(fixture.bulk(listed, mode).await, all(BulkChange::Unchanged));
        hosts.iter_mut().for_each(|host| host.ports.reverse());
        assert_eq!(fixture.bulk(hosts.clone(), mode).await, all(BulkChange::Unchanged));
        assert_eq!((fixture.commits(), fixture.documents().await), (commits, before));

        hosts[1].name = "renamed".to_owned();
        let changes = fixture.bulk(hosts, mode).await.into_iter().map(|(_, change)| change);
        let expected = [BulkChange::Unchanged, BulkChange::Updated, BulkChange::Unchanged];
        assert!(changes.eq(expected));
        assert_eq!(fixture.commits(), commits + 1);
        assert_eq!(fixture.host(id(2)).await.name, "renamed");
    }
}

#[tokio::test]
async fn times_are_those_of_the_server_and_change_only_with_the_content() {
    let fixture = Fixture::new().await;
    let mut host = rich_host(1, fixture.network, &[]);
    (host.created_at, host.ports[0].updated_at) =
        (time("1999-01-01T00:00:00Z"), time("2099-01-01T00:00:00Z"));
    let created = fixture.clock.now();
    fixture.bulk([host.clone()], MODES[0]).await;
    let document = String::from_utf8(fixture.documents().await[0].to_vec()).unwrap();
    assert!(!document.contains("1999") && !document.contains("2099"), "{document}");

    fixture.clock.advance(Duration::from_secs(60));
    let now = fixture.clock.now();
    host.interfaces[1].name = None;
    host.services[0].bindings[1].target = BindingTarget::Interface { interface_id: host.interfaces[0].id };
    host.if_entries.pop();
    host.ports[2].id = id(0xfff);
    fixture.bulk([host], MODES[0]).await;
    let host = fixture.host(id(1)).await;
    let pairs = |times: Vec<_>| times.iter().map(|time| *time == now).collect::<Vec<bool>>();
    assert_eq!((host.created_at, host.updated_at), (created, now));
    assert_eq!(pairs(host.interfaces.iter().map(|part| part.updated_at).collect()), [false, true]);
    assert_eq!(pairs(host.interfaces.iter().map(|part| part.created_at).collect()), [false, false]);
    assert_eq!(pairs(host.ports.iter().map(|part| part.created_at).collect()), [false, false, true]);
    assert_eq!(pairs(host.services.iter().map(|part| part.updated_at).collect()), [true, false]);
    let bindings = &host.services[0].bindings;
    assert_eq!(pairs(bindings.iter().map(|part| part.updated_at).collect()), [false, true]);
    assert_eq!(pairs(host.if_entries.iter().map(|part| part.updated_at).collect()), [false]);
}

#[tokio::test]
async fn json_needs_only_the_fields_that_the_server_cannot_supply() {
    let fixture = Fixture::new().await;
    let least = json!({
        "network_id": fixture.network, "name": "least", "unknown": 1, "created_at": "never", "id": null,
        "interfaces": [{"ip_address": "192.0.2.1", "host_id": 7}, {"ip_address": "192.0.2.2"}],
        "ports": [{"id": uuid(5), "number": 443, "protocol": "Tcp", "type": "ignored", "network_id": null}],
        "services": [{"name": "web", "service_definition": "Web", "bindings": [{"type": "Port", "port_id": uuid(5)}]}],
        "if_entries": [{"if_index": 1, "if_descr": ""}],
    });
    let created = fixture.bulk([BulkHost::from_json(least.to_string())], MODES[0]).await;
    let host = fixture.host(created[0].0).await;
    assert!(!host.id.is_nil() && !host.if_entries[0].id.is_nil());
    assert_ne!(host.interfaces[0].id, host.interfaces[1].id);
    let positions: Vec<i64> = host.interfaces.iter().map(|part| part.position).collect();
    assert_eq!((positions, host.ports[0].id), (vec![0, 1], id(5)));
    // The stored host is complete and valid, so it can be put again.
    assert_eq!(fixture.try_put(host).await.unwrap(), Written::Replaced);
}

#[tokio::test]
async fn parts_left_out_of_a_replacement_are_removed() {
    let fixture = Fixture::new().await;
    fixture.put(&rich_host(1, fixture.network, &fixture.tags)).await;
    let left = Document::of(&bare_host(id(1), fixture.network));
    assert_eq!(fixture.bulk([left], MODES[1]).await, [(id(1), BulkChange::Updated)]);
    let host = fixture.host(id(1)).await;
    assert!(host.ports.is_empty() && host.tags.is_empty() && host.description.is_none());
}
