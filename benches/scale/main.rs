//! What grows with the number of hosts, in process and in memory: pages by every order, from every part of the list, of
//! subsets, of filters and in groups; updates of ports, and readers beside them; memory and loading. A page is told as the
//! ratio to a plain loop that copies the same documents out of an array of as many hosts: the same bytes from the same
//! memory, which is the limit.
//!
//! `cargo bench --bench scale` takes 1,000, 100,000 and 1,000,000 hosts, for which 9 GB of memory must be free; `-- 1000
//! 30000` sets the sizes. It prints all rows, and at the end the median and the worst of each family beside what it may be.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a benchmark stops at its first mistake and prints"
)]

#[path = "../support/call.rs"]
mod call;
mod child;
#[path = "../support/clock.rs"]
mod clock;
mod documents;
mod family;
mod filters;
mod ground;
#[path = "../support/host.rs"]
mod host;
mod hosts;
mod lists;
#[path = "../support/memory.rs"]
mod memory;
mod page;
mod passes;
mod ports;
mod reader;
mod report;
mod scattered;
mod whole;

use std::error::Error;

use ground::Spread;
use memory::bytes;

/// About what a host takes while it is measured, in bytes: its JSON, what the store has beside, and the list of it.
const ROOM: u64 = 8_800;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, size, spread] = &arguments[..]
        && command == child::CHILD
    {
        return child::run(size.parse()?, Spread::named(spread)?);
    }
    let sizes: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { fitting(&[1_000, 100_000, 1_000_000])? } else { sizes };
    let mut found = Vec::new();
    for size in sizes {
        let mut findings = child::ask(size, Spread::Ten)?;
        findings.extend(child::ask(size, Spread::Thousand)?);
        found.push((size, findings));
    }
    report::print(&found);
    Ok(())
}

/// These sizes, and instead of one for which there is no memory the largest for which there is.
fn fitting(sizes: &[usize]) -> Result<Vec<usize>, Box<dyn Error>> {
    let most = usize::try_from(bytes("/proc/meminfo", "MemAvailable:")? / ROOM)?;
    let fit = sizes.iter().map(|size| if *size <= most { *size } else { most / 10_000 * 10_000 });
    let fit: Vec<usize> = fit.filter(|size| *size > 0).collect();
    if fit != sizes {
        println!("There is no memory for {sizes:?} hosts; measured with {fit:?}.\n");
    }
    Ok(fit)
}
