//! The import of the real inventory over HTTP, beside the import in process.

use std::error::Error;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use toposcope::access::Caller;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::server::conn::http1;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use toposcope::Api;
use toposcope::inventory::{Bootstrap, Import, ImportReport, Inventory};
use toposcope::store::MemoryStore;

const ROUNDS: usize = 5;

/// Imports all hosts repeatedly, over a connection and in process in turn. Each import replaces the hosts.
pub(crate) async fn measure(lines: &[u8]) -> Result<(), Box<dyn Error>> {
    let inventory = Inventory::new(MemoryStore::new());
    let bootstrap = || Bootstrap::new("Benchmark", "owner@example.net").rotate_key();
    let start = inventory.bootstrap(bootstrap()).await?;
    let networks = Import::new().create_missing_networks();
    inventory.hosts().import(&Caller::system(start.organization.id), lines, networks).await?;
    // A new key reaches the networks that the import has created.
    let key = inventory.bootstrap(bootstrap()).await?.issued_key.ok_or("there is no key")?;
    let caller = inventory.authenticate_user_key(key.plaintext()).await?;

    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}/api/v1/hosts/import", listener.local_addr()?);
    tokio::spawn(serve(listener, Api::builder(inventory.clone()).rate_limit(None).build()));
    let client = Client::builder(TokioExecutor::new()).build_http();
    let body = Bytes::copy_from_slice(lines);

    let (mut over_http, mut in_process) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        let request = Request::builder()
            .method(Method::POST)
            .uri(&url)
            .header(AUTHORIZATION, format!("Bearer {}", key.plaintext()))
            .header(CONTENT_TYPE, "application/x-ndjson")
            .body(Full::new(body.clone()))?;
        let response = client.request(request).await?;
        let status = response.status();
        let answer = response.into_body().collect().await?.to_bytes();
        over_http.push(begin.elapsed());
        if !status.is_success() || !String::from_utf8_lossy(&answer).contains("\"refused\":0") {
            return Err(format!("{status}: {}", String::from_utf8_lossy(&answer)).into());
        }
        let begin = Instant::now();
        let report: ImportReport = inventory.hosts().import(&caller, lines, Import::new()).await?;
        in_process.push(begin.elapsed());
        if report.refused > 0 {
            return Err(report.to_string().into());
        }
    }
    let [over_http, in_process] = [over_http, in_process].map(median);
    println!("\n| import of {:.0} MB | s, median of {ROUNDS} |\n|---|---|", lines.len() as f64 / 1e6);
    println!("| in process | {:.2} |", in_process.as_secs_f64());
    println!("| over HTTP | {:.2} |", over_http.as_secs_f64());
    println!("| ratio | {:.2} |\n", over_http.as_secs_f64() / in_process.as_secs_f64());
    Ok(())
}

async fn serve(listener: TcpListener, api: Api) {
    while let Ok((connection, _)) = listener.accept().await {
        let service = TowerToHyperService::new(api.clone());
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(connection), service));
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
