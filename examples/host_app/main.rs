//! An application with users, tenants and routes of its own, into which the API is built.
//!
//! ```text
//! cargo run --example host_app --features axum
//! ```
//!
//! It prints a token for each of its users.

pub(crate) mod application;
mod assets;
pub(crate) mod tokens;

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;
use toposcope::access::{RandomSource, SystemClock, SystemRandom};
use toposcope::model::Permission;
use toposcope::{Inventory, MemoryStore};

use application::{ACME, Application, GLOBEX};
use tokens::Tokens;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut secret = [0; 64];
    SystemRandom.fill(&mut secret)?;
    let tokens = Tokens::new(secret, Arc::new(SystemClock));
    let (stop, stopped) = watch::channel(false);
    let inventory = Inventory::new(MemoryStore::new());
    let application = Application::open(inventory, tokens, stopped).await?;
    for (tenant, name) in [(ACME, "ann"), (GLOBEX, "gus")] {
        let token = application.log_in(tenant, name, Permission::Admin).await?;
        writeln!(io::stdout(), "{name}: http://127.0.0.1:8080/inventory, Authorization: Bearer {token}")?;
    }
    tokio::spawn(async move {
        // Service managers send SIGTERM; see `support/stop.rs`.
        let _ = tokio::signal::ctrl_c().await;
        stop.send_replace(true);
    });
    let public = TcpListener::bind("127.0.0.1:8080").await?;
    let monitoring = TcpListener::bind("127.0.0.1:9090").await?;
    Ok(application.serve(public, monitoring).await?)
}
