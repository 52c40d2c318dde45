use super::input::Input;
use super::response::Reply;
use super::shared::Shared;
use crate::access::Caller;
use crate::inventory::may_manage_user_api_keys;
use crate::wire::{ApiError, read_id, read_no_query, read_user_key_update};

/// `PUT /api/v1/auth/keys/{id}`, for sessions of any level.
pub(super) async fn update(
    shared: &Shared,
    caller: &Caller,
    id: &str,
    input: Input<'_>,
) -> Result<Reply, ApiError> {
    may_manage_user_api_keys(caller)?;
    let id = read_id(id)?;
    read_no_query(input.query())?;
    let request = input.request;
    let update = read_user_key_update(&input.json().await?)?;
    let caller = shared.identify_again(request).await?;
    shared.responder.value(shared.inventory.update_user_api_key_as(&caller, id, &update).await?)
}

/// `DELETE /api/v1/auth/keys/{id}`, for sessions of any level.
pub(super) async fn delete(
    shared: &Shared,
    caller: &Caller,
    id: &str,
    input: Input<'_>,
) -> Result<Reply, ApiError> {
    may_manage_user_api_keys(caller)?;
    let id = read_id(id)?;
    read_no_query(input.query())?;
    shared.inventory.delete_user_api_key_as(caller, id).await?;
    shared.responder.nothing()
}
