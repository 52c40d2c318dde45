use super::response::Reply;
use super::shared::Shared;
use crate::wire::{ApiError, read_id, read_no_query};

/// `GET /api/v1/shares/public/{id}`, for everybody.
pub(super) async fn metadata(shared: &Shared, id: &str, query: Option<&str>) -> Result<Reply, ApiError> {
    let id = read_id(id)?;
    read_no_query(query)?;
    shared.responder.value(shared.inventory.share_metadata(id).await?)
}
