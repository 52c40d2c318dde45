use std::sync::Arc;

use super::api::{Api, Shared};
use super::rate_limit::{Buckets, RateLimit};
use super::response::Responder;
use crate::inventory::Inventory;

/// How an [`Api`] serves.
#[derive(Clone, Debug)]
pub struct ApiBuilder {
    inventory: Inventory,
    server_version: String,
    rate_limit: Option<RateLimit>,
}

impl ApiBuilder {
    pub(super) fn new(inventory: Inventory) -> Self {
        let server_version = env!("CARGO_PKG_VERSION").to_owned();
        Self { inventory, server_version, rate_limit: Some(RateLimit::default()) }
    }

    /// The version of the embedding application, which every response tells. Default: the version of this crate.
    #[must_use]
    pub fn server_version(self, version: impl Into<String>) -> Self {
        Self { server_version: version.into(), ..self }
    }

    /// How many requests a client may send; `None`: as many as it likes. Default: 300 a minute, bursts of 150.
    #[must_use]
    pub fn rate_limit(self, limit: impl Into<Option<RateLimit>>) -> Self {
        Self { rate_limit: limit.into(), ..self }
    }

    /// The service.
    #[must_use]
    pub fn build(self) -> Api {
        Api::new(Arc::new(Shared {
            inventory: self.inventory,
            responder: Responder::new(self.server_version),
            buckets: self.rate_limit.map(Buckets::new),
        }))
    }
}
