//! A client of a server over HTTP, or of an `Api` in this process.
//!
//! ```text
//! cargo run --example client --features client
//! cargo run --example client --features client -- --url http://127.0.0.1:8080 --key topo_u_…
//! ```
//!
//! The server can be the example `axum`, which prints its URL and a key when it starts.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use toposcope::access::Caller;

use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use toposcope::client::{Client, HttpService};
use toposcope::inventory::{Bootstrap, HostQuery};
use toposcope::model::{Host, HostOrderField, Tag};
use toposcope::wire::ErrorCode;
use toposcope::{Api, Inventory, MemoryStore};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    match Arguments::parse(env::args().skip(1))? {
        Arguments { url: Some(url), key: Some(key) } => {
            // Any HTTP client that is a tower service works, with any layers, such as a timeout.
            let http = legacy::Client::builder(TokioExecutor::new()).build_http();
            tour(&Client::new(http).with_base_url(&url)?.with_api_key(&key)?).await
        }
        Arguments { url: None, key: None } => {
            // In process, the API itself is the service.
            let (api, key) = example_api().await?;
            tour(&Client::new(api).with_api_key(&key)?).await
        }
        _ => Err("--url and --key belong together".into()),
    }
}

async fn tour<S: HttpService>(client: &Client<S>) -> Result<(), Box<dyn Error>> {
    let mut output = io::stdout().lock();
    let versions = client.version().await?;
    writeln!(output, "server {}, API version {}", versions.server_version, versions.api_version)?;

    // All hosts by name, read page by page.
    let mut query = HostQuery::default();
    query.order_by = Some(HostOrderField::Name);
    let mut hosts = client.records::<Host>(query);
    while let Some(host) = hosts.next().await {
        let host = host?;
        writeln!(output, "{}: {} interfaces, {} ports", host.name, host.interfaces.len(), host.ports.len())?;
    }

    // The server chooses the id of a new record, and returns the record with an entity tag of its state.
    let created = client.create(&Tag::new("written by the client example")).await?;
    writeln!(output, "created the tag {:?}", created.record.name)?;

    // With that tag, an update applies only to this very state: it cannot undo the change of another client.
    let mut draft = created.record;
    draft.name = "renamed by the client example".to_owned();
    let renamed = client.update(&draft, created.tag.as_ref()).await?;
    writeln!(output, "renamed it to {:?}", renamed.record.name)?;

    // The same update again is refused, because its tag is outdated.
    match client.update(&draft, created.tag.as_ref()).await {
        Err(error) if error.code() == Some(ErrorCode::PreconditionFailed) => writeln!(output, "{error}")?,
        other => return Err(format!("an outdated update was not refused: {other:?}").into()),
    }

    client.delete::<Tag>(renamed.record.id, renamed.tag.as_ref()).await?;
    writeln!(output, "deleted it")?;
    Ok(())
}

/// Returns an API with one host, and a key for it.
async fn example_api() -> Result<(Api, String), Box<dyn Error>> {
    let inventory = Inventory::new(MemoryStore::new());
    let start = inventory.bootstrap(Bootstrap::new("Example", "me@example.net")).await?;
    inventory
        .hosts()
        .put(&Caller::system(start.organization.id), Host::new(start.network.id, "printer"))
        .await?;
    let key = start.issued_key.ok_or("only the first start issues a key")?;
    Ok((Api::builder(inventory).build(), key.plaintext().to_owned()))
}

#[derive(Default)]
struct Arguments {
    url: Option<String>,
    key: Option<String>,
}

impl Arguments {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut parsed = Self::default();
        while let Some(flag) = arguments.next() {
            let value = match flag.as_str() {
                "--url" => &mut parsed.url,
                "--key" => &mut parsed.key,
                _ => return Err(format!("Unknown flag {flag}. Known: --url, --key").into()),
            };
            *value = Some(arguments.next().ok_or_else(|| format!("{flag} needs a value"))?);
        }
        Ok(parsed)
    }
}
