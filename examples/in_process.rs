//! The API without a network: a request goes in, a response comes out. This is also how to test what embeds it.
//!
//! ```text
//! cargo run --example in_process
//! ```

use std::error::Error;
use std::io::{self, Write};

use http::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use http::{HeaderMap, Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Bootstrap, NewUser};
use toposcope::model::{Host, Permission};
use toposcope::{Api, Inventory, MemoryStore};
use tower::ServiceExt;
use uuid::Uuid;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Methods of the inventory need no key.
    let inventory = Inventory::new(MemoryStore::new());
    let bootstrap = Bootstrap::new("Example", "owner@example.net").network("Office");
    let start = inventory.bootstrap(bootstrap).await?;
    let (organization, network) = (start.organization, start.network);
    inventory.put_host(organization.id, printer(network.id)).await?;
    let mut member = NewUser::new(organization.id, "member@example.net", Permission::Member);
    member.password = Some("correct horse battery".to_owned());
    member.network_ids = vec![network.id];
    let member = inventory.create_user(member).await?;

    // Clones of an inventory are the same one: what the API changes is seen here, and the other way round.
    let api = Api::builder(inventory.clone()).build();
    let mut output = io::stdout().lock();

    // A browser logs in, and sends the cookie with each request from then on.
    let credentials = json!({"email": "member@example.net", "password": "correct horse battery"});
    let login = Request::post("/api/auth/login").header(CONTENT_TYPE, "application/json");
    let (headers, user) = send(&api, login.body(credentials.to_string())?).await?;
    let cookie = headers.get(SET_COOKIE).ok_or("no cookie")?.to_str()?;
    let session = cookie.split(';').next().unwrap_or_default();
    writeln!(output, "logged in: {}", text(&user, "email")?)?;

    // With the session, a key for the daemon that is to look around in the network. It is shown this once.
    let key = json!({"name": "scanner", "network_id": network.id, "tags": []});
    let create = Request::post("/api/v1/auth/daemon").header(CONTENT_TYPE, "application/json");
    let (_, created) = send(&api, create.header(COOKIE, session).body(key.to_string())?).await?;

    // What daemons report to is up to the host application. The inventory tells it which of them is there.
    let daemon = inventory.authenticate_daemon_key(text(&created, "key")?).await?;
    writeln!(output, "the daemon of {}: {}", network.name, daemon.network_id)?;

    // An application with its own users sets a `Caller` on the request. It needs neither a key nor a session.
    let scope = Scope::granted(member.permissions, member.network_ids);
    let caller = Caller::new(organization.id, member.id, member.permissions, scope);
    let list = Request::get("/api/v1/hosts?order_by=name").extension(caller);
    let (_, hosts) = send(&api, list.body(String::new())?).await?;
    writeln!(output, "hosts: {hosts:#}")?;
    Ok(())
}

/// Sends a request, and gives the headers of the answer and its `data`. Clones of an `Api` are the same one as well.
async fn send(api: &Api, request: Request<String>) -> Result<(HeaderMap, Value), Box<dyn Error>> {
    let (head, body) = api.clone().oneshot(request).await?.into_parts();
    let mut envelope: Value = serde_json::from_slice(&body.collect().await?.to_bytes())?;
    match envelope.get_mut("data") {
        Some(data) => Ok((head.headers, data.take())),
        None => Err(format!("{}: {}", head.status, text(&envelope, "error")?).into()),
    }
}

fn text<'v>(value: &'v Value, field: &str) -> Result<&'v str, Box<dyn Error>> {
    Ok(value.get(field).and_then(Value::as_str).ok_or_else(|| format!("there is no {field}"))?)
}

fn printer(network: Uuid) -> Host {
    let mut host = Host::new(network, "printer");
    host.hostname = Some("printer.example.net".to_owned());
    host
}
