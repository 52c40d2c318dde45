//! The endpoints of the history: its pages, the history of one record, and a stream of new entries.

use bytes::Bytes;
use http::request::Parts;

use super::event_stream::{EventSource, open, write_event};
use crate::access::Caller;
use crate::inventory::{ChangePage, ChangeReader, Error, ErrorKind, Inventory, Problem, Resource};
use crate::model::{Change, ChangePosition, HostId};
use crate::service::input::{read_changes_query, read_changes_stream_query, read_id};
use crate::service::response::Outcome;
use crate::service::response::body::ResponseBody;
use crate::service::response::error::ApiError;
use crate::service::routes::route::{Call, Pending};
use crate::service::state::ApiState;
use crate::wire::FeedPagination;

/// The header with the last event that a browser has received, which it sends when it connects again.
const LAST_EVENT_ID: &str = "Last-Event-ID";

/// `GET /api/v1/changes`.
pub(in crate::service) fn list_changes(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (query, limit) = read_changes_query(call.input.query(), &call.route.query)?;
        let state = call.state;
        let page = state.inventory.changes(&call.into_caller()?, &query).await?;
        feed(state, page, limit)
    })
}

/// `GET /api/v1/{collection}/{id}/history`.
pub(in crate::service) fn record_history<T: Resource>(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (query, limit) = read_changes_query(call.input.query(), &call.route.query)?;
        let state = call.state;
        let page = state.inventory.records::<T>().history(&call.into_caller()?, id, &query).await?;
        feed(state, page, limit)
    })
}

/// `GET /api/v1/hosts/{id}/history`.
pub(in crate::service) fn host_history(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id: HostId = read_id(&call.path)?;
        let (query, limit) = read_changes_query(call.input.query(), &call.route.query)?;
        let state = call.state;
        let page = state.inventory.hosts().history(&call.into_caller()?, id, &query).await?;
        feed(state, page, limit)
    })
}

/// Creates the response with a page of the history.
fn feed(state: &ApiState, page: ChangePage, limit: u64) -> Result<Outcome, ApiError> {
    let document = |change: &Change| {
        let mut text = vec![b','];
        serde_json::to_writer(&mut text, change).map_err(|_| ApiError::internal())?;
        Ok(Bytes::from(text))
    };
    let documents = page.changes.iter().map(document).collect::<Result<Vec<_>, ApiError>>()?;
    let pagination = FeedPagination { limit, has_more: page.has_more, next_cursor: page.next };
    let tail = state.responder.tail(&pagination)?;
    Ok(Outcome::new(ResponseBody::page(documents, tail)))
}

/// `GET /api/v1/changes/stream`.
pub(in crate::service) fn stream_changes(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let asked = read_changes_stream_query(call.input.query(), &call.route.query)?;
        let resumed = last_event_id(call.input.request)?;
        let is_resumed = resumed.is_some();
        // A browser that connects again sends the first address once more.
        let after = resumed.or(asked);
        let source = |inventory: Inventory, caller: Caller| Changes {
            reader: inventory.change_reader(&caller, after),
            is_resumed,
        };
        open(call, source).await
    })
}

/// The entries of the history, as they are committed.
struct Changes {
    reader: ChangeReader,
    /// Whether the position to go on from comes from the header.
    is_resumed: bool,
}

impl EventSource for Changes {
    async fn wait(&mut self) -> bool {
        self.reader.wait().await
    }

    async fn events(&mut self) -> Result<String, Error> {
        let changes = self.reader.read().await.map_err(|error| match error.kind() {
            ErrorKind::Invalid { problem, .. } if self.is_resumed => {
                Error::invalid(LAST_EVENT_ID, problem.clone())
            }
            _ => error,
        })?;
        let mut events = String::new();
        for change in &changes {
            write_event(&mut events, "change", Some(&change.position), change)?;
        }
        Ok(events)
    }
}

/// Returns the position in the header of a client that connects again.
fn last_event_id(request: &Parts) -> Result<Option<ChangePosition>, ApiError> {
    let mut values = request.headers.get_all(LAST_EVENT_ID).iter();
    let invalid = || ApiError::from(Error::invalid(LAST_EVENT_ID, Problem::InvalidFormat));
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        // A client that has received no event yet.
        (Some(value), None) if value.is_empty() => Ok(None),
        (Some(value), None) => {
            value.to_str().map(|text| Some(ChangePosition::new(text))).map_err(|_| invalid())
        }
        (Some(_), Some(_)) => Err(invalid()),
    }
}
