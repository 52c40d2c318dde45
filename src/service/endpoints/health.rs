//! Whether the store answers, for monitoring.

use std::time::Duration;

use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::inventory::Inventory;

/// How long the store may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a result is shared.
const RESULT_LIFETIME: Duration = Duration::from_secs(1);

/// Whether the store answers.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "Health"))]
pub(in crate::service) struct HealthReport {
    pub(in crate::service) success: bool,
    pub(in crate::service) data: Option<String>,
    pub(in crate::service) error: Option<&'static str>,
}

/// The operation that the store is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) enum Check {
    Read,
    Write,
}

/// The latest results of both checks. Requests that come while the store is asked wait for its answer.
#[derive(Debug, Default)]
pub(in crate::service) struct Health {
    read: Mutex<Option<Checked>>,
    write: Mutex<Option<Checked>>,
}

#[derive(Clone, Copy, Debug)]
struct Checked {
    at: Duration,
    is_healthy: bool,
}

impl Health {
    /// Asks the store, unless that was done within the last second.
    pub(in crate::service) async fn check(&self, check: Check, inventory: &Inventory) -> bool {
        let latest = if check == Check::Write { &self.write } else { &self.read };
        let mut latest = latest.lock().await;
        if let Some(Checked { at, is_healthy }) = *latest
            && inventory.monotonic().saturating_sub(at) < RESULT_LIFETIME
        {
            return is_healthy;
        }
        let asking = async {
            match check {
                Check::Read => inventory.answers().await,
                Check::Write => inventory.accepts_writes().await,
            }
        };
        // Without a runtime there are no timers.
        let is_healthy = match Handle::try_current() {
            Ok(_) => timeout(ANSWER_TIMEOUT, asking).await.unwrap_or(false),
            Err(_) => asking.await,
        };
        *latest = Some(Checked { at: inventory.monotonic(), is_healthy });
        is_healthy
    }
}
