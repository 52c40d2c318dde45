//! The cost of a request: memory, operations of the store, records, and the size of its answer.

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::yield_now;
use toposcope::service::Api;
use toposcope::store::{Record, StoreError, Write};
use toposcope::testing::{Call, Intercept, Operation, Reply};
use tower::ServiceExt;

use crate::common::Unfollowed;

/// The cost of a request, and the sizes on which it may depend.
#[derive(Clone, Debug, Default)]
pub(super) struct Cost {
    pub(super) status: u16,
    /// Peak of the memory of the process above its level before, in bytes. It includes the data that the request
    /// stores.
    pub(super) memory: u64,
    pub(super) operations: u64,
    /// The records that were read and written.
    pub(super) records: u64,
    /// The length of these records in bytes.
    pub(super) data: u64,
    pub(super) answer: u64,
    /// The length of the target and the body of the request in bytes.
    pub(super) body: u64,
    /// The ids, hosts, rows or results for which the request asks.
    pub(super) items: u64,
    /// The number of hosts of the organization.
    pub(super) hosts: u64,
    /// The length of all hosts of the organization in bytes, and of the largest one.
    pub(super) stored: u64,
    pub(super) largest: u64,
    /// Time of all threads on the processor, in milliseconds.
    pub(super) processor: u64,
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kib = |bytes: u64| bytes / 1024;
        let Self { status, operations, records, items, processor, .. } = self;
        write!(
            formatter,
            "{status}, {} KiB of memory, {operations} operations, {records} records, {} KiB answered; {} KiB sent, \
             {} KiB of records, {items} items; {processor} ms",
            kib(self.memory),
            kib(self.answer),
            kib(self.body),
            kib(self.data),
        )
    }
}

/// Counts the operations of a store and their records.
#[derive(Debug, Default)]
pub(super) struct Counter {
    operations: AtomicU64,
    records: AtomicU64,
    data: AtomicU64,
    running: AtomicU64,
}

impl Counter {
    fn reset(&self) {
        for count in [&self.operations, &self.records, &self.data] {
            count.store(0, Ordering::SeqCst);
        }
    }

    fn add<'r>(&self, records: impl Iterator<Item = &'r Record>) {
        self.add_bodies(records.map(|record| record.body.len()));
    }

    fn add_bodies(&self, bodies: impl Iterator<Item = usize>) {
        for length in bodies {
            self.records.fetch_add(1, Ordering::SeqCst);
            self.data.fetch_add(length as u64, Ordering::SeqCst);
        }
    }

    /// Waits for tasks in the background.
    pub(super) async fn settle(&self) {
        loop {
            for _ in 0..20 {
                yield_now().await;
            }
            if self.running.load(Ordering::SeqCst) == 0 {
                return;
            }
        }
    }
}

#[async_trait]
impl Intercept for Counter {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        // No request costs what records links in the background.
        if let Some(nothing) = Unfollowed::answer(call.operation()) {
            return Ok(nothing);
        }
        self.running.fetch_add(1, Ordering::SeqCst);
        self.operations.fetch_add(1, Ordering::SeqCst);
        if let Operation::Commit(batch) = call.operation() {
            self.add_bodies(batch.writes().iter().map(|write| match write {
                Write::Put { body, .. } => body.len(),
                _ => 0,
            }));
        }
        let reply = call.proceed().await;
        match &reply {
            Ok(Reply::Records(records)) => self.add(records.iter().flatten()),
            Ok(Reply::Record(record)) => self.add(record.iter()),
            Ok(Reply::Page(page)) => self.add(page.records.iter()),
            _ => {}
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
        reply
    }
}

/// A body that arrives in pieces of a certain length.
pub(super) struct Pieces {
    rest: Bytes,
    length: usize,
}

impl Pieces {
    pub(super) const fn new(body: Bytes, length: usize) -> Self {
        Self { rest: body, length }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let length = self.length.min(self.rest.len());
        Poll::Ready((length > 0).then(|| {
            // A server reads each piece into memory of its own.
            Ok(Frame::data(Bytes::copy_from_slice(&self.rest.split_to(length))))
        }))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

/// A body that arrives as it is sent, and ends when its sender is dropped.
pub(super) struct Arriving(pub(super) UnboundedReceiver<Bytes>);

impl Body for Arriving {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|part| part.map(|part| Ok(Frame::data(part))))
    }
}

/// Sends a request, and reads its answer to the end, or the first event of a stream.
///
/// The answer stays unread until the memory is measured for the first time.
pub(super) async fn measure(
    api: &Api,
    counter: &Arc<Counter>,
    request: Request<Bytes>,
    piece: usize,
    items: u64,
) -> (Cost, Vec<u8>) {
    counter.settle().await;
    let (parts, body) = request.into_parts();
    let sent = parts.uri.to_string().len() + body.len();
    let request = Request::from_parts(parts, Pieces::new(body.clone(), piece));
    counter.reset();
    forget_peak();
    let (before, begun) = (memory("VmRSS:"), processor());
    let response = api.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let is_stream = response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream");
    let (mut answer, mut start) = (0, Vec::new());
    let mut reading = pin!(response.into_body());
    while let Some(frame) = poll_fn(|context| reading.as_mut().poll_frame(context)).await {
        let Ok(frame) = frame else { break };
        let data = frame.into_data().unwrap();
        answer += data.len() as u64;
        if start.len() < 1_000 {
            start.extend_from_slice(&data[..data.len().min(1_000)]);
        }
        if is_stream {
            break;
        }
    }
    counter.settle().await;
    let memory = memory("VmHWM:").saturating_sub(before);
    drop(body);
    let [operations, records, data] =
        [&counter.operations, &counter.records, &counter.data].map(|count| count.load(Ordering::SeqCst));
    let processor = processor().saturating_sub(begun);
    let sizes = Cost { body: sent as u64, items, ..Cost::default() };
    (Cost { status, memory, operations, records, data, answer, processor, ..sizes }, start)
}

/// Returns a number of bytes from what Linux says about this process.
pub(super) fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Blocks that keep freed memory of the process in use, so that it does not hide what is allocated next.
#[derive(Default)]
pub(super) struct Ballast(Vec<Vec<u8>>);

impl Ballast {
    /// Allocates blocks until the process takes more memory for them.
    pub(super) fn fill(&mut self) {
        const BLOCK: usize = 16 * 1024;
        const BLOCKS: usize = 32;
        loop {
            let before = memory("VmRSS:");
            self.0.extend((0..BLOCKS).map(|_| vec![1; BLOCK]));
            // Linux counts pages in batches.
            if memory("VmRSS:") >= before + (BLOCK * BLOCKS / 2) as u64 {
                return;
            }
        }
    }
}

/// Begins to measure the peak of the memory again.
pub(super) fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// Returns the time that all threads have had on the processor, in milliseconds.
fn processor() -> u64 {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = status.rsplit_once(") ").unwrap();
    let ticks = |place: usize| fields.split(' ').nth(place).unwrap().parse::<u64>().unwrap();
    // Linux counts them in hundredths of a second.
    (ticks(11) + ticks(12)) * 10
}
