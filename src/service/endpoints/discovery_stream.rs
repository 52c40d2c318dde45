//! The progress of discoveries as server-sent events.

use std::collections::HashMap;
use std::fmt::Write;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use tokio::time::{Instant, sleep, timeout_at};

use crate::access::Caller;
use crate::inventory::{Error, ErrorKind, Inventory, ListOrderField, ListQuery};
use crate::model::{Discovery, DiscoveryId, NetworkId, OrderDirection};
use crate::service::input::read_stream_query;
use crate::service::response::Outcome;
use crate::service::response::body::{Events, NextEvents, ResponseBody};
use crate::service::response::error::catch_panic;
use crate::service::routes::route::{Call, Pending};
use crate::service::sender::credentials::Credentials;
use crate::service::sender::{AllowedSenders, Sender};
use crate::service::shutdown::ShutdownStage;
use crate::store::Revision;

/// The interval at which the store is checked.
const INTERVAL: Duration = Duration::from_secs(1);

/// The time after which a silent stream sends a comment. The comment keeps proxies from closing the connection.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// The time after which a stream ends and the client has to connect again.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The number of the latest changed discoveries that a stream looks at.
const MAX_LATEST: usize = 200;

/// The maximum number of concurrent streams, per user and in total.
pub(in crate::service) const MAX_STREAMS: (usize, usize) = (4, 64);

/// `GET /api/v1/discoveries/stream`.
pub(in crate::service) fn stream_discoveries(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request, access) = (call.state, call.input.request, call.route.access);
        let began = call.input.began;
        let network_id = read_stream_query(call.input.query(), &call.route.query)?;
        let caller = call.into_caller()?;
        state.check_running()?;
        let slot = state.event_slots.reserve((&caller).into(), 1)?;
        let revocable = state.revocations.watch(caller.user_id(), began).await?;
        let mut stream = DiscoveryStream {
            inventory: state.inventory.clone(),
            credentials: state.credentials.clone(),
            request: request.clone(),
            access,
            caller,
            network_id,
            revision: None,
            sent: HashMap::new(),
            silent_since: Instant::now(),
        };
        let mut first = "retry: 2000\n\n".to_owned();
        first.push_str(&stream.changes().await?);
        let next = next_events(stream);
        let (deadline, stopping) =
            (Instant::now() + LIFETIME, state.shutdown.reached(ShutdownStage::Stopping));
        // The client connects again, after the shutdown to another server.
        let end = async move {
            let over = timeout_at(deadline, stopping);
            let _reason = revocable.unless_revoked(over).await;
        };
        Ok(Outcome::events(ResponseBody::events(first.into(), next, slot, end)))
    })
}

/// A stream of discoveries that is being sent.
struct DiscoveryStream {
    inventory: Inventory,
    credentials: Credentials,
    request: Parts,
    access: AllowedSenders,
    caller: Caller,
    network_id: Option<NetworkId>,
    /// The revision up to which everything is sent; `None` if the store has none.
    revision: Option<Revision>,
    /// The latest discoveries as sent.
    sent: HashMap<DiscoveryId, Discovery>,
    silent_since: Instant,
}

fn next_events(mut stream: DiscoveryStream) -> NextEvents {
    Box::pin(async move {
        let waited = catch_panic(pin!(stream.wait())).await;
        match waited {
            Ok(events) => Events::Some(events, next_events(stream)),
            Err(error) => {
                tracing::debug!("a stream of discoveries has ended: {}", error.with_causes());
                Events::End
            }
        }
    })
}

impl DiscoveryStream {
    /// Waits until something has changed or the stream has been silent for too long.
    async fn wait(&mut self) -> Result<Bytes, Error> {
        loop {
            sleep(INTERVAL).await;
            self.require_caller().await?;
            let changes = self.changes().await?;
            if changes.is_empty() && self.silent_since.elapsed() < KEEP_ALIVE_INTERVAL {
                continue;
            }
            self.silent_since = Instant::now();
            return Ok(if changes.is_empty() { Bytes::from_static(b":\n\n") } else { changes.into() });
        }
    }

    /// Checks the credential and the scope again.
    async fn require_caller(&self) -> Result<(), Error> {
        match self.credentials.identify(self.access, &self.request).await? {
            Sender::Caller(caller) if caller == self.caller => Ok(()),
            _ => Err(ErrorKind::NotAuthenticated.into()),
        }
    }

    /// Returns the events of the discoveries changed since the previous call, the oldest change first.
    async fn changes(&mut self) -> Result<String, Error> {
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
                let json = serde_json::to_string(discovery).map_err(Error::internal)?;
                write!(events, "event: discovery\ndata: {json}\n\n").map_err(Error::internal)?;
            }
        }
        self.revision = revision;
        self.sent = latest.into_iter().map(|discovery| (discovery.id, discovery)).collect();
        Ok(events)
    }
}
