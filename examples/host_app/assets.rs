//! Asset tags: a rule of the application, and an endpoint beside those of the API.

use axum::extract::{Path, State};
use axum::http::Response;
use toposcope::inventory::{ApplicationCode, ApplicationError, Policy, ProposedChange};
use toposcope::model::{Host, HostId};
use toposcope::service::{Admitted, Extract, ResponseBody};
use toposcope::{Api, async_trait};

/// The custom field of hosts that are registered as assets.
pub(crate) const ASSET_TAG: &str = "asset_tag";

const IN_BOOKS: ApplicationCode = ApplicationCode::new("policy.asset_in_books", 422);
const NO_TAG: ApplicationCode = ApplicationCode::new("assets.no_tag", 400);

/// A policy: hosts that are registered as assets are not deleted, and keep their
/// tags.
pub(crate) struct KeepAssets;

#[async_trait]
impl Policy for KeepAssets {
    async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        let tag = |host: Option<&Host>| host.and_then(|host| host.custom.get(ASSET_TAG).cloned());
        let before = tag(change.before());
        if before.is_none() || before == tag(change.after()) {
            return Ok(());
        }
        let message = "The host is in the books; accounting must write it off first.";
        Err(ApplicationError::new(IN_BOOKS, message).at("custom.asset_tag"))
    }
}

/// Registers a host as an asset.
pub(crate) async fn tag_host(
    State(api): State<Api>,
    admitted: Admitted,
    Extract(Path((tag, host))): Extract<Path<(String, HostId)>>,
) -> Response<ResponseBody> {
    let enter = |host: &mut Host| {
        if !tag.starts_with("A-") {
            return Err(ApplicationError::new(NO_TAG, "Tags of assets begin with `A-`.").at("tag").into());
        }
        host.custom.insert(ASSET_TAG.to_owned(), tag.clone().into());
        Ok(())
    };
    let host = api.inventory().hosts().update(admitted.caller(), host, enter).await;
    api.respond(&admitted, host)
}
