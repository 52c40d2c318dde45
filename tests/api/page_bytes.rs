//! The documents of a page are exactly the bytes that a host encodes to, whatever their number and size.

use serde_json::{Value, json};
use toposcope::inventory::Inventory;
use toposcope::model::{Host, MacAddress, Port, PortNumber, Protocol, Source};
use uuid::Uuid;

use crate::common::{OFFICE, Reply, SplitMix64, World, at, guest, host, interface, service};

const KIB: usize = 1024;

/// A host whose document has this length.
fn of_length(id: u128, length: usize) -> Host {
    let mut host = Host { description: Some(String::new()), ..host(id, OFFICE) };
    let bare = serde_json::to_vec(&host).unwrap().len();
    // The pattern contains `id`, so that a misplaced piece is detected.
    let pattern = format!("{id}-");
    host.description = Some(pattern.chars().cycle().take(length - bare).collect());
    assert_eq!(serde_json::to_vec(&host).unwrap().len(), length);
    host
}

/// Asserts that the data of the reply is exactly these documents.
#[track_caller]
fn is_page_of<'a>(reply: &Reply, hosts: impl IntoIterator<Item = &'a Host>) {
    let documents: Vec<Vec<u8>> = hosts.into_iter().map(|host| serde_json::to_vec(host).unwrap()).collect();
    let data = [b"\"data\":[", &documents.join(&b',')[..], b"]"].concat();
    let places = reply.body.windows(data.len()).filter(|window| *window == data).count();
    assert_eq!(places, 1, "{} documents in {} bytes", documents.len(), reply.body.len());
    // The rest is the envelope alone.
    let rest = reply.body.len() - data.len();
    assert!(rest < 250, "{rest} bytes around the data");
}

#[tokio::test]
async fn documents_are_byte_for_byte_what_a_host_encodes_to() {
    let mut full = Host {
        name: "\"quoted\" \\ / \u{7f} é 😀 \u{2028}".to_owned(),
        hostname: Some("NUL \0, escape \u{1b}, line\r\n".to_owned()),
        description: Some(String::new()),
        hidden: true,
        created_at: at(0).plus_micros(1),
        source: Source::Discovery {
            metadata: vec![serde_json::from_value(json!({"z": 1.5, "a": [null]})).unwrap()],
        },
        ..guest(1, OFFICE, 0x51)
    };
    let mut first = interface(0x11, &full, "192.0.2.1".parse().unwrap(), 1);
    first.mac_address = Some(MacAddress::new([0, 0x1b, 0x21, 0x3c, 0x4d, 0x5e]));
    full.interfaces = vec![first, interface(0x12, &full, "2001:db8::1".parse().unwrap(), 0)];
    full.services = vec![service(0x51, &full, "b"), service(0x50, &full, "a")];
    for (id, number, protocol) in
        [(0x21, 443, Protocol::Tcp), (0x22, 53, Protocol::Udp), (0x23, 53, Protocol::Tcp)]
    {
        full.ports.push(Port {
            id: Uuid::from_u128(id),
            host_id: full.id,
            network_id: OFFICE,
            number: PortNumber::try_from(number).unwrap(),
            protocol,
            created_at: at(0),
            updated_at: at(0),
        });
    }
    let world = World::with([full.clone(), host(2, OFFICE)]).await;
    full.sort_embedded();
    is_page_of(&world.list("order_by=name").await, [&full, &host(2, OFFICE)]);
    let read: Host =
        serde_json::from_value(world.list("limit=1&order_by=name").await.json["data"][0].clone()).unwrap();
    assert_eq!(read, full);
}

#[tokio::test]
async fn documents_of_any_size_come_whole() {
    let sizes = [
        600,
        16 * KIB - 1,
        16 * KIB,
        16 * KIB + 1,
        64 * KIB - 1,
        64 * KIB,
        64 * KIB + 1,
        200 * KIB,
        601,
        602,
        40 * KIB,
    ];
    let hosts: Vec<Host> = sizes.into_iter().zip(1..).map(|(size, id)| of_length(id, size)).collect();
    let world = World::with(hosts.clone()).await;
    for offset in 0..=hosts.len() {
        for limit in 0..=hosts.len() - offset {
            let reply = world.list(&format!("limit={limit}&offset={offset}")).await;
            let page = if limit == 0 { &hosts[offset..] } else { &hosts[offset..offset + limit] };
            is_page_of(&reply, page);
        }
    }
}

#[tokio::test]
async fn documents_that_just_fill_a_frame_come_whole() {
    // With the head of the envelope and the commas they come within a few bytes of 16 KiB.
    for slack in 0..48 {
        let second = 16 * KIB - 8 * 1900 - slack;
        let mut hosts: Vec<Host> = (1..=8).map(|id| of_length(id, 1900)).collect();
        hosts.insert(3, of_length(9, second));
        hosts.extend([of_length(10, 2 * KIB), of_length(11, 700)]);
        let mut listed = hosts.clone();
        listed.sort_by_key(|host| host.id);
        let world = World::with(hosts).await;
        is_page_of(&world.list("limit=0").await, &listed);
        is_page_of(&world.list("limit=9").await, &listed[..9]);
    }
}

#[tokio::test]
async fn random_mixtures_of_sizes_come_whole() {
    let mut random = SplitMix64(20);
    for _ in 0..8 {
        let mut hosts = Vec::new();
        for id in 1..=30 {
            let around = random.choose(&[600, 700, 2 * KIB - 20, 5 * KIB, 16 * KIB, 64 * KIB]);
            hosts.push(of_length(id, around + random.below(40)));
        }
        let world = World::with(hosts.clone()).await;
        for _ in 0..6 {
            let (offset, limit) = (random.below(30), 1 + random.below(30));
            let reply = world.list(&format!("limit={limit}&offset={offset}")).await;
            is_page_of(&reply, hosts.iter().skip(offset).take(limit));
        }
    }
}

#[tokio::test]
async fn many_small_documents_are_joined_into_few_frames() {
    let hosts: Vec<Host> = (1..=1000).map(|id| host(id, OFFICE)).collect();
    let world = World::with(hosts.clone()).await;
    for query in ["limit=1000", "limit=0"] {
        let reply = world.list(query).await;
        is_page_of(&reply, &hosts);
        assert!(reply.frames.len() <= reply.body.len() / (8 * KIB) + 1, "{:?}", reply.frames);
        assert!(reply.frames.iter().all(|length| *length <= 17 * KIB), "{:?}", reply.frames);
    }
}

#[tokio::test]
async fn a_page_is_of_one_moment_whatever_happens_while_it_is_read() {
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    let hosts: Vec<Host> = (1..=20).map(|id| of_length(id, 20 * KIB)).collect();
    let world = World::with(hosts.clone()).await;
    let request = crate::common::with_key(crate::common::get("/api/v1/hosts"), &world.key);
    let mut body = world.server.api.clone().oneshot(request).await.unwrap().into_body();
    let mut bytes = body.frame().await.unwrap().unwrap().into_data().unwrap().to_vec();
    change(&world.inventory, world.home.organization.id).await;
    while let Some(frame) = body.frame().await {
        let data = frame.unwrap().into_data().unwrap();
        assert!(!data.is_empty(), "an empty frame");
        bytes.extend_from_slice(&data);
    }
    let json: Value = serde_json::from_slice(&bytes).unwrap();
    let read: Vec<Host> = serde_json::from_value(json["data"].clone()).unwrap();
    assert_eq!(read, hosts);
}

/// Deletes half of the hosts and empties the others.
async fn change(inventory: &Inventory, organization: Uuid) {
    for id in 1..=10 {
        inventory.delete_host(organization, Uuid::from_u128(id)).await.unwrap();
        inventory.put_host(organization, host(id + 10, OFFICE)).await.unwrap();
    }
}
