//! The list of hosts: pages, and whole lists (`limit=0`).
//!
//! A whole list is sent while it is read from the store.

use std::pin::pin;

use http::request::Parts;

use super::body::{NextPart, Part, ResponseBody};
use super::credentials;
use super::entity_tag::EntityTag;
use super::error::{ApiError, catch_panic};
use super::input::read_hosts_query;
use super::response::{Outcome, Responder};
use super::state::ApiState;
use crate::access::Caller;
use crate::inventory::{Error, ErrorKind, HostPages, HostQuery, Inventory};
use crate::wire::Pagination;

/// `GET /api/v1/hosts`, for any level.
pub(super) async fn list(state: &ApiState, caller: &Caller, request: &Parts) -> Result<Outcome, ApiError> {
    let (query, limit) = read_hosts_query(request.uri.query())?;
    // The tag is read before the list: a tag newer than its list would hide changes from the client.
    let tag = entity_tag(state, caller, request).await?;
    if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
        return Ok(Outcome::not_modified(tag));
    }
    if query.limit.is_none() {
        return Ok(begin_whole_list(state, caller, request, &query).await?.with_tag(tag));
    }
    if let Some(body) = tag.as_ref().and_then(|tag| state.page_cache.get(tag)) {
        return Ok(Outcome::new(body).with_tag(tag));
    }
    let page = state.inventory.listed_hosts(caller, &query).await?;
    let pagination = Pagination::new(page.total, limit, query.offset, page.bodies.len() as u64);
    let body = state.responder.page(page.bodies, pagination)?;
    let body = match &tag {
        Some(tag) => state.page_cache.insert(tag, body),
        None => body,
    };
    Ok(Outcome::new(body).with_tag(tag))
}

/// Returns the tag of the list's state, or `None` if the store has no revisions.
async fn entity_tag(
    state: &ApiState,
    caller: &Caller,
    request: &Parts,
) -> Result<Option<EntityTag>, ApiError> {
    let revision = state.inventory.hosts_revision(caller).await?;
    let server_version = state.responder.server_version();
    Ok(revision.and_then(|revision| EntityTag::new(revision, caller, request.uri.query(), server_version)))
}

/// A whole list that is being sent.
struct WholeList {
    inventory: Inventory,
    responder: Responder,
    request: Parts,
    caller: Caller,
    pages: HostPages,
    offset: u64,
    /// Number of hosts sent so far.
    sent: u64,
}

/// Reads the first hosts of a whole list and returns a body that streams the rest.
///
/// Errors up to here get an error response; later ones abort the body. A list that these hosts complete is sent as an
/// ordinary page.
async fn begin_whole_list(
    state: &ApiState,
    caller: &Caller,
    request: &Parts,
    query: &HostQuery,
) -> Result<Outcome, ApiError> {
    let mut pages = state.inventory.host_pages(caller, query);
    let first = pages.next().await?;
    if let Some(max) = state.whole_list_limit
        && first.total.saturating_sub(query.offset) > max
    {
        return Err(ApiError::list_too_long(max));
    }
    let sent = first.bodies.len() as u64;
    if pages.is_finished() {
        let pagination = Pagination::new(first.total, 0, query.offset, sent);
        return Ok(Outcome::new(state.responder.page(first.bodies, pagination)?));
    }
    let slot = state.list_slots.acquire(caller.user_id())?;
    let list = WholeList {
        inventory: state.inventory.clone(),
        responder: state.responder.clone(),
        request: request.clone(),
        caller: caller.clone(),
        pages,
        offset: query.offset,
        sent,
    };
    let body = ResponseBody::list(first.bodies, next_part(list), slot, state.whole_list_patience);
    Ok(Outcome::new(body))
}

fn next_part(list: WholeList) -> NextPart {
    Box::pin(async move {
        let part = catch_panic(pin!(list.read_next())).await;
        part.inspect_err(|error| {
            tracing::warn!("a list without a limit was aborted: {}", error.with_causes());
        })
    })
}

impl WholeList {
    async fn read_next(mut self) -> Result<Part, Error> {
        if self.pages.is_finished() {
            let tail = self.responder.tail(self.pagination());
            return tail.map(Part::Tail).map_err(|_| Error::internal("the end of a list cannot be encoded"));
        }
        self.require_caller().await?;
        let page = self.pages.next().await?;
        self.sent += page.bodies.len() as u64;
        Ok(Part::Documents(page.bodies, next_part(self)))
    }

    /// Checks the credential again.
    ///
    /// A slow client must not receive hosts that the caller may no longer see.
    async fn require_caller(&self) -> Result<(), Error> {
        let caller = credentials::identify(&self.inventory, &self.request).await?;
        if caller == self.caller { Ok(()) } else { Err(ErrorKind::NotAuthenticated.into()) }
    }

    /// Returns the pagination of the hosts sent so far.
    ///
    /// Its total agrees with the list even if hosts were added or deleted meanwhile.
    fn pagination(&self) -> Pagination {
        Pagination::new(self.offset + self.sent, 0, self.offset, self.sent)
    }
}
