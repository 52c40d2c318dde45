//! Pages of hosts over the loopback interface, compared with two simpler servers.
//!
//! One sends a prepared buffer, the other is handwritten.
//!
//! All servers use hyper with HTTP/1.1, run on a thread of their own, and return the same bytes:
//!
//! - bare hyper: sends a prepared buffer with the whole body;
//! - naive axum: a handler that serializes a page of typed, immutable hosts with axum's `Json`, without authentication;
//! - axum, vector: the same, serialized into a vector, which is the fastest way for typed hosts;
//! - memory, kept and folder, kept: the service on a `MemoryStore`, and on a `SledStore` with all bodies in memory. The
//!   page is always the same, so it comes from the page cache;
//! - memory and folder: the same without the page cache.
//!
//! One client measures the servers in turn, round by round, and reads each response completely. The servers run on one
//! processor and the client on another, where it never sleeps: waking it would cost a fifth of a server's work for a
//! page of 50, which does not happen with remote clients. No server has a rate limit. A ratio is the median over all
//! rounds, so that a drift in the machine's speed affects all servers alike. Processor time is that of the server's
//! thread, which on the loopback interface includes most of the kernel's work for the connection.
//!
//! `cargo bench --bench loopback` measures pages of 50 and of 1,000 hosts on 1 and on 16 connections; `-- page=50` or
//! `-- connections=1` selects, and `-- rounds=21` sets the number of rounds. It requires Linux, for processor times of
//! threads, and `taskset`.

#![allow(
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a benchmark stops at its first mistake and prints"
)]

mod client;
mod connection;
#[path = "../support/host.rs"]
mod host;
#[allow(dead_code, reason = "no request is limited to one network")]
#[path = "../support/load.rs"]
mod load;
mod naive;
mod processor;
mod round;
mod server;
mod servers;
mod table;

use std::error::Error;

use tokio::runtime;

use processor::{Processors, keep_on};
use round::Rounds;
use servers::Servers;

/// Number of hosts in the inventory.
const HOSTS: usize = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let processors = Processors::find()?;
    keep_on(processors.client)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    table::print_head();
    let mut all = Vec::new();
    for page in chosen(&arguments, "page", &[50, HOSTS])? {
        let servers = runtime.block_on(Servers::start(page, processors.servers))?;
        for connections in chosen(&arguments, "connections", &[1, 16])? {
            let count = chosen(&arguments, "rounds", &[9])?[0];
            let rounds = Rounds::measure(&servers, connections, count)?;
            table::print_rows(page, connections, &rounds);
            all.push(rounds);
        }
        runtime.block_on(servers.close())?;
    }
    table::print_worst(&all);
    Ok(())
}

/// Returns the numbers given for a name in the arguments, or the defaults.
fn chosen(arguments: &[String], name: &str, usual: &[usize]) -> Result<Vec<usize>, Box<dyn Error>> {
    let values = arguments.iter().filter_map(|argument| argument.split_once('='));
    let mut numbers = Vec::new();
    for (_, value) in values.filter(|(given, _)| *given == name) {
        numbers.push(value.parse()?);
    }
    Ok(if numbers.is_empty() { usual.to_vec() } else { numbers })
}
