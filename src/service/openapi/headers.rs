//! The headers of responses. Each response describes its own, because not every tool resolves references to headers.

use serde_json::{Map, Value, json};

use crate::service::input::fields_of;
use crate::service::routes::route::{Repetition, Route};
use crate::service::sender::AllowedSenders;

/// Describes the headers of a response with this status.
pub(super) fn headers(route: &Route, status: u16) -> Value {
    let mut headers = Map::new();
    let mut add = |name: &str, header: Value| headers.insert(name.to_owned(), header);
    if route.is_tagged && (status == 200 || status == 304) {
        add("ETag", text(false, "The state of the response, for `If-None-Match` and `If-Match`."));
    }
    if route.repetition == Repetition::Answered && status == 200 {
        let replayed = "`true`: the answer to an earlier request with the same `Idempotency-Key`.";
        add("Idempotent-Replayed", text(false, replayed));
    }
    if route.creates_in.is_some() && status == 200 {
        add("Location", text(true, "The path of the new record."));
    }
    if cfg!(feature = "csv") && !fields_of(&route.query).is_empty() && status == 200 {
        add("Link", text(false, "The next page of a CSV, with `rel=\"next\"`; absent after the last one."));
    }
    if route.path.starts_with("/api/auth/log") && status == 200 {
        add("Set-Cookie", text(true, "The session cookie; one of age 0 ends the session."));
    }
    if status == 401 {
        add("WWW-Authenticate", text(true, "The scheme of the `Authorization` header: `Bearer`."));
    }
    if status == 429 || status == 503 {
        add("Retry-After", number(true, "Seconds after which the client may retry."));
    }
    if !matches!(route.access, AllowedSenders::Unlimited) {
        add("X-RateLimit-Limit", number(false, "Requests a minute."));
        add("X-RateLimit-Remaining", number(false, "Requests that are left."));
        add("X-RateLimit-Reset", number(false, "Seconds until the client has its whole burst again."));
    }
    headers.into()
}

fn number(required: bool, description: &str) -> Value {
    let schema = json!({"type": "integer", "minimum": 0});
    json!({"description": description, "required": required, "schema": schema})
}

fn text(required: bool, description: &str) -> Value {
    json!({"description": description, "required": required, "schema": {"type": "string"}})
}
