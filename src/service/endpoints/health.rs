//! Whether the store answers, for monitoring.

use std::time::Duration;

use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::inventory::Inventory;

/// How long the store may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a result is shared.
const SHARED_FOR: Duration = Duration::from_secs(1);

/// Whether the store answers.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "Health"))]
pub(in crate::service) struct Report {
    pub(in crate::service) success: bool,
    pub(in crate::service) data: Option<String>,
    pub(in crate::service) error: Option<&'static str>,
}

/// The latest result. Requests that come while the store is asked wait for its answer.
#[derive(Debug, Default)]
pub(in crate::service) struct Health(Mutex<Option<Checked>>);

#[derive(Clone, Copy, Debug)]
struct Checked {
    at: Duration,
    is_healthy: bool,
}

impl Health {
    /// Asks the store, unless that was done within the last second.
    pub(in crate::service) async fn check(&self, inventory: &Inventory) -> bool {
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
