//! Hosts are read as they were put, with ordered lists and unchanged metadata.

use std::pin::Pin;
use std::sync::mpsc::channel;

use fastrand::Rng;
use serde_json::{Map, Number, Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::task::{spawn, spawn_blocking, yield_now};
use toposcope::inventory::{Entity, Error, ErrorKind, HostPage, HostQuery, Import, PortUpdate, Written};
use toposcope::model::{
    BindingTarget, Host, HostId, HostOrderField, InterfaceId, OrderDirection, Protocol, Source,
};
use uuid::Uuid;

use crate::support::{
    Fixture, bare_host, binding, documents, entry, id, interface, jsonl, not_found, owner_of, port, refusal,
    rich_host, service, time,
};

#[tokio::test]
async fn host_is_read_as_it_was_put() {
    let fixture = Fixture::new().await;
    for host in [
        bare_host(id(1), fixture.network),
        rich_host(2, fixture.other_network, &fixture.tags),
        bare_host(HostId::nil(), fixture.network),
        bare_host(HostId::new(Uuid::max()), fixture.network),
    ] {
        assert_eq!(fixture.put(&host).await, Written::Created);
        assert_eq!(fixture.host(host.id).await, host);
    }
}

#[tokio::test]
async fn list_returns_the_document_of_the_host() {
    let fixture = Fixture::new().await;
    let host = rich_host(2, fixture.network, &fixture.tags);
    fixture.put(&host).await;
    let documents = fixture.documents().await;
    assert_eq!(documents.len(), 1);
    assert_eq!(serde_json::from_slice::<Host>(&documents[0]).unwrap(), host);
    assert_eq!(documents[0], serde_json::to_vec(&host).unwrap());
}

#[tokio::test]
async fn page_decodes_its_hosts() {
    let fixture = Fixture::new().await;
    let hosts = [bare_host(id(1), fixture.network), rich_host(2, fixture.network, &fixture.tags)];
    for host in &hosts {
        fixture.put(host).await;
    }
    let mut found = fixture.list(&HostQuery::default()).await.hosts().unwrap();
    found.sort_by_key(|host| host.id);
    assert_eq!(found, hosts);

    let mut damaged = HostPage::default();
    damaged.documents.push(br#"{"id": "stored text"}"#.to_vec().into());
    let error = damaged.hosts().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Internal);
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(!cause.contains("stored text"), "{cause}");
}

#[tokio::test]
async fn times_of_a_host_are_kept_whatever_the_clock() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    for (created, updated) in [
        ("0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"),
        ("2030-01-01T00:00:00.000001Z", "1969-12-31T23:59:59.999999Z"),
    ] {
        (host.created_at, host.updated_at) = (time(created), time(updated));
        fixture.put(&host).await;
        assert_eq!(fixture.host(host.id).await, host);
    }
}

#[tokio::test]
async fn replacing_a_host_updates_every_field_and_filter() {
    let fixture = Fixture::new().await;
    let rich = rich_host(7, fixture.network, &fixture.tags);
    fixture.put(&rich).await;
    let mut other = bare_host(rich.id, fixture.other_network);
    other.name = "other".to_owned();
    other.created_at = time("2020-01-01T00:00:00Z");
    assert_eq!(fixture.put(&other).await, Written::Replaced);
    assert_eq!(fixture.host(rich.id).await, other);
    assert_eq!(fixture.documents().await, [serde_json::to_vec(&other).unwrap()]);

    let list = async |adapt: fn(&mut HostQuery, &Fixture)| {
        let mut query = HostQuery::default();
        adapt(&mut query, &fixture);
        fixture.list(&query).await.total
    };
    assert_eq!(list(|query, fixture| query.network_id = Some(fixture.network)).await, 0);
    assert_eq!(list(|query, fixture| query.network_id = Some(fixture.other_network)).await, 1);
    assert_eq!(list(|query, fixture| query.tag_ids = Some(fixture.tags.to_vec())).await, 0);

    assert_eq!(fixture.put(&rich).await, Written::Replaced);
    assert_eq!(fixture.host(rich.id).await, rich);
    assert_eq!(list(|query, fixture| query.network_id = Some(fixture.network)).await, 1);
    assert_eq!(list(|query, fixture| query.tag_ids = Some(vec![fixture.tags[1]])).await, 1);
}

#[tokio::test]
async fn replaced_host_moves_in_every_order() {
    let fixture = Fixture::new().await;
    let mut moving = bare_host(id(5), fixture.network);
    let mut staying = bare_host(id(6), fixture.network);
    let set = |host: &mut Host, text: &str, moment: &str, address: &str| {
        host.name = text.to_owned();
        host.hostname = Some(text.to_owned());
        (host.created_at, host.updated_at) = (time(moment), time(moment));
        host.interfaces = vec![interface(host, InterfaceId::from_u128(host.id.as_u128() << 8), address, 0)];
    };
    set(&mut staying, "m", "2025-01-01T00:00:00Z", "10.0.0.5");
    fixture.put(&staying).await;
    for (text, moment, address, is_first) in [
        ("a", "2024-01-01T00:00:00Z", "9.255.255.255", true),
        ("z", "2026-01-01T00:00:00Z", "::", false),
        ("é", "9999-01-01T00:00:00Z", "10.0.0.10", false),
        ("Z", "0001-01-01T00:00:00Z", "1.0.0.0", true),
    ] {
        set(&mut moving, text, moment, address);
        fixture.put(&moving).await;
        for field in [
            HostOrderField::CreatedAt,
            HostOrderField::UpdatedAt,
            HostOrderField::Name,
            HostOrderField::Hostname,
            HostOrderField::InterfaceIp,
        ] {
            for direction in [OrderDirection::Ascending, OrderDirection::Descending] {
                let mut query = HostQuery::default();
                query.order_by = Some(field);
                query.order_direction = direction;
                let page = fixture.list(&query).await;
                let first: Host = serde_json::from_slice(&page.documents[0]).unwrap();
                let expected = (direction == OrderDirection::Ascending) == is_first;
                assert_eq!(first.id == moving.id, expected, "{text} {field} {}", direction.as_str());
            }
        }
    }
}

#[tokio::test]
async fn host_that_moves_to_another_network_takes_its_parts_along() {
    let fixture = Fixture::new().await;
    let here = rich_host(3, fixture.network, &fixture.tags);
    let there = rich_host(3, fixture.other_network, &fixture.tags);
    for host in [&here, &there, &here] {
        fixture.put(host).await;
        assert_eq!(fixture.host(id(3)).await, *host);
        assert_eq!(documents(&fixture.inventory, fixture.organization).await.len(), 1);
    }
}

#[tokio::test]
async fn removed_ports_and_services_are_free_for_other_hosts() {
    let fixture = Fixture::new().await;
    let rich = rich_host(3, fixture.network, &fixture.tags);
    fixture.put(&rich).await;
    fixture.put(&bare_host(rich.id, fixture.network)).await;
    let mut heir = bare_host(id(4), fixture.network);
    heir.services = vec![service(&heir, rich.services[0].id, "inherited", 0)];
    heir.ports = rich.ports.clone();
    for port in &mut heir.ports {
        port.host_id = heir.id;
    }
    fixture.put(&heir).await;
    assert_eq!(fixture.host(heir.id).await, heir);
    fixture.delete(heir.id).await.unwrap();
    fixture.put(&rich).await;
}

#[tokio::test]
async fn deleted_host_is_removed_with_its_parts() {
    let fixture = Fixture::new().await;
    let host = rich_host(1, fixture.network, &fixture.tags);
    let other = rich_host(2, fixture.network, &fixture.tags);
    fixture.put(&host).await;
    fixture.put(&other).await;
    fixture.delete(host.id).await.unwrap();
    let not_found = not_found(Entity::Host, host.id);
    assert_eq!(refusal(fixture.try_host(host.id).await), not_found);
    assert_eq!(refusal(fixture.delete(host.id).await), not_found);
    assert_eq!(fixture.documents().await, [serde_json::to_vec(&other).unwrap()]);
    assert_eq!(fixture.put(&host).await, Written::Created);
    assert_eq!(fixture.host(host.id).await, host);
}

/// Returns a host whose lists are in order. Every sort key that has a tie-breaker has ties.
fn host_in_order(fixture: &Fixture) -> Host {
    let mut host = bare_host(id(1), fixture.network);
    host.interfaces = [(-1, 105), (0, 104), (0, 106), (1, 101), (i64::MAX, 100)]
        .map(|(position, number)| interface(&host, id(number), "192.0.2.1", position))
        .to_vec();
    host.ports = [(1, Protocol::Udp), (53, Protocol::Tcp), (53, Protocol::Udp), (443, Protocol::Tcp)]
        .iter()
        .zip([209, 208, 207, 206])
        .map(|((number, protocol), place)| port(&host, id(place), *number, *protocol))
        .collect();
    host.if_entries = [(i64::MIN, 309), (0, 307), (0, 308), (1, 301), (1_001_000_003_000, 300)]
        .map(|(index, number)| entry(&host, id(number), index))
        .to_vec();
    host.services = [(-5, 405), (2, 403), (2, 404), (10, 401)]
        .map(|(position, number)| service(&host, id(number), "service", position))
        .to_vec();
    let target = BindingTarget::Port { port_id: id(206), interface_id: None };
    let bindings = [
        ("2026-01-01T00:00:00Z", 509),
        ("2026-01-02T00:00:00Z", 507),
        ("2026-01-02T00:00:00Z", 508),
        ("2026-01-02T00:00:00.000001Z", 501),
    ];
    host.services[1].bindings = bindings
        .map(|(created, number)| {
            let mut bound = binding(&host.services[1], id(number), target);
            bound.created_at = time(created);
            bound
        })
        .to_vec();
    host
}

#[tokio::test]
async fn parts_of_a_host_are_stored_in_order() {
    let fixture = Fixture::new().await;
    let host = host_in_order(&fixture);
    let mut random = Rng::with_seed(42);
    for _ in 0..50 {
        let mut shuffled = host.clone();
        random.shuffle(&mut shuffled.interfaces);
        random.shuffle(&mut shuffled.ports);
        random.shuffle(&mut shuffled.if_entries);
        random.shuffle(&mut shuffled.services);
        for service in &mut shuffled.services {
            random.shuffle(&mut service.bindings);
        }
        fixture.put(&shuffled).await;
        assert_eq!(fixture.host(host.id).await, host);
        assert_eq!(fixture.documents().await, [serde_json::to_vec(&host).unwrap()]);
    }
}

#[tokio::test]
async fn lists_without_an_order_keep_the_given_one() {
    let fixture = Fixture::new().await;
    let mut host = rich_host(1, fixture.network, &[fixture.tags[1], fixture.tags[0]]);
    host.credential_assignments.reverse();
    fixture.put(&host).await;
    assert_eq!(fixture.host(host.id).await, host);
    host.tags.reverse();
    host.credential_assignments.reverse();
    fixture.put(&host).await;
    assert_eq!(fixture.host(host.id).await, host);
}

fn discovery(noted: impl IntoIterator<Item = (String, Value)>) -> Source {
    Source::Discovery { metadata: vec![Map::from_iter(noted)] }
}

fn floats() -> Vec<Value> {
    let mut random = Rng::with_seed(7);
    let numbers = std::iter::from_fn(|| Some(f64::from_bits(random.u64(..))));
    numbers.filter_map(Number::from_f64).map(Value::Number).take(2000).collect()
}

#[tokio::test]
async fn floating_point_numbers_are_stored_exactly() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    host.source = discovery([("numbers".to_owned(), Value::Array(floats()))]);
    fixture.put(&host).await;
    let back = fixture.host(host.id).await;
    let (put, got) = (noted_numbers(&host.source), noted_numbers(&back.source));
    let differing = put.iter().zip(&got).filter(|(put, got)| put != got).count();
    assert_eq!(differing, 0, "of {} numbers", put.len());
}

#[tokio::test]
async fn document_with_floating_point_numbers_is_imported_unchanged() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    host.source = discovery([("numbers".to_owned(), Value::Array(floats()))]);
    fixture.inventory.hosts().import(&fixture.system(), &jsonl([&host])[..], Import::new()).await.unwrap();
    let first = fixture.documents().await;
    fixture.inventory.hosts().import(&fixture.system(), &first[0][..], Import::new()).await.unwrap();
    assert!(fixture.documents().await == first, "a second import of the same document alters its numbers");
}

#[tokio::test]
async fn integers_of_64_bits_and_odd_strings_are_stored_exactly() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    let noted = json!([
        u64::MAX,
        i64::MIN,
        0,
        -1,
        1.0,
        -0.0,
        1e300,
        "\u{0}\u{7f}\u{2028}\u{10ffff}",
        true,
        null,
        [],
        {}
    ]);
    host.source = discovery([("odd \u{0} key".to_owned(), noted), (String::new(), Value::Null)]);
    fixture.put(&host).await;
    assert_eq!(fixture.host(host.id).await, host);
}

/// Every stored host must be readable. A host that can be put but not read could only be overwritten.
#[tokio::test]
async fn accepted_host_can_be_read_whatever_the_depth_of_its_metadata() {
    let fixture = Fixture::new().await;
    for depth in [10, 100, 120, 125, 130, 1000] {
        let mut host = bare_host(id(1), fixture.network);
        let nested = (0..depth).fold(json!("core"), |inner, _| json!([inner]));
        host.source = discovery([("nested".to_owned(), nested)]);
        if fixture.try_put(host.clone()).await.is_ok() {
            let back = fixture.try_host(host.id).await;
            assert!(back.is_ok(), "nested {depth} deep it is stored, and then: {back:?}");
            assert_eq!(back.unwrap(), host);
        }
    }
}

fn noted_numbers(source: &Source) -> Vec<f64> {
    let Source::Discovery { metadata } = source else { panic!("another source") };
    metadata[0]["numbers"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// A host with this many ports takes more than 256 KiB.
const PORTS: u16 = 2_000;

/// More polls than any operation on a small host takes.
const TURNS: usize = 1_000;

type Operation = fn(Fixture, Host) -> Pending;
type Pending = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Every operation that decodes or encodes a whole host.
const OPERATIONS: [(&str, Operation); 4] = [
    ("read", |fixture, host| Box::pin(async move { fixture.try_host(host.id).await.map(drop) })),
    ("put", |fixture, host| Box::pin(async move { fixture.try_put(host).await.map(drop) })),
    ("deleted", |fixture, host| Box::pin(async move { fixture.delete(host.id).await })),
    ("port updated", |fixture, host| {
        Box::pin(async move {
            let number = 50_000.try_into().expect("a port number");
            let update = PortUpdate::new(host.id, host.network_id, number, Protocol::Udp);
            let caller = owner_of(fixture.organization);
            fixture.inventory.parts().replace(&caller, host.ports[0].id, update).await.map(drop)
        })
    }),
];

type Shape = fn(&Fixture) -> Host;

fn host_with(fixture: &Fixture, ports: u16) -> Host {
    let mut host = bare_host(id(1), fixture.network);
    host.ports = (0..ports)
        .map(|place| port(&host, id(0x1_0000 + u128::from(place)), 1 + place, Protocol::Tcp))
        .collect();
    host
}

/// Returns a host of few parts, whose texts take more than 256 KiB.
fn host_of_long_texts(fixture: &Fixture) -> Host {
    let mut host = host_with(fixture, 8);
    let text = || "x".repeat(60_000);
    (host.description, host.sys_descr, host.sys_location) = (Some(text()), Some(text()), Some(text()));
    host.services = vec![service(&host, id(0x21), &text(), 0), service(&host, id(0x22), &text(), 1)];
    host
}

/// Returns a host of few parts, whose metadata takes more than 256 KiB.
fn host_of_metadata(fixture: &Fixture) -> Host {
    let mut host = host_with(fixture, 8);
    let notes: Vec<Value> = (0..5).map(|_| json!({"note": "x".repeat(60_000)})).collect();
    host.source = discovery([("notes".to_owned(), Value::from(notes))]);
    host
}

/// Returns a runtime with one thread for tasks and one for blocking work.
fn narrow_runtime() -> Runtime {
    Builder::new_current_thread().max_blocking_threads(1).build().unwrap()
}

/// Returns whether the operation ends while the only blocking thread is busy.
async fn ends_without_blocking_thread(shape: Shape, operation: Operation) -> bool {
    let fixture = Fixture::new().await;
    let host = shape(&fixture);
    fixture.put(&host).await;
    let (release, released) = channel::<()>();
    let blocker = spawn_blocking(move || released.recv().is_err());
    let task = spawn(operation(fixture, host));
    for _ in 0..TURNS {
        yield_now().await;
    }
    let has_ended = task.is_finished();
    drop(release);
    task.await.unwrap().unwrap();
    assert!(blocker.await.unwrap());
    has_ended
}

#[test]
fn large_hosts_are_processed_on_a_blocking_thread() {
    let shapes: [Shape; 3] = [|fixture| host_with(fixture, PORTS), host_of_long_texts, host_of_metadata];
    for (name, operation) in OPERATIONS {
        for shape in shapes {
            assert!(!narrow_runtime().block_on(ends_without_blocking_thread(shape, operation)), "{name}");
        }
    }
}

#[test]
fn small_hosts_are_processed_in_place() {
    for (name, operation) in OPERATIONS {
        let small: Shape = |fixture| host_with(fixture, 8);
        assert!(narrow_runtime().block_on(ends_without_blocking_thread(small, operation)), "{name}");
    }
}
