//! Endpoints as data, and the requests that they receive.

use std::pin::Pin;

use http::Method;

use super::parameter::{Parameter, RequestContent};
use crate::access::Caller;
use crate::service::input::{Input, PathParameters};
use crate::service::response::Outcome;
use crate::service::response::error::ApiError;
use crate::service::sender::{AllowedSenders, Sender};
use crate::service::state::ApiState;
use crate::wire::ErrorCode;

/// One endpoint.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "openapi"), allow(dead_code, reason = "only the OpenAPI document shows all of it"))]
pub(in crate::service) struct Route {
    /// The place in the route table.
    pub(in crate::service) index: usize,
    pub(in crate::service) method: Method,
    pub(in crate::service) path: &'static str,
    /// The name of the operation in the OpenAPI document. `None` for another path of a documented endpoint.
    pub(in crate::service) operation_id: Option<String>,
    pub(in crate::service) summary: String,
    pub(in crate::service) access: AllowedSenders,
    /// Groups of query parameters.
    pub(in crate::service) query: Vec<&'static [Parameter]>,
    pub(in crate::service) body: RequestContent,
    pub(in crate::service) answer: ResponseContent,
    pub(in crate::service) body_limit: BodyLimit,
    /// The path of the collection in which the endpoint creates a record, if the record can be got by its id there.
    pub(in crate::service) creates_in: Option<&'static str>,
    /// Whether successes carry an `ETag`.
    pub(in crate::service) is_tagged: bool,
    /// Codes of errors, beyond those that follow from the other fields.
    pub(in crate::service) errors: Vec<ErrorCode>,
    /// Codes that follow from the other fields, but that the endpoint never produces.
    pub(in crate::service) excluded_errors: &'static [ErrorCode],
    pub(in crate::service) repetition: Repetition,
    pub(in crate::service) handler: Handler,
}

/// The effect of an `Idempotency-Key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) enum Repetition {
    /// Nothing.
    Unchecked,
    /// A repeated request gets the answer to the first, and is not executed.
    Answered,
    /// It is refused.
    Refused {
        /// The reason, as a part of a sentence.
        reason: &'static str,
    },
}

/// The maximum size of a request body.
#[derive(Clone, Copy, Debug)]
pub(in crate::service) enum BodyLimit {
    Usual,
    /// The limit for many hosts at once.
    Bulk,
    /// The limit for a report of a scanner or a device.
    #[cfg(feature = "discovery")]
    Report,
}

/// The content of the body of a success.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "openapi"), allow(dead_code, reason = "only the OpenAPI document shows all of it"))]
pub(in crate::service) enum ResponseContent {
    /// An envelope with `{}`.
    Empty,
    /// An envelope with a value of this schema.
    Value(&'static str),
    /// An envelope with a list of values of this schema, all at once.
    List(&'static str),
    /// An envelope with a page of values of this schema.
    Page(&'static str),
    /// A value of this schema, without an envelope.
    Document(&'static str),
    /// An envelope with null.
    #[cfg(feature = "discovery")]
    Null,
    /// An envelope with a page of the history, of values of this schema.
    Feed(&'static str),
    /// Server-sent events, which this sentence describes.
    Events(&'static str),
    /// The topology of a network as a file, or in an envelope.
    #[cfg(feature = "topology")]
    TopologyFile,
    /// An SVG picture.
    #[cfg(feature = "topology")]
    Picture,
    /// The page of a share, also for errors.
    #[cfg(feature = "topology")]
    SharePage,
    /// The page for people who work with a network, also for errors.
    #[cfg(feature = "topology")]
    NetworkPage,
}

impl ResponseContent {
    /// Returns whether the responses are pages for people, also those for errors.
    #[cfg(any(feature = "topology", feature = "openapi"))]
    #[cfg_attr(
        not(feature = "topology"),
        allow(clippy::unused_self, reason = "there are no pages without topologies")
    )]
    pub(in crate::service) const fn is_page(self) -> bool {
        #[cfg(feature = "topology")]
        return matches!(self, Self::SharePage | Self::NetworkPage);
        #[cfg(not(feature = "topology"))]
        false
    }
}

/// A request to an endpoint, past routing and authentication.
pub(in crate::service) struct Call<'r> {
    pub(in crate::service) state: &'r ApiState,
    pub(in crate::service) route: &'static Route,
    pub(in crate::service) path: PathParameters<'r>,
    sender: Option<Sender>,
    pub(in crate::service) input: Input<'r>,
}

/// The future response of an endpoint.
pub(in crate::service) type Pending<'r> =
    Pin<Box<dyn Future<Output = Result<Outcome, ApiError>> + Send + 'r>>;

/// The function behind an endpoint.
pub(in crate::service) type Handler = for<'r> fn(Call<'r>) -> Pending<'r>;

impl<'r> Call<'r> {
    pub(in crate::service) const fn new(
        state: &'r ApiState,
        route: &'static Route,
        path: PathParameters<'r>,
        sender: Option<Sender>,
        input: Input<'r>,
    ) -> Self {
        Self { state, route, path, sender, input }
    }

    /// Returns the caller, whom every endpoint has that is not public.
    pub(in crate::service) fn into_caller(self) -> Result<Caller, ApiError> {
        Ok(self.sender.ok_or_else(ApiError::internal)?.into_caller()?)
    }

    /// Returns the caller, whom every endpoint has that is not public and not for daemons.
    pub(in crate::service) fn caller(&self) -> Result<&Caller, ApiError> {
        match &self.sender {
            Some(Sender::Caller(caller)) => Ok(caller),
            _ => Err(ApiError::internal()),
        }
    }

    /// Returns the sender, which every endpoint has that is not public.
    #[cfg(feature = "discovery")]
    pub(in crate::service) fn sender(&self) -> Result<&Sender, ApiError> {
        self.sender.as_ref().ok_or_else(ApiError::internal)
    }

    #[cfg(feature = "discovery")]
    pub(in crate::service) const fn is_by_daemon(&self) -> bool {
        matches!(self.sender, Some(Sender::Daemon(_)))
    }
}
