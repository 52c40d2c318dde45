use super::input::Input;
use super::response::Reply;
use super::shared::Shared;
use crate::access::Caller;
use crate::inventory::may_update_ports;
use crate::wire::{ApiError, read_id, read_no_query, read_port_update};

/// `PUT /api/v1/ports/{id}`, from a Member on.
pub(super) async fn update(
    shared: &Shared,
    caller: &Caller,
    id: &str,
    input: Input<'_>,
) -> Result<Reply, ApiError> {
    may_update_ports(caller)?;
    let id = read_id(id)?;
    read_no_query(input.query())?;
    let request = input.request;
    let update = read_port_update(&input.json().await?)?;
    let caller = shared.identify_again(request).await?;
    shared.responder.value(shared.inventory.update_port(&caller, id, update).await?)
}
