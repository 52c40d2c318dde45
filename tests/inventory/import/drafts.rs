//! Lines that leave to the server what `POST /api/v1/hosts` leaves to it.

use serde_json::{Value, json};
use toposcope::model::{Host, HostId, HostOrderField, MacAddress, PortId, Protocol, Source};

use crate::support::{Document, Fixture, bare_host, id, port, rich_host, uuid};

async fn stored(fixture: &Fixture) -> Vec<Host> {
    let documents = fixture.documents().await;
    documents.iter().map(|document| serde_json::from_slice(document).unwrap()).collect()
}

fn text(lines: impl IntoIterator<Item = Value>) -> String {
    lines.into_iter().map(|line| line.to_string() + "\n").collect()
}

#[tokio::test]
async fn line_without_ids_and_times_is_imported() {
    let fixture = Fixture::new().await;
    let line = json!({
        "name": "printer",
        "network_id": fixture.network,
        "hidden": null,
        "tags": null,
        "source": null,
        "if_entries": null,
        "interfaces": [{"ip_address": "192.0.2.1", "mac_address": ""}, {"ip_address": "192.0.2.2", "id": uuid(7)}],
        "ports": [{"id": uuid(8), "number": 443, "protocol": "Tcp", "type": "Https", "host_id": uuid(99)}],
        "services": [{
            "name": "web",
            "service_definition": "Nginx",
            "source": null,
            "bindings": [
                {"type": "Port", "port_id": uuid(8), "interface_id": uuid(7)},
                {"type": "Interface", "interface_id": uuid(7), "service_id": uuid(99), "network_id": uuid(99)},
            ],
        }],
    });
    let report = fixture.import(text([line])).await;
    assert_eq!((report.imported, report.replaced, report.refused), (1, 0, 0), "{report}");
    let host = &stored(&fixture).await[0];
    assert!(!host.id.is_nil() && host.source == Source::Manual && host.services[0].source == Source::Manual);
    assert_eq!(host.created_at, host.updated_at);
    let owners: Vec<HostId> = host.interfaces.iter().map(|part| part.host_id).collect();
    assert_eq!((owners, host.ports[0].host_id), (vec![host.id; 2], host.id));
    assert_eq!((host.interfaces[1].id, host.interfaces[1].position, host.ports[0].id), (id(7), 1, id(8)));
    assert_eq!(host.services[0].bindings[0].service_id, host.services[0].id);
    let kinds: Vec<Value> =
        host.services[0].bindings.iter().map(|binding| json!(binding)["type"].clone()).collect();
    assert_eq!(kinds, ["Port", "Interface"], "bindings stay in the order of the line");
}

#[tokio::test]
async fn host_without_an_id_is_new_each_time_and_its_parts_get_free_ids() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    host.ports.push(port(&host, id(11), 80, Protocol::Tcp));
    host.ports.push(port(&host, id(12), 81, Protocol::Tcp));
    let line = Document::of(&host).without("", "id").line();
    for round in 1..=3 {
        let report = fixture.import(&line).await;
        assert_eq!((report.imported, report.replaced, report.refused), (1, 0, 0), "{round}: {report}");
    }
    let twice = fixture.import(format!("{line}\n{line}")).await;
    assert_eq!((twice.imported, twice.refused), (2, 0), "{twice}");
    let hosts = stored(&fixture).await;
    assert_eq!(hosts.len(), 5);
    assert!(hosts.iter().all(|stored| stored.created_at == host.created_at), "given times stay");
    let mut ids: Vec<PortId> = hosts.iter().flat_map(|host| &host.ports).map(|port| port.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 10);
    assert!(ids.contains(&id(11)) && ids.contains(&id(12)), "the first host keeps the given ids");
}

#[tokio::test]
async fn hosts_without_times_are_listed_in_the_order_of_their_lines() {
    let fixture = Fixture::new().await;
    let names: Vec<String> = (0..700).map(|number| format!("host {number}")).collect();
    let lines = names.iter().map(|name| json!({"name": name, "network_id": fixture.network}));
    assert_eq!(fixture.import(text(lines)).await.imported, 700);
    let mut query = toposcope::inventory::HostQuery::default();
    query.order_by = Some(HostOrderField::CreatedAt);
    let listed: Vec<String> = fixture
        .list(&query)
        .await
        .documents
        .iter()
        .map(|document| serde_json::from_slice::<Host>(document).unwrap().name)
        .collect();
    assert_eq!(listed, names);
}

#[tokio::test]
async fn exported_line_that_lacks_some_server_fields_keeps_the_others() {
    let fixture = Fixture::new().await;
    let host = rich_host(2, fixture.network, &fixture.tags);
    let line = Document::of(&host)
        .without("", "updated_at")
        .without("/ports/0", "host_id")
        .without("/services/0/bindings/1", "id")
        .without("/interfaces/0", "created_at")
        .with("interfaces.1.mac_address", "02-00-00-00-00-01")
        .line();
    let report = fixture.import(&line).await;
    assert_eq!((report.imported, report.refused), (1, 0), "{report}");
    let stored = fixture.host(id(2)).await;
    assert_eq!((stored.created_at, stored.updated_at), (host.created_at, host.created_at));
    assert_eq!(stored.ports[0], host.ports[0]);
    let bindings = |host: &Host| host.services[0].bindings.iter().map(|part| part.id).collect::<Vec<_>>();
    assert_eq!(bindings(&stored)[0], bindings(&host)[0]);
    assert_ne!(bindings(&stored)[1], bindings(&host)[1]);
    assert_eq!(stored.interfaces[0].created_at, host.interfaces[0].updated_at);
    assert_eq!(stored.interfaces[1].mac_address, Some(MacAddress::new([2, 0, 0, 0, 0, 1])));
    assert_eq!(stored.source, host.source);
}
