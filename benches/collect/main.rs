//! Time and memory of collecting a network of many devices, with the farm and the inventory in the same process.
//!
//! `cargo bench --features collect --bench collect` serves a campus of `DEVICES` devices (an environment variable, by default
//! 10,000) with 24 interfaces, LLDP, FDB and ARP each on one UDP socket of 127.1.0.0/16, and crawls it from one address. Each row has the
//! time until the last report is stored and the links are known, the cables that were found, and the most packets of any second
//! by the counters of the farm. The bars are those of 10,000 devices on 2 cores; fewer devices have them in proportion. It fails if a bar is missed.
//!
//! Arguments select rows: `memory`, `folder`, `version3`, `again`, `line`, `size`. `WORKERS` sets the devices that are read at a time, by default
//! 128, and 2,048 on the line that loses packets; `REPORTS` sets the reports that are reconciled at once, by default 64. `TMPDIR` names the folder of the store. It runs on Linux.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]
#![allow(clippy::indexing_slicing, reason = "of lists of its own")]

#[cfg(target_os = "linux")]
mod again;
#[cfg(target_os = "linux")]
#[allow(dead_code, unused_imports, reason = "tests serve farms without a socket, too")]
#[path = "../support/farm/mod.rs"]
mod farm;
#[cfg(target_os = "linux")]
mod ground;
#[cfg(target_os = "linux")]
#[path = "../support/memory.rs"]
mod memory;
#[cfg(target_os = "linux")]
mod rows;
#[cfg(target_os = "linux")]
mod size;

use std::error::Error;
use std::process::ExitCode;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[cfg(target_os = "linux")]
fn main() -> Outcome<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if arguments.first().is_some_and(|first| first == size::FARM) {
        return size::serve().map(|()| ExitCode::SUCCESS);
    }
    let selects = |part: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == part);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut is_met = true;
    // It measures the growth of a process that has done nothing before.
    if selects("size") {
        is_met &= runtime.block_on(size::measure())?;
    }
    println!("{}", ground::HEAD);
    let mut plain = None;
    if selects("memory") {
        let time = runtime.block_on(rows::in_memory())?;
        is_met &= time.is_met;
        plain = Some(time.seconds);
    }
    if selects("folder") {
        is_met &= runtime.block_on(rows::in_a_folder())?;
    }
    if selects("version3") {
        is_met &= runtime.block_on(rows::by_version_3())?;
    }
    if selects("line") {
        is_met &= runtime.block_on(rows::on_a_bad_line(plain))?;
    }
    if selects("again") {
        is_met &= runtime.block_on(again::measure())?;
    }
    Ok(if is_met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(not(target_os = "linux"))]
fn main() -> Outcome<ExitCode> {
    Err("the farm requires Linux, whose loopback has all addresses of 127.0.0.0/8".into())
}
