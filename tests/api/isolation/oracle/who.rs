use serde_json::json;
use uuid::Uuid;

use crate::isolation::ask::Ask;
use crate::isolation::records::{By, Caller, Model, User, granted, rank};
use crate::isolation::refusal::{
    Refusal, disabled, expired, not_authenticated, refusal, user_context_required,
};

/// A valid key; it counts as used, whatever the outcome of the request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Used {
    User(Uuid),
    Daemon(Uuid),
}

/// The authenticated sender of a request.
pub(crate) fn identify(model: &Model, ask: &Ask) -> (Result<Caller, Refusal>, Option<Used>) {
    if let Some(caller) = &ask.vouched_for {
        return (Ok(caller.clone()), None);
    }
    match ask.authorization.as_slice() {
        [] => match cookies(ask).as_slice() {
            [one] => (by_session(model, one), None),
            _ => (Err(not_authenticated()), None),
        },
        [value] => by_key(model, value),
        _ => (Err(not_authenticated()), None),
    }
}

fn by_key(model: &Model, value: &str) -> (Result<Caller, Refusal>, Option<Used>) {
    let token = match value.split_once(' ') {
        Some((scheme, token)) if scheme.to_lowercase() == "bearer" => token.trim(),
        _ => return (Err(not_authenticated()), None),
    };
    if let Some(key) = model.daemon_keys.iter().find(|key| key.text == token) {
        if !key.is_enabled {
            return (Err(disabled("Daemon API Key")), None);
        }
        if key.expires_at.is_some_and(|time| time <= model.now) {
            return (Err(expired("Daemon API Key")), None);
        }
        return (Err(user_context_required()), Some(Used::Daemon(key.id)));
    }
    let Some(key) = model.user_keys.iter().find(|key| key.text == token) else {
        return (Err(not_authenticated()), None);
    };
    let user = model.user(key.user).expect("a key has an owner");
    let organization = model.organization(user.organization).expect("a user has an organization");
    if !key.is_enabled {
        return (Err(disabled("User API Key")), None);
    }
    if key.expires_at.is_some_and(|time| time <= model.now) {
        return (Err(expired("User API Key")), None);
    }
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
    (Ok(Caller { networks: Some(both), ..caller }), Some(Used::User(key.id)))
}

/// Returns the user of a session.
pub(super) fn by_session(model: &Model, text: &str) -> Result<Caller, Refusal> {
    let session = model.sessions.iter().find(|session| session.text == text);
    let session = session.ok_or_else(not_authenticated)?;
    if session.expires_at <= model.now {
        return Err(refusal(401, "auth_session_expired", json!({})));
    }
    let user = model.user(session.user).expect("a session has a user");
    if user.is_disabled {
        return Err(disabled("User"));
    }
    Ok(in_person(user, By::Session))
}

/// Returns the sessions in the cookies, each once.
pub(super) fn cookies(ask: &Ask) -> Vec<String> {
    let values = ask.cookies.iter().filter(|(name, _)| *name == "session_id");
    let mut values: Vec<String> = values.map(|(_, value)| value.clone()).collect();
    values.dedup();
    values
}

fn in_person(user: &User, by: By) -> Caller {
    Caller { organization: user.organization, user: user.id, level: user.level, networks: granted(user), by }
}
