//! Lists, in pages or whole (`limit=0`). Whole lists and long pages are sent while they are read from the store.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderValue;
use http::request::Parts;

use crate::access::Caller;
use crate::inventory::{DocumentPages, Documents, Error, ErrorKind, PendingDocuments, Resource};
use crate::model::OrganizationId;
use crate::service::budget::Reservation;
use crate::service::input::{CURSOR, OFFSET, Paging, read_hosts_query, read_list_query};
use crate::service::response::body::{FirstChunk, Holds, ListChunk, NextChunk, ResponseBody};
#[cfg(feature = "csv")]
use crate::service::response::csv::{CustomColumns, host_columns};
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::{ApiError, catch_panic};
use crate::service::response::shape::{ListShape, Representation, Shaped};
use crate::service::response::{Outcome, Responder};
use crate::service::revocations::{RequestStart, Revocable};
use crate::service::routes::route::{Call, Pending};
use crate::service::sender::credentials::Credentials;
use crate::service::shutdown::{Shutdown, ShutdownStage};
use crate::service::state::ApiState;
#[cfg(feature = "csv")]
use crate::wire::HostQuery;
use crate::wire::Pagination;

/// `GET /api/v1/hosts`.
pub(in crate::service) fn list_hosts(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request, began) = (call.state, call.input.request, call.input.began);
        let (query, paging, fields) = read_hosts_query(request.uri.query(), &call.route.query)?;
        let representation = Representation::of_hosts(request, paging.limit == 0);
        let shape = ListShape::new(fields, representation);
        #[cfg(feature = "csv")]
        let shape = shape.or_columns(host_columns);
        let caller = &call.into_caller()?;
        // The tag is read before the list: a tag newer than its list would hide changes from the client.
        let (hosts, version) = (state.inventory.hosts(), state.responder.server_version());
        let tag = match &query.at {
            Some(_) => {
                let revisions = hosts.past_revisions(caller).await?;
                revisions.and_then(|revisions| EntityTag::of_past(revisions, caller, request, version))
            }
            None => {
                let revision = hosts.revision(caller).await?;
                revision.and_then(|revision| EntityTag::of_list(revision, caller, request, version))
            }
        };
        let tag = representation.tag(tag);
        let is_varied = paging.limit == 0 || cfg!(feature = "csv");
        let vary = |outcome: Outcome| if is_varied { outcome.vary_by_accept() } else { outcome };
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(vary(Outcome::not_modified(tag)));
        }
        let (inventory, organization) = (&state.inventory, caller.organization_id());
        // The header of a CSV names the next page, which its body does not have.
        let cached_tag = tag.as_ref().filter(|_| query.limit.is_some() && !representation.has_page_link());
        if let Some(body) = cached_tag.and_then(|tag| state.page_cache.get(tag)) {
            return Ok(vary(representation.outcome(request, body).with_tag(tag)));
        }
        let past_slot = match &query.at {
            Some(_) => Some(state.past_slots.reserve(caller.into(), 1)?),
            None => None,
        };
        #[cfg(feature = "csv")]
        let (shape, slot) = with_custom_columns(state, request, caller, &query, paging, shape).await?;
        #[cfg(not(feature = "csv"))]
        let slot = None;
        let pages = inventory.hosts().pages(caller, &query).await?;
        let pages = match past_slot {
            Some(slot) => Box::new(SlotPages { pages, _slot: slot }),
            None => pages,
        };
        let pages = Shaped { pages, shape, inventory: inventory.clone(), organization, has_begun: false };
        let sending = Sending { paging, representation, slot };
        let (body, next) = begin_list(state, caller, request, began, Box::new(pages), sending).await?;
        let body = match cached_tag {
            Some(tag) => state.page_cache.insert(tag, body),
            None => body,
        };
        Ok(vary(representation.outcome(request, body).with_tag(tag).with_next_page(next)))
    })
}

/// A list that holds a slot until it is sent.
struct SlotPages {
    pages: Box<dyn DocumentPages>,
    _slot: Reservation,
}

impl DocumentPages for SlotPages {
    fn is_finished(&self) -> bool {
        self.pages.is_finished()
    }

    fn unread(&self) -> usize {
        self.pages.unread()
    }

    fn next(&mut self) -> PendingDocuments<'_> {
        self.pages.next()
    }
}

/// Reads which custom fields the hosts of a CSV have, since its header names them. Each then has a column of its own.
///
/// Hosts that change until the CSV is read may have others, which go into the column of all. Returns the slot of a
/// whole list, so that no other list takes it between the two readings.
#[cfg(feature = "csv")]
async fn with_custom_columns(
    state: &ApiState,
    request: &Parts,
    caller: &Caller,
    query: &HostQuery,
    paging: Paging,
    shape: ListShape,
) -> Result<(ListShape, Option<Reservation>), ApiError> {
    if !shape.has_custom_columns() {
        return Ok((shape, None));
    }
    let mut pages = state.inventory.hosts().pages(caller, query).await?;
    let (mut columns, mut slot) = (CustomColumns::default(), None);
    while !pages.is_finished() && !columns.is_full() {
        let Documents { bodies, total, .. } = pages.next().await?;
        if slot.is_none() {
            check_length(state, paging, total)?;
            if paging.limit == 0 && !pages.is_finished() {
                slot = Some(state.list_slots.reserve(caller.into(), 1)?);
            }
        }
        state.check_running()?;
        let bytes = bodies.iter().map(Bytes::len).sum();
        let add = move || columns.add(&bodies).map(|()| columns);
        columns = state.inventory.offload(caller.organization_id(), bytes, add).await??;
    }
    // Reading a long list takes time.
    if slot.is_some() {
        require_caller(&state.credentials, request, caller).await?;
    }
    Ok((shape.with_custom_columns(columns), slot))
}

/// Checks that the server sends whole lists of this length.
fn check_length(state: &ApiState, paging: Paging, total: u64) -> Result<(), ApiError> {
    match state.whole_list_limit {
        Some(max) if paging.limit == 0 && total.saturating_sub(paging.offset) > max => {
            Err(ApiError::list_too_long(max))
        }
        _ => Ok(()),
    }
}

/// `GET /api/v1/{collection}`.
pub(in crate::service) fn list<T: Resource>(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, request, began) = (call.state, call.input.request, call.input.began);
        let (query, paging) = read_list_query(request.uri.query(), &call.route.query)?;
        let caller = &call.into_caller()?;
        let revision = state.inventory.records::<T>().revision(caller).await?;
        let version = state.responder.server_version();
        let tag =
            revision.and_then(|revision| EntityTag::of_personal_list(revision, caller, request, version));
        if let Some(tag) = tag.as_ref().filter(|tag| tag.matches(request)) {
            return Ok(Outcome::not_modified(tag));
        }
        let pages = Box::new(state.inventory.records::<T>().pages(caller, &query).await?);
        let sending = Sending { paging, representation: Representation::Envelope, slot: None };
        let (body, _) = begin_list(state, caller, request, began, pages, sending).await?;
        Ok(Outcome::new(body).with_tag(tag))
    })
}

/// Creates the body of a page in a shape, and the `Link` to the next page.
pub(in crate::service) async fn shaped_page(
    state: &ApiState,
    request: &Parts,
    organization: OrganizationId,
    documents: Documents,
    shape: &ListShape,
    paging: Paging,
) -> Result<(ResponseBody, Option<HeaderValue>), ApiError> {
    let documents = shape.apply(documents, &state.inventory, organization).await?;
    let next = next_page(request, shape.representation(), &documents, paging);
    let body = match shape.representation() {
        Representation::Envelope => page(state, documents, paging)?,
        _ => ResponseBody::lines(shape.with_header(documents.bodies)),
    };
    Ok((body, next))
}

/// Returns the `Link` to the next page (RFC 8288), if there is one and the body does not name it.
fn next_page(
    request: &Parts,
    representation: Representation,
    Documents { total, next, .. }: &Documents,
    Paging { limit, offset, is_by_cursor }: Paging,
) -> Option<HeaderValue> {
    if !representation.has_page_link() || limit == 0 {
        return None;
    }
    let position = if is_by_cursor {
        format!("{CURSOR}={}", next.as_ref()?)
    } else {
        let end = offset.saturating_add(limit);
        (end < *total).then(|| format!("{OFFSET}={end}"))?
    };
    let is_position = |pair: &&str| {
        let mut names = form_urlencoded::parse(pair.as_bytes()).map(|(name, _)| name);
        names.any(|name| name == CURSOR || name == OFFSET)
    };
    let given = request.uri.query().unwrap_or_default().split('&');
    let others = given.filter(|pair| !pair.is_empty() && !is_position(pair));
    let query: Vec<&str> = others.chain([position.as_str()]).collect();
    // Relative to the address of the request, whatever precedes its path.
    HeaderValue::try_from(format!("<?{}>; rel=\"next\"", query.join("&"))).ok()
}

pub(in crate::service) fn page(
    state: &ApiState,
    documents: Documents,
    paging: Paging,
) -> Result<ResponseBody, ApiError> {
    let pagination = pagination(&documents, paging, 0);
    state.responder.page(documents.bodies, &pagination)
}

/// Returns the pagination of a page whose first chunk has these documents.
fn pagination(Documents { bodies, total, next }: &Documents, paging: Paging, unread: usize) -> Pagination {
    if paging.is_by_cursor {
        Pagination::by_cursor(*total, paging.limit, next.as_ref().map(ToString::to_string))
    } else {
        Pagination::new(*total, paging.limit, paging.offset, (bodies.len() + unread) as u64)
    }
}

/// Checks the credential again.
///
/// A slow client must not receive records that the caller may no longer see.
async fn require_caller(credentials: &Credentials, request: &Parts, caller: &Caller) -> Result<(), Error> {
    let present = credentials.identify_caller(request).await?;
    if present == *caller { Ok(()) } else { Err(ErrorKind::NotAuthenticated.into()) }
}

/// A list that is being sent.
struct SentList {
    credentials: Credentials,
    responder: Responder,
    shutdown: Shutdown,
    revocable: Arc<Revocable>,
    request: Parts,
    caller: Caller,
    pages: Box<dyn DocumentPages>,
    paging: Paging,
    representation: Representation,
    /// Number of items sent so far.
    sent: u64,
    /// The pagination of a page; `None` for a whole list.
    pagination: Option<Pagination>,
}

/// How a list is sent.
pub(super) struct Sending {
    pub(super) paging: Paging,
    pub(super) representation: Representation,
    /// The slot of a whole list, if it has taken one already.
    pub(super) slot: Option<Reservation>,
}

/// Reads the first items of a list. Returns a body that streams the rest, and the `Link` to the next page.
///
/// Errors up to here get an error response; later ones abort the body. A list that these items complete is sent as an
/// ordinary page.
pub(super) async fn begin_list(
    state: &ApiState,
    caller: &Caller,
    request: &Parts,
    began: RequestStart,
    mut pages: Box<dyn DocumentPages>,
    Sending { paging, representation, slot }: Sending,
) -> Result<(ResponseBody, Option<HeaderValue>), ApiError> {
    let first = pages.next().await?;
    let next = next_page(request, representation, &first, paging);
    let is_whole = paging.limit == 0;
    check_length(state, paging, first.total)?;
    if pages.is_finished() {
        let body = match representation {
            Representation::Envelope => page(state, first, paging)?,
            _ => ResponseBody::lines(first.bodies),
        };
        return Ok((body, next));
    }
    state.check_running()?;
    let revocable = state.revocations.watch(caller.user_id(), began).await?;
    let holder = caller.into();
    let reserve = |bytes| {
        let list = match slot {
            None if is_whole => Some(state.list_slots.reserve(holder, 1)?),
            slot => slot,
        };
        let bytes = state.response_bytes.reserve(holder, bytes)?;
        Ok::<_, ApiError>(Holds { _list: list, bytes, revocable: Some(Arc::clone(&revocable)) })
    };
    let list = SentList {
        credentials: state.credentials.clone(),
        responder: state.responder.clone(),
        shutdown: state.shutdown.clone(),
        revocable: Arc::clone(&revocable),
        request: request.clone(),
        caller: caller.clone(),
        sent: first.bodies.len() as u64,
        pagination: (!is_whole).then(|| pagination(&first, paging, pages.unread())),
        pages,
        paging,
        representation,
    };
    let first = match representation {
        Representation::Envelope => FirstChunk::Documents(first.bodies),
        _ => FirstChunk::Lines(first.bodies),
    };
    Ok((ResponseBody::list(first, next_chunk(list), reserve, &state.sweeper)?, next))
}

fn next_chunk(list: SentList) -> NextChunk {
    Box::pin(async move {
        let revocable = Arc::clone(&list.revocable);
        let chunk = revocable.unless_revoked(catch_panic(pin!(list.read_next()))).await;
        chunk.unwrap_or(Ok(ListChunk::Revoked)).inspect_err(|error| {
            tracing::warn!("a list was aborted: {}", error.with_causes());
        })
    })
}

impl SentList {
    async fn read_next(mut self) -> Result<ListChunk, Error> {
        if self.pages.is_finished() && self.representation != Representation::Envelope {
            return Ok(ListChunk::Tail(Bytes::new()));
        }
        if self.pages.is_finished() {
            let tail = self.responder.tail(&self.pagination());
            return tail
                .map(ListChunk::Tail)
                .map_err(|_| Error::internal("the end of a list cannot be encoded"));
        }
        if self.shutdown.has_reached(ShutdownStage::Stopping) {
            return Ok(ListChunk::Stopped);
        }
        require_caller(&self.credentials, &self.request, &self.caller).await?;
        let page = self.pages.next().await?;
        self.sent += page.bodies.len() as u64;
        Ok(ListChunk::Documents(page.bodies, next_chunk(self)))
    }

    /// Returns the pagination of the page, or that of the items sent so far.
    ///
    /// The total of a whole list agrees with it even if items were added or deleted meanwhile.
    fn pagination(&self) -> Pagination {
        if let Some(pagination) = &self.pagination {
            return pagination.clone();
        }
        let Paging { offset, is_by_cursor, .. } = self.paging;
        if is_by_cursor {
            Pagination::by_cursor(self.sent, 0, None)
        } else {
            Pagination::new(offset + self.sent, 0, offset, self.sent)
        }
    }
}
