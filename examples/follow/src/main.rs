//! Keeps a copy of an inventory in an SQLite database, and posts its changes.
//!
//! ```text
//! cargo run -- --url http://127.0.0.1:8080 --key-file key --database copy.sqlite
//! ```
//!
//! The server can be the example `axum`, which prints its URL and a key when it starts.

use std::convert::Infallible;
use std::env;
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};
use toposcope::client::Client;
use toposcope_follow::arguments::{Arguments, Command, HELP};
use toposcope_follow::{Database, Error, Webhook, follow, http_client};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let outcome = match Command::parse(env::args().skip(1)) {
        Ok(Command::Help) => {
            print!("{HELP}");
            Ok(())
        }
        Ok(Command::Follow(arguments)) => run(arguments).await,
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Error> {
    let Arguments { url, key, database, webhook } = arguments;
    let http = http_client();
    let client = Client::new(http.clone()).with_base_url(&url);
    let client = client.map_err(|error| Error::Other(format!("{url} at --url cannot be used: {error}")))?;
    let client = client.with_api_key(&key).map_err(|error| {
        Error::Other(format!("{error} The file at --key-file must have an API key and nothing else."))
    })?;
    let database = Database::open(&database, webhook.is_some())?;
    let webhook = webhook.map(|(url, secret)| Webhook::new(http, url, secret));
    let deliver = async {
        match &webhook {
            Some(webhook) => webhook.deliver(&database).await,
            None => std::future::pending().await,
        }
    };
    // Each of them waits only between transactions, so that no transaction is
    // interrupted.
    let failed: Result<Infallible, Error> = tokio::select! {
        outcome = follow(&client, &database) => outcome,
        outcome = deliver => outcome,
        outcome = stop() => return outcome,
    };
    failed.map(|never| match never {})
}

/// Waits for Ctrl-C, or for the SIGTERM of a service manager.
async fn stop() -> Result<(), Error> {
    let cannot = |error| Error::Other(format!("The program cannot listen for signals: {error}."));
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
    tokio::select! {
        outcome = tokio::signal::ctrl_c() => outcome.map_err(cannot)?,
        _ = terminate.recv() => {}
    }
    eprintln!("Stopped.");
    Ok(())
}
