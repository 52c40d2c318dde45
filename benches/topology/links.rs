//! Links of a generated network.

use std::hint::black_box;
use std::time::{Duration, Instant};

use toposcope::topology::links::{Device, Links};

use crate::campus::campus;

const HOSTS: u32 = 10_000;
const CHANGES: usize = 200;

/// Measures the time to find all links, and the links affected by a change.
pub(crate) fn measure() {
    let hosts = campus(HOSTS);
    let claims: usize = hosts.iter().map(|(_, claims)| claims.len()).sum();
    let start = Instant::now();
    let devices: Vec<Device> = hosts.iter().map(|(host, claims)| Device::of(host, claims)).collect();
    let digest = start.elapsed();
    let mut links = Links::new(devices, &[]);
    let scratch = start.elapsed();
    let mut times: Vec<Duration> = Vec::new();
    let step = hosts.len() / CHANGES;
    for (host, claims) in hosts.iter().step_by(step) {
        let start = Instant::now();
        links.set(Device::of(black_box(host), claims.get(1..).unwrap_or_default()));
        links.set(Device::of(black_box(host), claims));
        times.push(start.elapsed() / 2);
    }
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let slowest = times.last().copied().unwrap_or_default();
    println!(
        "| links | hosts | claims | links | from scratch, ms | of it devices, ms | change, ms | slowest, ms |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    println!(
        "| links | {} | {claims} | {} | {:.0} | {:.0} | {:.2} | {:.2} |",
        hosts.len(),
        links.links().count(),
        milliseconds(scratch),
        milliseconds(digest),
        milliseconds(median),
        milliseconds(slowest)
    );
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
