//! Odd values of real devices: how each is corrected, and how the report shows it.

use serde_json::{Value, json};
use toposcope::inventory::Alteration;

use crate::support::{Document, Fixture, bare_host, entry, id, interface, port, rich_host, service};

const ALTERATIONS: [Alteration; 5] = [
    Alteration::InvalidMac,
    Alteration::EmptyMac,
    Alteration::DroppedPort,
    Alteration::MissingDescription,
    Alteration::TruncatedTime,
];

#[tokio::test]
async fn a_mac_address_becomes_upper_case_or_null() {
    let long = "A".repeat(335);
    for (sent, kept, alteration) in [
        (json!("00-1b-21-3c-4d-5e"), json!("00:1B:21:3C:4D:5E"), None),
        (json!("001b213C4d5e"), json!("00:1B:21:3C:4D:5E"), None),
        (json!("ff:ff:ff:ff:ff:ff"), json!("FF:FF:FF:FF:FF:FF"), None),
        (json!(null), Value::Null, None),
        (json!(""), Value::Null, Some(Alteration::EmptyMac)),
        (json!(" "), Value::Null, Some(Alteration::InvalidMac)),
        (json!("00"), Value::Null, Some(Alteration::InvalidMac)),
        (json!("00:1B:21:3C:4D"), Value::Null, Some(Alteration::InvalidMac)),
        (json!("00:1B:21:3C:4D:5E:6F"), Value::Null, Some(Alteration::InvalidMac)),
        (json!("00:1B-21:3C:4D:5E"), Value::Null, Some(Alteration::InvalidMac)),
        (json!("GG:1B:21:3C:4D:5E"), Value::Null, Some(Alteration::InvalidMac)),
        (json!("00:1B:21:3C:4D:5E "), Value::Null, Some(Alteration::InvalidMac)),
        (json!("🦀🦀🦀"), Value::Null, Some(Alteration::InvalidMac)),
        (json!(long), Value::Null, Some(Alteration::InvalidMac)),
    ] {
        let fixture = Fixture::new().await;
        let rich = Document::of(&rich_host(1, fixture.network, &fixture.tags));
        let line = rich
            .with("interfaces.0.mac_address", sent.clone())
            .with("if_entries.1.mac_address", sent.clone())
            .line();
        let report = fixture.import(&line).await;
        assert_eq!((report.imported, report.refused), (1, 0), "{report}");
        for known in ALTERATIONS {
            let expected = if Some(known) == alteration { 2 } else { 0 };
            assert_eq!(report.altered(known), expected, "{known:?} {sent}");
        }
        let document: Value = serde_json::from_slice(&fixture.documents().await[0]).unwrap();
        assert_eq!(document["interfaces"][0]["mac_address"], kept);
        assert_eq!(document["if_entries"][1]["mac_address"], kept);
    }
}

#[tokio::test]
async fn ports_numbered_zero_are_dropped_and_named() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    for number in 1..=5 {
        host.ports.push(port(&host, id(0x10 + u128::from(number)), number, toposcope::model::Protocol::Udp));
    }
    let line = Document::of(&host).with("ports.1.number", 0).with("ports.4.number", 0).line();
    let report = fixture.import(format!("\n{line}")).await;
    assert_eq!((report.imported, report.altered(Alteration::DroppedPort)), (1, 2));
    let dropped: Vec<_> =
        report.dropped_ports.iter().map(|port| (port.line, port.host_id, port.port_id)).collect();
    assert_eq!(dropped, [(2, id(1), id(0x12)), (2, id(1), id(0x15))]);
    let numbers: Vec<u16> = fixture.host(id(1)).await.ports.iter().map(|port| port.number.get()).collect();
    assert_eq!(numbers, [1, 3, 4]);
}

#[tokio::test]
async fn a_refusal_names_the_place_in_the_line_also_behind_a_dropped_port() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    for number in 1..=3 {
        host.ports.push(port(&host, id(0x10 + u128::from(number)), number, toposcope::model::Protocol::Udp));
    }
    let spoilt = Document::of(&host).with("ports.0.number", 0).with("ports.2.host_id", id(7).to_string());
    let report = fixture.import(spoilt.line()).await;
    assert_eq!(report.refused, 1);
    assert_eq!(report.refusals[0].field.as_deref(), Some("ports.2.host_id"));
}

#[tokio::test]
async fn a_description_of_null_becomes_empty() {
    let fixture = Fixture::new().await;
    let rich = rich_host(1, fixture.network, &fixture.tags);
    let without = Document::of(&rich).with("if_entries.0.if_descr", Value::Null);
    let line = without.without("/if_entries/1", "if_descr").line();
    let report = fixture.import(&line).await;
    assert_eq!(report.altered(Alteration::MissingDescription), 2, "{report}");
    let host = fixture.host(rich.id).await;
    assert_eq!([&host.if_entries[0].if_descr, &host.if_entries[1].if_descr], ["", ""]);
}

#[tokio::test]
async fn times_are_cut_to_the_microsecond_and_counted_where_something_was_lost() {
    let fixture = Fixture::new().await;
    let mut host = rich_host(1, fixture.network, &fixture.tags);
    host.interfaces = vec![interface(&host, id(0x11), "192.0.2.1", 0)];
    host.if_entries = vec![entry(&host, id(0x12), 0)];
    host.services.push(service(&host, id(0x13), "s", 9));
    host.credential_assignments.clear();
    host.services[0].bindings.truncate(1);
    host.services[0].bindings[0].target =
        toposcope::model::BindingTarget::Port { port_id: host.ports[0].id, interface_id: None };
    host.services[1].bindings.clear();
    let line = Document::of(&host)
        .with("created_at", "2026-08-14T12:00:00.123456789Z")
        .with("updated_at", "2026-08-14T14:00:00.1234560000+02:00")
        .with("interfaces.0.created_at", "2026-08-14T12:00:00.9999999Z")
        .with("ports.1.updated_at", "2026-08-14T12:00:00.0000001Z")
        .with("services.2.created_at", "2026-08-14T12:00:00.000000001Z")
        .with("services.0.bindings.0.updated_at", "2026-08-14T10:00:00.1234567-02:00")
        .with("if_entries.0.created_at", "2026-08-14T12:00:00.123456Z")
        .with("if_entries.0.updated_at", "2026-08-14T12:00:00.5000000Z")
        .with("description", "2026-08-14T12:00:00.123456789Z")
        .line();
    let report = fixture.import(&line).await;
    assert_eq!(report.imported, 1, "{report}");
    assert_eq!(report.altered(Alteration::TruncatedTime), 5, "{report}");
    let document: Value = serde_json::from_slice(&fixture.documents().await[0]).unwrap();
    for (pointer, time) in [
        ("/created_at", "2026-08-14T12:00:00.123456Z"),
        ("/updated_at", "2026-08-14T12:00:00.123456Z"),
        ("/interfaces/0/created_at", "2026-08-14T12:00:00.999999Z"),
        ("/ports/1/updated_at", "2026-08-14T12:00:00Z"),
        ("/services/2/created_at", "2026-08-14T12:00:00Z"),
        ("/services/0/bindings/0/updated_at", "2026-08-14T12:00:00.123456Z"),
        ("/if_entries/0/updated_at", "2026-08-14T12:00:00.500Z"),
        ("/description", "2026-08-14T12:00:00.123456789Z"),
    ] {
        assert_eq!(document.pointer(pointer), Some(&json!(time)), "{pointer}");
    }
}

#[tokio::test]
async fn what_a_refused_line_would_have_altered_is_not_counted() {
    let fixture = Fixture::new().await;
    let line = Document::of(&rich_host(1, fixture.network, &fixture.tags))
        .with("interfaces.0.mac_address", "odd")
        .with("ports.2.number", 0)
        .with("tags.1", id(7).to_string())
        .line();
    let report = fixture.import(&line).await;
    assert_eq!((report.imported, report.refused), (0, 1));
    assert!(report.alterations.is_empty() && report.dropped_ports.is_empty(), "{report}");
}
