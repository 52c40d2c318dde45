//! The expected answer and stored state for each request: the contract in its simplest form.

mod access;
mod endpoints;
pub(crate) mod values;

use serde_json::{Value, json};
use toposcope::model::Permission;
use uuid::Uuid;

pub(crate) use self::access::identify;
use self::endpoints::Move;
use self::values::{Refusal, permission_denied, refusal, user_context_required};
use super::model::{By, Caller, Key, Model, Referral, rank};
use crate::requests::request::{ALLOWED_ORIGIN, ApiRequest, OWN_ORIGIN};
use crate::requests::routes::{Misrouted, Route, route};

/// The expected outcome of a request.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    pub(crate) endpoint: Option<Endpoint>,
    /// The organization whose data may be in the answer.
    pub(crate) organization: Option<Uuid>,
    /// The valid key that was used, whatever the outcome of the request.
    pub(crate) used: Option<Uuid>,
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
    Key(Box<Key>),
    /// This user, and a new session.
    LoggedIn(Value),
    LoggedOut,
}

/// The expected change of the stored records.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Nothing,
    Port(Move),
    NewDaemonKey(Box<Key>),
    UserKey(Box<Key>),
    NoUserKey(Uuid),
    Referral(Box<Referral>),
    FailedLogin(String),
    Session(Uuid),
    NoSessions(Vec<String>),
}

type Outcome = Result<(Success, Change), Refusal>;

pub(crate) fn decide(model: &Model, request: &ApiRequest) -> Decision {
    let endpoint = endpoint_of(request.method, &request.path);
    let is_public =
        matches!(endpoint, Ok(Endpoint::Version | Endpoint::LogIn | Endpoint::LogOut | Endpoint::Share(_)));
    let (caller, used) =
        if is_public { (Err(user_context_required()), None) } else { identify(model, request) };
    let mut organization = None;
    let mut change = Change::Nothing;
    let outcome = endpoint.clone().and_then(|endpoint| match endpoint {
        Endpoint::Version => access::version(request),
        Endpoint::LogIn => access::log_in(model, request, &mut organization, &mut change),
        Endpoint::LogOut => access::log_out(model, request),
        Endpoint::Share(id) => access::share(model, request, &id, &mut organization),
        other => {
            let caller = caller.and_then(|caller| admit(caller, request))?;
            organization = Some(caller.organization);
            protected(model, request, &caller, &other)
        }
    });
    let answer = outcome.map(|(success, stored)| {
        change = stored;
        success
    });
    Decision { endpoint: endpoint.ok(), organization, used, answer, change }
}

fn protected(model: &Model, request: &ApiRequest, caller: &Caller, endpoint: &Endpoint) -> Outcome {
    match endpoint {
        Endpoint::Hosts => endpoints::list_hosts(model, request, caller),
        Endpoint::Port(id) => {
            at_least(caller, Permission::Member)?;
            endpoints::update_port(model, request, caller, id)
        }
        Endpoint::DaemonKeys => {
            at_least(caller, Permission::Member)?;
            endpoints::create_daemon_key(model, request, caller)
        }
        Endpoint::UserKey(id) => {
            in_person(caller)?;
            if request.method == "PUT" {
                endpoints::update_user_key(model, request, caller, id)
            } else {
                endpoints::delete_user_key(model, request, caller, id)
            }
        }
        Endpoint::Referral => {
            in_person(caller)?;
            endpoints::submit_referral(model, request, caller)
        }
        _ => panic!("{endpoint:?} requests for no credential"),
    }
}

/// Returns whether the origin of the request may use a session.
fn admit(caller: Caller, request: &ApiRequest) -> Result<Caller, Refusal> {
    let is_reading = request.method == "GET" || request.method == "HEAD";
    let is_foreign = request.origin.is_some_and(|origin| origin != OWN_ORIGIN && origin != ALLOWED_ORIGIN);
    let is_own = request.fetch_site == Some("same-origin");
    let is_refused = !is_own && (is_foreign || request.fetch_site == Some("cross-site"));
    let may_be_of_cookie = match caller.by {
        By::Session => true,
        By::Host => !request.cookies.is_empty(),
        By::Key => false,
    };
    if may_be_of_cookie && !is_reading && is_refused {
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

/// An endpoint that the oracle knows, with the literal id in its path.
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

impl Endpoint {
    /// Returns the name without the id.
    pub(crate) fn name(&self) -> String {
        format!("{self:?}").split('(').next().unwrap().to_owned()
    }

    fn of(route: &Route, path: &str) -> Option<Self> {
        let id = || path.rsplit('/').next().unwrap().to_owned();
        Some(match (route.method, route.path) {
            ("GET", "/api/version") => Self::Version,
            ("POST", "/api/auth/login") => Self::LogIn,
            ("POST", "/api/auth/logout") => Self::LogOut,
            ("GET", "/api/v1/hosts") => Self::Hosts,
            ("PUT", "/api/v1/ports/{id}") => Self::Port(id()),
            ("POST", "/api/v1/auth/daemon") => Self::DaemonKeys,
            ("PUT" | "DELETE", "/api/v1/auth/keys/{id}") => Self::UserKey(id()),
            ("GET", "/api/v1/shares/public/{id}") => Self::Share(id()),
            ("POST", "/api/v1/organizations/referral-source") => Self::Referral,
            _ => return None,
        })
    }
}

/// Returns whether the oracle can predict the answers to requests with this method and path.
pub(crate) fn is_foreseen(method: &str, path: &str) -> bool {
    route(method, path).map_or(true, |route| Endpoint::of(route, path).is_some())
}

/// Returns the endpoint of a request, or why there is none.
fn endpoint_of(method: &str, path: &str) -> Result<Endpoint, Refusal> {
    match route(method, path) {
        Ok(route) => Ok(Endpoint::of(route, path).expect("an endpoint that the oracle knows")),
        Err(Misrouted::UnknownPath) => Err(refusal(404, "route_not_found", json!({}))),
        Err(Misrouted::Method(methods)) => {
            Err(Refusal { allow: Some(methods), ..refusal(405, "method_not_allowed", json!({})) })
        }
    }
}
