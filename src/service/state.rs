use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "topology")]
use bytes::Bytes;
use http::header::COOKIE;
use http::request::Parts;

use super::budget::{Budget, Holder};
use super::endpoints::health::Health;
#[cfg(feature = "topology")]
use super::endpoints::topology::Drawings;
use super::observation::{ApiFigures, Requests};
#[cfg(feature = "openapi")]
use super::openapi::Descriptions;
use super::response::Responder;
use super::response::body::Sweeper;
use super::response::error::ApiError;
use super::response::page_cache::PageCache;
use super::revocations::Revocations;
use super::routes::endpoints::Endpoints;
use super::sender::Sender;
use super::sender::client_address::ClientPrefixes;
use super::sender::credentials::{Credentials, CrossSitePolicy};
use super::sender::rate_limit::{Allowance, BucketOwner, Buckets};
use super::shutdown::{Shutdown, ShutdownStage};
use crate::access::{ClientPrefix, Credential};
use crate::inventory::{Error, Inventory};
#[cfg(feature = "topology")]
use crate::topology::{
    Topologies,
    render::{Theme, page::FrameAncestors},
};

/// The state that all clones of an [`Api`](super::Api) share.
pub(super) struct ApiState {
    pub(super) inventory: Inventory,
    /// Counts requests.
    pub(super) requests: Requests,
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
    /// The groups of endpoints that do not exist.
    pub(super) removed: Endpoints,
    pub(super) credentials: Credentials,
    /// The path below which clients see the service; empty: none.
    pub(super) path_prefix: String,
    /// The memory for the bodies of requests.
    pub(super) bodies: Arc<Budget>,
    /// The memory for the bodies of requests that have not arrived to their end. Each organization is a holder.
    pub(super) incoming_bodies: Arc<Budget>,
    /// Maximum number of hosts in a list without a limit; `None` means any number.
    pub(super) whole_list_limit: Option<u64>,
    pub(super) list_slots: Arc<Budget>,
    /// Bytes of responses that wait for their clients.
    pub(super) response_bytes: Arc<Budget>,
    /// Slots of lists, diffs and summaries of the past.
    pub(super) past_slots: Arc<Budget>,
    /// Slots of bulk requests for hosts.
    pub(super) bulk_slots: Arc<Budget>,
    /// Slots of imports of hosts.
    pub(super) import_slots: Arc<Budget>,
    /// Maximum size of a report, in bytes.
    #[cfg(feature = "discovery")]
    pub(super) report_body_limit: usize,
    /// Slots of imports of reports.
    #[cfg(feature = "discovery")]
    pub(super) report_slots: Arc<Budget>,
    /// Bytes of reports that are being imported. A parsed report takes several times as many.
    #[cfg(feature = "discovery")]
    pub(super) report_bytes: Arc<Budget>,
    /// Rows of reports that are being merged.
    #[cfg(feature = "discovery")]
    pub(super) report_rows: Arc<Budget>,
    /// Slots of streams of events.
    pub(super) event_slots: Arc<Budget>,
    /// Time after which a request body is aborted if its client stalls; `None` means never.
    pub(super) stall_timeout: Option<Duration>,
    /// Aborts the responses whose clients stall.
    pub(super) sweeper: Arc<Sweeper>,
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
    #[cfg(feature = "topology")]
    pub(super) theme: Theme,
    pub(super) page_cache: PageCache,
    pub(super) health: Health,
    pub(super) shutdown: Shutdown,
    pub(super) revocations: Arc<Revocations>,
    #[cfg(feature = "openapi")]
    pub(super) descriptions: Descriptions,
}

impl ApiState {
    /// Returns the sender, unless another site uses the caller's session.
    ///
    /// The host application may have identified its caller by a cookie; only the host application knows. An API key is
    /// in a header that other sites cannot send.
    pub(super) fn admit(&self, sender: Result<Sender, Error>, request: &Parts) -> Result<Sender, ApiError> {
        let sender = sender?;
        let may_be_of_cookie = match &sender {
            Sender::Caller(caller) => match caller.credential() {
                Credential::Session => true,
                Credential::UserApiKey { .. } => false,
                _ => request.headers.contains_key(COOKIE),
            },
            #[cfg(feature = "discovery")]
            Sender::Daemon(_) => false,
        };
        if may_be_of_cookie {
            self.cross_site.check(request)?;
        }
        Ok(sender)
    }

    /// Returns the holder whose budgets a request uses. `prefix` is that of a client without a credential.
    pub(super) fn holder(sender: Option<&Sender>, prefix: Option<ClientPrefix>) -> Holder {
        sender.map_or_else(|| Holder::of_prefix(prefix), Sender::holder)
    }

    /// Returns the figures of the service and of its inventory.
    pub(super) fn figures(&self) -> ApiFigures {
        ApiFigures {
            requests: self.requests.figures(),
            dropped: self.requests.dropped.get(),
            store_outages: self.responder.outages(),
            slots: vec![
                self.list_slots.figures("whole_lists"),
                self.past_slots.figures("past_readings"),
                self.bulk_slots.figures("bulk_requests"),
                self.import_slots.figures("imports"),
                #[cfg(feature = "discovery")]
                self.report_slots.figures("reports"),
                self.event_slots.figures("event_streams"),
                #[cfg(feature = "topology")]
                self.drawings.slots(),
            ],
            memory: vec![
                self.bodies.figures("request_bodies"),
                self.response_bytes.figures("unread_responses"),
                #[cfg(feature = "discovery")]
                self.report_bytes.figures("reports"),
            ],
            page_cache: self.page_cache.figures(),
            inventory: self.inventory.figures(),
        }
    }

    /// Returns the budgets of the bodies of requests: of all, and of those that have not arrived to their end.
    pub(super) const fn body_budgets(&self) -> [&Arc<Budget>; 2] {
        [&self.bodies, &self.incoming_bodies]
    }

    /// Refuses work that would last, if the host application is stopping.
    ///
    /// # Errors
    /// `server_stopping`.
    pub(super) fn check_running(&self) -> Result<(), ApiError> {
        if self.shutdown.has_reached(ShutdownStage::Stopping) { Err(ApiError::stopping()) } else { Ok(()) }
    }

    /// Takes one request from the client's bucket. Returns `None` without a rate limit.
    ///
    /// `prefix` is that of a client without a credential, if it is known.
    pub(super) fn allowance(
        &self,
        sender: Option<&Sender>,
        prefix: Option<ClientPrefix>,
    ) -> Option<Allowance> {
        let buckets = self.buckets.as_ref()?;
        let client = match sender {
            Some(sender) => BucketOwner::Holder(sender.holder()),
            None => prefix.map_or(BucketOwner::Other, BucketOwner::Prefix),
        };
        Some(buckets.take(client, self.inventory.monotonic()))
    }
}
