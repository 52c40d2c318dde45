//! What the example servers have in common: everything but HTTP.

mod announce;
mod args;
mod demo;
mod failure;
mod setup;
mod stop;

use std::env;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use toposcope::inventory::Inventory;
use toposcope::service::RateLimit;
use tracing::Level;

use self::announce::{advice, variables};
use self::args::{Args, Command, HELP};
use self::failure::Failure;
use self::setup::{Backend, Source};
use self::stop::Stop;

/// All that a server needs to begin.
pub(crate) struct Ready {
    /// Bound; who connects is kept waiting until the server accepts.
    pub(crate) listener: TcpListener,
    /// Filled.
    pub(crate) inventory: Inventory,
    pub(crate) server_version: String,
    pub(crate) rate_limit: Option<RateLimit>,
    /// Whether the cookie of a session is sent back over HTTPS only.
    pub(crate) secure_cookies: bool,
    pub(crate) stop: Stop,
}

/// The whole program, but for `serve`, which ends when it is asked to stop and has answered whom it has accepted.
pub(crate) fn run<F>(serve: impl FnOnce(Ready) -> F) -> ExitCode
where
    F: Future<Output = io::Result<()>>,
{
    let outcome = match Command::parse(env::args_os().skip(1)) {
        Ok(Command::Help) => {
            print(&format!("Usage: cargo run --example {} -- [FLAG]…\n\n{HELP}", env!("CARGO_CRATE_NAME")));
            Ok(())
        }
        Ok(Command::Serve(args)) => run_with(args, serve),
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            note(&failure);
            failure.exit_code()
        }
    }
}

fn run_with<F>(args: Args, serve: impl FnOnce(Ready) -> F) -> Result<(), Failure>
where
    F: Future<Output = io::Result<()>>,
{
    // The library tells what goes wrong inside it through `tracing`. Where that goes is the program's affair.
    tracing_subscriber::fmt().with_max_level(Level::WARN).with_writer(io::stderr).init();
    let runtime = Runtime::new().map_err(|error| Failure::because("No threads can be started", &error))?;
    let outcome = runtime.block_on(open_and_serve(args, serve));
    // A read of standard input cannot be called off, and is not waited for long.
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}

/// Whatever ends the serving, the store is closed behind it.
async fn open_and_serve<F>(args: Args, serve: impl FnOnce(Ready) -> F) -> Result<(), Failure>
where
    F: Future<Output = io::Result<()>>,
{
    let stop = Stop::listen();
    let source = Source::open(args.content.clone()).await?;
    // Before the hosts are read, which may take a while: a port in use is told at once.
    let listener = bind(&args.listen).await?;
    let backend = Backend::open(&args.store).await?;
    let inventory = Inventory::in_shared(backend.store());
    let outcome = tokio::select! {
        outcome = fill_and_serve(args, listener, inventory, source, stop.clone(), serve) => outcome,
        () = stop.grace_over() => {
            note("Some requests were not answered in time and are cut off.");
            Ok(())
        }
    };
    outcome.and(backend.close().await)
}

async fn fill_and_serve<F>(
    args: Args,
    listener: TcpListener,
    inventory: Inventory,
    source: Source,
    stop: Stop,
    serve: impl FnOnce(Ready) -> F,
) -> Result<(), Failure>
where
    F: Future<Output = io::Result<()>>,
{
    let address = listener.local_addr().map_err(|error| Failure::because("The port is not known", &error))?;
    let given = tokio::select! {
        filled = setup::fill(&inventory, source) => filled?,
        () = stop.clone().asked() => return Ok(()),
    };
    print(&variables(address, &given));
    note(advice(address, &given, args.secure_cookies));
    let Args { server_version, secure_cookies, .. } = args;
    let rate_limit = args.rate_limit.then(RateLimit::default);
    let ready = Ready { listener, inventory, server_version, rate_limit, secure_cookies, stop };
    serve(ready).await.map_err(|error| Failure::because("The server cannot go on", &error))
}

async fn bind(address: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Failure::new(format!(
            "{address} is in use by another program: choose another port with --listen (0: any free one)."
        )),
        _ => Failure::because(format_args!("{address} cannot be listened on"), &error),
    })
}

/// Prints to standard output. That nobody reads it is no reason to stop serving.
fn print(text: &str) {
    let mut output = io::stdout().lock();
    if let Err(error) = output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        note(format_args!("Standard output cannot be written to: {error}."));
    }
}

/// Prints a line to standard error. Where that is closed, there is nobody to tell.
fn note(line: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
