//! Lists without a limit, which are sent while they are read from the store.

use std::pin::pin;

use http::request::Parts;

use super::ResponseBody;
use super::body::{Following, Part};
use super::contained::contain_panic;
use super::credentials;
use super::response::{Reply, Responder};
use super::shared::Shared;
use crate::access::Caller;
use crate::inventory::{Error, ErrorKind, HostPages, HostQuery, Inventory};
use crate::wire::{ApiError, Pagination};

/// A list that is being sent.
struct WholeList {
    inventory: Inventory,
    responder: Responder,
    request: Parts,
    caller: Caller,
    pages: HostPages,
    offset: u64,
    /// Number of hosts sent so far.
    given: u64,
}

/// Reads the first hosts. Errors up to then have an error response; a list of no more hosts than these is an ordinary page.
pub(super) async fn begin(
    shared: &Shared,
    caller: &Caller,
    request: &Parts,
    query: &HostQuery,
) -> Result<Reply, ApiError> {
    let mut pages = shared.inventory.host_pages(caller, query);
    let first = pages.next().await?;
    if let Some(most) = shared.whole_list_limit
        && first.total.saturating_sub(query.offset) > most
    {
        return Err(ApiError::list_too_long(most));
    }
    let given = first.bodies.len() as u64;
    if pages.is_finished() {
        let pagination = Pagination::new(first.total, 0, query.offset, given);
        return Ok(Reply::new(shared.responder.page(first.bodies, pagination)?));
    }
    let slot = shared.list_slots.take(caller.user_id())?;
    let list = WholeList {
        inventory: shared.inventory.clone(),
        responder: shared.responder.clone(),
        request: request.clone(),
        caller: caller.clone(),
        pages,
        offset: query.offset,
        given,
    };
    let body = ResponseBody::list(first.bodies, following(list), slot, shared.whole_list_patience);
    Ok(Reply::new(body))
}

fn following(list: WholeList) -> Following {
    Box::pin(async move {
        let part = contain_panic(pin!(list.read_on())).await;
        part.inspect_err(|error| tracing::warn!("a list is broken off: {}", error.with_causes()))
    })
}

impl WholeList {
    async fn read_on(mut self) -> Result<Part, Error> {
        if self.pages.is_finished() {
            let tail = self.responder.tail(self.pagination());
            return tail.map(Part::Tail).map_err(|_| Error::internal("the end of a list cannot be written"));
        }
        self.require_caller().await?;
        let page = self.pages.next().await?;
        self.given += page.bodies.len() as u64;
        Ok(Part::Documents(page.bodies, following(self)))
    }

    /// Checks the credential again: a slow reader must not receive hosts that the caller may no longer see.
    async fn require_caller(&self) -> Result<(), Error> {
        let caller = credentials::identify(&self.inventory, &self.request).await?;
        if caller == self.caller { Ok(()) } else { Err(ErrorKind::NotAuthenticated.into()) }
    }

    /// The total counts the hosts that were sent, so that it agrees with the list even if hosts were added or deleted
    /// while it was sent.
    fn pagination(&self) -> Pagination {
        Pagination::new(self.offset + self.given, 0, self.offset, self.given)
    }
}
