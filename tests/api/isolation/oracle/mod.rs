//! The expected answer and stored state for each request: the contract in its simplest form.

mod daemon_keys;
mod hosts;
mod ports;
mod public;
mod route;
mod user_keys;
mod values;
mod who;

use serde_json::{Value, json};
use toposcope::model::Permission;
use uuid::Uuid;

pub(crate) use route::{Endpoint, route};
pub(crate) use who::{Used, identify};

use super::ask::{ALLOWED_ORIGIN, Ask, OWN_ORIGIN};
use super::records::{By, Caller, DaemonKey, Model, Referral, UserKey, rank};
use super::refusal::{Refusal, permission_denied, refusal, user_context_required};
use crate::common::VERSION;

/// The expected outcome of a request.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    pub(crate) endpoint: Option<Endpoint>,
    /// The organization whose data may be in the answer.
    pub(crate) organization: Option<Uuid>,
    /// The key that was used.
    pub(crate) used: Option<Used>,
    pub(crate) answer: Result<Success, Refusal>,
    pub(crate) change: Change,
}

/// The expected `data` of a success.
#[derive(Clone, Debug)]
pub(crate) enum Success {
    Data(Value),
    Page {
        hosts: Vec<Value>,
        pagination: Value,
    },
    /// This daemon key, whose id and text the answer determines.
    Issued,
    /// This user key, and when it was last used.
    Key(Box<UserKey>),
    /// This user, and a new session.
    LoggedIn(Value),
    LoggedOut,
}

/// The expected change of the stored records.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Nothing,
    Port(ports::Move),
    NewDaemonKey(Box<DaemonKey>),
    UserKey(Box<UserKey>),
    NoUserKey(Uuid),
    Referral(Box<Referral>),
    FailedLogin(String),
    Session(Uuid),
    NoSessions(Vec<String>),
}

type Outcome = Result<(Success, Change), Refusal>;

pub(crate) fn decide(model: &Model, ask: &Ask) -> Decision {
    let endpoint = route(ask);
    let is_public =
        matches!(endpoint, Ok(Endpoint::Version | Endpoint::LogIn | Endpoint::LogOut | Endpoint::Share(_)));
    let (caller, used) = if is_public { (Err(user_context_required()), None) } else { identify(model, ask) };
    let mut organization = None;
    let mut change = Change::Nothing;
    let outcome = endpoint.clone().and_then(|endpoint| match endpoint {
        Endpoint::Version => public::version(ask),
        Endpoint::LogIn => public::log_in(model, ask, &mut organization, &mut change),
        Endpoint::LogOut => public::log_out(model, ask),
        Endpoint::Share(id) => public::share(model, ask, &id, &mut organization),
        other => {
            let caller = caller.and_then(|caller| admit(caller, ask))?;
            organization = Some(caller.organization);
            protected(model, ask, &caller, &other)
        }
    });
    let answer = outcome.map(|(success, stored)| {
        change = stored;
        success
    });
    Decision { endpoint: endpoint.ok(), organization, used, answer, change }
}

fn protected(model: &Model, ask: &Ask, caller: &Caller, endpoint: &Endpoint) -> Outcome {
    match endpoint {
        Endpoint::Hosts => hosts::list(model, ask, caller),
        Endpoint::Port(id) => {
            at_least(caller, Permission::Member)?;
            ports::update(model, ask, caller, id)
        }
        Endpoint::DaemonKeys => {
            at_least(caller, Permission::Member)?;
            daemon_keys::create(model, ask, caller)
        }
        Endpoint::UserKey(id) => {
            in_person(caller)?;
            if ask.method == "PUT" {
                user_keys::update(model, ask, caller, id)
            } else {
                user_keys::delete(model, ask, caller, id)
            }
        }
        Endpoint::Referral => {
            in_person(caller)?;
            public::referral(model, ask, caller)
        }
        _ => panic!("{endpoint:?} asks for no credential"),
    }
}

/// Returns whether the origin of the request may use a session.
fn admit(caller: Caller, ask: &Ask) -> Result<Caller, Refusal> {
    let is_reading = ask.method == "GET" || ask.method == "HEAD";
    let is_foreign = ask.origin.is_some_and(|origin| origin != OWN_ORIGIN && origin != ALLOWED_ORIGIN);
    if caller.by == By::Session && !is_reading && (is_foreign || ask.fetch_site == Some("cross-site")) {
        return Err(refusal(403, "auth_cross_site_request", json!({})));
    }
    Ok(caller)
}

fn at_least(caller: &Caller, level: Permission) -> Result<(), Refusal> {
    if rank(caller.level) >= rank(level) { Ok(()) } else { Err(permission_denied()) }
}

fn in_person(caller: &Caller) -> Result<(), Refusal> {
    if caller.by == By::Key { Err(user_context_required()) } else { Ok(()) }
}

fn data(value: Value) -> Outcome {
    Ok((Success::Data(value), Change::Nothing))
}

fn versions() -> Value {
    json!({"api_version": 1, "server_version": VERSION})
}

/// Returns each value once, at its first position.
fn each_once(ids: &[Uuid]) -> Vec<Uuid> {
    let mut once: Vec<Uuid> = vec![];
    for id in ids {
        if !once.contains(id) {
            once.push(*id);
        }
    }
    once
}
