//! Every answer to any input follows the contract and is not an internal error.
//! [`Server::send`](crate::common::Server::send) checks each one, and a panic inside would be a 500.

mod damage;
mod every_endpoint;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method};
use tokio::runtime;
use toposcope::model::Permission;
use toposcope::service::RateLimit;
use uuid::Uuid;

use self::damage::damaged;
use crate::backend::{self, Backend};
use crate::common::{self, CODES, Log, Reply, bare, with_session};
use crate::isolation::{Fixture, OnFailure};
use crate::requests::Choose;
use crate::requests::routes::{Route, route, routes};

/// The number of requests in a round. Each round begins with new records, so that their number is bounded.
const REQUESTS: u64 = 2_500;

/// Errors that take a failing store, a server that shuts down, a quota, a repeated request, a slow client or a huge network, none of which occur here.
const NEVER: [&str; 11] = [
    "addresses_exhausted",
    "auth_choose_organization",
    "answer_too_large",
    "idempotency_key_in_use",
    "idempotency_key_reused",
    "internal_error",
    "policy.refused",
    "quota_exceeded",
    "request_timeout",
    "server_stopping",
    "store_unavailable",
];
/// Fewer requests than these do not meet every rare outcome.
const MANY_VALUES: u64 = 50_000;

async fn run(round: u64) -> Tally {
    let limit = RateLimit::new(120.try_into().unwrap(), 6.try_into().unwrap());
    let mut fixture = Fixture::new(round, limit, Log::default()).await;
    fixture.expire_credentials().await;
    let mut tally = Tally::default();
    let mut number = 0;
    while number < REQUESTS {
        // Several logins are refused only if none of them is damaged.
        let is_intact = fixture.random.once_in(4);
        for request in fixture.generator().careful().requests() {
            let faults = if is_intact { 0 } else { fixture.random.usize(1..4) };
            let Some(request) = damaged(&request, faults, &mut fixture.generator()) else { continue };
            let (method, path) = (request.method().clone(), request.uri().path().to_owned());
            let on_failure = OnFailure(format!("round {round}: {request:?}"));
            fixture.faults.set_contended(fixture.random.once_in(20));
            let reply = fixture.server.send(request).await;
            fixture.faults.set_contended(false);
            assert!(!reply.status.is_server_error(), "{}", reply.json);
            drop(on_failure);
            *tally.entry(outcome(&method, &path, &reply)).or_default() += 1;
            if reply.status == 200 && (method == "DELETE" || path == "/api/auth/logout") {
                fixture.replace_ended().await;
            }
            // Some requests come faster than the rate limit allows.
            if number % 500 >= 150 {
                let millis = fixture.random.i64(0..400);
                fixture.advance(millis * 1000);
            }
            number += 1;
        }
    }
    fixture.verify().await;
    tally
}

#[test]
fn answers_to_damaged_requests_follow_the_contract() {
    backend::run(async || run_rounds(Backend::current()));
}

fn run_rounds(backend: Backend) {
    let rounds = backend.effort(4, 400) as u64;
    let next = AtomicU64::new(0);
    let work = || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut tally = Tally::default();
        loop {
            let round = next.fetch_add(1, Ordering::Relaxed);
            if round >= rounds {
                return tally;
            }
            let run: Pin<Box<dyn Future<Output = Tally>>> = if round.is_multiple_of(2) {
                Box::pin(run(round))
            } else {
                Box::pin(every_endpoint::run(round))
            };
            add(&mut tally, runtime.block_on(backend.scope(run)));
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(4);
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            add(&mut tally, worker.join().unwrap());
        }
    });
    println!("{tally:#?}");
    assert!(tally.values().sum::<u64>() >= rounds * REQUESTS);
    assert_varied(&tally);
}

#[test]
fn deeply_nested_body_is_read_to_its_end() {
    backend::run(async || {
        let world = common::Fixture::new().await;
        let owner = world.user(&world.home, Permission::Owner, &[]).await;
        let session = world.sign_in(&owner).await;
        let long_name = format!("{{\"{}\":", "k".repeat(1_000));
        let id = Uuid::nil();
        let endpoints = [
            ("POST", "/api/auth/login".to_owned()),
            ("PUT", format!("/api/v1/ports/{id}")),
            ("POST", "/api/v1/auth/daemon".to_owned()),
            ("PUT", format!("/api/v1/auth/keys/{id}")),
            ("POST", "/api/v1/organizations/referral-source".to_owned()),
            ("POST", "/api/v1/subnets".to_owned()),
        ];
        for (open, close, depth) in [("[", "]", 150_000), ("{\"\":", "}", 150_000), (&long_name, "}", 150)] {
            let value = [&*open.repeat(depth), "0", &*close.repeat(depth)].concat();
            for (method, target) in &endpoints {
                let fields = ["name", "tags", "number", "email", "referral_source", "permissions", "unknown"];
                for field in fields.into_iter().chain(["subnet_type"]) {
                    let mut request = with_session(bare(method, target), &session);
                    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                    let request = request.map(|_| format!("{{\"{field}\":{value}}}"));
                    let reply = world.server.send(request).await;
                    let code = reply.json["code"].as_str().unwrap();
                    let is_expected = match target.as_str() {
                        // Anybody may send it, so it must be short.
                        "/api/auth/login" => code == "request_too_large",
                        _ => ["validation_invalid_format", "validation_required"].contains(&code),
                    };
                    assert!(is_expected, "{method} {target} with {field}: {code}");
                }
            }
        }
    });
}

/// Numbers of requests by outcome: the code of an error, or the endpoint that succeeded.
type Tally = BTreeMap<String, u64>;

fn add(tally: &mut Tally, other: Tally) {
    for (outcome, count) in other {
        *tally.entry(outcome).or_default() += count;
    }
}

/// Returns the outcome of a request.
fn outcome(method: &Method, path: &str, reply: &Reply) -> String {
    if reply.status == 200 {
        return route(method.as_str(), path).expect("only an endpoint succeeds").name();
    }
    reply.json["code"].as_str().map_or_else(|| format!("HEAD {}", reply.status), str::to_owned)
}

/// Asserts that every error code occurred and every endpoint succeeded. Each must have occurred often enough to rule
/// out an accident. With few requests, an eighth of both may be missing.
fn assert_varied(tally: &Tally) {
    let total = tally.values().sum::<u64>();
    let least = (total / 20_000).max(1);
    let codes = CODES.iter().map(|(_, code, _)| (*code).to_owned()).filter(|code| !NEVER.contains(&&**code));
    for outcomes in [codes.collect::<Vec<_>>(), routes().iter().map(Route::name).collect()] {
        let few = if total < MANY_VALUES { outcomes.len() / 8 } else { 0 };
        let is_missing = |outcome: &&String| tally.get(*outcome).is_none_or(|count| *count < least);
        let missing: Vec<_> = outcomes.iter().filter(is_missing).collect();
        assert!(missing.len() <= few, "missing: {missing:#?}: {tally:#?}");
    }
    for code in NEVER {
        assert!(!tally.contains_key(code), "{code}: {tally:#?}");
    }
}
