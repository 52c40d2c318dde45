//! Methods for the history of an organization.
//!
//! They return pages, the history of one record, new entries as they are committed, and hosts as of a moment.

use std::fmt;

use bytes::BytesMut;
use form_urlencoded::Serializer;
use http::{HeaderName, HeaderValue, Method};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::call::{ClientCall, decode};
use super::collection::item;
use super::{Client, ClientError, Deletable, Download, EntityTag, HttpService, Recorded};
use crate::model::{Change, ChangePosition, Host, HostId};
use crate::wire::{ChangePage, ChangeQuery, FeedPagination, Moment};

const CHANGES: &str = "/api/v1/changes";
const EVENTS: &str = "text/event-stream";
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The largest page of the history.
const MAX_PAGE: usize = 1_000;

/// The envelope of a page of the history.
#[derive(Deserialize)]
struct Feed {
    data: Vec<Change>,
    meta: FeedMeta,
}

#[derive(Deserialize)]
struct FeedMeta {
    pagination: FeedPagination,
}

impl<S: HttpService> Client<S> {
    /// Returns a page of the history of the organization. Without a limit, it has up to 1,000 entries.
    ///
    /// To follow the history, take the newest position with a limit of 0, read the lists, and go on from that position.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::wire::ChangeQuery;
    /// # async fn example<S: HttpService>(client: Client<S>) -> Result<(), ClientError> {
    /// let mut query = ChangeQuery::default();
    /// loop {
    ///     let page = client.changes(&query).await?;
    ///     for change in page.changes {
    ///         println!("{}: {} {} {}", change.at, change.entity, change.name, change.action);
    ///     }
    ///     if !page.has_more {
    ///         break;
    ///     }
    ///     query.after = Some(page.next);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `position_gone` if the history no longer has the entry of a position; `validation_invalid_format` for text that is no position.
    pub async fn changes(&self, query: &ChangeQuery) -> Result<ChangePage, ClientError> {
        self.feed(CHANGES.to_owned(), query).await
    }

    /// Returns a page of the history of one record; of a host, with its parts. The filters of the query by kind and id
    /// are ignored.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::model::{Host, HostId, OrderDirection};
    /// # use toposcope::wire::ChangeQuery;
    /// # async fn example<S: HttpService>(client: Client<S>, id: HostId) -> Result<(), ClientError> {
    /// let mut newest_first = ChangeQuery::default();
    /// newest_first.order_direction = OrderDirection::Descending;
    /// for change in client.history::<Host>(id, &newest_first).await?.changes {
    ///     println!("{:?} changed {:?}", change.actor, change.fields.keys());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `entity_not_found`, `entity_access_denied`; the errors of [`changes`](Self::changes).
    pub async fn history<T: Recorded>(
        &self,
        id: T::Id,
        query: &ChangeQuery,
    ) -> Result<ChangePage, ClientError> {
        let query = ChangeQuery { entity: None, id: None, network_id: None, ..query.clone() };
        self.feed(format!("{}/history", item::<T>(id)), &query).await
    }

    /// Deletes the record with this id, and erases its names and values from the history. Works on deleted records,
    /// too.
    ///
    /// The entries stay, without names and values. Only an Owner with a session may do this. After a failure, it may be called again.
    ///
    /// # Errors
    /// `permission_denied` for others; the errors of [`delete`](Self::delete).
    pub async fn erase<T: Deletable + Recorded>(
        &self,
        id: T::Id,
        if_match: Option<&EntityTag>,
    ) -> Result<(), ClientError> {
        let path = format!("{}?erase=true", item::<T>(id));
        let call = ClientCall::new(Method::DELETE, path).if_match(if_match);
        self.value::<IgnoredAny>(call).await.map(|_| ())
    }

    async fn feed(&self, path: String, query: &ChangeQuery) -> Result<ChangePage, ClientError> {
        let call = ClientCall::get(format!("{path}?{}", query_text(query)?));
        let (parts, body) = self.send(call).await?.read(self.response_limit).await?;
        let feed: Feed = decode(&body).map_err(|error| error.with_status(parts.status))?;
        let FeedPagination { next_cursor, has_more, .. } = feed.meta.pagination;
        Ok(ChangePage::new(feed.data, next_cursor, has_more))
    }

    /// Returns a host as of a moment. Its `updated_at` is the time of its last change until then.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::model::{HostId, Timestamp};
    /// # async fn example<S: HttpService>(client: Client<S>, id: HostId, yesterday: Timestamp) -> Result<(), ClientError> {
    /// let host = client.host_at(id, &yesterday.into()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `entity_not_found` before its creation and after its deletion; `position_gone` before the history begins.
    pub async fn host_at(&self, id: HostId, at: &Moment) -> Result<Host, ClientError> {
        let query = Serializer::new(String::new()).append_pair("at", &at.to_string()).finish();
        self.value(ClientCall::get(format!("{}?{query}", item::<Host>(id)))).await
    }

    /// Follows the history from a position on; `None`: from its beginning. Each entry comes once, in their order.
    ///
    /// The server ends a stream after 15 minutes. The follower then opens the next one behind the last entry.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::model::ChangePosition;
    /// # async fn example<S: HttpService>(client: Client<S>, last: Option<ChangePosition>) -> Result<(), ClientError> {
    /// let mut changes = client.follow(last);
    /// loop {
    ///     let change = changes.next().await?;
    ///     println!("{} {}", change.entity, change.name);
    ///     // Store it with what follows from the entry, and begin there after a restart.
    ///     let position = changes.position();
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn follow(&self, after: Option<ChangePosition>) -> Follower<S> {
        Follower { client: self.clone(), position: after, stream: None, unread: BytesMut::new(), searched: 0 }
    }
}

/// Returns the query string of a page of the history.
fn query_text(query: &ChangeQuery) -> Result<String, ClientError> {
    // Every field is named, so that a new one cannot be forgotten here.
    let ChangeQuery {
        after,
        before,
        since,
        until,
        entity,
        id,
        network_id,
        actor,
        action,
        order_direction,
        limit,
    } = query;
    let text = |value: &Option<ChangePosition>| value.as_ref().map(ToString::to_string);
    let pairs = [
        ("after", text(after)),
        ("before", text(before)),
        ("since", since.as_ref().map(ToString::to_string)),
        ("until", until.as_ref().map(ToString::to_string)),
        ("entity", entity.map(|entity| entity.to_string())),
        ("id", id.map(|id| id.to_string())),
        ("network_id", network_id.map(|id| id.to_string())),
        ("actor", actor.as_ref().map(ToString::to_string)),
        ("action", action.map(|action| action.to_string())),
        ("order_direction", Some(order_direction.to_string())),
        ("limit", Some(limit.unwrap_or(MAX_PAGE).to_string())),
    ];
    let mut query = Serializer::new(String::new());
    for (name, value) in pairs {
        match value.as_deref() {
            None => {}
            // The server would leave it out.
            Some("") => return Err(ClientError::request(format!("`{name}` must not be empty."))),
            Some(value) => drop(query.append_pair(name, value)),
        }
    }
    Ok(query.finish())
}

/// The entries of the history as they are committed, read from streams of the server one after the other.
///
/// It has no timers: it does not wait before it connects again, and a connection that is silent for more than 15 seconds is
/// broken, since the server sends a comment in each of them.
pub struct Follower<S> {
    client: Client<S>,
    position: Option<ChangePosition>,
    stream: Option<Download>,
    /// Bytes of the stream that are no whole event yet.
    unread: BytesMut,
    /// The number of these bytes that have no end of an event.
    searched: usize,
}

impl<S> Follower<S> {
    /// Returns the position of the last entry, to go on from after a restart; `None`: the beginning.
    #[must_use]
    pub fn position(&self) -> Option<&ChangePosition> {
        self.position.as_ref()
    }
}

impl<S: HttpService> Follower<S> {
    /// Waits for the next entry. Dropping the future loses nothing.
    ///
    /// # Errors
    /// `position_gone` if the history no longer has the position: read the lists again, and follow from the `newest`
    /// position of the [params](ClientError::params). After any other error, the next call connects again behind the
    /// last entry; wait before it, such as for [`retry_after`](ClientError::retry_after). `rate_limit_exceeded` when
    /// too many streams are open.
    pub async fn next(&mut self) -> Result<Change, ClientError> {
        loop {
            while let Some(event) = self.take_event() {
                match decode_event(&event) {
                    Ok(Some(change)) => {
                        self.position = Some(change.position.clone());
                        return Ok(change);
                    }
                    Ok(None) => {}
                    Err(error) => {
                        // The entries behind it must not come without it.
                        self.disconnect();
                        return Err(error);
                    }
                }
            }
            if let Err(error) = self.receive().await {
                self.disconnect();
                return Err(error);
            }
        }
    }

    /// Drops the stream with its unread bytes. The next one begins behind the last entry.
    fn disconnect(&mut self) {
        self.stream = None;
        (self.unread, self.searched) = (BytesMut::new(), 0);
    }

    /// Reads on, from a new stream if there is none.
    async fn receive(&mut self) -> Result<(), ClientError> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => {
                let mut call = ClientCall::get(format!("{CHANGES}/stream"));
                if let Some(position) = &self.position {
                    let invalid =
                        |error| ClientError::request("The position is no text of a header.").caused_by(error);
                    let header = HeaderValue::from_str(position.as_str()).map_err(invalid)?;
                    call = call.header(LAST_EVENT_ID, header);
                }
                none.insert(self.client.send_for(call, EVENTS).await?.into_download())
            }
        };
        match stream.frame().await {
            None => self.disconnect(),
            Some(frame) => {
                if let Ok(bytes) = frame?.into_data() {
                    self.unread.extend_from_slice(&bytes);
                }
            }
        }
        if self.unread.len() > self.client.response_limit {
            return Err(ClientError::too_large(self.client.response_limit));
        }
        Ok(())
    }

    /// Takes the text of the next event, if it has arrived to its end.
    fn take_event(&mut self) -> Option<BytesMut> {
        // The end may have begun with the last byte.
        let from = self.searched.saturating_sub(1);
        let tail = self.unread.get(from..)?;
        let Some(place) = tail.windows(2).position(|pair| pair == b"\n\n") else {
            self.searched = self.unread.len();
            return None;
        };
        self.searched = 0;
        Some(self.unread.split_to(from + place + 2))
    }
}

/// Returns the entry of an event; `None` for comments and for events of other names.
fn decode_event(event: &[u8]) -> Result<Option<Change>, ClientError> {
    let lines = || event.split(|byte| *byte == b'\n');
    let field = |name: &[u8]| lines().find_map(|line| line.strip_prefix(name)).map(<[u8]>::trim_ascii_start);
    match (field(b"event:"), field(b"data:")) {
        (Some(b"change"), Some(data)) => decode(data).map(Some),
        _ => Ok(None),
    }
}

impl<S> fmt::Debug for Follower<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Follower").field("position", &self.position).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;
    use http::{Request, Response};
    use http_body_util::Full;
    use tower::service_fn;

    use super::*;
    use crate::client::RequestBody;

    #[tokio::test]
    async fn entry_that_cannot_be_decoded_is_asked_for_again_and_never_left_out() {
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        let service = service_fn(move |_: Request<RequestBody>| {
            let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
            let entry = |action: &str| {
                format!(
                    "event: change\ndata: {{\"position\": \"{action}\", \"at\": \"2026-08-14T12:00:14Z\", \"actor\": {{\"type\": \
                     \"System\"}}, \"action\": \"{action}\", \"entity\": \"Tag\", \"id\": \"133e671d-8ee1-51bd-903c-32657d3d8ef1\", \
                     \"network_id\": null, \"name\": \"tag\", \"fields\": {{}}}}\n\n"
                )
            };
            // At first, the server is newer than the client.
            let events = entry(if is_first { "painted" } else { "created" }) + &entry("deleted");
            let response = Response::new(Full::<Bytes>::from(events));
            let (mut parts, body) = response.into_parts();
            parts.headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static(EVENTS));
            async { Ok::<_, Infallible>(Response::from_parts(parts, body)) }
        });
        let mut follower = Client::new(service).follow(None);
        follower.next().await.unwrap_err();
        assert_eq!(follower.position(), None);
        for action in ["created", "deleted"] {
            assert_eq!(follower.next().await.unwrap().action.as_str(), action);
        }
        assert_eq!(requests.load(Ordering::Relaxed), 2);
    }
}
