//! Invalid lines, each between two valid ones.

use serde_json::{Value, json};

use crate::support::{Document, Fixture, bare_host, id, refusal_of_second, rich_host, uuid};

/// The second of three lines, and the field that the refusal names.
async fn assert_refused(fixture: &Fixture, line: impl AsRef<[u8]>, field: Option<&str>) -> String {
    let line = line.as_ref();
    let mut lines = serde_json::to_vec(&bare_host(id(1), fixture.network)).unwrap();
    lines.push(b'\n');
    lines.extend_from_slice(line);
    lines.push(b'\n');
    lines.extend(serde_json::to_vec(&bare_host(id(3), fixture.network)).unwrap());
    let report = fixture.import(&lines).await;
    let shown = String::from_utf8_lossy(line.get(..line.len().min(200)).unwrap()).into_owned();
    let refusal = refusal_of_second(&report, &shown);
    assert_eq!(refusal.field.as_deref(), field, "{shown}: {}", refusal.reason);
    assert_eq!(fixture.documents().await.len(), 2, "{shown}");
    refusal.reason
}

async fn rich(fixture: &Fixture) -> Document {
    Document::of(&rich_host(2, fixture.network, &fixture.tags))
}

#[tokio::test]
async fn line_that_is_no_json_object_is_refused_without_a_field() {
    let fixture = Fixture::new().await;
    let whole = rich(&fixture).await.line();
    let cut = &whole[..whole.len() - 1];
    for line in [
        "x",
        "{",
        "}",
        "null",
        "17",
        "\"a string\"",
        "true",
        "[]",
        &format!("[{whole}]"),
        &format!("{whole},"),
        &format!("{whole}{whole}"),
        &format!("{whole} x"),
        &format!("{whole}\u{0}"),
        &format!("// comment {whole}"),
        &whole.replacen(':', " ", 1),
        cut,
    ] {
        assert_refused(&fixture, line, None).await;
    }
}

#[tokio::test]
async fn line_cut_anywhere_is_refused() {
    let fixture = Fixture::new().await;
    let whole = rich(&fixture).await.line();
    let places = whole.char_indices().map(|(place, _)| place).filter(|place| *place > 0);
    let mut lines = Vec::new();
    let mut count = 0;
    for place in places.step_by(7) {
        lines.extend_from_slice(&whole.as_bytes()[..place]);
        lines.push(b'\n');
        count += 1;
    }
    let report = fixture.import(&lines).await;
    assert_eq!((report.imported, report.refused), (0, count), "{report}");
    let numbers: Vec<u64> = report.refusals.iter().map(|refusal| refusal.line).collect();
    assert_eq!(numbers, (1..=count).collect::<Vec<_>>());
    assert!(fixture.documents().await.is_empty());
}

#[tokio::test]
async fn refusal_quotes_little_of_the_line_and_no_control_characters() {
    let fixture = Fixture::new().await;
    let mut line = json!(bare_host(id(2), fixture.network));
    line["hidden"] = json!("\u{1b}[31m".repeat(1_000_000));
    let reason = assert_refused(&fixture, line.to_string(), Some("hidden")).await;
    assert!(reason.chars().count() <= 201 && !reason.contains(char::is_control), "{reason:?}");
}

#[tokio::test]
async fn invalid_utf8_is_refused() {
    let fixture = Fixture::new().await;
    let whole = rich(&fixture).await.line();
    for bad in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\x80"] {
        let (before, after) = whole.split_once("switch").unwrap();
        let line = [before.as_bytes(), bad, after.as_bytes()].concat();
        assert_refused(&fixture, &line, Some("name")).await;
    }
    assert_refused(&fixture, b"\xff\xfe{\0}\0", None).await;
}

#[tokio::test]
async fn lone_surrogate_is_refused() {
    let fixture = Fixture::new().await;
    let line = rich(&fixture).await.line().replacen("switch", "\\ud800", 1);
    assert_refused(&fixture, line, Some("name")).await;
}

#[tokio::test]
async fn duplicate_field_is_refused_and_named() {
    let fixture = Fixture::new().await;
    let whole = rich(&fixture).await.line();
    for (first, twice, field) in [
        ("\"hidden\":true", "\"hidden\":true,\"hidden\":false", "hidden"),
        ("\"hidden\":true", "\"hidden\":true,\"id\":\"00000000-0000-0000-0000-000000000002\"", "id"),
        ("\"number\":65535", "\"number\":65535,\"number\":65535", "ports.2.number"),
    ] {
        let line = whole.replacen(first, twice, 1);
        assert_ne!(line, whole);
        let reason = assert_refused(&fixture, line, Some(field)).await;
        assert_eq!(reason, "must not be repeated");
    }
}

#[tokio::test]
async fn value_of_the_wrong_type_is_refused_by_its_dotted_path() {
    let fixture = Fixture::new().await;
    for (path, value) in [
        ("id", json!("not an id")),
        ("id", json!("")),
        ("network_id", json!(7)),
        ("name", json!(null)),
        ("name", json!(["a"])),
        ("hostname", json!(1)),
        ("description", json!({})),
        ("hidden", json!("true")),
        ("created_at", json!("yesterday")),
        ("created_at", json!("2026-08-14T12:00:00")),
        ("updated_at", json!("2026-02-30T12:00:00Z")),
        ("updated_at", json!(1_700_000_000)),
        ("tags", json!("tag")),
        ("tags.1", json!("tag")),
        ("source.type", json!("Invented")),
        ("source", json!("Manual")),
        ("virtualization.type", json!("Invented")),
        ("credential_assignments.1.interface_ids.0", json!("x")),
        ("interfaces", json!({})),
        ("interfaces.1.ip_address", json!("192.0.2.1/24")),
        ("interfaces.1.ip_address", json!("192.0.2.256")),
        ("interfaces.0.ip_address", json!("")),
        ("interfaces.0.mac_address", json!(7)),
        ("interfaces.0.position", json!(1.5)),
        ("interfaces.0", json!(null)),
        ("ports.1.number", json!(65_536)),
        ("ports.1.number", json!(-1)),
        ("ports.2.number", json!(80.5)),
        ("ports.0.number", json!("80")),
        ("ports.0.number", json!(null)),
        ("ports.1.protocol", json!("Sctp")),
        ("services.0.service_definition", json!("")),
        ("services.1.bindings.0.created_at", json!("x")),
        ("services.0.bindings.1.type", json!("Vague")),
        ("services.1.position", json!("0")),
        ("if_entries.1.if_index", json!(1e30)),
        ("if_entries.0.if_type", json!("ethernet")),
        ("if_entries.0.speed_bps", json!(-1)),
        ("if_entries.1.admin_status", json!("up")),
        ("if_entries.0.oper_status", json!("Gone")),
        ("if_entries.0.lldp_port_id.subtype", json!("ChassisComponent")),
        ("if_entries.0.mac_address", json!(["00:1B:21:3C:4D:5E"])),
        ("if_entries.1.if_descr", json!(0)),
    ] {
        let line = rich(&fixture).await.with(path, value).line();
        assert_refused(&fixture, line, Some(path)).await;
    }
}

#[tokio::test]
async fn missing_field_is_refused_and_named() {
    let fixture = Fixture::new().await;
    for (parent, field) in [
        ("", "network_id"),
        ("", "name"),
        ("/ports/1", "number"),
        ("/ports/1", "protocol"),
        ("/interfaces/0", "ip_address"),
        ("/services/1", "name"),
        ("/services/0/bindings/1", "type"),
        ("/if_entries/1", "if_index"),
    ] {
        let line = rich(&fixture).await.without(parent, field).line();
        let path = format!("{parent}/{field}").trim_start_matches('/').replace('/', ".");
        let reason = assert_refused(&fixture, line, Some(&path)).await;
        assert_eq!(reason, "is required");
    }
}

#[tokio::test]
async fn refusal_is_in_words_of_the_api() {
    let fixture = Fixture::new().await;
    for (path, value) in [
        ("id", json!("not an id")),
        ("name", json!(["a"])),
        ("interfaces.1.ip_address", json!("192.0.2.256")),
        ("ports.1.protocol", json!("Sctp")),
        ("ports.1.number", json!(65_536)),
        ("services.0.bindings.1.type", json!("Vague")),
        ("source.type", json!("Invented")),
        ("if_entries.1.if_index", json!(1e30)),
    ] {
        let line = rich(&fixture).await.with(path, value).line();
        let reason = assert_refused(&fixture, line, Some(path)).await;
        match path.rsplit('.').next() {
            Some("number") => assert_eq!(reason, "must be between 1 and 65535", "{path}"),
            Some("protocol") => assert_eq!(reason, "must be one of these values: Tcp, Udp", "{path}"),
            Some("type") => assert!(reason.starts_with("must be one of these values: "), "{path}: {reason}"),
            _ => assert!(reason.starts_with("must be a"), "{path}: {reason}"),
        }
    }
}

#[tokio::test]
async fn optional_fields_are_empty_by_default() {
    let fixture = Fixture::new().await;
    let least = json!({
        "id": uuid(2),
        "network_id": fixture.network,
        "name": "least",
        "created_at": "2026-08-14T12:00:00Z",
        "updated_at": "2026-08-14T14:00:00+02:00",
        "unknown": {"ignored": [1, 2, 3]},
    });
    let report = fixture.import(least.to_string()).await;
    assert_eq!((report.imported, report.refused), (1, 0), "{report}");
    let host = fixture.host(id(2)).await;
    assert_eq!(host.source, toposcope::model::Source::Manual);
    assert_eq!(host.created_at, host.updated_at);
    let document: Value = serde_json::from_slice(&fixture.documents().await[0]).unwrap();
    assert_eq!(document.as_object().unwrap().len(), 16, "a document is whole: {document}");
}
