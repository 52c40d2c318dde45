//! A discovery daemon: it takes work from a service, collects over SNMP, and reports what it finds.
//!
//! ```text
//! export SNMP=community KEY=topo_d_…
//! cargo run --release --features client,collect --example daemon -- --server http://127.0.0.1:8080 --key-env KEY \
//!     --within 192.0.2.0/24 --community-env SNMP --state daemon.json
//! ```
//!
//! The key is one of a daemon (`POST /api/v1/auth/daemon`), and has the network. What may be asked, and with which secrets, is
//! decided here: the subnets of the service only narrow it, and its credentials are not used. A daemon does one work at a time,
//! because a service asks it to stop without naming the work; several daemons may serve one network.

mod args;
pub(crate) mod daemon;
#[path = "../support/failure.rs"]
mod failure;
#[path = "../collect/secrets.rs"]
mod secrets;
pub(crate) mod state;
pub(crate) mod work;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use toposcope::client::Client;

use args::{Args, usage};
use daemon::Daemon;
use failure::Failure;
use work::SystemReach;

#[tokio::main]
async fn main() -> ExitCode {
    match run(env::args_os().skip(1)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            note(&failure.to_string());
            failure.exit_code()
        }
    }
}

async fn run(arguments: impl Iterator<Item = OsString>) -> Result<(), Failure> {
    let Some(args) = Args::parse(arguments)? else {
        let written = io::stdout().write_all(usage().as_bytes());
        return written.map_err(|error| Failure::because("The help cannot be printed", &error));
    };
    let http = legacy::Client::builder(TokioExecutor::new()).build_http();
    let client = Client::new(http).with_base_url(&args.url).and_then(|client| client.with_api_key(&args.key));
    let client = client.map_err(|error| Failure::usage(error.to_string()))?;
    let mut daemon = Daemon::new(client, SystemReach, args.settings, args.state)?;
    tokio::select! {
        failure = daemon.run() => Err(failure),
        // The service hands out unfinished work again.
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

/// Prints a line to standard error.
fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
