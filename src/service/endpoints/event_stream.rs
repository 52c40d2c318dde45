//! Streams of server-sent events, whatever they are about.

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use tokio::time::{Instant, timeout_at};

use crate::access::Caller;
use crate::inventory::{Error, ErrorKind, Inventory};
use crate::service::response::Outcome;
use crate::service::response::body::{Events, NextEvents, ResponseBody};
use crate::service::response::error::{ApiError, catch_panic};
use crate::service::routes::route::Call;
use crate::service::sender::credentials::Credentials;
use crate::service::sender::{AllowedSenders, Sender};
use crate::service::shutdown::ShutdownStage;

/// The time after which a silent stream sends a comment. The comment keeps proxies from closing the connection.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// The time after which a stream ends and the client has to connect again.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The maximum number of concurrent streams, per user and in total, unless the host application sets others.
pub(in crate::service) const MAX_STREAMS: (usize, usize) = (4, 64);

/// The source of the events of a stream.
pub(super) trait EventSource: Send + Sync + 'static {
    /// Waits until there may be events, for about a second at most: the caller's rights are checked after it. Returns whether
    /// there may be.
    fn wait(&mut self) -> impl Future<Output = bool> + Send;

    /// Returns the text of the events since the previous call; of the first ones, at the first call.
    fn events(&mut self) -> impl Future<Output = Result<String, Error>> + Send;
}

/// Answers a request with a stream of events.
///
/// # Errors
/// The errors of the first events; `rate_limit_exceeded` if too many streams are open.
pub(super) async fn open<S: EventSource>(
    call: Call<'_>,
    source: impl FnOnce(Inventory, Caller) -> S,
) -> Result<Outcome, ApiError> {
    let (state, request, access) = (call.state, call.input.request, call.route.access);
    let began = call.input.began;
    let caller = call.into_caller()?;
    state.check_running()?;
    let slot = state.event_slots.reserve((&caller).into(), 1)?;
    let revocable = state.revocations.watch(caller.user_id(), began).await?;
    let mut stream = EventStream {
        source: source(state.inventory.clone(), caller.clone()),
        credentials: state.credentials.clone(),
        request: request.clone(),
        access,
        caller,
        silent_since: Instant::now(),
    };
    let mut first = "retry: 2000\n\n".to_owned();
    first.push_str(&stream.source.events().await?);
    let next = next_events(stream);
    let (deadline, stopping) = (Instant::now() + LIFETIME, state.shutdown.reached(ShutdownStage::Stopping));
    // The client connects again, after the shutdown to another server.
    let end = async move {
        let over = timeout_at(deadline, stopping);
        let _reason = revocable.unless_revoked(over).await;
    };
    Ok(Outcome::events(ResponseBody::events(first.into(), next, slot, end)))
}

/// A stream that is being sent.
struct EventStream<S> {
    source: S,
    credentials: Credentials,
    request: Parts,
    access: AllowedSenders,
    caller: Caller,
    silent_since: Instant,
}

fn next_events<S: EventSource>(mut stream: EventStream<S>) -> NextEvents {
    Box::pin(async move {
        let waited = catch_panic(pin!(stream.next())).await;
        match waited {
            Ok(events) => Events::Some(events, next_events(stream)),
            Err(error) => {
                tracing::debug!("a stream of events has ended: {}", error.with_causes());
                Events::End
            }
        }
    })
}

impl<S: EventSource> EventStream<S> {
    /// Waits until there are events or the stream has been silent for too long.
    async fn next(&mut self) -> Result<Bytes, Error> {
        loop {
            let events = if self.source.wait().await { self.source.events().await? } else { String::new() };
            // Checked after reading, so that no event from after a loss of the rights is ever sent.
            self.require_caller().await?;
            if events.is_empty() && self.silent_since.elapsed() < KEEP_ALIVE_INTERVAL {
                continue;
            }
            self.silent_since = Instant::now();
            return Ok(if events.is_empty() { Bytes::from_static(b":\n\n") } else { events.into() });
        }
    }

    /// Checks the credential and the scope again.
    async fn require_caller(&self) -> Result<(), Error> {
        match self.credentials.identify(self.access, &self.request).await? {
            Sender::Caller(caller) if caller == self.caller => Ok(()),
            _ => Err(ErrorKind::NotAuthenticated.into()),
        }
    }
}

/// Adds an event with a JSON value to a text.
pub(super) fn write_event(
    events: &mut String,
    name: &str,
    id: Option<&dyn fmt::Display>,
    value: &impl serde::Serialize,
) -> Result<(), Error> {
    use fmt::Write;

    let json = serde_json::to_string(value).map_err(Error::internal)?;
    if let Some(id) = id {
        writeln!(events, "id: {id}").map_err(Error::internal)?;
    }
    write!(events, "event: {name}\ndata: {json}\n\n").map_err(Error::internal)
}
