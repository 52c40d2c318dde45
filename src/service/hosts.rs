use super::response::Reply;
use crate::access::Caller;
use crate::inventory::Inventory;
use crate::wire::{ApiError, Pagination, read_hosts_query};

/// `GET /api/v1/hosts`, for any level.
pub(super) async fn list(
    inventory: &Inventory,
    caller: &Caller,
    query: Option<&str>,
) -> Result<Reply, ApiError> {
    let (query, limit) = read_hosts_query(query)?;
    let page = inventory.list_hosts(caller, &query).await?;
    let pagination = Pagination::new(page.total, limit, query.offset, page.documents.len() as u64);
    Ok(Reply::page(page.documents, pagination))
}
