//! The progress of discoveries as server-sent events.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::sleep;

use super::event_stream::{EventSource, open, write_event};
use crate::access::Caller;
use crate::inventory::{Error, Inventory, ListOrderField, ListQuery};
use crate::model::{Discovery, DiscoveryId, NetworkId, OrderDirection};
use crate::service::input::read_stream_query;
use crate::service::routes::route::{Call, Pending};
use crate::store::Revision;

/// The interval at which the store is asked.
const INTERVAL: Duration = Duration::from_secs(1);

/// The number of the latest changed discoveries that a stream looks at.
const MAX_LATEST: usize = 200;

/// `GET /api/v1/discoveries/stream`.
pub(in crate::service) fn stream_discoveries(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let network_id = read_stream_query(call.input.query(), &call.route.query)?;
        let source = |inventory, caller| LatestDiscoveries {
            inventory,
            caller,
            network_id,
            revision: None,
            sent: HashMap::new(),
        };
        open(call, source).await
    })
}

/// The discoveries that have changed last.
struct LatestDiscoveries {
    inventory: Inventory,
    caller: Caller,
    network_id: Option<NetworkId>,
    /// The revision up to which everything is sent; `None` if the store has none.
    revision: Option<Revision>,
    /// The latest discoveries as sent.
    sent: HashMap<DiscoveryId, Discovery>,
}

impl EventSource for LatestDiscoveries {
    /// Only the store knows whether anything has changed.
    async fn wait(&mut self) -> bool {
        sleep(INTERVAL).await;
        true
    }

    /// Returns the events of the discoveries changed since the previous call, the oldest change first.
    async fn events(&mut self) -> Result<String, Error> {
        // Read before the list: a revision newer than the list would hide changes.
        let revision = self.inventory.discovery_jobs().revision(&self.caller).await?;
        if revision.is_some() && revision == self.revision {
            return Ok(String::new());
        }
        let query = ListQuery {
            network_id: self.network_id,
            order_by: ListOrderField::UpdatedAt,
            order_direction: OrderDirection::Descending,
            limit: Some(MAX_LATEST),
            ..ListQuery::default()
        };
        let latest = self.inventory.discovery_jobs().list(&self.caller, &query).await?.records;
        let mut events = String::new();
        for discovery in latest.iter().rev() {
            if self.sent.get(&discovery.id) != Some(discovery) {
                write_event(&mut events, "discovery", None, discovery)?;
            }
        }
        self.revision = revision;
        self.sent = latest.into_iter().map(|discovery| (discovery.id, discovery)).collect();
        Ok(events)
    }
}
