//! The parts that the example servers share: everything except HTTP.

mod announce;
mod args;
mod demo;
mod failure;
#[cfg(feature = "discovery")]
mod reports;
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
use toposcope::service::{Api, ClientAddressSource, RateLimit, SessionCookie, SessionCookieError};
use tracing::Level;

use self::announce::{advice, variables};
use self::args::{Args, Command, HELP};
use self::failure::Failure;
use self::setup::{Backend, Source};
use self::stop::Stop;

/// The parts that a server needs to start.
pub(crate) struct Ready {
    /// Bound listener; connections wait until the server accepts them.
    pub(crate) listener: TcpListener,
    /// Inventory, already filled.
    pub(crate) inventory: Inventory,
    /// The path below which everything is served; empty: none.
    pub(crate) prefix: String,
    pub(crate) stop: Stop,
    server_version: String,
    rate_limit: Option<RateLimit>,
    secure_cookies: bool,
    proxies: usize,
    origins: Vec<String>,
}

impl Ready {
    /// Builds the API. `peer` finds the address of the peer of a connection.
    pub(crate) fn api(&self, peer: ClientAddressSource) -> io::Result<Api> {
        // Without client addresses, all clients without a key share one rate limit. Behind a reverse proxy, the peer is the
        // proxy.
        let client_address = match self.proxies {
            0 => peer,
            proxies => ClientAddressSource::x_forwarded_for(proxies),
        };
        let mut api = Api::builder(self.inventory.clone())
            .client_address(client_address)
            .allowed_origins(&self.origins)
            .server_version(&self.server_version)
            .rate_limit(self.rate_limit)
            .path_prefix(&self.prefix)
            .shutdown(self.stop.clone().asked())
            .session_cookie(self.cookie().map_err(io::Error::other)?)
            .map_err(io::Error::other)?;
        if !self.secure_cookies {
            api = api.insecure_cookies();
        }
        Ok(api.build())
    }

    /// Returns the session cookie, which browsers send only below the prefix.
    fn cookie(&self) -> Result<SessionCookie, SessionCookieError> {
        let cookie = SessionCookie::new();
        if self.prefix.is_empty() { Ok(cookie) } else { cookie.with_path(&self.prefix) }
    }
}

/// Runs the program. `serve` must return once it is asked to stop and has answered the accepted requests.
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
    // The library logs internal errors through `tracing`; the program decides where they go.
    tracing_subscriber::fmt().with_max_level(Level::WARN).with_writer(io::stderr).init();
    let runtime =
        Runtime::new().map_err(|error| Failure::because("Failed to start the runtime's threads", &error))?;
    let outcome = runtime.block_on(open_and_serve(args, serve));
    // A blocking read of standard input cannot be cancelled, so the shutdown waits for at most 1 s.
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}

/// Fills the inventory and serves it, and always closes the store.
async fn open_and_serve<F>(args: Args, serve: impl FnOnce(Ready) -> F) -> Result<(), Failure>
where
    F: Future<Output = io::Result<()>>,
{
    let stop = Stop::listen();
    let source = Source::open(args.content.clone()).await?;
    // Binds before reading the hosts, which may take a while, so that a port in use is reported immediately.
    let listener = bind(&args.listen).await?;
    let backend = tokio::select! {
        opened = Backend::open(&args.store, Duration::MAX) => opened?,
        () = stop.clone().asked() => return Ok(()),
    };
    let inventory = Inventory::new(backend.store());
    let outcome = tokio::select! {
        outcome = fill_and_serve(args, listener, inventory, source, stop.clone(), serve) => outcome,
        () = stop.grace_over() => {
            note("Some requests did not finish in time and were aborted.");
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
    let address =
        listener.local_addr().map_err(|error| Failure::because("Failed to determine the port", &error))?;
    let given = tokio::select! {
        filled = setup::fill(&inventory, source, &args.reports, args.rotate_key) => filled?,
        () = stop.clone().asked() => return Ok(()),
    };
    print(&variables(address, &args.prefix, &given));
    note(advice(address, &args.prefix, &given, args.secure_cookies));
    let Args { server_version, secure_cookies, proxies, origins, prefix, .. } = args;
    let rate_limit = args.rate_limit.then(RateLimit::default);
    let ready = Ready {
        listener,
        inventory,
        prefix,
        stop,
        server_version,
        rate_limit,
        secure_cookies,
        proxies,
        origins,
    };
    serve(ready).await.map_err(|error| Failure::because("The server failed", &error))
}

async fn bind(address: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Failure::new(format!(
            "{address} is in use by another program. Choose another port with --listen (0 chooses a free port)."
        )),
        _ => Failure::because(format_args!("Failed to listen on {address}"), &error),
    })
}

/// Prints to standard output. An error there does not stop the server.
fn print(text: &str) {
    let mut output = io::stdout().lock();
    if let Err(error) = output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        note(format_args!("Failed to write to standard output: {error}."));
    }
}

/// Prints a line to standard error, and ignores an error if that is closed.
fn note(line: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
