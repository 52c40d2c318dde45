//! Time and instructions per request of the service itself, in process and on one core.
//!
//! It is measured from the complete request to the last byte of the response body. Instructions require valgrind.
//! `cargo bench --bench overhead` prints all requests. `-- check` counts the instructions of the most frequent ones and
//! fails if one exceeds the baseline in `instructions.txt`; `-- record` rewrites that file.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark stops at its first mistake and prints"
)]

#[path = "../support/call.rs"]
mod call;
mod committed;
mod count;
#[path = "../support/host.rs"]
mod host;
#[path = "../support/load.rs"]
mod load;
mod paths;
mod regression;
mod times;

use std::error::Error;
use std::process::ExitCode;

use paths::{Path, paths};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, name, requests] = &arguments[..]
        && command == count::COUNTED
    {
        count::be_counted(&find(name)?, requests.parse()?);
        return Ok(ExitCode::SUCCESS);
    }
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if has("check") {
        return regression::check();
    }
    if has("record") {
        return regression::record();
    }
    times::measure()?;
    Ok(ExitCode::SUCCESS)
}

fn find(name: &str) -> Result<Path, Box<dyn Error>> {
    let path = paths()?.into_iter().find(|path| path.name == name);
    path.ok_or_else(|| format!("unknown request {name}").into())
}
