use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;

use super::client_address::Clients;
use super::credentials;
use super::cross_site::CrossSite;
use super::kept_pages::KeptPages;
use super::list_slots::ListSlots;
use super::rate_limit::{Allowance, Buckets, Client};
use super::response::Responder;
use crate::access::{Caller, Credential};
use crate::inventory::{Error, Inventory};
use crate::wire::ApiError;

/// The state that all clones of an [`Api`](super::Api) share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) inventory: Inventory,
    pub(super) responder: Responder,
    pub(super) buckets: Option<Buckets>,
    pub(super) clients: Clients,
    /// Greatest size of a request body, in bytes.
    pub(super) body_limit: usize,
    pub(super) cross_site: CrossSite,
    pub(super) secure_cookies: bool,
    /// Greatest number of hosts in a list without a limit.
    pub(super) whole_list_limit: Option<u64>,
    pub(super) list_slots: Arc<ListSlots>,
    /// Time after which a list without a limit is broken off if its reader takes nothing.
    pub(super) whole_list_patience: Option<Duration>,
    pub(super) kept_pages: KeptPages,
}

impl Shared {
    /// Returns the caller, unless another site uses the caller's session.
    pub(super) fn admit(&self, caller: Result<Caller, Error>, request: &Parts) -> Result<Caller, ApiError> {
        let caller = caller?;
        if caller.credential() == Credential::Session {
            self.cross_site.check(request)?;
        }
        Ok(caller)
    }

    /// Identifies the caller again after the body has been read: a sender may take as long as it likes, and rights that the
    /// caller had at the beginning may have been withdrawn since.
    pub(super) async fn identify_again(&self, request: &Parts) -> Result<Caller, ApiError> {
        Ok(credentials::identify(&self.inventory, request).await?)
    }

    /// Takes the request out of its client's bucket, or returns `None` without a rate limit.
    pub(super) fn allowance(&self, request: &Parts, caller: Option<&Caller>) -> Option<Allowance> {
        let buckets = self.buckets.as_ref()?;
        let client = match caller {
            Some(caller) => Client::User(caller.user_id()),
            None => self.clients.prefix(request).map_or(Client::Shared, Client::Prefix),
        };
        Some(buckets.take(client, self.inventory.monotonic()))
    }
}
