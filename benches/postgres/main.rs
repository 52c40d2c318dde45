//! Costs of the store in PostgreSQL: pages, commits and opening.
//!
//! The server is a private one behind a Unix socket.
//!
//! `cargo bench --features postgres --bench postgres` measures everything with 100,000 hosts; `-- page`, `-- commit`
//! and `-- open` select parts, and `-- page 1000000` sets the numbers of hosts. It needs PostgreSQL, of which it starts
//! a server of its own, with its data in the folder for temporary files.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark stops at its first mistake and prints"
)]

mod asked;
mod commit;
#[path = "../support/host.rs"]
mod host;
#[allow(dead_code, reason = "other benchmarks use the rest")]
#[path = "../support/load.rs"]
mod load;
mod opening;
mod page;
mod plain;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../../tests/support/postgres.rs"]
mod postgres;
#[allow(dead_code, reason = "other benchmarks use the rest")]
#[path = "../support/record.rs"]
mod record;

use std::error::Error;
use std::time::Duration;

use postgres::Cluster;

/// Settings that keep checkpoints of the server out of the measurements.
const SETTINGS: [&str; 4] =
    ["shared_buffers=512MB", "max_wal_size=16GB", "checkpoint_timeout=1h", "max_connections=100"];

fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<usize> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![100_000] } else { sizes };
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let has_none = !["commit", "page", "open"].into_iter().any(has);
    let Some(cluster) = Cluster::create_new(&SETTINGS) else { return Ok(()) };
    if has_none || has("commit") {
        runtime.block_on(commit::measure(&cluster))?;
    }
    if has_none || has("page") || has("open") {
        for size in sizes {
            let has_pages = has_none || has("page");
            let databases = runtime.block_on(page::Databases::fill(&cluster, size, has_pages))?;
            if has_none || has("open") {
                runtime.block_on(opening::measure(&databases.store, size))?;
            }
            runtime.block_on(page::measure(&databases, size))?;
        }
    }
    Ok(())
}

/// Returns the median of several times.
fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
