//! Credentials, and the endpoints that require none.

use serde_json::json;
use uuid::Uuid;

use super::values::{
    Fields, Refusal, disabled, empty, invalid_credentials, needed, no_query, not_authenticated, not_found,
    path_id, refusal, text_of, user_context_required,
};
use super::{Change, Outcome, Success, admit, data};
use crate::common::VERSION;
use crate::isolation::documents;
use crate::isolation::model::{By, Caller, Model, User, find, granted, rank};
use crate::requests::request::ApiRequest;

/// How long a failed login counts, in microseconds.
const WINDOW: i64 = 15 * 60 * 1_000_000;

/// Returns the authenticated sender of a request, and the valid key that was used.
pub(crate) fn identify(model: &Model, request: &ApiRequest) -> (Result<Caller, Refusal>, Option<Uuid>) {
    if let Some(caller) = &request.supplied_caller {
        return (Ok(caller.clone()), None);
    }
    match request.authorization.as_slice() {
        [] => (by_cookies(model, request), None),
        [value] => by_key(model, value),
        _ => (Err(not_authenticated()), None),
    }
}

fn by_key(model: &Model, value: &str) -> (Result<Caller, Refusal>, Option<Uuid>) {
    let token = match value.split_once(' ') {
        Some((scheme, token)) if scheme.to_lowercase() == "bearer" => token.trim(),
        _ => return (Err(not_authenticated()), None),
    };
    let Some(key) = model.keys.iter().find(|key| key.text == token) else {
        return (Err(not_authenticated()), None);
    };
    let entity = if key.user.is_some() { "User API Key" } else { "Daemon API Key" };
    if !key.is_enabled {
        return (Err(disabled(entity)), None);
    }
    if key.expires_at.is_some_and(|time| time <= model.now) {
        return (Err(refusal(401, "entity_expired", json!({"entity": entity}))), None);
    }
    let Some(user) = key.user else {
        return (Err(user_context_required()), Some(key.id));
    };
    let user = find(&model.users, user).expect("a key has an owner");
    let organization = find(&model.organizations, user.organization).expect("a user has an organization");
    if user.is_disabled {
        return (Err(disabled("User")), None);
    }
    if !organization.api_access {
        let params = json!({"feature": "api_access"});
        return (Err(refusal(403, "billing_feature_not_available", params)), None);
    }
    let mut caller = in_person(user, By::Key);
    if rank(key.level) < rank(caller.level) {
        caller.level = key.level;
    }
    let both = key.networks.iter().copied().filter(|network| caller.reaches(*network));
    let both = both.collect();
    (Ok(Caller { networks: Some(both), ..caller }), Some(key.id))
}

/// Returns the only user of the sessions in the cookies. Sessions that are not valid are passed over.
fn by_cookies(model: &Model, request: &ApiRequest) -> Result<Caller, Refusal> {
    let mut valid: Option<Caller> = None;
    let mut refused = not_authenticated();
    for text in cookies(request) {
        match by_session(model, &text) {
            Ok(caller) if valid.as_ref().is_some_and(|other| other.user != caller.user) => {
                return Err(not_authenticated());
            }
            Ok(caller) => valid = valid.or(Some(caller)),
            Err(error) if refused.code == "auth_not_authenticated" => refused = error,
            Err(_) => {}
        }
    }
    valid.ok_or(refused)
}

/// Returns the user of a session.
pub(super) fn by_session(model: &Model, text: &str) -> Result<Caller, Refusal> {
    let session = model.sessions.iter().find(|session| session.text == text);
    let session = session.ok_or_else(not_authenticated)?;
    if session.expires_at <= model.now {
        return Err(refusal(401, "auth_session_expired", json!({})));
    }
    let user = find(&model.users, session.user).expect("a session has a user");
    if user.is_disabled {
        return Err(disabled("User"));
    }
    Ok(in_person(user, By::Session))
}

/// Returns the sessions in the cookies, each once.
pub(super) fn cookies(request: &ApiRequest) -> Vec<String> {
    let values = request.cookies.iter().filter(|(name, _)| *name == "session_id");
    let mut values: Vec<String> = values.map(|(_, value)| value.clone()).collect();
    values.dedup();
    values
}

fn in_person(user: &User, by: By) -> Caller {
    Caller { organization: user.organization, user: user.id, level: user.level, networks: granted(user), by }
}

pub(super) fn version(request: &ApiRequest) -> Outcome {
    no_query(request)?;
    data(json!({"api_version": 1, "server_version": VERSION}))
}

pub(super) fn share(
    model: &Model,
    request: &ApiRequest,
    id: &str,
    organization: &mut Option<Uuid>,
) -> Outcome {
    let id = path_id(request, id)?;
    match find(&model.shares, id) {
        Some(share) if share.is_enabled && share.expires_at.is_none_or(|time| time > model.now) => {
            *organization = Some(share.organization);
            data(documents::share_metadata(share))
        }
        _ => Err(not_found("Share", id)),
    }
}

pub(super) fn log_in(
    model: &Model,
    request: &ApiRequest,
    organization: &mut Option<Uuid>,
    change: &mut Change,
) -> Outcome {
    no_query(request)?;
    let fields = Fields::of(request, &["email", "password"])?;
    let email = needed(fields.text("email")?, "email")?;
    if email.is_empty() {
        return Err(empty("email"));
    }
    let password = needed(fields.text("password")?, "password")?;
    if password.is_empty() {
        return Err(empty("password"));
    }
    let email = text_of(&email, "email", 254)?.to_lowercase();
    if email.chars().count() < 3 {
        return Err(refusal(400, "validation_min_length", json!({"field": "email", "min": 3})));
    }
    let failures = model.failed_logins.iter().filter(|(address, _)| *address == email);
    let mut failures: Vec<i64> =
        failures.map(|(_, time)| time.unix_micros() + WINDOW - model.now.unix_micros()).collect();
    failures.retain(|left| *left > 0);
    if failures.len() >= 5 {
        let seconds = (failures.iter().min().unwrap() + 999_999) / 1_000_000;
        return Err(refusal(429, "auth_too_many_attempts", json!({"retry_after": seconds})));
    }
    let user = model.users.iter().find(|user| user.email == email && !user.is_disabled);
    match user.filter(|user| user.password == Some(password)) {
        Some(user) => {
            *organization = Some(user.organization);
            Ok((Success::LoggedIn(documents::user(user)), Change::Session(user.id)))
        }
        None => {
            *change = Change::FailedLogin(email);
            Err(invalid_credentials())
        }
    }
}

pub(super) fn log_out(model: &Model, request: &ApiRequest) -> Outcome {
    let named = cookies(request);
    for text in &named {
        if let Ok(caller) = by_session(model, text) {
            admit(caller, request)?;
        }
    }
    no_query(request)?;
    Ok((Success::LoggedOut, Change::NoSessions(named)))
}
