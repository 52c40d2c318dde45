//! What a page of 50 hosts costs in process, from the request to the last byte of the body, against a plain loop that
//! copies the same 50 documents out of an array of as many hosts: the same bytes from the same memory, which is the limit.
//! A page is measured twice: handed out, as a server hands its frames to the socket, and read, with every frame copied into
//! a buffer as the plain loop does it.
//!
//! `cargo bench --bench page` prints every order, direction, part of the list and scope; `-- 1000 10000` sets the sizes.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark stops at its first mistake and prints"
)]

#[path = "support/call.rs"]
mod call;
#[path = "support/mod.rs"]
mod support;

use std::cell::RefCell;
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use call::{call, each_frame};
use http::Request;
use support::{Loaded, compare, load};
use toposcope::inventory::HostQuery;
use toposcope::model::{HostOrderField, OrderDirection};
use toposcope::service::{Api, ResponseBody};
use toposcope::store::MemoryStore;
use uuid::Uuid;

const PAGE: usize = 50;
const TURNS: usize = 201;
const CALLS: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let sizes: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 100_000] } else { sizes };
    println!(
        "| hosts | networks | order | part | copy, µs | page handed out, µs | ratio | page read, µs | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut ratios = Vec::new();
    for size in sizes {
        let loaded = runtime.block_on(load(Arc::new(MemoryStore::new()), size))?;
        let api = Api::builder(loaded.inventory.clone()).rate_limit(None).build();
        for network in [None, loaded.networks.first().copied()] {
            for order in HostOrderField::ALL.iter().copied() {
                for direction in [OrderDirection::Ascending, OrderDirection::Descending] {
                    let documents = runtime.block_on(documents(&loaded, order, direction, network))?;
                    ratios.extend(measure_parts(size, &api, &loaded, &documents, order, direction, network)?);
                }
            }
        }
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "\nRatio over all rows: median {:.2}, worst {:.2}.",
        ratios[ratios.len() / 2],
        ratios[ratios.len() - 1]
    );
    Ok(())
}

/// All documents of a list in its order: those of the store itself, not copies.
async fn documents(
    loaded: &Loaded,
    order: HostOrderField,
    direction: OrderDirection,
    network: Option<Uuid>,
) -> Result<Vec<Bytes>, Box<dyn Error>> {
    let mut query = HostQuery::default();
    query.order_by = Some(order);
    query.order_direction = direction;
    query.network_id = network;
    let caller = loaded.inventory.authenticate_user_key(&loaded.key).await?;
    Ok(loaded.inventory.list_hosts(&caller, &query).await?.documents)
}

fn measure_parts(
    size: usize,
    api: &Api,
    loaded: &Loaded,
    documents: &[Bytes],
    order: HostOrderField,
    direction: OrderDirection,
    network: Option<Uuid>,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut ratios = Vec::new();
    let last = documents.len() - PAGE;
    for (part, offset) in [("first", 0), ("middle", last / 2), ("last", last)] {
        let page = &documents[offset..offset + PAGE];
        let mut uri = format!("/api/v1/hosts?order_by={order}&order_direction={direction}&offset={offset}");
        if let Some(network) = network {
            uri.push_str(&format!("&network_id={network}"));
        }
        let request = Request::get(&uri)
            .header("authorization", format!("Bearer {}", loaded.key))
            .body(String::new())?;
        assert!(is_page(&read(call(api, request.clone()).into_body()), page), "{uri} is another page");
        let buffer = RefCell::new(Vec::with_capacity(1024 * 1024));
        let copy = || {
            let mut buffer = buffer.borrow_mut();
            buffer.clear();
            page.iter().for_each(|document| buffer.extend_from_slice(document));
            black_box(&buffer);
        };
        let read = || {
            let mut buffer = buffer.borrow_mut();
            buffer.clear();
            each_frame(call(api, request.clone()).into_body(), |frame| buffer.extend_from_slice(frame));
            black_box(&buffer);
        };
        let hand_out = || each_frame(call(api, request.clone()).into_body(), |frame| _ = black_box(frame));
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let (copied, handed_out) = compare(TURNS, CALLS, copy, hand_out);
        let (copied, handed_out) = (micros(copied), micros(handed_out));
        let (copied_again, read) = compare(TURNS, CALLS, copy, read);
        let ratio = micros(read) / micros(copied_again);
        println!(
            "| {size} | {} | {order} {direction} | {part} | {copied:.1} | {handed_out:.1} | {:.2} | {:.1} | {ratio:.2} |",
            if network.is_some() { "1" } else { "all" },
            handed_out / copied,
            micros(read),
        );
        ratios.push(ratio);
    }
    Ok(ratios)
}

fn read(body: ResponseBody) -> Vec<u8> {
    let mut bytes = Vec::new();
    each_frame(body, |frame| bytes.extend_from_slice(frame));
    bytes
}

/// Whether a response holds the documents of a page in their order.
fn is_page(body: &[u8], page: &[Bytes]) -> bool {
    let documents = page.join(&b","[..]);
    let envelope = [b"{\"success\":true,\"data\":[", &documents[..], b"],\"meta\":"].concat();
    body.starts_with(&envelope)
}
