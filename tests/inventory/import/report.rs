use std::collections::BTreeSet;

use serde_json::json;
use toposcope::inventory::{Alteration, Import, ImportReport};
use toposcope::model::Protocol;

use crate::support::{Document, Fixture, bare_host, id, jsonl, numbered_hosts, port, refusal, rich_host};

#[tokio::test]
async fn details_are_bounded_and_counts_are_not() {
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
async fn dropped_ports_beyond_those_named_are_counted() {
    let fixture = Fixture::new().await;
    let mut line = Document::of(&bare_host(id(1), fixture.network));
    let ports = (0..1100).map(|number| {
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
    assert!(report.dropped_ports.iter().map(|port| port.port_id).eq((0..1000).map(id)));
    assert!(report.to_string().contains("100 more"));
}

/// Overlong lines, malformed lines and refused hosts are detected at different stages.
#[tokio::test]
async fn refusals_are_named_in_the_order_of_the_lines() {
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
async fn the_refusals_that_are_named_are_the_first_ones() {
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
async fn the_report_as_text_tells_everything() {
    let fixture = Fixture::new().await;
    let mended = Document::of(&rich_host(1, fixture.network, &fixture.tags))
        .with("interfaces.0.mac_address", "odd")
        .with("interfaces.1.mac_address", "")
        .with("if_entries.0.mac_address", "")
        .with("if_entries.1.if_descr", serde_json::Value::Null)
        .with("ports.2.number", 0)
        .with("updated_at", "2026-08-14T12:00:00.1234567Z")
        .line();
    let dropped = rich_host(1, fixture.network, &fixture.tags).ports[2].id;
    let lines =
        [mended.as_bytes(), b"\n", &jsonl(&[bare_host(id(1), id(0xa))]), b"{\"id\":7}\nnull\n"].concat();
    let report = fixture.import_with(&lines, Import::new().create_networks(true)).await;
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
        &id(1).to_string(),
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
async fn the_report_of_progress_is_the_one_of_the_end() {
    let fixture = Fixture::new().await;
    let mut last = None;
    let lines = [&jsonl(&numbered_hosts(fixture.network, 300))[..], b"bad\n"].concat();
    let import = Import::new().on_progress(|report| last = Some(report.clone()));
    let report = fixture.inventory.import_hosts(fixture.organization, &lines[..], import).await.unwrap();
    assert_eq!(last, Some(report));
}

#[tokio::test]
async fn a_reason_tells_nothing_of_where_it_stands_within_the_program() {
    let fixture = Fixture::new().await;
    let spoilt = Document::of(&rich_host(1, fixture.network, &fixture.tags)).with("ports.1.number", 65_536);
    let report = fixture.import(spoilt.line()).await;
    let reason = &report.refusals[0].reason;
    assert!(reason.contains("65536") && !reason.contains("::") && !reason.contains("Document"), "{reason}");
}
