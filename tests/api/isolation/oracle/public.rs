//! The endpoints that require no credential, or a user with a session.

use serde_json::json;
use uuid::Uuid;

use super::values::{Fields, name, needed, no_query, path_id, text_of};
use super::who::{by_session, cookies};
use super::{Change, Outcome, Success, admit, data, versions};
use crate::isolation::ask::Ask;
use crate::isolation::json;
use crate::isolation::records::{Caller, Model, Referral};
use crate::isolation::refusal::{empty, invalid_credentials, not_found, refusal, too_long, too_short};

const WINDOW: i64 = 15 * 60 * 1_000_000;

pub(super) fn version(ask: &Ask) -> Outcome {
    no_query(ask)?;
    data(versions())
}

pub(super) fn share(model: &Model, ask: &Ask, id: &str, organization: &mut Option<Uuid>) -> Outcome {
    let id = path_id(ask, id)?;
    let share = model.shares.iter().find(|share| share.id == id);
    match share {
        Some(share) if share.is_enabled && share.expires_at.is_none_or(|time| time > model.now) => {
            *organization = Some(share.organization);
            data(json::share_metadata(share))
        }
        _ => Err(not_found("Share", id)),
    }
}

pub(super) fn log_in(
    model: &Model,
    ask: &Ask,
    organization: &mut Option<Uuid>,
    change: &mut Change,
) -> Outcome {
    no_query(ask)?;
    let fields = Fields::of(ask, &["email", "password"])?;
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
        return Err(too_short("email", 3));
    }
    let failures = model.failed_logins.iter().filter(|(address, _)| *address == email);
    let failures: Vec<i64> =
        failures.map(|(_, time)| time.unix_micros() + WINDOW - model.now.unix_micros()).collect();
    let failures: Vec<i64> = failures.into_iter().filter(|left| *left > 0).collect();
    if failures.len() >= 5 {
        let seconds = (failures.iter().min().unwrap() + 999_999) / 1_000_000;
        return Err(refusal(429, "auth_too_many_attempts", json!({"retry_after": seconds})));
    }
    let user = model.users.iter().find(|user| user.email == email && !user.is_disabled);
    match user.filter(|user| user.password == Some(password)) {
        Some(user) => {
            *organization = Some(user.organization);
            Ok((Success::LoggedIn(json::user(user)), Change::Session(user.id)))
        }
        None => {
            *change = Change::FailedLogin(email);
            Err(invalid_credentials())
        }
    }
}

pub(super) fn log_out(model: &Model, ask: &Ask) -> Outcome {
    let named = cookies(ask);
    for text in &named {
        if let Ok(caller) = by_session(model, text) {
            admit(caller, ask)?;
        }
    }
    no_query(ask)?;
    Ok((Success::LoggedOut, Change::NoSessions(named)))
}

pub(super) fn referral(model: &Model, ask: &Ask, caller: &Caller) -> Outcome {
    no_query(ask)?;
    let fields = Fields::of(ask, &["referral_source", "referral_source_other"])?;
    let source = needed(fields.text("referral_source")?, "referral_source")?;
    let other = fields.text("referral_source_other")?;
    let source = name(&source, "referral_source")?;
    if other.as_ref().is_some_and(|text| text.chars().count() > 500) {
        return Err(too_long("referral_source_other", 500));
    }
    let (organization, user) = (caller.organization, caller.user);
    let mut known = model.referrals.iter();
    let known = known.find(|known| known.organization == organization && known.user == user);
    let created_at = known.map_or(model.now, |known| known.created_at);
    let referral = Referral { organization, user, source, other, created_at, updated_at: model.now };
    Ok((Success::Data(json!({})), Change::Referral(Box::new(referral))))
}
