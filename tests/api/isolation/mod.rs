//! No request lets a caller see or change anything outside its own organization and scope.
//!
//! Random requests come from all kinds of callers, to every endpoint and about every kind of record, while
//! the data changes. Each answer must equal that of a naive oracle, which knows the API contract and none of
//! the crate's code. The store must hold what the oracle expects. No answer and no log line may contain
//! another organization's data or a secret.

pub(crate) mod campus;
mod documents;
mod fixture;
mod interference;
mod leaks;
pub(crate) mod model;
pub(crate) mod oracle;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::thread;

use serde_json::{Value, json};

pub(crate) use self::fixture::{Fixture, Seeded, session_of};
use self::leaks::Disclosure;
use self::model::find;
use self::oracle::values::{Refusal, refusal};
use self::oracle::{Change, Decision, Endpoint, Success, decide};
use crate::backend::{self, Backend};
use crate::common::{Log, Reply, ample};
use crate::requests::Choose;
use crate::requests::request::ApiRequest;

/// Each seed gets its own organizations and requests.
const SEEDS: [u64; 4] = [1, 2, 3, 4];

/// Outcomes that must occur; otherwise the requests would prove less than they seem to.
const REACHED: [(&str, &str); 10] = [
    ("Version", "200"),
    ("LogIn", "200 auth_invalid_credentials"),
    ("LogOut", "200"),
    (
        "Hosts",
        "200 auth_not_authenticated auth_user_context_required billing_feature_not_available entity_disabled \
         entity_expired validation_invalid_format validation_unknown_parameter",
    ),
    (
        "Port",
        "200 auth_cross_site_request auth_permission_denied entity_access_denied entity_already_exists \
         entity_in_use entity_network_mismatch entity_not_found entity_reference_invalid \
         request_unsupported_media_type validation_malformed_json validation_required",
    ),
    ("DaemonKeys", "200 entity_access_denied entity_reference_invalid validation_out_of_range"),
    (
        "UserKey",
        "200 auth_user_context_required auth_permission_denied entity_not_found entity_reference_invalid \
         entity_update_forbidden",
    ),
    ("Share", "200 entity_not_found"),
    ("Referral", "200"),
    ("nothing", "route_not_found method_not_allowed"),
];

/// Steps from which the rare outcomes below must occur too.
const IN_TIME: usize = 2_500;
const REACHED_IN_TIME: [(&str, &str); 6] = [
    ("LogOut", "auth_cross_site_request"),
    ("LogIn", "auth_too_many_attempts validation_empty"),
    ("Hosts", "auth_session_expired store_unavailable"),
    ("Port", "internal_error request_too_large"),
    ("Referral", "validation_max_length"),
    ("UserKey", "entity_access_denied validation_invalid_format"),
];

/// Outcomes of requests, each with its endpoint.
type Outcomes = BTreeSet<String>;

#[test]
fn random_requests_get_the_answers_of_the_oracle() {
    backend::run(async || run_seeds(Backend::current()));
}

fn run_seeds(backend: Backend) {
    let steps = backend.effort(700, 25_000);
    let runs = SEEDS.map(|seed| thread::spawn(move || run_seed(seed, backend, steps)));
    let mut outcomes = Outcomes::new();
    for run in runs {
        outcomes.extend(run.join().expect("every answer is the oracle's"));
    }
    let in_time = if steps < IN_TIME { &[][..] } else { &REACHED_IN_TIME };
    for (endpoint, expected) in REACHED.iter().chain(in_time) {
        for outcome in expected.split(' ') {
            let outcome = format!("{endpoint} {outcome}");
            assert!(outcomes.contains(&outcome), "no answer was {outcome:?}: {outcomes:#?}");
        }
    }
}

/// A description of a request that is printed when a check fails. It contains everything needed to reproduce the
/// failure.
pub(crate) struct OnFailure(pub(crate) String);

impl Drop for OnFailure {
    #[allow(clippy::print_stderr, reason = "a failure must name the seed and the step that reproduce it")]
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.0);
        }
    }
}

/// Sends the requests of a seed, all on one thread. The order is then the same in every run, and the whole log is
/// captured.
fn run_seed(seed: u64, backend: Backend, steps: usize) -> Outcomes {
    let log = Log::default();
    let dispatch = log.dispatch();
    let on_thread = dispatch.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        // Passwords are hashed on other threads.
        .on_thread_start(move || std::mem::forget(tracing::dispatcher::set_default(&on_thread)))
        .enable_all()
        .build()
        .unwrap();
    let _guard = tracing::dispatcher::set_default(&dispatch);
    runtime.block_on(backend.scope(send_all(seed, log, steps)))
}

async fn send_all(seed: u64, log: Log, steps: usize) -> Outcomes {
    let mut fixture = Fixture::new(seed, ample(), log).await;
    let mut outcomes = Outcomes::new();
    for step in 0..steps {
        let mut on_failure = OnFailure(format!("seed {seed}, step {step}"));
        while fixture.random.once_in(3) {
            fixture.change().await;
        }
        for request in fixture.generator().requests() {
            on_failure.0 = format!("seed {seed}, step {step}: {request:#?}");
            outcomes.insert(send(&mut fixture, &request).await);
        }
        if step % 500 == 499 {
            fixture.audit().await;
        }
    }
    fixture.audit().await;
    outcomes
}

/// Sends a request and returns its outcome.
async fn send(fixture: &mut Fixture, request: &ApiRequest) -> String {
    let mut decision = decide(&fixture.model, request);
    let may_fail = fixture.random.once_in(50);
    let is_damaged = fixture.random.bool();
    if may_fail {
        fixture.faults.fail_after(fixture.random.usize(..8), is_damaged);
    }
    fixture.log.take();
    let reply = fixture.server.send(request.to_http()).await;
    // A request to an unknown path does not reach the store.
    if fixture.faults.has_failed() && decision.endpoint.is_some() {
        let (status, code) = if is_damaged { (500, "internal_error") } else { (503, "store_unavailable") };
        decision.answer = Err(refusal(status, code, json!({})));
    }
    fixture.settle_tasks().await;
    let has_failed = fixture.faults.clear();
    if is_refused_by_store(&decision) {
        decision.change = fixture.stored_of(&decision.change).await;
    }
    if let Some(used) = decision.used {
        fixture.use_key(used, !may_fail);
    }
    let shown = fixture.apply(&decision, &reply);
    let outcome = compare(&decision, shown.as_ref(), request.method == "HEAD", &reply);
    if let Err(difference) = outcome {
        panic!(
            "{difference}\n\nexpected {decision:#?}\n\nanswered {} {:?}\n{:#}",
            reply.status, reply.headers, reply.json
        );
    }
    check_leaks(fixture, request, &decision, &reply, has_failed);
    check_stored(fixture, &decision).await;
    name_of(&decision)
}

fn check_leaks(
    fixture: &Fixture,
    request: &ApiRequest,
    decision: &Decision,
    reply: &Reply,
    has_failed: bool,
) {
    let sent = request.sent();
    let to = decision.organization.filter(|_| !reply.status.is_server_error());
    let mut headers = format!("{:?}", reply.headers.iter().collect::<Vec<_>>());
    let mut body = String::from_utf8(reply.body.clone()).unwrap();
    // The only answers that may contain a secret.
    match (&decision.change, &decision.answer) {
        (Change::Session(_), Ok(_)) => {
            let text = session_of(reply);
            headers = headers.replacen(&text, "", 1);
        }
        (Change::NewDaemonKey(_), Ok(_)) => {
            let text = reply.json["data"]["key"].as_str().unwrap();
            body = body.replacen(text, "", 2);
        }
        _ => {}
    }
    for text in [&headers, &body] {
        fixture.leaks.check(Disclosure { text, to, sent: &sent });
    }
    let text = &fixture.log.take();
    let of_key = decision.used.and_then(|id| find(&fixture.model.keys, id)).map(|key| key.organization);
    fixture.leaks.check_log(Disclosure { text, to: decision.organization.or(of_key), sent: &sent });
    if has_failed && reply.status.is_server_error() {
        assert!(text.contains(leaks::INTERNAL), "the store's error is missing in the log: {text:?}");
    }
}

/// Checks the affected records in the store, occasionally.
async fn check_stored(fixture: &mut Fixture, decision: &Decision) {
    if !fixture.random.once_in(4) {
        return;
    }
    match &decision.change {
        Change::Port(moved) => {
            fixture.audit_host(moved.from).await;
            fixture.audit_host(moved.to).await;
        }
        Change::UserKey(key) | Change::NewDaemonKey(key) => fixture.audit_keys(key.organization).await,
        _ => {}
    }
}

fn is_refused_by_store(decision: &Decision) -> bool {
    decision.answer.as_ref().is_err_and(|refusal| refusal.status >= 500)
}

/// Returns the endpoint and the outcome.
fn name_of(decision: &Decision) -> String {
    let endpoint = decision.endpoint.as_ref().map_or("nothing".to_owned(), Endpoint::name);
    match &decision.answer {
        Ok(_) => format!("{endpoint} 200"),
        Err(refusal) => format!("{endpoint} {}", refusal.code),
    }
}

/// Returns the difference from the expected answer, if any. `shown` is the expected `data`.
fn compare(decision: &Decision, shown: Option<&Value>, is_head: bool, reply: &Reply) -> Result<(), String> {
    match &decision.answer {
        Ok(success) => compare_success(success, shown, is_head, reply),
        Err(refusal) => compare_refusal(refusal, is_head, reply),
    }
}

fn equal<T: PartialEq + Debug + ?Sized>(what: &str, expected: &T, given: &T) -> Result<(), String> {
    if expected == given { Ok(()) } else { Err(format!("{what}: expected {expected:?}\ngiven    {given:?}")) }
}

fn compare_success(
    success: &Success,
    shown: Option<&Value>,
    is_head: bool,
    reply: &Reply,
) -> Result<(), String> {
    equal("status", &200, &reply.status.as_u16())?;
    let cookie = match success {
        // Only the answer determines the id.
        Success::LoggedIn(_) => Some((session_of(reply), 604_800)),
        Success::LoggedOut => Some((String::new(), 0)),
        _ => None,
    };
    if let Some((id, seconds)) = cookie {
        equal("characters of the session id", &if seconds == 0 { 0 } else { 43 }, &id.len())?;
        let cookie = format!("session_id={id}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}; Secure");
        equal("cookie", cookie.as_str(), reply.header("set-cookie"))?;
    }
    if is_head {
        return Ok(());
    }
    if let Success::Page { pagination, .. } = success {
        equal("pagination", pagination, &reply.json["meta"]["pagination"])?;
    }
    equal("data", shown.ok_or("the oracle shows nothing")?, &reply.json["data"])
}

fn compare_refusal(refusal: &Refusal, is_head: bool, reply: &Reply) -> Result<(), String> {
    equal("status", &refusal.status, &reply.status.as_u16())?;
    if let Some(methods) = &refusal.allow {
        equal("allow", methods, &reply.header("allow").split(", ").collect())?;
    }
    if is_head {
        return Ok(());
    }
    equal("code", &Value::from(refusal.code), &reply.json["code"])?;
    match &refusal.params {
        Some(params) => equal("params", params, &reply.json["params"]),
        None => Ok(()),
    }
}
