use super::input::Input;
use super::response::Reply;
use super::shared::Shared;
use crate::access::Caller;
use crate::inventory::may_submit_referrals;
use crate::wire::{ApiError, read_no_query, read_referral};

/// `POST /api/v1/organizations/referral-source`, for sessions of any level.
pub(super) async fn submit(shared: &Shared, caller: &Caller, input: Input<'_>) -> Result<Reply, ApiError> {
    may_submit_referrals(caller)?;
    read_no_query(input.query())?;
    let request = input.request;
    let (source, other) = read_referral(&input.json().await?)?;
    let caller = shared.identify_again(request).await?;
    shared.inventory.submit_referral(&caller, &source, other.as_deref()).await?;
    shared.responder.nothing()
}
