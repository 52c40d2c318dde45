use serde_json::json;

use crate::isolation::ask::Ask;
use crate::isolation::refusal::{Refusal, method_not_allowed, refusal};

/// An endpoint, with the literal id in its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Version,
    LogIn,
    LogOut,
    Hosts,
    Port(String),
    DaemonKeys,
    UserKey(String),
    Share(String),
    Referral,
}

pub(crate) fn route(ask: &Ask) -> Result<Endpoint, Refusal> {
    const READ: &[&str] = &["GET", "HEAD"];
    let parts: Vec<&str> = ask.path.split('/').collect();
    let (methods, endpoint): (&'static [&'static str], Endpoint) = match parts.as_slice() {
        ["", "api", "version"] => (READ, Endpoint::Version),
        ["", "api", "auth", "login"] => (&["POST"], Endpoint::LogIn),
        ["", "api", "auth", "logout"] => (&["POST"], Endpoint::LogOut),
        ["", "api", "v1", "hosts"] => (READ, Endpoint::Hosts),
        ["", "api", "v1", "auth", "daemon"] => (&["POST"], Endpoint::DaemonKeys),
        ["", "api", "v1", "organizations", "referral-source"] => (&["POST"], Endpoint::Referral),
        ["", "api", "v1", .., ""] => return Err(refusal(404, "route_not_found", json!({}))),
        ["", "api", "v1", "ports", id] => (&["PUT"], Endpoint::Port((*id).to_owned())),
        ["", "api", "v1", "auth", "keys", id] => (&["PUT", "DELETE"], Endpoint::UserKey((*id).to_owned())),
        ["", "api", "v1", "shares", "public", id] => (READ, Endpoint::Share((*id).to_owned())),
        _ => return Err(refusal(404, "route_not_found", json!({}))),
    };
    if methods.contains(&ask.method) { Ok(endpoint) } else { Err(method_not_allowed(methods)) }
}
