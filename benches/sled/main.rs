//! Costs of the store in a folder.
//!
//! The measured parts are commits, pages, opening, disk space and memory, commits during a verification, and failed
//! logins.
//!
//! `cargo bench --bench sled` measures everything; `-- commit`, `-- page`, `-- open`, `-- size`, `-- verify`
//! and `-- login` select parts, and `-- page 1000 10000` sets the numbers of hosts. It writes several
//! gigabytes to a folder in cargo's target directory or in `TOPOSCOPE_BENCH_FOLDER`, and removes them. The
//! folder must be on a disk: a file system in memory is refused without `-- tmpfs`.

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
mod commit;
mod folder;
#[path = "../support/host.rs"]
mod host;
#[path = "../support/load.rs"]
mod load;
mod login;
#[path = "../support/memory.rs"]
mod memory;
mod opening;
mod page;
mod plain;
#[path = "../support/record.rs"]
mod record;
mod size;
mod verify;

use std::error::Error;

use folder::Folder;

fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [name, folder] = &arguments[..]
        && name == child::CHILD
    {
        return runtime.block_on(child::run(folder.into()));
    }
    let sizes: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 100_000] } else { sizes };
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let has_none = !["commit", "page", "open", "size", "verify", "login"].into_iter().any(has);
    let folder = Folder::new(has("tmpfs"))?;
    if has_none || has("commit") {
        commit::measure(&runtime, &folder)?;
    }
    if has_none || has("page") {
        page::measure(&runtime, &folder, &sizes)?;
    }
    if has_none || has("open") {
        opening::measure(&runtime, &folder, &sizes)?;
    }
    if has_none || has("size") {
        size::measure(&runtime, &folder, &sizes)?;
    }
    if has_none || has("verify") {
        verify::measure(&runtime, &folder, &sizes)?;
    }
    if has_none || has("login") {
        runtime.block_on(login::measure(&folder))?;
    }
    Ok(())
}
