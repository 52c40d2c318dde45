//! The route table: every endpoint as data.
//!
//! Routing, the `Allow` header, the check of the caller, the names of query parameters and body fields, and the
//! OpenAPI document all follow from the rows of `table`. A new endpoint is one row and one function.

mod groups;
mod parameter;
mod table;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::LazyLock;

use http::Method;
use matchit::{Params, Router};

#[cfg(feature = "discovery")]
pub(super) use self::parameter::MAX_REPORTER;
pub(super) use self::parameter::{Kind, MAX_NAME, Parameter, Presence};
use super::error::ApiError;
use super::input::Input;
use super::response::Outcome;
use super::state::ApiState;
use crate::access::Caller;
#[cfg(feature = "discovery")]
use crate::access::Daemon;
#[cfg(feature = "discovery")]
use crate::inventory::ErrorKind;
use crate::inventory::{Error, Requirement};
use crate::wire::ErrorCode;

/// One endpoint.
#[derive(Debug)]
#[cfg_attr(not(feature = "openapi"), allow(dead_code, reason = "only the OpenAPI document shows all of it"))]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    /// The name of the operation in the OpenAPI document; `None` for another path of a documented endpoint.
    pub(super) operation_id: Option<String>,
    pub(super) summary: String,
    pub(super) access: Access,
    /// Groups of query parameters.
    pub(super) query: Vec<&'static [Parameter]>,
    pub(super) body: RequestContent,
    pub(super) answer: Answer,
    pub(super) body_limit: BodyLimit,
    /// Whether successes carry an `ETag`.
    pub(super) is_tagged: bool,
    /// Codes of errors, beyond those that follow from the other fields.
    pub(super) errors: &'static [ErrorCode],
    pub(super) handler: Handler,
}

/// The maximum size of a request body.
#[derive(Clone, Copy, Debug)]
pub(super) enum BodyLimit {
    Usual,
    /// That of many hosts at once.
    Bulk,
    /// That of a report of a scanner or a device.
    #[cfg(feature = "discovery")]
    Report,
}

/// Who may use an endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    /// Anyone. Credentials are not looked at.
    Public,
    /// Anyone, without a rate limit. Credentials are not looked at.
    Unlimited,
    /// Anyone. A session is looked at only in the cookie.
    Session,
    /// A caller who meets the requirement.
    Caller(Requirement),
    /// A daemon, by its API key.
    #[cfg(feature = "discovery")]
    Daemon,
    /// A caller who meets the requirement, or a daemon.
    #[cfg(feature = "discovery")]
    CallerOrDaemon(Requirement),
}

/// What the body of a request contains.
#[derive(Clone, Copy, Debug)]
pub(super) enum RequestContent {
    /// Nothing that is read.
    Nothing,
    /// A JSON object with these fields.
    Fields(&'static [Parameter]),
    /// A JSON list of ids.
    Ids,
    /// JSON Lines: a host a line.
    HostLines,
    /// The output of a scanner or a device.
    #[cfg(feature = "discovery")]
    Report,
}

/// What the body of a success contains.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "openapi"), allow(dead_code, reason = "only the OpenAPI document shows all of it"))]
pub(super) enum Answer {
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
    /// Server-sent events.
    #[cfg(feature = "discovery")]
    Events,
}

/// A request to an endpoint, past routing and authentication.
pub(super) struct Call<'r> {
    pub(super) state: &'r ApiState,
    pub(super) route: &'static Route,
    pub(super) path: PathParameters<'r>,
    sender: Option<Sender>,
    pub(super) input: Input<'r>,
}

/// The authenticated sender of a request.
#[derive(Clone, Debug)]
pub(super) enum Sender {
    Caller(Caller),
    #[cfg(feature = "discovery")]
    Daemon(Daemon),
}

impl Sender {
    /// # Errors
    /// `UserContextRequired` for a daemon.
    pub(super) fn into_caller(self) -> Result<Caller, Error> {
        match self {
            Self::Caller(caller) => Ok(caller),
            #[cfg(feature = "discovery")]
            Self::Daemon(_) => Err(ErrorKind::UserContextRequired.into()),
        }
    }
}

/// The values of the parameters in the path.
pub(super) type PathParameters<'r> = Params<'static, 'r>;

/// The future response of an endpoint.
pub(super) type Pending<'r> = Pin<Box<dyn Future<Output = Result<Outcome, ApiError>> + Send + 'r>>;

/// The function behind an endpoint.
pub(super) type Handler = for<'r> fn(Call<'r>) -> Pending<'r>;

impl<'r> Call<'r> {
    pub(super) const fn new(
        state: &'r ApiState,
        route: &'static Route,
        path: PathParameters<'r>,
        sender: Option<Sender>,
        input: Input<'r>,
    ) -> Self {
        Self { state, route, path, sender, input }
    }

    /// Returns the caller, whom every endpoint has that is not public.
    pub(super) fn into_caller(self) -> Result<Caller, ApiError> {
        Ok(self.sender.ok_or_else(ApiError::internal)?.into_caller()?)
    }

    /// Returns the sender, which every endpoint has that is not public.
    #[cfg(feature = "discovery")]
    pub(super) fn sender(&self) -> Result<&Sender, ApiError> {
        self.sender.as_ref().ok_or_else(ApiError::internal)
    }

    #[cfg(feature = "discovery")]
    pub(super) const fn is_by_daemon(&self) -> bool {
        matches!(self.sender, Some(Sender::Daemon(_)))
    }
}

/// The routes, and the paths by which they are found.
#[derive(Debug)]
pub(super) struct RouteTable {
    routes: Vec<Route>,
    paths: Router<PathRoutes>,
}

/// The routes of one path.
#[derive(Debug, Default)]
struct PathRoutes {
    /// Indices of routes.
    routes: Vec<usize>,
    /// The methods, as in an `Allow` header.
    allow: String,
}

static ROUTES: LazyLock<RouteTable> = LazyLock::new(|| RouteTable::new(table::routes()));

impl RouteTable {
    fn new(routes: Vec<Route>) -> Self {
        let mut by_path: BTreeMap<&str, PathRoutes> = BTreeMap::new();
        for (index, route) in routes.iter().enumerate() {
            let path = by_path.entry(route.path).or_default();
            path.routes.push(index);
            let separator = if path.allow.is_empty() { "" } else { ", " };
            let method = if route.method == Method::GET { "GET, HEAD" } else { route.method.as_str() };
            path.allow = format!("{}{separator}{method}", path.allow);
        }
        let mut paths = Router::new();
        for (path, found) in by_path {
            let inserted = paths.insert(path, found);
            debug_assert!(inserted.is_ok(), "the path {path} is ambiguous");
        }
        Self { routes, paths }
    }

    /// Returns all routes.
    #[cfg(feature = "openapi")]
    pub(super) fn all() -> &'static [Route] {
        &ROUTES.routes
    }

    /// Finds the endpoint for a method and a path. Paths are compared exactly; HEAD is routed like GET.
    ///
    /// # Errors
    /// `route_not_found`, or `method_not_allowed` with the methods that the path supports.
    pub(super) fn find<'p>(
        method: &Method,
        path: &'p str,
    ) -> Result<(&'static Route, PathParameters<'p>), ApiError> {
        let table: &'static Self = &ROUTES;
        let found = table.paths.at(path).map_err(|_| ApiError::route_not_found())?;
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let mut routes = found.value.routes.iter().filter_map(|index| table.routes.get(*index));
        let route = routes.find(|route| route.method == *method);
        route
            .map(|route| (route, found.params))
            .ok_or_else(|| ApiError::method_not_allowed(&found.value.allow))
    }
}

impl Access {
    /// Returns what the endpoint requires of callers; `None` if they need not be authenticated or are not admitted.
    pub(super) const fn requirement(self) -> Option<Requirement> {
        match self {
            Self::Caller(requirement) => Some(requirement),
            #[cfg(feature = "discovery")]
            Self::CallerOrDaemon(requirement) => Some(requirement),
            _ => None,
        }
    }

    /// Checks what the endpoint requires of its sender.
    pub(super) fn check(self, sender: &Sender) -> Result<(), Error> {
        match (self.requirement(), sender) {
            (Some(requirement), Sender::Caller(caller)) => requirement.check(caller),
            _ => Ok(()),
        }
    }
}
