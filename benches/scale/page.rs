//! A page of 50 hosts, from the request to the last byte of the body, against the plain loop. A page is measured in three
//! ways: handed out, as a server hands its frames to the socket, to who asks for the list as the very first; the same when it
//! was asked for long enough that a list is kept that is worth it; and then read, with every frame copied into a buffer as the
//! plain loop does it.

use std::cell::RefCell;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use toposcope::inventory::HostQuery;
use toposcope::model::OrderDirection;

use crate::call::{call, each_frame};
use crate::child::{Finding, Ratios};
use crate::clock::{compare, time};
use crate::family::Family;
use crate::ground::Ground;
use crate::reader::Reader;

pub(crate) const PAGE: usize = 50;

/// Turns of so many calls each; fewer where a page takes long, so that no row takes much longer than this. The plain loop
/// goes so often beside a page that takes long that it is not the first in the processor's cache that counts.
const TURNS: usize = 51;
const CALLS: u32 = 10;
const COPIES: u32 = 100;
const LONGEST: Duration = Duration::from_millis(100);
const FEWEST: usize = 3;

/// How long a page that takes longer than the plain loop is asked for before it is measured.
const SETTLED: Duration = Duration::from_millis(300);

/// The first, the middle and the last page of a list, whose label tells what is asked for.
pub(crate) fn measure_parts(
    ground: &Ground,
    reader: &Reader,
    family: Family,
    label: &str,
    query: &HostQuery,
) -> Result<Vec<Finding>, Box<dyn Error>> {
    let mut query = query.clone();
    query.limit = Some(PAGE);
    // A list in the other direction may be the same to the store.
    let is_new = query.order_direction == OrderDirection::Ascending;
    let first_request = reader.get(&uri(&query))?;
    let first = time(1, || each_frame(call(&ground.api, first_request.clone()).into_body(), |_| ()));
    let last = ground.list(reader, &query)?.total.saturating_sub(PAGE as u64);
    let mut parts = vec![("first", 0), ("middle", last / 2), ("last", last)];
    parts.dedup_by_key(|(_, offset)| *offset);
    let findings = parts.into_iter().map(|(part, offset)| {
        query.offset = offset;
        let page = ground.list(reader, &query)?.documents;
        let request = reader.get(&uri(&query))?;
        let name = format!("{}: {label}, {part}", reader.sees);
        let first = Some(first).filter(|_| is_new && part == "first");
        measure(ground, family, name, &request, &page, first)
    });
    findings.collect()
}

fn measure(
    ground: &Ground,
    family: Family,
    name: String,
    request: &Request<String>,
    page: &[Bytes],
    first: Option<Duration>,
) -> Result<Finding, Box<dyn Error>> {
    let frames =
        |visit: &mut dyn FnMut(&[u8])| each_frame(call(&ground.api, request.clone()).into_body(), visit);
    let mut body = Vec::new();
    frames(&mut |frame| body.extend_from_slice(frame));
    if !is_page(&body, page) {
        return Err(format!("another page: {name}").into());
    }
    let places = ground.documents.places(page).ok_or_else(|| format!("copied documents: {name}"))?;
    let buffer = RefCell::new(Vec::with_capacity(1024 * 1024));
    let copy = || {
        let mut buffer = buffer.borrow_mut();
        buffer.clear();
        ground.documents.copy(&places, &mut buffer);
        black_box(&buffer);
    };
    let hand_out = || frames(&mut |frame| _ = black_box(frame));
    settle(hand_out, copy);
    let read = || {
        let mut buffer = buffer.borrow_mut();
        buffer.clear();
        frames(&mut |frame| buffer.extend_from_slice(frame));
        black_box(&buffer);
    };
    let start = Instant::now();
    read();
    let (turns, calls) = turns(start.elapsed());
    let (copied, handed_out) = compare(turns, calls, copy, hand_out);
    let (copied_again, read) = compare(turns, calls, copy, read);
    Ok(Finding::Page {
        family,
        name,
        copy: copied.as_secs_f64() * 1e6,
        ratios: Ratios {
            first: first.map(|first| first.as_secs_f64() / copied.as_secs_f64()),
            handed_out: handed_out.as_secs_f64() / copied.as_secs_f64(),
            read: read.as_secs_f64() / copied_again.as_secs_f64(),
        },
    })
}

/// Asks until a list is kept if that is worth it.
fn settle(mut hand_out: impl FnMut(), copy: impl FnMut()) {
    let start = Instant::now();
    let is_slow = time(CALLS, &mut hand_out) > time(COPIES, copy);
    while is_slow && start.elapsed() < SETTLED {
        hand_out();
    }
}

/// How often a page is measured that takes so long.
fn turns(time: Duration) -> (usize, [u32; 2]) {
    let calls = (LONGEST.as_nanos() / time.as_nanos().max(1)) as usize;
    if calls >= TURNS * CALLS as usize {
        (TURNS, [CALLS; 2])
    } else {
        (calls.clamp(FEWEST, TURNS), [COPIES, 1])
    }
}

/// Whether a response holds the documents of a page in their order.
fn is_page(body: &[u8], page: &[Bytes]) -> bool {
    let documents = page.join(&b","[..]);
    let envelope = [b"{\"success\":true,\"data\":[", &documents[..], b"],\"meta\":"].concat();
    body.starts_with(&envelope)
}

/// The request of a query; the limit is that of every page.
pub(crate) fn uri(query: &HostQuery) -> String {
    let HostQuery { order_direction, offset, .. } = query;
    let mut uri = format!("/api/v1/hosts?limit={PAGE}&order_direction={order_direction}&offset={offset}");
    let mut add = |name: &str, value: Option<String>| {
        uri.extend(value.map(|value| format!("&{name}={value}")));
    };
    let list = |ids: &Vec<uuid::Uuid>| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    add("order_by", query.order_by.map(|field| field.to_string()));
    add("group_by", query.group_by.map(|field| field.to_string()));
    add("network_id", query.network_id.map(|id| id.to_string()));
    add("tag_ids", query.tag_ids.as_ref().map(list));
    add("ids", query.ids.as_ref().map(list));
    uri
}

/// The order of a query, as people would say it.
pub(crate) fn told(query: &HostQuery) -> String {
    let by = query.order_by.unwrap_or_default();
    let group = query.group_by.map_or_else(String::new, |group| format!("{group}, then "));
    format!("{group}{by} {}", query.order_direction)
}
