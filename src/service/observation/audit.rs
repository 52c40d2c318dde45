//! The audit log: one line for each request that changes records, or was refused.
//!
//! A line has no value of a record and no secret, and of the ids of shares only the beginning.

use std::fmt::Display;
use std::sync::Arc;

use http::request::Parts;
use uuid::Uuid;

use super::span;
use crate::access::{Caller, Credential};
use crate::inventory::{ChangedRecords, begin_of};
use crate::service::input::PathParameters;
use crate::service::response::error::ApiError;
use crate::service::served::Served;

/// A request whose changes are noted for the audit log. Dropping it writes the line.
pub(in crate::service) struct Audit {
    served: Served,
    /// The id in the path.
    id: Option<Uuid>,
    changed: Arc<ChangedRecords>,
    outcome: &'static str,
}

impl Audit {
    /// Begins to note changes, if the request may make some and the log is enabled.
    pub(in crate::service) fn begin(
        request: &Parts,
        path: Option<&PathParameters<'_>>,
        served: &Served,
    ) -> Option<Self> {
        if request.method.is_safe() || !tracing::enabled!(target: "toposcope::audit", tracing::Level::INFO) {
            return None;
        }
        let id = path.and_then(|path| path.get("id")?.parse().ok());
        // The outcome unless it gets another one.
        Some(Self { served: served.clone(), id, changed: Arc::default(), outcome: "dropped" })
    }

    /// Serves the request.
    pub(in crate::service) async fn note<T>(
        mut self,
        serving: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let outcome = self.changed.of(serving).await;
        self.outcome = outcome.as_ref().err().map_or("ok", |error| error.code.as_str());
        outcome
    }
}

/// Requests without a sender and without changes have no line: any client may send them.
impl Drop for Audit {
    fn drop(&mut self) {
        let Self { served, id, changed, outcome } = self;
        let (changes, records) = changed.take();
        let is_known = served.caller.is_some() || served.daemon.is_some();
        if !is_known && changes == 0 {
            return;
        }
        let of_caller = served.caller.as_ref().map(Caller::organization_id);
        let organization = of_caller.or(served.daemon.map(|daemon| daemon.organization_id));
        tracing::info!(
            target: "toposcope::audit",
            operation = served.operation_id.unwrap_or(served.route),
            organization = text(organization),
            caller = span::kind(served),
            user = text(served.caller.as_ref().map(Caller::user_id)),
            key = key(served),
            id = id.map(|id| if is_of_share(served) { begin_of(id) } else { id.to_string() }),
            changes,
            records,
            outcome = *outcome,
            "a request that changes records has ended"
        );
    }
}

fn text(id: Option<impl Display>) -> Option<String> {
    id.map(|id| id.to_string())
}

/// Returns whether the id in the path opens a share.
fn is_of_share(served: &Served) -> bool {
    served.route.starts_with("/api/v1/shares/")
}

/// Returns the id of the API key with which the request was sent.
fn key(served: &Served) -> Option<String> {
    match (served.caller.as_ref().map(Caller::credential), served.daemon) {
        (Some(Credential::UserApiKey { id }), _) => Some(id.to_string()),
        (None, Some(daemon)) => Some(daemon.key_id.to_string()),
        _ => None,
    }
}
