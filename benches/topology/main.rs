//! Time to find the links of a network, and of requests for its graph.
//!
//! `cargo bench --bench topology` first prints one run from scratch, in which 10,000 hosts with 30,000 claims take at
//! most 2 s. It also prints the median and the slowest of 200 changes of one host, which take at most 20 ms.
//!
//! The network is generated: sites of 2 distribution and 48 access switches, each switch with an LLDP table, a
//! forwarding database and a spanning tree. Phones announce themselves, and stations do not.
//!
//! Then it prints networks of access switches that all see each other on their uplinks. With 2,000 of them, links and
//! graph take at most 2 s from scratch and at most 50 ms after the change of one switch, and the graph at most 4 MB.
//!
//! Then it prints requests for the graph of a network of switches: unchanged (304, at most 3 µs with 1,000 hosts), from
//! the cache, beside copying as many bytes, and after one change (at most 250 ms with 10,000 hosts, without a layout).
//!
//! Last, it prints what a share costs that conceals everything of 10,000 hosts with long names: at most 1 s more than one
//! that conceals nothing.
//!
//! And it prints questions about up to 100,000 devices and 300,000 links: what must not fail (at most 300 ms from scratch, 5 ms
//! again), what breaks without a node (at most 20 ms), a path (at most 5 ms), and where one of 1,000,000 learned addresses is (at
//! most 1 ms); then the same after one change (at most 20 ms). `-- links`, `-- flat`, `-- http`, `-- redaction` and `-- paths` select parts.

#![allow(clippy::panic, clippy::print_stdout, reason = "a benchmark stops at its first mistake and prints")]

mod campus;
mod changes;
mod flat;
mod http;
mod links;
mod paths;
mod redaction;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |part: &str| arguments.iter().any(|argument| argument == part);
    let has_all = !["links", "flat", "http", "redaction", "paths"].into_iter().any(has);
    if has_all || has("links") {
        links::measure();
    }
    if has_all || has("flat") {
        flat::measure()?;
    }
    if has_all || has("http") {
        http::measure()?;
    }
    if has_all || has("redaction") {
        redaction::measure()?;
    }
    if has_all || has("paths") {
        paths::measure()?;
    }
    Ok(())
}
