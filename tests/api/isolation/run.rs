//! Sends requests one after the other and checks all effects of each.

use std::collections::BTreeSet;
use std::thread;

use serde_json::json;

use super::arena::Arena;
use super::ask::Ask;
use super::fickle::Seeded;
use super::leaks::Told;
use super::oracle::{Change, Decision, decide};
use super::refusal::refusal;
use super::requests::Asker;
use super::verdict::compare;
use crate::common::{Log, Reply};

/// Endpoints that were reached, each with its outcome.
pub(crate) type Seen = BTreeSet<String>;

/// The requests of one seed.
pub(crate) struct Run {
    seed: u64,
}

/// Prints the seed and the step when a check fails.
struct Place {
    text: String,
}

impl Drop for Place {
    #[allow(clippy::print_stderr, reason = "a failure must name the seed and the step that reproduce it")]
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.text);
        }
    }
}

impl Run {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Runs on one thread, so that the order is the same in every run and the whole log is captured.
    pub(crate) fn send(self, steps: usize) -> Seen {
        let log = Log::default();
        let dispatch = log.dispatch();
        let on_thread = dispatch.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            // Passwords are hashed on other threads.
            .on_thread_start(move || std::mem::forget(tracing::dispatcher::set_default(&on_thread)))
            .build()
            .unwrap();
        let _guard = tracing::dispatcher::set_default(&dispatch);
        runtime.block_on(self.send_all(log, steps))
    }

    async fn send_all(self, log: Log, steps: usize) -> Seen {
        let mut arena = Arena::new(self.seed, log).await;
        let secrets = Seeded::new(self.seed << 32);
        let mut seen = Seen::new();
        for step in 0..steps {
            let mut place = Place { text: format!("seed {}, step {step}", self.seed) };
            while arena.random.once_in(3) {
                arena.change().await;
            }
            let asks = Asker::new(&mut arena.random, &arena.model, &arena.lost, &secrets).asks();
            for ask in asks {
                place.text = format!("seed {}, step {step}: {ask:#?}", self.seed);
                seen.insert(send(&mut arena, &ask).await);
            }
            if step % 500 == 499 {
                arena.audit().await;
            }
        }
        arena.audit().await;
        seen
    }
}

/// Sends a request and returns its outcome.
async fn send(arena: &mut Arena, ask: &Ask) -> String {
    let mut decision = decide(&arena.model, ask);
    let is_spoilt = arena.random.once_in(50);
    let is_damaged = arena.random.once_in(2);
    if is_spoilt {
        arena.store.spoil(arena.random.below(8), is_damaged);
    }
    arena.log.take();
    let reply = arena.server.send(ask.request()).await;
    // A request to an unknown path does not reach the store.
    if arena.store.has_failed() && decision.endpoint.is_some() {
        let (status, code) = if is_damaged { (500, "internal_error") } else { (503, "store_unavailable") };
        decision.answer = Err(refusal(status, code, json!({})));
    }
    arena.settle_tasks().await;
    let has_failed = arena.store.mend();
    if is_refused_by_store(&decision) {
        decision.change = arena.stored_of(&decision.change).await;
    }
    if let Some(used) = decision.used {
        arena.use_key(used, !is_spoilt);
    }
    let shown = arena.settle(&decision, &reply);
    let outcome = compare(&decision, shown.as_ref(), ask.method == "HEAD", &reply);
    if let Err(difference) = outcome {
        panic!(
            "{difference}\n\nexpected {decision:#?}\n\nanswered {} {:?}\n{:#}",
            reply.status, reply.headers, reply.json
        );
    }
    check_leaks(arena, ask, &decision, &reply, has_failed);
    check_stored(arena, &decision).await;
    how(&decision)
}

fn check_leaks(arena: &Arena, ask: &Ask, decision: &Decision, reply: &Reply, has_failed: bool) {
    let said = ask.said();
    let to = decision.organization.filter(|_| !reply.status.is_server_error());
    let mut headers = format!("{:?}", reply.headers.iter().collect::<Vec<_>>());
    let mut body = String::from_utf8(reply.body.clone()).unwrap();
    // The only answers that may contain a secret.
    match (&decision.change, &decision.answer) {
        (Change::Session(_), Ok(_)) => {
            let text = super::arena::session_of(reply);
            headers = headers.replacen(&text, "", 1);
        }
        (Change::NewDaemonKey(_), Ok(_)) => {
            let text = reply.json["data"]["key"].as_str().unwrap();
            body = body.replacen(text, "", 2);
        }
        _ => {}
    }
    for text in [&headers, &body] {
        arena.leaks.check(Told { text, to, said: &said });
    }
    let text = &arena.log.take();
    let of_key = decision.used.and_then(|used| arena.organization_of(used));
    arena.leaks.check_log(Told { text, to: decision.organization.or(of_key), said: &said });
    if has_failed && reply.status.is_server_error() {
        assert!(text.contains(super::leaks::INTERNAL), "the store's error is missing in the log: {text:?}");
    }
}

/// Checks the affected records in the store, occasionally.
async fn check_stored(arena: &mut Arena, decision: &Decision) {
    if !arena.random.once_in(4) {
        return;
    }
    match &decision.change {
        Change::Port(moved) => {
            arena.audit_host(moved.from).await;
            arena.audit_host(moved.to).await;
        }
        Change::UserKey(key) => arena.audit_keys(key.organization).await,
        Change::NewDaemonKey(key) => arena.audit_keys(key.organization).await,
        _ => {}
    }
}

fn is_refused_by_store(decision: &Decision) -> bool {
    decision.answer.as_ref().is_err_and(|refusal| refusal.status >= 500)
}

fn how(decision: &Decision) -> String {
    let endpoint =
        decision.endpoint.as_ref().map_or("nothing".to_owned(), |endpoint| format!("{endpoint:?}"));
    let endpoint = endpoint.split('(').next().unwrap().to_owned();
    match &decision.answer {
        Ok(_) => format!("{endpoint} 200"),
        Err(refusal) => format!("{endpoint} {}", refusal.code),
    }
}
