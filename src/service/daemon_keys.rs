use serde::Serialize;

use super::input::Input;
use super::response::Reply;
use super::shared::Shared;
use crate::access::Caller;
use crate::inventory::may_create_daemon_api_keys;
use crate::model::DaemonApiKey;
use crate::wire::{ApiError, read_daemon_key, read_no_query};

/// The one answer that shows a key.
#[derive(Serialize)]
struct Created<'k> {
    api_key: DaemonApiKey,
    key: &'k str,
}

/// `POST /api/v1/auth/daemon`, from a Member on.
pub(super) async fn create(shared: &Shared, caller: &Caller, input: Input<'_>) -> Result<Reply, ApiError> {
    may_create_daemon_api_keys(caller)?;
    read_no_query(input.query())?;
    let request = input.request;
    let new = read_daemon_key(&input.json().await?)?;
    let caller = shared.identify_again(request).await?;
    let issued = shared.inventory.create_daemon_api_key_as(&caller, new).await?;
    let api_key = DaemonApiKey { key: issued.plaintext().to_owned(), ..issued.record().clone() };
    shared.responder.value(Created { api_key, key: issued.plaintext() })
}
