//! Many hosts at once: bulk requests and imports.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, ReadBuf};

use crate::inventory::{
    Atomicity, BulkChange, BulkHost, BulkResult, Error, ErrorKind, Import, ImportReport, Inventory,
};
use crate::model::HostId;
use crate::service::input::{BodyReadError, BoxedBody, Fields, read_import_query};
use crate::service::response::error::ApiError;
use crate::service::response::shape::LINES;
use crate::service::routes::parameter::RequestContent;
use crate::service::routes::route::{Call, Pending};

/// The maximum number of concurrent bulk requests, per user and in total. Each holds its body and its hosts in memory.
pub(in crate::service) const MAX_BULK_REQUESTS: (usize, usize) = (8, 32);

/// The maximum number of concurrent imports, per user and in total. Each holds a few groups of lines in memory.
pub(in crate::service) const MAX_IMPORTS: (usize, usize) = (2, 8);

/// Size in bytes of the result for one host of a bulk request. Few are longer.
const ITEM_RESULT: usize = 256;

/// The media types of the body of an import.
pub(in crate::service) const HOST_MEDIA_TYPES: &[&str] = &[
    LINES,
    #[cfg(feature = "csv")]
    crate::csv::MEDIA_TYPE,
];

/// `POST /api/v1/hosts/bulk`.
pub(in crate::service) fn bulk_put_hosts(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let sender = call.caller()?;
        call.state.bulk_slots.check(sender.into())?;
        let (body, caller) = call.read().await?;
        let _slot = call.state.bulk_slots.reserve((&caller).into(), 1)?;
        let (size, body) = (body.len(), Bytes::from(body));
        let (inventory, content) = (&call.state.inventory, call.route.body);
        let text = body.clone();
        let split = move || split_hosts(&text, content);
        let (hosts, atomicity) = inventory.offload(caller.organization_id(), size, split).await??;
        // Each has a result, also one that changes nothing.
        call.input.room.answer().reserve(hosts.len().saturating_mul(ITEM_RESULT))?;
        let sender = &caller;
        let store = |inventory: Inventory| async move {
            let results = inventory.hosts().bulk_put(sender, hosts, atomicity).await?;
            Ok(results.into_iter().map(ItemResult::from).collect::<Vec<_>>())
        };
        call.repeatable().once(&caller, &body, store, |results| call.state.responder.value(results)).await
    })
}

/// Splits the body of a bulk request into its hosts, which are not parsed yet.
fn split_hosts(body: &Bytes, content: RequestContent) -> Result<(Vec<BulkHost>, Atomicity), ApiError> {
    let fields = Fields::read(body, content)?;
    let hosts = fields.items("hosts")?;
    let hosts = hosts.iter().map(|host| BulkHost::from_json(body.slice_ref(host.get().as_bytes())));
    let atomicity = match fields.optional("atomic")? {
        Some(false) => Atomicity::PerHost,
        Some(true) | None => Atomicity::AllOrNothing,
    };
    Ok((hosts.collect(), atomicity))
}

/// The result for one host of a bulk request.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "BulkResult"))]
pub(in crate::service) struct ItemResult {
    /// The host's position in the request, from 0.
    pub(in crate::service) index: usize,
    /// The host's id; null for a host that was not stored and had none in the request.
    pub(in crate::service) id: Option<HostId>,
    pub(in crate::service) outcome: ItemOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schemars(with = "ItemError"))]
    pub(in crate::service) error: Option<ItemError>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "BulkOutcome"))]
#[serde(rename_all = "snake_case")]
pub(in crate::service) enum ItemOutcome {
    /// A new host was created.
    Created,
    /// An existing host was replaced.
    Updated,
    /// The existing host is the same, so nothing was written.
    Unchanged,
    /// The host was not stored. `error` has the reason.
    Failed,
}

impl From<BulkChange> for ItemOutcome {
    fn from(change: BulkChange) -> Self {
        match change {
            BulkChange::Created => Self::Created,
            BulkChange::Updated => Self::Updated,
            BulkChange::Unchanged => Self::Unchanged,
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "BulkError"))]
pub(in crate::service) struct ItemError {
    #[cfg_attr(feature = "openapi", schemars(with = "crate::wire::ErrorCode"))]
    pub(in crate::service) code: String,
    pub(in crate::service) error: String,
    pub(in crate::service) params: Map<String, Value>,
}

impl From<BulkResult> for ItemResult {
    fn from(result: BulkResult) -> Self {
        let BulkResult { index, id, outcome, .. } = result;
        let (outcome, error) = match outcome {
            Ok(change) => (change.into(), None),
            Err(error) => (ItemOutcome::Failed, Some(ApiError::from(error))),
        };
        let error = error.map(|error| ItemError {
            code: error.code_text().to_owned(),
            error: error.message,
            params: error.params,
        });
        Self { index, id, outcome, error }
    }
}

/// `POST /api/v1/hosts/import`.
pub(in crate::service) fn import_hosts(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let state = call.state;
        let (network, is_dry_run) = read_import_query(call.input.query(), &call.route.query)?;
        #[cfg_attr(not(feature = "csv"), allow(unused_variables, reason = "there is only one type"))]
        let (body, media_type) = call.input.rows(HOST_MEDIA_TYPES)?;
        let input = BodyReader::new(body, state.import_body_limit);
        let sender = call.caller()?;
        let _slot = state.import_slots.reserve(sender.into(), 1)?;
        let (request, access, began) = (call.input.request, call.route.access, call.input.began);
        let caller = call.into_caller()?;
        let revocable = state.revocations.watch(caller.user_id(), began).await?;
        let revocable = &*revocable;
        let mut import = Import::new().max_line(state.inventory.max_sent_line());
        if let Some(network) = network {
            import = import.only_network(network);
        }
        if is_dry_run {
            import = import.dry_run();
        }
        #[cfg(feature = "csv")]
        if media_type != LINES {
            import = import.csv();
        }
        let import = import.identify_again(move || async move {
            if revocable.is_revoked() {
                return Err(ErrorKind::SessionExpired.into());
            }
            let sender = state.credentials.identify(access, request).await?;
            access.check(&sender)?;
            sender.into_caller()
        });
        let mut report = ImportReport::default();
        match state.inventory.import_hosts_into(&caller, input, import, &mut report).await {
            Ok(()) if report.imported == 0 && report.unchanged == 0 && report.refused > 0 => {
                Err(ApiError::import_refused(&report))
            }
            Ok(()) => state.responder.value(&report),
            Err(error) => Err(import_error(error, &report)),
        }
    })
}

/// Returns the error of an import that ended early, with the report of the lines before.
///
/// A failure to read the body is the client's fault, or that of the connection.
fn import_error(error: Error, report: &ImportReport) -> ApiError {
    let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<io::Error>());
    let of_body = cause.and_then(|cause| cause.get_ref()?.downcast_ref::<BodyReadError>());
    match (of_body, error.kind()) {
        (Some(BodyReadError::Broken(_)), _) | (None, ErrorKind::Unreadable) => ApiError::upload_incomplete(),
        (Some(of_body), _) => ApiError::from(of_body),
        // Faults of the request, such as an unknown network, are found before the first line.
        (None, _) if report.lines == 0 => return error.into(),
        (None, _) => error.into(),
    }
    .with_report(report)
}

/// A request body as a reader. The next frame is polled only once the previous one has been read.
struct BodyReader {
    body: Option<BoxedBody>,
    frame: Bytes,
    /// Number of bytes that may come; `None`: any.
    limit: Option<u64>,
    received: u64,
}

impl BodyReader {
    const fn new(body: Option<BoxedBody>, limit: Option<u64>) -> Self {
        Self { body, frame: Bytes::new(), limit, received: 0 }
    }

    fn accept(&mut self, frame: Bytes) -> io::Result<()> {
        self.received = self.received.saturating_add(frame.len() as u64);
        if self.limit.is_some_and(|limit| self.received > limit) {
            return Err(io::Error::other(BodyReadError::TooLarge(self.limit)));
        }
        self.frame = frame;
        Ok(())
    }
}

impl AsyncRead for BodyReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.frame.is_empty() {
            let Some(body) = &mut self.body else { return Poll::Ready(Ok(())) };
            match std::task::ready!(body.poll_frame(context)) {
                None => self.body = None,
                Some(Err(error)) => return Poll::Ready(Err(io::Error::other(error))),
                // Trailers are ignored.
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.accept(data)?;
                    }
                }
            }
        }
        let length = buffer.remaining().min(self.frame.len());
        buffer.put_slice(&self.frame.split_to(length));
        Poll::Ready(Ok(()))
    }
}
