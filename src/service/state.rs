use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "topology")]
use bytes::Bytes;
use http::request::Parts;
use uuid::Uuid;

use super::endpoints::health::Health;
#[cfg(feature = "topology")]
use super::endpoints::topology::Drawings;
use super::input::BodyBudget;
#[cfg(feature = "openapi")]
use super::openapi::Descriptions;
use super::response::Responder;
use super::response::error::ApiError;
use super::response::page_cache::PageCache;
use super::sender::Sender;
use super::sender::client_address::ClientPrefixes;
use super::sender::credentials::{Credentials, CrossSitePolicy};
use super::sender::rate_limit::{Allowance, Buckets, Client};
use super::slots::{Holder, Slots};
use crate::access::{ClientPrefix, Credential};
use crate::inventory::{Error, Inventory};
#[cfg(feature = "topology")]
use crate::topology::{Topologies, render::page::FrameAncestors};

/// The state that all clones of an [`Api`](super::Api) share.
pub(super) struct ApiState {
    pub(super) inventory: Inventory,
    pub(super) responder: Responder,
    /// `None` without a rate limit.
    pub(super) buckets: Option<Buckets>,
    pub(super) client_prefixes: ClientPrefixes,
    /// Maximum size of a request body, in bytes.
    pub(super) body_limit: usize,
    /// Maximum size of the body of a bulk request, in bytes.
    pub(super) bulk_body_limit: usize,
    /// Maximum size of the body of an import, in bytes; `None` means any size.
    pub(super) import_body_limit: Option<u64>,
    pub(super) cross_site: CrossSitePolicy,
    pub(super) credentials: Credentials,
    /// The path below which clients see the service; empty: none.
    pub(super) path_prefix: String,
    /// The memory for the bodies of requests.
    pub(super) bodies: Arc<BodyBudget>,
    /// Maximum number of hosts in a list without a limit; `None` means any number.
    pub(super) whole_list_limit: Option<u64>,
    pub(super) list_slots: Arc<Slots>,
    /// Bytes of responses that wait for their clients.
    pub(super) response_bytes: Arc<Slots>,
    /// Slots of bulk requests for hosts.
    pub(super) bulk_slots: Arc<Slots>,
    /// Slots of imports of hosts.
    pub(super) import_slots: Arc<Slots>,
    /// Maximum size of a report, in bytes.
    #[cfg(feature = "discovery")]
    pub(super) report_body_limit: usize,
    /// Slots of imports of reports.
    #[cfg(feature = "discovery")]
    pub(super) report_slots: Arc<Slots>,
    /// Bytes of reports that are being imported. A parsed report takes several times as many.
    #[cfg(feature = "discovery")]
    pub(super) report_bytes: Arc<Slots>,
    /// Slots of streams of events.
    #[cfg(feature = "discovery")]
    pub(super) event_slots: Arc<Slots>,
    /// Time after which a list without a limit or a request body is aborted if its client stalls; `None` means never.
    pub(super) patience: Option<Duration>,
    #[cfg(feature = "topology")]
    pub(super) topologies: Topologies,
    /// Maximum size of a graph or a file, in bytes.
    #[cfg(feature = "topology")]
    pub(super) drawing_limit: usize,
    /// Graphs and files that are being drawn.
    #[cfg(feature = "topology")]
    pub(super) drawings: Drawings<Bytes>,
    /// Graphs and pictures of shares that are being drawn.
    #[cfg(feature = "topology")]
    pub(super) shared_drawings: Drawings<[Bytes; 2]>,
    /// The sites that may show the page of a share in a frame.
    #[cfg(feature = "topology")]
    pub(super) frame_ancestors: FrameAncestors,
    pub(super) page_cache: PageCache,
    pub(super) health: Health,
    #[cfg(feature = "openapi")]
    pub(super) descriptions: Descriptions,
}

impl ApiState {
    /// Returns the sender, unless another site uses the caller's session.
    pub(super) fn admit(&self, sender: Result<Sender, Error>, request: &Parts) -> Result<Sender, ApiError> {
        let sender = sender?;
        if let Sender::Caller(caller) = &sender
            && caller.credential() == Credential::Session
        {
            self.cross_site.check(request)?;
        }
        Ok(sender)
    }

    /// Returns the organization and the user, the daemon key or the network prefix that unread responses count for.
    pub(super) fn response_holder(&self, request: &Parts, sender: Option<&Sender>) -> Holder {
        match sender {
            Some(Sender::Caller(caller)) => (caller.organization_id(), caller.user_id()),
            #[cfg(feature = "discovery")]
            Some(Sender::Daemon(daemon)) => (daemon.organization_id, daemon.key_id),
            None => (Uuid::nil(), self.client_prefixes.of(request).map_or(Uuid::nil(), ClientPrefix::id)),
        }
    }

    /// Takes one request from the client's bucket. Returns `None` without a rate limit.
    pub(super) fn allowance(&self, request: &Parts, sender: Option<&Sender>) -> Option<Allowance> {
        let buckets = self.buckets.as_ref()?;
        let client = match sender {
            Some(Sender::Caller(caller)) => Client::User(caller.user_id()),
            #[cfg(feature = "discovery")]
            Some(Sender::Daemon(daemon)) => Client::DaemonKey(daemon.key_id),
            None => self.client_prefixes.of(request).map_or(Client::Other, Client::Prefix),
        };
        Some(buckets.take(client, self.inventory.monotonic()))
    }
}
