use http::request::Parts;

use super::conditional::EntityTag;
use super::response::Reply;
use super::shared::Shared;
use super::whole_list;
use crate::access::Caller;
use crate::wire::{ApiError, Pagination, read_hosts_query};

/// `GET /api/v1/hosts`, for any level.
pub(super) async fn list(shared: &Shared, caller: &Caller, request: &Parts) -> Result<Reply, ApiError> {
    let (query, limit) = read_hosts_query(request.uri.query())?;
    // Told before the list is read, so that no client takes a newer list for an older one.
    let tag = entity_tag(shared, caller, request).await?;
    if let Some(tag) = tag.as_ref().filter(|tag| tag.is_known(request)) {
        return Ok(Reply::unchanged(tag));
    }
    if query.limit.is_none() {
        return Ok(whole_list::begin(shared, caller, request, &query).await?.with_tag(tag));
    }
    if let Some(body) = tag.as_ref().and_then(|tag| shared.kept_pages.find(tag)) {
        return Ok(Reply::new(body).with_tag(tag));
    }
    let page = shared.inventory.listed_hosts(caller, &query).await?;
    let pagination = Pagination::new(page.total, limit, query.offset, page.bodies.len() as u64);
    let body = shared.responder.page(page.bodies, pagination)?;
    let body = match &tag {
        Some(tag) => shared.kept_pages.keep(tag, body),
        None => body,
    };
    Ok(Reply::new(body).with_tag(tag))
}

async fn entity_tag(
    shared: &Shared,
    caller: &Caller,
    request: &Parts,
) -> Result<Option<EntityTag>, ApiError> {
    let revision = shared.inventory.hosts_revision(caller).await?;
    let server_version = shared.responder.server_version();
    Ok(revision.and_then(|revision| EntityTag::new(revision, caller, request.uri.query(), server_version)))
}
