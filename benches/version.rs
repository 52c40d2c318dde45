//! What the smallest request costs in process, from the request that is there to the last byte of the body: the cost of
//! being served at all. On one core; the rate limit is off, or on as by default and asked from many addresses.
//!
//! `cargo bench --bench version`

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark stops at its first mistake and prints"
)]

#[path = "support/call.rs"]
mod call;

use std::error::Error;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use call::{call, each_frame};
use http::Request;
use toposcope::inventory::Inventory;
use toposcope::service::{Api, ClientAddr};
use toposcope::store::MemoryStore;

const ROUNDS: u32 = 1_001;
const CALLS: u32 = 1_000;
/// So many that none of them is ever refused.
const ADDRESSES: u32 = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let api = || Api::builder(Inventory::new(MemoryStore::new()));
    println!("| rate limit | fastest tenth, ns | median, ns | slowest tenth, ns |");
    println!("|---|---|---|---|");
    measure("off", &api().rate_limit(None).build())?;
    measure("300 a minute, burst 150", &api().build())
}

fn measure(name: &str, api: &Api) -> Result<(), Box<dyn Error>> {
    let mut next = 0;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let mut requests = Vec::new();
        for _ in 0..CALLS {
            requests.push(request(next % ADDRESSES)?);
            next += 1;
        }
        let start = Instant::now();
        for request in requests {
            let response = call(api, request);
            assert_eq!(response.status(), 200);
            each_frame(response.into_body(), |frame| _ = black_box(frame));
        }
        times.push(start.elapsed() / CALLS);
    }
    times.sort_unstable();
    let [fast, median, slow] = [10, 50, 90].map(|percent| times[times.len() * percent / 100].as_nanos());
    println!("| {name} | {fast} | {median} | {slow} |");
    Ok(())
}

fn request(number: u32) -> Result<Request<String>, http::Error> {
    let address = IpAddr::from(Ipv4Addr::from_bits(0x0a00_0000 + number));
    Request::get("/api/version").extension(ClientAddr(address)).body(String::new())
}
