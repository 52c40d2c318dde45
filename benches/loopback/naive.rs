//! What one writes in an afternoon: typed hosts, and a handler that serialises a page of them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, StatusCode};
use serde::Serialize;
use tokio::sync::RwLock;
use toposcope::model::Host;
use toposcope::wire::{Meta, Pagination, Success};

/// The hosts in the order of the list.
#[derive(Debug)]
pub(crate) struct Naive {
    hosts: RwLock<Vec<Host>>,
    meta: Meta,
}

/// The same where they never change, so that nobody has to take them out of a lock.
#[derive(Debug)]
pub(crate) struct Frozen {
    hosts: Vec<Host>,
    meta: Meta,
}

impl From<Frozen> for Naive {
    fn from(Frozen { hosts, meta }: Frozen) -> Self {
        Self { hosts: RwLock::new(hosts), meta }
    }
}

impl Frozen {
    /// Out of a page with all of them.
    pub(crate) fn read(page: &[u8]) -> serde_json::Result<Self> {
        let page: Success<Vec<Host>> = serde_json::from_slice(page)?;
        Ok(Self { hosts: page.data, meta: page.meta })
    }
}

/// [`Success`] as one has it who writes it down for this.
#[derive(Serialize)]
struct Envelope<D> {
    success: bool,
    data: D,
    meta: Meta,
}

/// What a handler of axum is commonly like: it copies what it answers out of the state and gives it to [`Json`].
pub(crate) async fn list(
    State(naive): State<Arc<Naive>>,
    RawQuery(query): RawQuery,
) -> Result<Response, StatusCode> {
    let limit = limit(query)?;
    let hosts = naive.hosts.read().await;
    let data: Vec<Host> = hosts.iter().take(limit).cloned().collect();
    let meta = meta(&naive.meta, hosts.len(), limit, data.len());
    drop(hosts);
    Ok((HEADERS, Json(Envelope { success: true, data, meta })).into_response())
}

/// What is left when nothing is copied.
pub(crate) async fn list_frozen(
    State(frozen): State<Arc<Frozen>>,
    RawQuery(query): RawQuery,
) -> Result<Response, StatusCode> {
    let limit = limit(query)?;
    let data = &frozen.hosts[..limit.min(frozen.hosts.len())];
    let meta = meta(&frozen.meta, frozen.hosts.len(), limit, data.len());
    Ok((HEADERS, Json(Envelope { success: true, data, meta })).into_response())
}

const HEADERS: [(HeaderName, &str); 2] = [(CACHE_CONTROL, "no-store"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];

fn limit(query: Option<String>) -> Result<usize, StatusCode> {
    let query = query.unwrap_or_default();
    let limit = query.strip_prefix("limit=").and_then(|limit| limit.parse().ok());
    limit.ok_or(StatusCode::BAD_REQUEST)
}

fn meta(meta: &Meta, total: usize, limit: usize, count: usize) -> Meta {
    let mut meta = meta.clone();
    meta.pagination = Some(Pagination::new(total as u64, limit as u64, 0, count as u64));
    meta
}
