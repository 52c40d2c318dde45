//! Lists, in pages or whole (`limit=0`). Whole lists are sent while they are read from the store.

use std::pin::pin;

use bytes::Bytes;
use http::request::Parts;

use crate::access::Caller;
use crate::inventory::{DocumentPages, Documents, Error, ErrorKind, Inventory, Pages, Resource};
use crate::service::input::{Paging, read_hosts_query, read_list_query};
use crate::service::response::body::{NextPart, Part, ResponseBody};
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::{ApiError, catch_panic};
use crate::service::response::shape::{Representation, Shape, Shaped};
use crate::service::response::{Outcome, Responder};
use crate::service::routes::route::{Call, Pending};
use crate::service::sender::credentials;
use crate::service::state::ApiState;
use crate::wire::Pagination;

/// `GET /api/v1/hosts`.
pub(in crate::service) fn list_hosts(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request) = (call.state, call.input.request);
        let (query, paging, fields) = read_hosts_query(request.uri.query(), &call.route.query)?;
        let representation = Representation::of(request, paging.limit == 0);
        let caller = &call.into_caller()?;
        // The tag is read before the list: a tag newer than its list would hide changes from the client.
        let revision = state.inventory.hosts_revision(caller).await?;
        let version = state.responder.server_version();
        let tag = revision.and_then(|revision| EntityTag::of_list(revision, caller, request, version));
        let tag = match representation {
            Representation::Envelope => tag,
            Representation::Lines => tag.and_then(EntityTag::of_lines),
        };
        let vary = |outcome: Outcome| if paging.limit == 0 { outcome.vary_by_accept() } else { outcome };
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(vary(Outcome::not_modified(tag)));
        }
        let (inventory, organization) = (&state.inventory, caller.organization_id());
        let shape = Shape::new(fields, representation);
        if query.limit.is_none() {
            let pages = inventory.host_pages(caller, &query).await?;
            let pages = Shaped { pages, shape, inventory: inventory.clone(), organization };
            let outcome = begin_whole_list(state, caller, request, pages, paging, representation).await?;
            return Ok(vary(outcome.with_tag(tag)));
        }
        if let Some(body) = tag.as_ref().and_then(|tag| state.page_cache.get(tag)) {
            return Ok(Outcome::new(body).with_tag(tag));
        }
        let documents = inventory.listed_hosts(caller, &query).await?;
        let documents = shape.apply(documents, inventory, organization).await?;
        let body = page(state, documents, paging)?;
        let body = match &tag {
            Some(tag) => state.page_cache.insert(tag, body),
            None => body,
        };
        Ok(Outcome::new(body).with_tag(tag))
    })
}

/// `GET /api/v1/{collection}`.
pub(in crate::service) fn list<T: Resource>(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request) = (call.state, call.input.request);
        let (query, paging) = read_list_query(request.uri.query(), &call.route.query)?;
        let caller = &call.into_caller()?;
        let revision = state.inventory.revision_of::<T>(caller).await?;
        let version = state.responder.server_version();
        let tag =
            revision.and_then(|revision| EntityTag::of_personal_list(revision, caller, request, version));
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(Outcome::not_modified(tag));
        }
        if query.limit.is_none() {
            let pages = Pages::<T>::new(&state.inventory, caller, &query);
            let representation = Representation::Envelope;
            let outcome = begin_whole_list(state, caller, request, pages, paging, representation).await?;
            return Ok(outcome.with_tag(tag));
        }
        let documents = state.inventory.list_as::<T>(caller, &query).await?.into_documents()?;
        Ok(Outcome::new(page(state, documents, paging)?).with_tag(tag))
    })
}

pub(in crate::service) fn page(
    state: &ApiState,
    documents: Documents,
    paging: Paging,
) -> Result<ResponseBody, ApiError> {
    let Documents { bodies, total, next } = documents;
    let pagination = if paging.is_by_cursor {
        Pagination::by_cursor(total, paging.limit, next.map(|next| next.to_string()))
    } else {
        Pagination::new(total, paging.limit, paging.offset, bodies.len() as u64)
    };
    state.responder.page(bodies, &pagination)
}

/// A whole list that is being sent.
struct WholeList<P> {
    inventory: Inventory,
    responder: Responder,
    request: Parts,
    caller: Caller,
    pages: P,
    paging: Paging,
    representation: Representation,
    /// Number of items sent so far.
    sent: u64,
}

/// Reads the first items of a whole list. Returns a body that streams the rest.
///
/// Errors up to here get an error response; later ones abort the body. A list that these items complete is sent as an
/// ordinary page.
pub(super) async fn begin_whole_list<P: DocumentPages>(
    state: &ApiState,
    caller: &Caller,
    request: &Parts,
    mut pages: P,
    paging: Paging,
    representation: Representation,
) -> Result<Outcome, ApiError> {
    let first = pages.next().await?;
    if let Some(max) = state.whole_list_limit
        && first.total.saturating_sub(paging.offset) > max
    {
        return Err(ApiError::list_too_long(max));
    }
    if pages.is_finished() {
        return match representation {
            Representation::Envelope => Ok(Outcome::new(page(state, first, paging)?)),
            Representation::Lines => Ok(Outcome::lines(ResponseBody::lines(first.bodies))),
        };
    }
    let slot = state.list_slots.acquire(caller.organization_id(), caller.user_id())?;
    let list = WholeList {
        inventory: state.inventory.clone(),
        responder: state.responder.clone(),
        request: request.clone(),
        caller: caller.clone(),
        pages,
        paging,
        representation,
        sent: first.bodies.len() as u64,
    };
    let (next, patience) = (next_part(list), state.patience);
    Ok(match representation {
        Representation::Envelope => Outcome::new(ResponseBody::list(first.bodies, next, slot, patience)),
        Representation::Lines => {
            Outcome::lines(ResponseBody::list_of_lines(first.bodies, next, slot, patience))
        }
    })
}

fn next_part<P: DocumentPages>(list: WholeList<P>) -> NextPart {
    Box::pin(async move {
        let part = catch_panic(pin!(list.read_next())).await;
        part.inspect_err(|error| {
            tracing::warn!("a list without a limit was aborted: {}", error.with_causes());
        })
    })
}

impl<P: DocumentPages> WholeList<P> {
    async fn read_next(mut self) -> Result<Part, Error> {
        if self.pages.is_finished() && self.representation == Representation::Lines {
            return Ok(Part::Tail(Bytes::new()));
        }
        if self.pages.is_finished() {
            let tail = self.responder.tail(&self.pagination());
            return tail.map(Part::Tail).map_err(|_| Error::internal("the end of a list cannot be encoded"));
        }
        self.require_caller().await?;
        let page = self.pages.next().await?;
        self.sent += page.bodies.len() as u64;
        Ok(Part::Documents(page.bodies, next_part(self)))
    }

    /// Checks the credential again.
    ///
    /// A slow client must not receive records that the caller may no longer see.
    async fn require_caller(&self) -> Result<(), Error> {
        let caller = credentials::identify_caller(&self.inventory, &self.request).await?;
        if caller == self.caller { Ok(()) } else { Err(ErrorKind::NotAuthenticated.into()) }
    }

    /// Returns the pagination of the items sent so far.
    ///
    /// Its total agrees with the list even if items were added or deleted meanwhile.
    fn pagination(&self) -> Pagination {
        let Paging { offset, is_by_cursor, .. } = self.paging;
        if is_by_cursor {
            Pagination::by_cursor(self.sent, 0, None)
        } else {
            Pagination::new(offset + self.sent, 0, offset, self.sent)
        }
    }
}
