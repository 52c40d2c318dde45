//! Odd values of real devices, how each is corrected, and the report.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toposcope::inventory::{Alteration, Import, ImportReport};
use toposcope::model::{BindingTarget, Protocol};

use crate::support::{
    Document, Fixture, bare_host, entry, id, interface, jsonl, numbered_hosts, port, rich_host, service, uuid,
};

const ALTERATIONS: [Alteration; 5] = [
    Alteration::InvalidMac,
    Alteration::EmptyMac,
    Alteration::DroppedPort,
    Alteration::MissingDescription,
    Alteration::TruncatedTime,
];

#[tokio::test]
async fn mac_address_becomes_upper_case_or_null() {
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
async fn ports_numbered_zero_are_dropped_and_listed() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    for number in 1..=5 {
        host.ports.push(port(&host, id(0x10 + u128::from(number)), number, Protocol::Udp));
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
async fn refusal_after_a_dropped_port_names_the_place_in_the_line() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    for number in 1..=3 {
        host.ports.push(port(&host, id(0x10 + u128::from(number)), number, Protocol::Udp));
    }
    let repeated = uuid(0x12).to_string();
    let changed = Document::of(&host).with("ports.0.number", 0).with("ports.2.id", repeated);
    let report = fixture.import(changed.line()).await;
    assert_eq!(report.refused, 1);
    assert_eq!(report.refusals[0].field.as_deref(), Some("ports.2"));
}

#[tokio::test]
async fn description_of_null_becomes_empty() {
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
async fn times_are_truncated_to_the_microsecond_and_counted() {
    let fixture = Fixture::new().await;
    let mut host = rich_host(1, fixture.network, &fixture.tags);
    host.interfaces = vec![interface(&host, id(0x11), "192.0.2.1", 0)];
    host.if_entries = vec![entry(&host, id(0x12), 0)];
    host.services.push(service(&host, id(0x13), "s", 9));
    host.credential_assignments.clear();
    host.services[0].bindings.truncate(1);
    host.services[0].bindings[0].target =
        BindingTarget::Port { port_id: host.ports[0].id, interface_id: None };
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
    // A host has no times of its own under `bindings`, which is an unknown field.
    let unknown = r#"{"bindings":[{"created_at":"2026-08-14T12:00:00.123456789Z"}],"#;
    let line = line.replacen('{', unknown, 1);
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
async fn corrections_of_a_refused_line_are_not_counted() {
    let fixture = Fixture::new().await;
    let line = Document::of(&rich_host(1, fixture.network, &fixture.tags))
        .with("interfaces.0.mac_address", "odd")
        .with("ports.2.number", 0)
        .with("tags.1", uuid(7).to_string())
        .line();
    let report = fixture.import(&line).await;
    assert_eq!((report.imported, report.refused), (0, 1));
    assert!(report.alterations.is_empty() && report.dropped_ports.is_empty(), "{report}");
}

#[tokio::test]
async fn number_of_detailed_refusals_is_limited_and_the_count_is_not() {
    let fixture = Fixture::new().await;
    let bad = 1100;
    let mut lines = jsonl(&numbered_hosts(fixture.network, 1));
    for number in 0..bad {
        lines.extend_from_slice(format!("{{\"id\": {number}}}\n").as_bytes());
    }
    lines.extend(jsonl(&[bare_host(id(2), fixture.network)]));
    let report = fixture.import(&lines).await;
    assert_eq!((report.lines, report.imported, report.refused), (bad + 2, 2, bad));
    assert_eq!(report.refusals.len(), ImportReport::MAX_DETAILS);
    for (place, refusal) in report.refusals.iter().enumerate() {
        assert_eq!((refusal.line, refusal.field.as_deref()), (place as u64 + 2, Some("id")));
    }
    let shown = report.to_string();
    assert!(shown.contains("1100") && shown.contains("100 more"), "{}", &shown[..200]);
}

#[tokio::test]
async fn number_of_listed_dropped_ports_is_limited_and_the_count_is_not() {
    let fixture = Fixture::new().await;
    let mut line = Document::of(&bare_host(id(1), fixture.network));
    let ports = (1..=1100).map(|number| {
        let mut zero =
            serde_json::to_value(port(&bare_host(id(1), fixture.network), id(number), 1, Protocol::Tcp))
                .unwrap();
        zero["number"] = json!(0);
        zero
    });
    line.0["ports"] = ports.collect();
    let report = fixture.import(line.line()).await;
    assert_eq!(report.altered(Alteration::DroppedPort), 1100);
    assert_eq!(report.dropped_ports.len(), ImportReport::MAX_DETAILS);
    assert!(report.dropped_ports.iter().map(|port| port.port_id).eq((1..=1000).map(id)));
    assert!(report.to_string().contains("100 more"));
}

/// Overlong lines, malformed lines and refused hosts are detected at different stages.
#[tokio::test]
async fn refusals_are_listed_in_the_order_of_the_lines() {
    let fixture = Fixture::new().await;
    let good = bare_host(id(1), fixture.network);
    let refused = jsonl(&[bare_host(id(2), id(7))]);
    let lines =
        [&refused[..], b"bad\n", &vec![b'x'; 2000], b"\n", &refused, &jsonl(&[good]), b"bad\n"].concat();
    let report = fixture.import_with(&lines, Import::new().max_line(1000)).await;
    assert_eq!((report.imported, report.refused), (1, 5), "{report}");
    let numbers: Vec<u64> = report.refusals.iter().map(|refusal| refusal.line).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 6]);
}

#[tokio::test]
async fn first_refusals_are_listed() {
    let fixture = Fixture::new().await;
    let refused = jsonl(&[bare_host(id(2), id(7))]);
    let lines = [&refused[..], b"bad\n"].concat().repeat(600);
    let report = fixture.import(&lines).await;
    assert_eq!(report.refused, 1200);
    let named: BTreeSet<u64> = report.refusals.iter().map(|refusal| refusal.line).collect();
    let left_out = (1..=1000).find(|line| !named.contains(line));
    assert_eq!(left_out, None, "and line {:?} is named", named.last());
}

#[tokio::test]
async fn report_as_text_is_complete() {
    let fixture = Fixture::new().await;
    let mended = Document::of(&rich_host(1, fixture.network, &fixture.tags))
        .with("interfaces.0.mac_address", "odd")
        .with("interfaces.1.mac_address", "")
        .with("if_entries.0.mac_address", "")
        .with("if_entries.1.if_descr", Value::Null)
        .with("ports.2.number", 0)
        .with("updated_at", "2026-08-14T12:00:00.1234567Z")
        .line();
    let dropped = rich_host(1, fixture.network, &fixture.tags).ports[2].id;
    let lines =
        [mended.as_bytes(), b"\n", &jsonl(&[bare_host(id(1), id(0xa))]), b"{\"id\":7}\nnull\n"].concat();
    let report = fixture.import_with(&lines, Import::new().create_missing_networks()).await;
    for (alteration, count) in [
        (Alteration::InvalidMac, 1),
        (Alteration::EmptyMac, 2),
        (Alteration::DroppedPort, 1),
        (Alteration::MissingDescription, 1),
        (Alteration::TruncatedTime, 1),
    ] {
        assert_eq!(report.altered(alteration), count);
        let told = format!("{count} {alteration}");
        assert!(report.to_string().contains(&told), "{told} in: {report}");
    }
    let shown = report.to_string();
    for told in [
        "2 hosts imported",
        "1 of them replaced",
        "2 lines refused",
        "4 lines",
        &format!("{} bytes", lines.len()),
        "1 networks created",
        &dropped.to_string(),
        &uuid(1).to_string(),
        "0/Tcp",
        "line 1",
        "line 3: id: ",
        "line 4: ",
        "not a JSON object",
    ] {
        assert!(shown.contains(told), "{told} in: {shown}");
    }
    assert!(!shown.contains(" more"), "{shown}");
}

#[tokio::test]
async fn last_report_of_progress_is_the_final_one() {
    let fixture = Fixture::new().await;
    let mut last = None;
    let lines = [&jsonl(&numbered_hosts(fixture.network, 300))[..], b"bad\n"].concat();
    let import = Import::new().on_progress(|report| last = Some(report.clone()));
    let report = fixture.inventory.hosts().import(&fixture.system(), &lines[..], import).await.unwrap();
    assert_eq!(last, Some(report));
}

#[tokio::test]
async fn reason_of_a_refusal_names_no_type_of_the_program() {
    let fixture = Fixture::new().await;
    let changed = Document::of(&rich_host(1, fixture.network, &fixture.tags)).with("ports.1.number", 65_536);
    let report = fixture.import(changed.line()).await;
    assert_eq!(report.refusals[0].reason, "must be between 1 and 65535");
}
