//! Measures everything that grows with the number of hosts, in process and in memory.
//!
//! These are pages in every order, from every part of the list, of subsets, with filters and in groups; updates of
//! ports and interfaces, also with concurrent readers; memory and loading. A page is reported as its ratio to a plain loop that
//! copies the same documents out of an array of the same hosts: the same bytes from the same memory, which is the
//! limit.
//!
//! `cargo bench --bench scale` measures 1,000, 100,000 and 1,000,000 hosts and needs 9 GB of free memory; `--
//! 1000 30000` sets the sizes. It prints all rows, and at the end the median and the worst of each family
//! beside its limit.

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
mod filters;
mod finding;
#[path = "../support/host.rs"]
mod host;
mod hosts;
mod lists;
mod loaded;
#[path = "../support/memory.rs"]
mod memory;
mod page;
mod passes;
mod reader;
mod report;
mod scattered;
mod terms;
mod updates;
mod whole;

use std::error::Error;

use loaded::Spread;
use memory::bytes;

/// Approximate memory per host, in bytes. It consists of the JSON, the overhead of the store, and the host's share of
/// the list.
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
        findings.extend(child::ask(size, Spread::TenWithoutTerms)?);
        found.push((size, findings));
    }
    report::print(&found);
    Ok(())
}

/// Returns the sizes, each reduced to the largest one that fits into the free memory.
fn fitting(sizes: &[usize]) -> Result<Vec<usize>, Box<dyn Error>> {
    let most = usize::try_from(bytes("/proc/meminfo", "MemAvailable:")? / ROOM)?;
    let fit = sizes.iter().map(|size| if *size <= most { *size } else { most / 10_000 * 10_000 });
    let fit: Vec<usize> = fit.filter(|size| *size > 0).collect();
    if fit != sizes {
        println!("There is no memory for {sizes:?} hosts; measured with {fit:?}.\n");
    }
    Ok(fit)
}
