//! The cost of the history, and the times of reading it.
//!
//! `cargo bench --bench history` compares creations and updates of hosts with those of an inventory without history, in one run, on
//! the memory and the folder store, with one writer and with 64, and counts their instructions if valgrind is there. It then makes up a
//! history of `ENTRIES` entries (an environment variable, by default 100,000) and prints the medians of reading it. It fails if a bar
//! is missed. Arguments select parts: `instructions`, `costs`, `disk`, `readings`, `watch`. `TMPDIR` names the folder of the stores: on a disk
//! that synchronizes slowly, one in memory takes minutes instead of an hour.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark stops at its first mistake and prints"
)]

mod costs;
mod disk;
mod ground;
#[path = "../support/host.rs"]
mod host;
mod instructions;
#[path = "../support/memory.rs"]
mod memory;
mod readings;
mod watch;

use std::process::ExitCode;

use ground::Outcome;

fn main() -> Outcome<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [command, write, history] = &arguments[..]
        && command == instructions::COUNTED
    {
        instructions::be_counted(write, history)?;
        return Ok(ExitCode::SUCCESS);
    }
    let selects = |part: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == part);
    let runtime = tokio::runtime::Runtime::new()?;
    let mut is_met = true;
    if selects("instructions") {
        is_met &= instructions::measure()?;
    }
    if selects("costs") {
        is_met &= runtime.block_on(costs::measure())?;
    }
    if selects("disk") {
        is_met &= runtime.block_on(disk::measure())?;
    }
    if selects("readings") {
        is_met &= runtime.block_on(readings::measure())?;
    }
    if selects("watch") {
        is_met &= runtime.block_on(watch::measure())?;
    }
    Ok(if is_met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
