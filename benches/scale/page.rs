//! Measures a page of 50 hosts against the plain loop.
//!
//! The time runs from the request to the last byte of the body.
//!
//! Each page is measured in three ways: handed out on the first request for the list, the frames passed on as
//! a server passes them to the socket; handed out after enough requests that the ordering is cached if that
//! pays off; and read, with every frame copied into a buffer as in the plain loop.

use std::cell::RefCell;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use toposcope::inventory::HostQuery;
use toposcope::model::OrderDirection;

use crate::call::{call, each_frame};
use crate::clock::{compare, time};
use crate::finding::{Family, Finding, Ratios};
use crate::loaded::LoadedInventory;
use crate::reader::Reader;

pub(crate) const PAGE: usize = 50;

/// Number of turns, of `CALLS` requests each. A slow page gets fewer turns, so that no row takes much longer
/// than `MAX_TIME`. Beside a slow page the plain loop runs `COPIES` times per turn, so that its first run with
/// a cold processor cache does not decide the result.
const TURNS: usize = 51;
const CALLS: u32 = 10;
const COPIES: u32 = 100;
const MAX_TIME: Duration = Duration::from_millis(100);
const FEWEST: usize = 3;

/// Time for which a slow page is requested before it is measured. A page is slow if it takes longer than the plain
/// loop.
const SETTLED: Duration = Duration::from_millis(300);

/// Measures the first, the middle and the last page of a list. `label` describes the query.
pub(crate) fn measure_parts(
    loaded: &LoadedInventory,
    reader: &Reader,
    family: Family,
    label: &str,
    query: &HostQuery,
) -> Result<Vec<Finding>, Box<dyn Error>> {
    let mut query = query.clone();
    query.limit = Some(PAGE);
    // The store may serve both directions from the same ordering.
    let is_new = query.order_direction == OrderDirection::Ascending;
    let first_request = reader.get(&uri(&query))?;
    let first = time(1, || each_frame(call(&loaded.api, first_request.clone()).into_body(), |_| ()));
    let last = loaded.list(reader, &query)?.total.saturating_sub(PAGE as u64);
    let mut parts = vec![("first", 0), ("middle", last / 2), ("last", last)];
    parts.dedup_by_key(|(_, offset)| *offset);
    let findings = parts.into_iter().map(|(part, offset)| {
        query.offset = offset;
        let page = loaded.list(reader, &query)?.documents;
        let request = reader.get(&uri(&query))?;
        let name = format!("{}: {label}, {part}", reader.sees);
        let first = Some(first).filter(|_| is_new && part == "first");
        measure(loaded, family, name, &request, &page, first)
    });
    findings.collect()
}

fn measure(
    loaded: &LoadedInventory,
    family: Family,
    name: String,
    request: &Request<String>,
    page: &[Bytes],
    first: Option<Duration>,
) -> Result<Finding, Box<dyn Error>> {
    let frames =
        |visit: &mut dyn FnMut(&[u8])| each_frame(call(&loaded.api, request.clone()).into_body(), visit);
    let mut body = Vec::new();
    frames(&mut |frame| body.extend_from_slice(frame));
    if !is_page(&body, page) {
        return Err(format!("another page: {name}").into());
    }
    let places = loaded.documents.places(page).ok_or_else(|| format!("copied documents: {name}"))?;
    let buffer = RefCell::new(Vec::with_capacity(1024 * 1024));
    let copy = || {
        let mut buffer = buffer.borrow_mut();
        buffer.clear();
        loaded.documents.copy(&places, &mut buffer);
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

/// Repeats the request until its ordering is cached, if caching pays off.
fn settle(mut hand_out: impl FnMut(), copy: impl FnMut()) {
    let start = Instant::now();
    let is_slow = time(CALLS, &mut hand_out) > time(COPIES, copy);
    while is_slow && start.elapsed() < SETTLED {
        hand_out();
    }
}

/// Returns how often a page that takes this time is measured.
fn turns(time: Duration) -> (usize, [u32; 2]) {
    let calls = (MAX_TIME.as_nanos() / time.as_nanos().max(1)) as usize;
    if calls >= TURNS * CALLS as usize {
        (TURNS, [CALLS; 2])
    } else {
        (calls.clamp(FEWEST, TURNS), [COPIES, 1])
    }
}

/// Returns whether a response holds the documents of a page in order.
fn is_page(body: &[u8], page: &[Bytes]) -> bool {
    let documents = page.join(&b","[..]);
    let envelope = [b"{\"success\":true,\"data\":[", &documents[..], b"],\"meta\":"].concat();
    body.starts_with(&envelope)
}

/// Returns the URI of a query; its limit is `PAGE`.
pub(crate) fn uri(query: &HostQuery) -> String {
    let HostQuery { order_direction, offset, .. } = query;
    let mut uri = format!("/api/v1/hosts?limit={PAGE}&order_direction={order_direction}&offset={offset}");
    let mut add = |name: &str, value: Option<String>| {
        uri.extend(value.map(|value| format!("&{name}={value}")));
    };
    add("order_by", query.order_by.map(|field| field.to_string()));
    add("group_by", query.group_by.map(|field| field.to_string()));
    add("network_id", query.network_id.map(|id| id.to_string()));
    add("tag_ids", query.tag_ids.as_deref().map(joined));
    add("ids", query.ids.as_deref().map(joined));
    add("ip", query.ips.as_deref().map(joined));
    add("mac", query.macs.as_deref().map(joined));
    add("port", query.ports.as_deref().map(joined));
    add("service_definition", query.service_definitions.as_deref().map(joined));
    add("search", query.search.as_ref().map(|text| text.replace(' ', "%20")));
    uri
}

fn joined(values: &[impl ToString]) -> String {
    let texts: Vec<String> = values.iter().map(|value| value.to_string().replace(' ', "%20")).collect();
    texts.join(",")
}

/// Describes the order of a query in words.
pub(crate) fn describe(query: &HostQuery) -> String {
    let by = query.order_by.unwrap_or_default();
    let group = query.group_by.map_or_else(String::new, |group| format!("{group}, then "));
    format!("{group}{by} {}", query.order_direction)
}
