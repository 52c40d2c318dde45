//! Memory that the rate limit uses for a million addresses.
//!
//! The memory is measured after the requests and at its peak.
//!
//! `cargo bench --bench addresses` uses a clock that stands still, so that no bucket is ever refilled and forgotten;
//! `-- clock` uses the system clock. Each variant needs its own process, since freed memory would hide the other's use.
//! Requires Linux.
//!
//! `-- free` measures the next free address of subnets with a million used addresses instead.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark stops at its first mistake and prints"
)]

#[path = "support/call.rs"]
mod call;
#[cfg(feature = "topology")]
#[path = "support/free_addresses.rs"]
mod free_addresses;

use std::error::Error;
use std::fs;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Instant;

use call::{call, each_frame};
use http::Request;
use toposcope::access::{Clock, ManualClock, SystemClock};
use toposcope::inventory::Inventory;
use toposcope::model::Timestamp;
use toposcope::service::{Api, ClientAddr};
use toposcope::store::MemoryStore;

const ADDRESSES: u32 = 1_000_000;
/// Number of requests from one address before measuring starts.
///
/// They keep code and the allocator's reserve out of the figures.
const WARM_UP: u32 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    #[cfg(feature = "topology")]
    if std::env::args().any(|argument| argument == "free") {
        return free_addresses::measure();
    }
    println!("| clock | addresses | more memory, MB | at the worst moment, MB | seconds |");
    println!("|---|---|---|---|---|");
    if std::env::args().any(|argument| argument == "clock") {
        measure("goes on", Arc::new(SystemClock))
    } else {
        measure("stands still", Arc::new(ManualClock::new(Timestamp::now())))
    }
}

fn measure(name: &str, clock: Arc<dyn Clock>) -> Result<(), Box<dyn Error>> {
    let api = Api::builder(Inventory::new(MemoryStore::new()).with_clock(clock)).build();
    for _ in 0..WARM_UP {
        send(&api, 0)?;
    }
    forget_peak()?;
    let before = memory("VmRSS:")?;
    let start = Instant::now();
    for number in 1..=ADDRESSES {
        send(&api, number)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let megabytes = |kib: i64| (kib - before) as f64 * 1024.0 / 1e6;
    let (after, peak) = (megabytes(memory("VmRSS:")?), megabytes(memory("VmHWM:")?));
    println!("| {name} | {ADDRESSES} | {after:.1} | {peak:.1} | {seconds:.2} |");
    Ok(())
}

fn send(api: &Api, number: u32) -> Result<(), Box<dyn Error>> {
    let address = IpAddr::from(Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(number) << 64));
    let response =
        call(api, Request::get("/api/version").extension(ClientAddr(address)).body(String::new())?);
    let status = response.status();
    assert!(status == 200 || status == 429, "{status}");
    each_frame(response.into_body(), |_| {});
    Ok(())
}

/// Resets the peak memory counter of the process.
fn forget_peak() -> Result<(), Box<dyn Error>> {
    Ok(fs::write("/proc/self/clear_refs", "5")?)
}

/// Returns a memory figure of this process, in KiB.
fn memory(name: &str) -> Result<i64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .ok_or("the system does not report memory figures")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
