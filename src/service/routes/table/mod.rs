//! The rows of the route table, by collection.

mod accounts;
mod collection;
#[cfg(feature = "discovery")]
mod discovery;
mod hosts;
mod records;

use http::Method;

use super::groups;
use super::{Access, Answer, BodyLimit, Handler, Parameter, RequestContent, Route};
use crate::inventory::Requirement;
use crate::model::Permission;
#[cfg(feature = "openapi")]
use crate::service::openapi;
use crate::service::{endpoints, health};
use crate::wire::ErrorCode;

/// Any caller with a session.
const ANY_SESSION: Access = Access::Caller(Requirement::session(Permission::Viewer));
const VIEWER: Access = Access::Caller(Requirement::level(Permission::Viewer));
const MEMBER: Access = Access::Caller(Requirement::level(Permission::Member));

const CREATE_ERRORS: &[ErrorCode] = &[ErrorCode::EntityAlreadyExists];
const UPDATE_ERRORS: &[ErrorCode] =
    &[ErrorCode::EntityAlreadyExists, ErrorCode::EntityInUse, ErrorCode::PreconditionFailed];
const DELETE_ERRORS: &[ErrorCode] = &[ErrorCode::EntityInUse, ErrorCode::PreconditionFailed];

/// Returns the rows of all endpoints.
pub(super) fn routes() -> Vec<Route> {
    let tables = [
        general(),
        hosts::hosts(),
        hosts::parts(),
        records::organizations(),
        records::networks(),
        records::subnets(),
        accounts::users(),
        records::tags(),
        accounts::user_keys(),
        accounts::daemon_keys(),
        accounts::shares(),
        #[cfg(feature = "discovery")]
        discovery::daemons(),
        #[cfg(feature = "discovery")]
        discovery::discoveries(),
        #[cfg(feature = "discovery")]
        discovery::for_all_daemons(),
        #[cfg(feature = "discovery")]
        discovery::reports(),
    ];
    tables.into_iter().flatten().collect()
}

fn route(method: Method, path: &'static str, operation_id: &str, summary: &str, handler: Handler) -> Route {
    Route {
        method,
        path,
        operation_id: Some(operation_id.to_owned()),
        summary: summary.to_owned(),
        access: VIEWER,
        query: Vec::new(),
        body: RequestContent::Nothing,
        answer: Answer::Empty,
        body_limit: BodyLimit::Usual,
        is_tagged: false,
        errors: &[],
        handler,
    }
}

impl Route {
    fn access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    fn query(self, groups: &[&'static [Parameter]]) -> Self {
        Self { query: groups.to_vec(), ..self }
    }

    fn fields(self, fields: &'static [Parameter]) -> Self {
        Self { body: RequestContent::Fields(fields), ..self }
    }

    fn ids(self) -> Self {
        Self { body: RequestContent::Ids, ..self }
    }

    fn value(self, schema: &'static str) -> Self {
        Self { answer: Answer::Value(schema), is_tagged: false, ..self }
    }

    fn document(self, schema: &'static str) -> Self {
        Self { answer: Answer::Document(schema), ..self }
    }

    #[cfg(feature = "discovery")]
    fn list(self, schema: &'static str) -> Self {
        Self { answer: Answer::List(schema), ..self }
    }

    fn page(self, schema: &'static str) -> Self {
        Self { answer: Answer::Page(schema), is_tagged: true, ..self }
    }

    fn tagged(self) -> Self {
        Self { is_tagged: true, ..self }
    }

    fn errors(self, errors: &'static [ErrorCode]) -> Self {
        Self { errors, ..self }
    }
}

fn general() -> Vec<Route> {
    let public = |route: Route| route.access(Access::Public);
    let mut routes = vec![
        public(route(
            Method::GET,
            "/api/version",
            "get_version",
            "Returns the versions.",
            endpoints::version,
        ))
        .value("Versions"),
        route(Method::GET, "/api/health", "get_health", "Returns whether the store answers.", health::health)
            .access(Access::Unlimited)
            .document("Health"),
        public(route(Method::POST, "/api/auth/login", "login", "Begins a session.", endpoints::log_in))
            .fields(groups::LOGIN)
            .value("User")
            .errors(&[
                ErrorCode::AuthInvalidCredentials,
                ErrorCode::AuthTooManyAttempts,
                ErrorCode::EntityConflict,
                ErrorCode::QuotaExceeded,
                ErrorCode::ValidationMinLength,
            ]),
        route(Method::POST, "/api/auth/logout", "logout", "Ends the session.", endpoints::log_out)
            .access(Access::Session),
    ];
    routes.extend(descriptions());
    routes
}

/// The OpenAPI document.
#[cfg(feature = "openapi")]
fn descriptions() -> [Route; 2] {
    let document = |path, id, handler| {
        let route = route(Method::GET, path, id, "Returns the OpenAPI document of the API.", handler);
        route.access(Access::Public).document("OpenApiDocument").tagged()
    };
    // Some clients look for the document under the path of the API. It describes itself once.
    let alias = document("/api/openapi.json", "", openapi::under_api);
    [
        document("/openapi.json", "get_openapi_document", openapi::at_root),
        Route { operation_id: None, ..alias },
    ]
}

#[cfg(not(feature = "openapi"))]
const fn descriptions() -> [Route; 0] {
    []
}
