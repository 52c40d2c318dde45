//! The input of an import.
//!
//! The tests are about line endings, the maximum length of a line, portions of any size, and faults.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use toposcope::access::Caller;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::runtime::Builder;
use toposcope::inventory::{ErrorKind, Import, Inventory};
use toposcope::model::{Host, IfEntry, Network};
use toposcope::store::MemoryStore;

#[cfg(feature = "csv")]
use crate::support::uuid;
use crate::support::{Fault, Fixture, bare_host, id, jsonl, numbered_hosts, refusal, refusal_of_second};

#[tokio::test]
async fn white_space_and_line_endings_are_ignored_and_blank_lines_are_skipped() {
    let network = Fixture::new().await.network;
    let hosts = numbered_hosts(network, 2);
    let documents: Vec<String> = hosts.iter().map(|host| serde_json::to_string(host).unwrap()).collect();
    let [first, second] = &documents[..] else { panic!("there are two") };
    let spaced = first.replace(',', " ,\t").replace(':', ": ").replace("12: 00: 00", "12:00:00");
    for (case, input, lines, count, refused) in [
        ("empty input", String::new(), 0, 0, None),
        ("no line feed at the end", format!("{first}\n{second}"), 2, 2, None),
        ("carriage returns", format!("{first}\r\n{second}\r\n"), 2, 2, None),
        ("white space", format!(" \t{spaced}\t "), 1, 1, None),
        ("blank lines", format!("\n \n\t\r\n\r\n{first}\n\n\nbad\n\n  \n"), 10, 1, Some(8)),
    ] {
        let fixture = Fixture::new().await;
        let report = fixture.import(input).await;
        assert_eq!((report.lines, report.imported), (lines, count as u64), "{case}: {report}");
        assert_eq!(report.refusals.iter().map(|refusal| refusal.line).next(), refused, "{case}: {report}");
        assert_eq!(report.refused, u64::from(refused.is_some()), "{case}: {report}");
        assert_eq!(fixture.documents().await, documents[..count], "{case}");
    }
}

/// RFC 8259, section 8.1, forbids writing a byte order mark and allows refusing it.
#[tokio::test]
async fn byte_order_mark_affects_at_most_its_own_line() {
    let fixture = Fixture::new().await;
    let lines = [&b"\xef\xbb\xbf"[..], &jsonl(&numbered_hosts(fixture.network, 3))].concat();
    let report = fixture.import(&lines).await;
    assert_eq!(report.imported + report.refused, 3, "{report}");
    assert!(report.refused <= 1 && report.refusals.iter().all(|refusal| refusal.line == 1), "{report}");
    assert_eq!(fixture.documents().await.len() as u64, report.imported);
}

#[tokio::test]
async fn line_of_the_maximum_length_is_imported_and_a_longer_one_is_refused() {
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

#[cfg(feature = "csv")]
#[tokio::test]
async fn row_of_a_csv_and_its_host_may_be_as_long_as_a_line() {
    let fixture = Fixture::new().await;
    let import = || Import::new().csv().only_network(fixture.network);
    let ports: String = (10_000..40_000).map(|number| format!("{number}/Tcp;")).collect();
    let rows = format!("id,name,ports\n{},a,{ports}\n{},b,443\n", uuid(1), uuid(2));
    let report = fixture.import_with(rows, import()).await;
    assert_eq!((report.imported, report.refused), (2, 0), "{report}");
    assert_eq!(fixture.host(id(1)).await.ports.len(), 30_000);
    for (ports, reason) in [
        ("1;".repeat(2_000), "the host is longer than 50000 bytes as JSON"),
        ("1;".repeat(30_000), "the row is longer than 50000 bytes"),
    ] {
        let rows = format!("name,ports\na,80\nb,{ports}\nc,443\n");
        let report = fixture.import_with(&rows, import().max_line(50_000)).await;
        assert_eq!((report.imported, report.refused), (2, 1), "{report}");
        assert_eq!((report.refusals[0].line, report.refusals[0].reason.as_str()), (3, reason));
    }
}

#[tokio::test]
async fn last_line_that_is_too_long_and_lacks_a_line_feed_is_refused() {
    let fixture = Fixture::new().await;
    let mut lines = jsonl(&numbered_hosts(fixture.network, 1));
    let allowed = lines.len();
    lines.extend(std::iter::repeat_n(b'x', 300_000));
    let report = fixture.import_with(&lines, Import::new().max_line(allowed)).await;
    assert_eq!((report.lines, report.imported, report.refused), (2, 1, 1), "{report}");
    assert_eq!(report.refusals[0].line, 2);
}

#[tokio::test]
async fn line_longer_than_a_whole_batch_is_imported() {
    let fixture = Fixture::new().await;
    let mut hosts = numbered_hosts(fixture.network, 5);
    for place in [1, 2, 4] {
        let texts = (0..10).map(|index| IfEntry {
            id: id(100 * place as u128 + index),
            if_descr: "d\u{0}".repeat(16_000),
            ..IfEntry::new(&hosts[place], index as i64)
        });
        hosts[place].if_entries = texts.collect();
    }
    let report = fixture.import(jsonl(&hosts)).await;
    assert_eq!((report.imported, report.refused), (5, 0));
    for host in hosts {
        assert!(fixture.host(host.id).await == host, "{}", host.id);
    }
}

/// A reader that yields its bytes in portions of a given size. It is pending every other time, and optionally fails at
/// the end.
struct Portions {
    bytes: Vec<u8>,
    place: usize,
    size: usize,
    fails: bool,
    is_ready: bool,
}

impl Portions {
    fn new(bytes: Vec<u8>, size: usize, fails: bool) -> Self {
        Self { bytes, place: 0, size, fails, is_ready: false }
    }
}

impl AsyncRead for Portions {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.is_ready = !self.is_ready;
        if !self.is_ready {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let size = self.size.min(buffer.remaining()).min(self.bytes.len() - self.place);
        if size == 0 && self.fails {
            return Poll::Ready(Err(io::Error::other("the cable came loose")));
        }
        buffer.put_slice(&self.bytes[self.place..self.place + size]);
        self.place += size;
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn size_of_the_portions_of_the_input_does_not_matter() {
    let hosts = |fixture: &Fixture| numbered_hosts(fixture.network, 40);
    let mut expected = None;
    for size in [1, 2, 7, 64 * 1024, usize::MAX] {
        let fixture = Fixture::new().await;
        let mut lines = jsonl(&hosts(&fixture));
        lines.extend_from_slice("bad ü\r\n\n".as_bytes());
        lines.extend(
            serde_json::to_vec(&Host { id: uuid::Uuid::max().into(), ..hosts(&fixture)[0].clone() }).unwrap(),
        );
        let input = Portions::new(lines, size, false);
        let report = fixture.inventory.hosts().import(&fixture.system(), input, Import::new()).await.unwrap();
        assert_eq!((report.lines, report.imported, report.refused), (43, 41, 1), "{report}");
        assert_eq!(fixture.documents().await.len(), 41);
        assert_eq!(*expected.get_or_insert(report.clone()), report);
    }
}

#[tokio::test]
async fn input_that_fails_is_reported_and_hosts_before_it_stay() {
    for count in [0, 1, 700] {
        let fixture = Fixture::new().await;
        let lines = jsonl(&numbered_hosts(fixture.network, count));
        let mut reported = 0;
        let import = Import::new().on_progress(|report| reported = report.imported);
        let input = Portions::new(lines, 1000, true);
        let error = fixture.inventory.hosts().import(&fixture.system(), input, import).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unreadable);
        assert!(!error.to_string().contains("cable"), "the details are for the log: {error}");
        let source = std::error::Error::source(&error).expect("they are the source");
        assert!(source.to_string().contains("the cable came loose"));
        let stored = fixture.documents().await.len() as u64;
        assert_eq!(stored, reported);
        assert!(u128::from(stored) <= count && (count < 700 || stored >= 256), "{stored} of {count}");
    }
}

#[tokio::test]
async fn input_that_fails_at_once_changes_nothing() {
    let fixture = Fixture::new().await;
    fixture.put(&numbered_hosts(fixture.network, 1)[0]).await;
    let commits = fixture.commits();
    let input = Portions::new(vec![], 1, true);
    let result = fixture.inventory.hosts().import(&fixture.system(), input, Import::new()).await;
    assert_eq!(refusal(result), ErrorKind::Unreadable);
    assert_eq!((fixture.commits(), fixture.documents().await.len()), (commits, 1));
}

#[tokio::test]
async fn progress_is_reported_every_few_hundred_lines_and_never_decreases() {
    let fixture = Fixture::new().await;
    let mut seen = Vec::new();
    let lines = jsonl(&numbered_hosts(fixture.network, 2000));
    let import = Import::new().on_progress(|report| seen.push((report.lines, report.bytes, report.imported)));
    let report = fixture.inventory.hosts().import(&fixture.system(), &lines[..], import).await.unwrap();
    assert!(seen.is_sorted() && seen.iter().map(|seen| seen.1).is_sorted());
    assert!(seen.iter().map(|seen| seen.2).is_sorted());
    assert_eq!(seen.last(), Some(&(report.lines, report.bytes, report.imported)));
    assert_eq!((report.lines, report.imported), (2000, 2000));
    assert!(seen.windows(2).all(|pair| pair[1].0 - pair[0].0 < 1000), "{seen:?}");
}

#[tokio::test]
async fn progress_includes_lines_without_a_host() {
    let fixture = Fixture::new().await;
    for line in ["\n", "   \r\n", "{}{}{}{}{}{}\n"] {
        let mut seen = vec![0];
        let import = Import::new().max_line(10).on_progress(|report| seen.push(report.lines));
        let lines = line.repeat(5000);
        let report =
            fixture.inventory.hosts().import(&fixture.system(), lines.as_bytes(), import).await.unwrap();
        assert_eq!(report.lines, 5000);
        assert!(seen.windows(2).all(|pair| pair[1] - pair[0] < 1000), "{line:?}: {seen:?}");
    }
}

#[tokio::test]
async fn store_that_fails_ends_the_import_and_earlier_hosts_stay() {
    for commits in 0..5 {
        let fixture = Fixture::new().await;
        let (inventory, probe) = fixture.probed();
        let lines = jsonl(&numbered_hosts(fixture.network, 700));
        probe.set(Fault::UnavailableAfterCommits(commits));
        let result = inventory.hosts().import(&fixture.system(), &lines[..], Import::new()).await;
        let stored = fixture.documents().await.len();
        if stored == 700 {
            assert_eq!(result.unwrap().imported, 700);
            return;
        }
        assert_eq!(refusal(result), ErrorKind::StoreUnavailable);
        assert!(commits > 0 || stored == 0, "{stored} hosts of no commit");
    }
    panic!("importing 700 hosts takes five commits or more");
}

/// A job that lets another organization work keeps its thread, so that the runtime may have none left for the other.
#[test]
fn imports_of_two_organizations_end_on_a_single_blocking_thread() {
    let runtime = Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let inventory = Inventory::new(MemoryStore::new());
        let import = async |name: &str, first: u128| {
            let organization = inventory.organizations().create(name).await.unwrap().id;
            let network = inventory
                .networks()
                .create(&Caller::system(organization), Network::new("Office"))
                .await
                .unwrap()
                .id;
            let hosts = (first..first + 400).map(|number| {
                let host = bare_host(id(number), network);
                Host { description: Some("x".repeat(20_000)), ..host }
            });
            let lines = jsonl(&hosts.collect::<Vec<_>>());
            inventory
                .hosts()
                .import(&Caller::system(organization), &lines[..], Import::new())
                .await
                .unwrap()
                .imported
        };
        assert_eq!(tokio::join!(import("Example", 1), import("Other", 1_000)), (400, 400));
    });
}
