//! The rows of the route table, by collection.

mod accounts;
#[cfg(feature = "topology")]
mod addresses;
#[cfg(feature = "discovery")]
mod daemons;
#[cfg(feature = "discovery")]
mod discovery;
mod history;
mod hosts;
mod past;
#[cfg(feature = "topology")]
mod questions;
mod records;
mod row;
#[cfg(feature = "topology")]
mod topology;

use http::Method;

use self::row::route;
use super::route::Route;
use crate::service::endpoints::general;
#[cfg(feature = "openapi")]
use crate::service::openapi;
use crate::service::routes::groups;
use crate::service::sender::AllowedSenders;
use crate::wire::ErrorCode;

/// Returns the rows of all endpoints.
pub(super) fn routes() -> Vec<Route> {
    let tables = [
        general(),
        history::history(),
        hosts::hosts(),
        hosts::parts(),
        past::past(),
        records::organizations(),
        records::networks(),
        records::subnets(),
        accounts::users(),
        records::tags(),
        accounts::user_keys(),
        accounts::daemon_keys(),
        accounts::shares(),
        #[cfg(feature = "discovery")]
        daemons::daemons(),
        #[cfg(feature = "discovery")]
        discovery::discoveries(),
        #[cfg(feature = "discovery")]
        daemons::for_all_daemons(),
        #[cfg(feature = "discovery")]
        discovery::reports(),
        #[cfg(feature = "topology")]
        topology::topology(),
        #[cfg(feature = "topology")]
        questions::questions(),
        #[cfg(feature = "topology")]
        addresses::addresses(),
    ];
    let with_patch = |route: Route| {
        let patch = route.patch();
        [Some(route), patch]
    };
    tables.into_iter().flatten().flat_map(with_patch).flatten().collect()
}

fn general() -> Vec<Route> {
    let public = |route: Route| route.access(AllowedSenders::Public);
    let mut routes = vec![
        public(route(Method::GET, "/api/version", "get_version", "Returns the versions.", general::version))
            .value("Versions"),
        route(
            Method::GET,
            "/api/health",
            "get_health",
            "Returns whether the store answers.",
            general::health,
        )
        .query(&[groups::HEALTH])
        .access(AllowedSenders::Unlimited)
        .document("Health")
        .errors(&[ErrorCode::StoreUnavailable]),
        route(
            Method::GET,
            "/api/health/live",
            "get_liveness",
            "Returns whether the server answers, without asking the store.",
            general::live,
        )
        .access(AllowedSenders::Unlimited)
        .document("Health"),
        public(route(Method::POST, "/api/auth/login", "login", "Begins a session.", general::log_in))
            .fields(groups::LOGIN)
            .value("User")
            .secret()
            .errors(&[
                ErrorCode::AuthChooseOrganization,
                ErrorCode::AuthInvalidCredentials,
                ErrorCode::AuthTooManyAttempts,
                ErrorCode::EntityConflict,
                ErrorCode::QuotaExceeded,
                ErrorCode::ValidationMinLength,
            ]),
        route(Method::POST, "/api/auth/logout", "logout", "Ends the session.", general::log_out)
            .access(AllowedSenders::Session)
            .no_errors(&[ErrorCode::PolicyRefused]),
    ];
    routes.extend(descriptions());
    routes
}

/// The OpenAPI document.
#[cfg(feature = "openapi")]
fn descriptions() -> [Route; 2] {
    let document = |path, id, handler| {
        let route = route(Method::GET, path, id, "Returns the OpenAPI document of the API.", handler);
        route.access(AllowedSenders::Public).document("OpenApiDocument").tagged()
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
