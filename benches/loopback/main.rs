//! What the service costs on a socket: pages of hosts over the loopback, against a server that does less for them and one
//! that does more. All are hyper with HTTP/1.1, each on a thread of its own, and give the same bytes:
//!
//! - bare hyper: one buffer with the whole body, made before, with no work but to send it;
//! - naive axum: a handler with typed hosts that never change, which gives axum's `Json` the page for every request, copies
//!   nothing before and asks nobody who they are;
//! - axum, vector: the same, serialised into a vector, which is as fast as typed hosts get;
//! - memory, kept and folder, kept: the service on a `MemoryStore`, and on a `SledStore` that has read everything. The page
//!   is always the same, so that it is kept;
//! - memory and folder: the same with no page kept, each made anew of the documents in the store.
//!
//! One client on another thread asks them in turns, round by round, and reads each response to its last byte. The servers
//! are on one processor and the client on another, which never sleeps: waking it would be a fifth of what a server does for
//! a page of 50, and is none of its work where clients are on other machines. No server counts requests for a rate limit. A
//! ratio is the median of those of all rounds, so that a machine whose speed drifts drifts for all. The time of the processor
//! is that of the server's thread, which for the loopback includes most of what the system does for the connection.
//!
//! `cargo bench --bench loopback` asks for pages of 50 and of 1,000 hosts, on 1 and on 16 connections; `-- page=50`,
//! `-- connections=1` and the like choose, and `-- rounds=21` takes longer. On Linux, which tells the time of a
//! thread, with `taskset`.

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
#[allow(dead_code, reason = "nobody is asked of one network alone")]
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

/// How many hosts there are.
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

/// The numbers that the arguments give a name, or those that are usual.
fn chosen(arguments: &[String], name: &str, usual: &[usize]) -> Result<Vec<usize>, Box<dyn Error>> {
    let values = arguments.iter().filter_map(|argument| argument.split_once('='));
    let mut numbers = Vec::new();
    for (_, value) in values.filter(|(given, _)| *given == name) {
        numbers.push(value.parse()?);
    }
    Ok(if numbers.is_empty() { usual.to_vec() } else { numbers })
}
