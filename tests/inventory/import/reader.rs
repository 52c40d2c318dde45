//! The input: split into portions of any size, and failing.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use toposcope::inventory::{ErrorKind, Import};
use toposcope::model::Host;

use crate::support::{Fault, Fixture, jsonl, numbered_hosts, refusal};

/// Yields its bytes in portions of a given size, is pending every other time, and optionally fails at the
/// end.
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
async fn the_size_of_the_portions_is_no_matter() {
    let hosts = |fixture: &Fixture| numbered_hosts(fixture.network, 40);
    let mut expected = None;
    for size in [1, 2, 7, 64 * 1024, usize::MAX] {
        let fixture = Fixture::new().await;
        let mut lines = jsonl(&hosts(&fixture));
        lines.extend_from_slice("bad ü\r\n\n".as_bytes());
        lines.extend(
            serde_json::to_vec(&Host { id: uuid::Uuid::max(), ..hosts(&fixture)[0].clone() }).unwrap(),
        );
        let input = Portions::new(lines, size, false);
        let report =
            fixture.inventory.import_hosts(fixture.organization, input, Import::new()).await.unwrap();
        assert_eq!((report.lines, report.imported, report.refused), (43, 41, 1), "{report}");
        assert_eq!(fixture.documents().await.len(), 41);
        assert_eq!(*expected.get_or_insert(report.clone()), report);
    }
}

#[tokio::test]
async fn an_input_that_fails_is_unreadable_and_what_was_stored_before_stays() {
    for count in [0, 1, 700] {
        let fixture = Fixture::new().await;
        let lines = jsonl(&numbered_hosts(fixture.network, count));
        let mut reported = 0;
        let import = Import::new().on_progress(|report| reported = report.imported);
        let input = Portions::new(lines, 1000, true);
        let error = fixture.inventory.import_hosts(fixture.organization, input, import).await.unwrap_err();
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
async fn an_input_that_fails_at_once_leaves_what_is_there() {
    let fixture = Fixture::new().await;
    fixture.put(&numbered_hosts(fixture.network, 1)[0]).await;
    let commits = fixture.commits();
    let input = Portions::new(vec![], 1, true);
    let result = fixture.inventory.import_hosts(fixture.organization, input, Import::new()).await;
    assert_eq!(refusal(result), ErrorKind::Unreadable);
    assert_eq!((fixture.commits(), fixture.documents().await.len()), (commits, 1));
}

#[tokio::test]
async fn progress_is_told_every_few_hundred_lines_and_never_goes_back() {
    let fixture = Fixture::new().await;
    let mut seen = Vec::new();
    let lines = jsonl(&numbered_hosts(fixture.network, 2000));
    let import = Import::new().on_progress(|report| seen.push((report.lines, report.bytes, report.imported)));
    let report = fixture.inventory.import_hosts(fixture.organization, &lines[..], import).await.unwrap();
    assert!(seen.is_sorted() && seen.iter().map(|seen| seen.1).is_sorted());
    assert!(seen.iter().map(|seen| seen.2).is_sorted());
    assert_eq!(seen.last(), Some(&(report.lines, report.bytes, report.imported)));
    assert_eq!((report.lines, report.imported), (2000, 2000));
    assert!(seen.windows(2).all(|pair| pair[1].0 - pair[0].0 < 1000), "{seen:?}");
}

#[tokio::test]
async fn progress_is_told_also_of_lines_that_hold_no_host() {
    let fixture = Fixture::new().await;
    for line in ["\n", "   \r\n", "{}{}{}{}{}{}\n"] {
        let mut seen = vec![0];
        let import = Import::new().max_line(10).on_progress(|report| seen.push(report.lines));
        let lines = line.repeat(5000);
        let report =
            fixture.inventory.import_hosts(fixture.organization, lines.as_bytes(), import).await.unwrap();
        assert_eq!(report.lines, 5000);
        assert!(seen.windows(2).all(|pair| pair[1] - pair[0] < 1000), "{line:?}: {seen:?}");
    }
}

#[tokio::test]
async fn a_store_that_fails_ends_the_import_and_what_was_stored_before_stays() {
    for commits in 0..5 {
        let fixture = Fixture::new().await;
        let (inventory, probe) = fixture.probed();
        let lines = jsonl(&numbered_hosts(fixture.network, 700));
        probe.set(Fault::UnavailableAfterCommits(commits));
        let result = inventory.import_hosts(fixture.organization, &lines[..], Import::new()).await;
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
