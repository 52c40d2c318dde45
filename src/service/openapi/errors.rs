//! The errors that an endpoint can answer with. They follow from its row of the route table.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Map, Value};

use crate::model::Permission;
use crate::service::routes::parameter::{Kind, Parameter, Presence, RequestContent};
use crate::service::routes::route::{ResponseContent, Route};
use crate::service::sender::AllowedSenders;
use crate::wire::ErrorCode;

/// Returns the codes of an endpoint's errors by status. `records` are the schemas of responses.
pub(super) fn codes(route: &Route, records: &Map<String, Value>) -> BTreeMap<u16, Vec<&'static str>> {
    if route.answer.is_page() {
        // They are pages, without codes.
        return BTreeMap::new();
    }
    let mut codes = vec![ErrorCode::ValidationUnknownParameter, ErrorCode::InternalError];
    codes.extend(&route.errors);
    codes.extend(of_access(route));
    codes.extend(of_path(route, records));
    codes.extend(route.query.iter().copied().flatten().flat_map(of_parameter));
    codes.extend(of_body(route));
    codes.retain(|code| !route.excluded_errors.contains(code));
    let mut by_status: BTreeMap<u16, Vec<&'static str>> = BTreeMap::new();
    for code in codes {
        by_status.entry(code.status().as_u16()).or_default().push(code.as_str());
    }
    for codes in by_status.values_mut() {
        codes.sort_unstable();
        codes.dedup();
    }
    by_status
}

fn of_access(route: &Route) -> Vec<ErrorCode> {
    let mut codes = Vec::new();
    if !matches!(route.access, AllowedSenders::Unlimited) {
        codes.push(ErrorCode::RateLimitExceeded);
    }
    if !matches!(route.answer, ResponseContent::Document(_)) {
        codes.extend([ErrorCode::StoreUnavailable, ErrorCode::ServerStopping]);
    }
    let is_for_users =
        route.access.requirement().is_some() || matches!(route.access, AllowedSenders::Session);
    if is_for_users && route.method != Method::GET {
        codes.extend([ErrorCode::AuthCrossSiteRequest, ErrorCode::PolicyRefused]);
    }
    #[cfg(feature = "discovery")]
    if matches!(route.access, AllowedSenders::Daemon) {
        let of_key = [ErrorCode::AuthNotAuthenticated, ErrorCode::EntityDisabled, ErrorCode::EntityExpired];
        codes.extend(of_key);
    }
    if let Some(requirement) = route.access.requirement() {
        codes.extend([
            ErrorCode::AuthNotAuthenticated,
            ErrorCode::AuthSessionExpired,
            ErrorCode::EntityDisabled,
            ErrorCode::EntityExpired,
            ErrorCode::AuthUserContextRequired,
            ErrorCode::BillingFeatureNotAvailable,
            // The organization of a caller whom the host application has authenticated.
            ErrorCode::EntityNotFound,
        ]);
        if requirement.permission() > Permission::Viewer {
            codes.push(ErrorCode::AuthPermissionDenied);
        }
    }
    if route.method != Method::GET {
        codes.push(ErrorCode::EntityConflict);
    }
    codes
}

/// Schemas without a field for the network by which access is restricted.
const RESTRICTED: [&str; 2] = ["Network", "IssuedDaemonApiKey"];

fn of_path(route: &Route, records: &Map<String, Value>) -> Vec<ErrorCode> {
    if !route.path.contains('{') {
        return Vec::new();
    }
    let mut codes = vec![ErrorCode::ValidationInvalidFormat, ErrorCode::EntityNotFound];
    let record = route.subject().or(match route.answer {
        ResponseContent::Value(schema) | ResponseContent::Page(schema) | ResponseContent::Feed(schema) => {
            Some(schema.to_owned())
        }
        _ => None,
    });
    let is_restricted = record.as_deref().is_some_and(|name| RESTRICTED.contains(&name));
    let record = record.and_then(|name| records.get(&name)?.get("properties"));
    let has_network = is_restricted || record.is_some_and(|record| record.get("network_id").is_some());
    if has_network && route.access.requirement().is_some() {
        codes.push(ErrorCode::EntityAccessDenied);
    }
    codes
}

fn of_body(route: &Route) -> Vec<ErrorCode> {
    let mut codes = match route.body {
        RequestContent::Nothing => return Vec::new(),
        RequestContent::Fields(_)
        | RequestContent::Optional(_)
        | RequestContent::Update { .. }
        | RequestContent::Patch { .. } => route.body.fields().flat_map(of_field).collect(),
        RequestContent::Ids => vec![ErrorCode::ValidationEmpty, ErrorCode::ValidationMaxLength],
        RequestContent::HostRows => {
            return vec![
                ErrorCode::RequestTimeout,
                ErrorCode::RequestTooLarge,
                ErrorCode::RequestUnsupportedMediaType,
                // A header that names no field, or not all that are required.
                #[cfg(feature = "csv")]
                ErrorCode::ValidationInvalidFormat,
                #[cfg(feature = "csv")]
                ErrorCode::ValidationRequired,
            ];
        }
        #[cfg(feature = "discovery")]
        RequestContent::Report => Vec::new(),
    };
    codes.extend([
        ErrorCode::ValidationInvalidFormat,
        ErrorCode::ValidationMalformedJson,
        ErrorCode::RequestTimeout,
        ErrorCode::RequestTooLarge,
        ErrorCode::RequestUnsupportedMediaType,
    ]);
    codes
}

/// Returns the errors of a value of any parameter or field.
fn of_parameter(parameter: &Parameter) -> Vec<ErrorCode> {
    let mut codes = vec![ErrorCode::ValidationInvalidFormat];
    if parameter.presence == Presence::Required {
        codes.push(ErrorCode::ValidationRequired);
    }
    match parameter.kind {
        Kind::Ids { min, .. } | Kind::Sized { min, .. } => {
            codes.push(ErrorCode::ValidationMaxLength);
            codes.extend((min > 0).then_some(ErrorCode::ValidationEmpty));
        }
        Kind::Texts { .. } | Kind::Matching { .. } | Kind::Choices { .. } | Kind::Custom { .. } => {
            codes.push(ErrorCode::ValidationMaxLength);
        }
        Kind::Number { .. } | Kind::Time => codes.push(ErrorCode::ValidationOutOfRange),
        Kind::Name => codes.extend([ErrorCode::ValidationEmpty, ErrorCode::ValidationMaxLength]),
        Kind::Text { min, max } if min < max => {
            codes.push(ErrorCode::ValidationMaxLength);
            codes.extend(too_short(min));
        }
        Kind::Secret { min, max } => {
            codes.extend(max.map(|_| ErrorCode::ValidationMaxLength));
            codes.extend(too_short(min));
        }
        // A text of fixed length fails with `validation_invalid_format` only.
        Kind::Id
        | Kind::Boolean
        | Kind::Flag(_)
        | Kind::Text { .. }
        | Kind::Choice(_)
        | Kind::Schema(_)
        | Kind::Schemas(_) => {}
    }
    codes
}

/// Returns the error of a text with fewer characters.
fn too_short(min: usize) -> Option<ErrorCode> {
    match min {
        0 => None,
        1 => Some(ErrorCode::ValidationEmpty),
        _ => Some(ErrorCode::ValidationMinLength),
    }
}

/// Returns the errors of a value that may refer to other records.
fn of_field(field: &Parameter) -> Vec<ErrorCode> {
    let mut codes = of_parameter(field);
    match field.kind {
        Kind::Id | Kind::Ids { .. } => codes.push(ErrorCode::EntityReferenceInvalid),
        // Records have texts, numbers and references of their own.
        Kind::Schema(_) | Kind::Schemas(_) | Kind::Sized { .. } => codes.extend([
            ErrorCode::EntityReferenceInvalid,
            ErrorCode::ValidationEmpty,
            ErrorCode::ValidationMaxLength,
            ErrorCode::ValidationOutOfRange,
        ]),
        Kind::Boolean
        | Kind::Flag(_)
        | Kind::Time
        | Kind::Name
        | Kind::Text { .. }
        | Kind::Secret { .. }
        | Kind::Number { .. }
        | Kind::Choice(_)
        | Kind::Texts { .. }
        | Kind::Matching { .. }
        | Kind::Choices { .. }
        | Kind::Custom { .. } => {}
    }
    match field.name {
        "network_id" => codes.extend([ErrorCode::EntityAccessDenied, ErrorCode::EntityNetworkMismatch]),
        "network_ids" => codes.push(ErrorCode::EntityAccessDenied),
        "permissions" => codes.push(ErrorCode::AuthPermissionDenied),
        _ => {}
    }
    codes
}
