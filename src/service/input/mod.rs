//! Reading of requests: the body and its fields, and the parameters of path and query.

mod accept;
mod bodies;
mod body_end;
mod boxed_body;
mod history;
mod json_text;
mod merging;
mod parameters;
mod past;
mod path;
mod query_values;
#[cfg(feature = "topology")]
mod questions;
#[cfg(feature = "discovery")]
mod reports;
mod timeout_body;
#[cfg(feature = "topology")]
mod topology;

use std::future::poll_fn;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::request::Parts;
use matchit::Params;

use super::response::body::RequestRoom;
use super::response::error::ApiError;
use super::revocations::RequestStart;

pub(super) use self::accept::Accept;
pub(super) use self::bodies::{Fields, Login, read_ids, read_login, read_referral};
pub(super) use self::body_end::BodyEnd;
pub(super) use self::boxed_body::{BodyReadError, BoxedBody, RequestBody, box_body};
pub(super) use self::history::{read_at, read_changes_query, read_changes_stream_query, read_erase};
pub(super) use self::merging::check_types;
pub(super) use self::parameters::{
    DEFAULT_LIMIT, MAX_IDS, MAX_OFFSET, MAX_TERMS, Paging, read_fields, read_health_query, read_hosts_query,
    read_id, read_import_query, read_list_query, read_no_query, read_parts_query,
};
#[cfg(feature = "discovery")]
pub(super) use self::parameters::{read_claims_query, read_stream_query};
pub(super) use self::past::{read_diff_query, read_summary_query};
pub use self::path::normalize_path;
#[cfg(any(feature = "csv", feature = "openapi"))]
pub(super) use self::query_values::fields_of;
pub(super) use self::query_values::{CURSOR, OFFSET};
#[cfg(feature = "topology")]
pub(super) use self::questions::{
    ImpactQuestion, MAX_ANSWER_LIMIT, MAX_FAILURES, MAX_NODE_TEXT, read_addresses_query, read_fragile_query,
    read_impact_query, read_locate_query, read_path_query, read_vlans_query,
};
#[cfg(feature = "discovery")]
pub(super) use self::reports::{ReportQuery, read_report_query};
#[cfg(feature = "topology")]
pub(super) use self::topology::{
    MAX_DEPTH, MAX_VLAN, MIN_VLAN, TopologyQuery, read_grouping, read_page_query, read_topology_query,
};

use crate::invariant::Invariant;

/// Number of bytes of each request body that need no budget.
///
/// Most bodies are smaller: they are accepted whatever others send.
pub(super) const FREE_BYTES: usize = 64 * 1024;

/// Number of request bodies of the largest size that a holder may send at once, and all together.
const MAX_LARGE_BODIES: (usize, usize) = (2, 8);

/// Maximum number of bytes of all request bodies, unless the largest body needs more: 128 MiB.
const MAX_BODIES: usize = 128 * 1024 * 1024;

/// Returns the maximum number of bytes of concurrent request bodies, per holder and in total. One body has at most
/// `largest` bytes.
///
/// Without a limit, clients that send many bodies slowly could make the server hold all of them.
pub(super) fn body_bytes(largest: usize) -> (usize, usize) {
    let (of_holder, in_total) = MAX_LARGE_BODIES;
    // An organization gets three quarters, which must suffice for a body of the largest size.
    let max = MAX_BODIES.max(largest.saturating_add(largest / 2));
    (largest.saturating_mul(of_holder), largest.saturating_mul(in_total).min(max))
}

/// The fraction of the bytes of all bodies that an organization's bodies may have while they arrive.
///
/// A client decides how long its body takes to arrive. One body may always arrive, whatever its size.
const INCOMING_SHARE: usize = 4;

/// Returns the limits, in bytes, of the request bodies that are still arriving. An organization has one; the total has
/// none, since [`body_bytes`] bounds it.
pub(super) fn incoming_bytes(largest: usize) -> (usize, usize) {
    (body_bytes(largest).1 / INCOMING_SHARE, usize::MAX)
}

/// The values of the parameters in the path.
pub(super) type PathParameters<'r> = Params<'static, 'r>;

/// A request as an endpoint receives it.
pub(super) struct Input<'r> {
    pub(super) request: &'r Parts,
    pub(super) began: RequestStart,
    pub(super) body: RequestBody,
    /// Maximum size of the body, in bytes.
    pub(super) body_limit: usize,
    pub(super) room: &'r RequestRoom<'r>,
}

impl<'r> Input<'r> {
    pub(super) fn query(&self) -> Option<&'r str> {
        self.request.uri.query()
    }

    /// Returns the body, to be read as it comes, and which of these media types it has.
    ///
    /// # Errors
    /// `request_unsupported_media_type`.
    pub(super) fn rows(
        &mut self,
        media_types: &[&'static str],
    ) -> Result<(RequestBody, &'static str), ApiError> {
        check_encoding(self.request)?;
        let given = media_type(self.request);
        let known = media_types.iter().find(|known| given.as_deref() == Some(**known));
        match known {
            Some(known) => Ok((self.body.take(), known)),
            None => Err(ApiError::unsupported_media_type(&media_types.join(", "))),
        }
    }

    /// Reads the body. The `Content-Type` must be JSON; the syntax is not checked.
    ///
    /// # Errors
    /// `request_unsupported_media_type`; `request_too_large` as soon as the limit is exceeded, without reading the
    /// rest; `request_timeout` if it does not arrive in time; `rate_limit_exceeded` if too many bytes of other bodies are
    /// held; `validation_malformed_json` if it ends early.
    pub(super) async fn json(&mut self) -> Result<Vec<u8>, ApiError> {
        if !has_json_type(self.request) {
            return Err(ApiError::unsupported_media_type("application/json"));
        }
        self.read_all().await
    }

    /// Reads the body if it is JSON. `None` if there is none, or one of another type, which is not read.
    ///
    /// # Errors
    /// As for [`json`](Self::json).
    #[cfg(feature = "topology")]
    pub(super) async fn optional_json(&mut self) -> Result<Option<Vec<u8>>, ApiError> {
        if self.body.is_none() || !has_json_type(self.request) {
            return Ok(None);
        }
        let body = self.read_all().await?;
        Ok(Some(body).filter(|body| !body.is_empty()))
    }

    /// Reads a body of any of these media types, up to the limit.
    ///
    /// # Errors
    /// As for [`json`](Self::json).
    #[cfg(feature = "discovery")]
    pub(super) async fn bytes(&mut self, media_types: &[&str]) -> Result<Vec<u8>, ApiError> {
        if !media_type(self.request).is_some_and(|essence| media_types.contains(&essence.as_str())) {
            return Err(ApiError::unsupported_media_type(&media_types.join(", ")));
        }
        self.read_all().await
    }

    async fn read_all(&mut self) -> Result<Vec<u8>, ApiError> {
        check_encoding(self.request)?;
        let body_limit = self.body_limit;
        let Some(mut body) = self.body.take() else {
            return Ok(Vec::new());
        };
        let is_too_large = |size: u64| size > body_limit as u64;
        if is_too_large(body.min_size) {
            return Err(BodyReadError::TooLarge(Some(body_limit as u64)).into());
        }
        let mut held = self.room.begin_body();
        let mut bytes = Vec::new();
        while let Some(frame) = poll_fn(|context| body.poll_frame(context)).await {
            // Trailers are ignored.
            let Ok(data) = frame?.into_data() else { continue };
            if is_too_large(bytes.len() as u64 + data.len() as u64) {
                return Err(BodyReadError::TooLarge(Some(body_limit as u64)).into());
            }
            let size = bytes.len() + data.len();
            if size > bytes.capacity() {
                let capacity = bytes.capacity().saturating_mul(2).clamp(size, body_limit);
                held.grow(capacity.saturating_sub(FREE_BYTES))?;
                bytes.reserve_exact(capacity - bytes.len());
            }
            bytes.extend_from_slice(&data);
        }
        self.room.hold_body(held);
        Ok(bytes)
    }
}

/// Checks that the body is sent as it is. Compressed bodies are not decoded.
fn check_encoding(request: &Parts) -> Result<(), ApiError> {
    let values = request.headers.get_all(CONTENT_ENCODING).iter();
    let mut codings = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let is_plain = codings.all(|coding| {
        let coding = coding.trim_ascii();
        coding.is_empty() || coding.eq_ignore_ascii_case(b"identity")
    });
    if is_plain { Ok(()) } else { Err(ApiError::unsupported_encoding()) }
}

/// Returns whether the only `Content-Type` is `application/json` or has the suffix `+json`.
fn has_json_type(request: &Parts) -> bool {
    let Some(essence) = media_type(request) else { return false };
    match essence.split_once('/') {
        Some(("application", "json")) => true,
        Some((kind, subtype)) => {
            !kind.is_empty() && subtype.strip_suffix("+json").is_some_and(|name| !name.is_empty())
        }
        None => false,
    }
}

/// Returns the only `Content-Type` without its parameters, in lower case.
fn media_type(request: &Parts) -> Option<String> {
    let mut values = request.headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let essence = value.to_str().unwrap_or("").split(';').next().asserted_or_default().trim();
    Some(essence.to_ascii_lowercase())
}
