//! Whether the store answers, for monitoring.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::error::ApiError;
use super::input::read_no_query;
use super::response::Outcome;
use super::routes::{Call, Pending};
use crate::inventory::Inventory;

/// How long the store may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a result is shared.
const SHARED_FOR: Duration = Duration::from_secs(1);

/// Whether the store answers.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "Health"))]
pub(super) struct Report {
    pub(super) success: bool,
    pub(super) data: Option<String>,
    pub(super) error: Option<&'static str>,
}

/// `GET /api/health`.
pub(super) fn health(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        read_no_query(&call.input)?;
        let state = call.state;
        let is_healthy = state.health.check(&state.inventory).await;
        let report = Report {
            success: is_healthy,
            data: is_healthy.then(|| format!("Toposcope {}", state.responder.server_version())),
            error: if is_healthy { None } else { Some("The store does not answer.") },
        };
        let body = serde_json::to_vec(&report).map(Bytes::from).map_err(|_| ApiError::internal())?;
        let status = if is_healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        Ok(Outcome::document(status, body))
    })
}

/// The latest result. Requests that come while the store is asked wait for its answer.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<Option<Checked>>);

#[derive(Clone, Copy, Debug)]
struct Checked {
    at: Duration,
    is_healthy: bool,
}

impl Health {
    /// Asks the store, unless that was done within the last second.
    async fn check(&self, inventory: &Inventory) -> bool {
        let mut latest = self.0.lock().await;
        if let Some(Checked { at, is_healthy }) = *latest
            && inventory.monotonic().saturating_sub(at) < SHARED_FOR
        {
            return is_healthy;
        }
        // Without a runtime there are no timers.
        let is_healthy = match Handle::try_current() {
            Ok(_) => timeout(PATIENCE, inventory.answers()).await.unwrap_or(false),
            Err(_) => inventory.answers().await,
        };
        *latest = Some(Checked { at: inventory.monotonic(), is_healthy });
        is_healthy
    }
}
