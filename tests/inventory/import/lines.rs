//! Line endings, and the maximum length of a line.

use toposcope::inventory::Import;

use crate::support::{Fixture, bare_host, id, jsonl, numbered_hosts, refusal_of_second};

#[tokio::test]
async fn nothing_is_imported_of_nothing() {
    let fixture = Fixture::new().await;
    let report = fixture.import("").await;
    assert_eq!((report.lines, report.imported, report.refused), (0, 0, 0));
}

#[tokio::test]
async fn the_last_line_need_not_be_ended() {
    let fixture = Fixture::new().await;
    let mut lines = jsonl(&numbered_hosts(fixture.network, 3));
    lines.pop();
    let report = fixture.import(&lines).await;
    assert_eq!((report.lines, report.imported), (3, 3));
}

#[tokio::test]
async fn blank_lines_count_as_lines_and_are_no_hosts() {
    let fixture = Fixture::new().await;
    let hosts = jsonl(&numbered_hosts(fixture.network, 1));
    let lines = [&b"\n \n\t\r\n\r\n"[..], &hosts, b"\n\nbad\n\n  \n"].concat();
    let report = fixture.import(&lines).await;
    assert_eq!((report.lines, report.imported, report.refused), (10, 1, 1), "{report}");
    assert_eq!(report.refusals[0].line, 8);
}

#[tokio::test]
async fn lines_may_end_in_carriage_return_and_line_feed() {
    let fixture = Fixture::new().await;
    let hosts = numbered_hosts(fixture.network, 2);
    let unix = String::from_utf8(jsonl(&hosts)).unwrap();
    let report = fixture.import(unix.replace('\n', "\r\n")).await;
    assert_eq!((report.lines, report.imported, report.refused), (2, 2, 0), "{report}");
    let documents = fixture.documents().await;
    assert_eq!(documents, hosts.iter().map(|host| serde_json::to_vec(host).unwrap()).collect::<Vec<_>>());
}

#[tokio::test]
async fn white_space_around_and_within_the_object_is_no_matter() {
    let fixture = Fixture::new().await;
    let line = serde_json::to_string(&bare_host(id(1), fixture.network)).unwrap();
    let spaced = format!(" \t{}\t ", line.replace(',', " ,\t").replace(':', ": "));
    let spaced = spaced.replace("12: 00: 00", "12:00:00");
    let report = fixture.import(&spaced).await;
    assert_eq!(report.imported, 1, "{report}");
    assert_eq!(fixture.documents().await, [line]);
}

/// RFC 8259, section 8.1, forbids writing a byte order mark and allows refusing it.
#[tokio::test]
async fn a_byte_order_mark_costs_at_most_the_line_it_stands_in() {
    let fixture = Fixture::new().await;
    let lines = [&b"\xef\xbb\xbf"[..], &jsonl(&numbered_hosts(fixture.network, 3))].concat();
    let report = fixture.import(&lines).await;
    assert_eq!(report.imported + report.refused, 3, "{report}");
    assert!(report.refused <= 1 && report.refusals.iter().all(|refusal| refusal.line == 1), "{report}");
    assert_eq!(fixture.documents().await.len() as u64, report.imported);
}

#[tokio::test]
async fn a_line_may_be_as_long_as_allowed_and_not_a_byte_longer() {
    let fixture = Fixture::new().await;
    let line = serde_json::to_vec(&bare_host(id(2), fixture.network)).unwrap();
    let first = serde_json::to_vec(&bare_host(id(1), fixture.network)).unwrap();
    let third = serde_json::to_vec(&bare_host(id(3), fixture.network)).unwrap();
    let length = line.len();
    for (padding, is_imported) in [(0, true), (1, false), (100_000, false)] {
        let padded = [&b" ".repeat(padding)[..], &line].concat();
        let lines = [&first[..], b"\n", &padded, b"\n", &third, b"\n"].concat();
        let report = fixture.import_with(&lines, Import::new().max_line(length)).await;
        assert_eq!((report.lines, report.imported), (3, if is_imported { 3 } else { 2 }), "{report}");
        if !is_imported {
            let refusal = refusal_of_second(&report, "too long");
            assert_eq!(refusal.field, None);
            assert!(refusal.reason.contains(&length.to_string()), "{}", refusal.reason);
        }
    }
}

#[tokio::test]
async fn a_last_line_that_is_too_long_and_not_ended_is_refused() {
    let fixture = Fixture::new().await;
    let mut lines = jsonl(&numbered_hosts(fixture.network, 1));
    let allowed = lines.len();
    lines.extend(std::iter::repeat_n(b'x', 300_000));
    let report = fixture.import_with(&lines, Import::new().max_line(allowed)).await;
    assert_eq!((report.lines, report.imported, report.refused), (2, 1, 1), "{report}");
    assert_eq!(report.refusals[0].line, 2);
}

#[tokio::test]
async fn a_line_longer_than_everything_stored_together_is_imported() {
    let fixture = Fixture::new().await;
    let mut hosts = numbered_hosts(fixture.network, 5);
    for place in [1, 2, 4] {
        hosts[place].description = Some("d\u{0}".repeat(160_000));
    }
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.refused), (5, 0));
    for host in hosts {
        assert!(fixture.host(host.id).await == host, "{}", host.id);
    }
}
