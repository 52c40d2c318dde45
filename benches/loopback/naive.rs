//! What one writes in an afternoon: typed hosts in an array, and a handler that serialises a page of them.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, StatusCode};
use serde::Serialize;
use toposcope::model::Host;
use toposcope::wire::{Meta, Pagination, Success};

/// The hosts in the order of the list.
#[derive(Debug)]
pub(crate) struct Naive {
    hosts: Vec<Host>,
    meta: Meta,
}

impl Naive {
    /// Out of a page with all of them.
    pub(crate) fn read(page: &[u8]) -> serde_json::Result<Self> {
        let page: Success<Vec<Host>> = serde_json::from_slice(page)?;
        Ok(Self { hosts: page.data, meta: page.meta })
    }
}

/// [`Success`] with hosts that stay where they are.
#[derive(Serialize)]
struct Envelope<'n> {
    success: bool,
    data: &'n [Host],
    meta: Meta,
}

pub(crate) async fn list(
    State(naive): State<Arc<Naive>>,
    RawQuery(query): RawQuery,
) -> Result<([(HeaderName, &'static str); 3], Vec<u8>), StatusCode> {
    let query = query.unwrap_or_default();
    let limit = query.strip_prefix("limit=").and_then(|limit| limit.parse().ok());
    let limit: usize = limit.ok_or(StatusCode::BAD_REQUEST)?;
    let data = &naive.hosts[..limit.min(naive.hosts.len())];
    let mut meta = naive.meta.clone();
    meta.pagination = Some(Pagination::new(naive.hosts.len() as u64, limit as u64, 0, data.len() as u64));
    let body = serde_json::to_vec(&Envelope { success: true, data, meta })
        .map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, body))
}
