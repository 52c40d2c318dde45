//! The compared servers, and their request.

use std::convert::Infallible;
use std::error::Error;
use std::future::ready;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::service::TowerToHyperService;
use tempfile::TempDir;
use toposcope::inventory::Inventory;
use toposcope::service::{Api, ApiBuilder};
use toposcope::store::{Durability, Export, MemoryStore, Restore, SledStore, Store};
use tower::ServiceExt;

use crate::HOSTS;
use crate::load::load;
use crate::naive::{self, Naive};
use crate::server::Server;

/// All servers, for one page size.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) all: [Server; 7],
    /// The request as bytes.
    pub(crate) request: String,
    /// The body of every response.
    pub(crate) body: Bytes,
    folder: Arc<SledStore>,
    /// Temporary folder of the store, deleted on drop.
    _place: TempDir,
}

impl Servers {
    /// Starts all servers on one processor.
    pub(crate) async fn start(page: usize, processor: u32) -> Result<Self, Box<dyn Error>> {
        eprintln!("servers with {HOSTS} hosts, for pages of {page}");
        let memory = Arc::new(MemoryStore::new());
        let loaded = load(Arc::clone(&memory) as Arc<dyn Store>, HOSTS).await?;
        let place = TempDir::with_prefix_in("loopback-", env!("CARGO_TARGET_TMPDIR"))?;
        let folder = Arc::new(copy(&memory, &place).await?);
        let in_folder = Inventory::new(Arc::clone(&folder) as Arc<dyn Store>);
        let api = |inventory: &Inventory| Api::builder(inventory.clone()).rate_limit(None);
        let (headers, body) = ask(&api(&loaded.inventory).build(), page, &loaded.key).await?;
        let all = ask(&api(&loaded.inventory).build(), HOSTS, &loaded.key).await?.1;
        let naive = Arc::new(Naive::read(&all)?);
        let from_vector = get(naive::list_from_vector).with_state(Arc::clone(&naive));
        let naive = get(naive::list).with_state(naive);
        let axum = |handler| TowerToHyperService::new(Router::new().route("/api/v1/hosts", handler));
        let start = |name, builder: ApiBuilder| {
            Server::start(name, processor, TowerToHyperService::new(builder.build()))
        };
        let all = [
            start_bare(processor, headers, body.clone())?,
            Server::start("naive axum", processor, axum(naive))?,
            Server::start("axum, vector", processor, axum(from_vector))?,
            start("memory, kept", api(&loaded.inventory))?,
            start("folder, kept", api(&in_folder))?,
            start("memory", api(&loaded.inventory).page_cache(0))?,
            start("folder", api(&in_folder).page_cache(0))?,
        ];
        let key = &loaded.key;
        let request = format!(
            "GET /api/v1/hosts?limit={page} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\r\n"
        );
        Ok(Self { all, request, body, folder, _place: place })
    }

    pub(crate) async fn close(self) -> Result<(), Box<dyn Error>> {
        Ok(self.folder.close().await?)
    }
}

/// Copies the store to a folder.
async fn copy(memory: &MemoryStore, place: &TempDir) -> Result<SledStore, Box<dyn Error>> {
    let mut lines = Vec::new();
    Export::new().write(memory, &mut lines).await?;
    let store = SledStore::builder(place.path()).durability(Durability::Buffered).open().await?;
    Restore::new().read(&store, &lines[..]).await?;
    Ok(store)
}

async fn ask(api: &Api, page: usize, key: &str) -> Result<(HeaderMap, Bytes), Box<dyn Error>> {
    let request = Request::get(format!("/api/v1/hosts?limit={page}"))
        .header("authorization", format!("Bearer {key}"))
        .body(String::new())?;
    let (head, body) = api.clone().oneshot(request).await?.into_parts();
    Ok((head.headers, body.collect().await?.to_bytes()))
}

/// Starts a server that returns the same response to every request.
fn start_bare(processor: u32, headers: HeaderMap, body: Bytes) -> Result<Server, Box<dyn Error>> {
    let service = service_fn(move |_: Request<Incoming>| {
        let mut response = Response::new(Full::new(body.clone()));
        response.headers_mut().clone_from(&headers);
        ready(Ok::<_, Infallible>(response))
    });
    Server::start("bare hyper", processor, service)
}
