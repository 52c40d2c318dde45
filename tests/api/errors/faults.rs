//! Failing stores, for every endpoint and every call, and dropped requests.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use http::Request;
use serde_json::json;
use toposcope::store::{Key, Link, Name, StoreError, UniqueKey};
use uuid::Uuid;

use crate::backend::{Backend, run, run_with};
use crate::common::{
    Fault, Fixture, HOST, HOSTS, Hook, LOG_OUT, NEIGHBOUR, NOBODY, PASSWORD, PORT, Populated, Produced,
    Reply, Row, Server, bare, check, daemon_body, get, key_path, log_in, port_body, produced_by, share_path,
    with, with_caller, with_key,
};

const SECRET: &str = "db.internal:5432 password=hunter2";

type Failure = fn(Key) -> StoreError;

/// Conflicting changes to the records that a change depends on.
const OVERTAKEN: [Failure; 4] = [
    StoreError::conflict,
    |key| StoreError::linked(Link::new(Name::new("x"), key.id)),
    |key| StoreError::network_in_use(key.id),
    |key| StoreError::unique_key_taken(UniqueKey::new(Name::new("x"), key.id)),
];

/// Returns every request that changes a record, with the kind of that record. The entity and the id are those that the
/// error names when this record keeps changing concurrently. The id is `None` for a record that is still to be created.
fn changes(fixture: &Populated) -> [(Request<String>, &'static str, &'static str, Option<Uuid>); 6] {
    let referral = json!({"referral_source": "reddit"});
    [
        (fixture.put_port(PORT, &port_body()), "host", "Port", Some(PORT.uuid())),
        (fixture.create_daemon_key(&daemon_body()), "daemon_api_key", "Daemon API Key", None),
        (
            fixture.put_own_key(&with(&fixture.key_body(), "name", "renamed")),
            "user_api_key",
            "User API Key",
            Some(fixture.member_key_id.uuid()),
        ),
        (
            fixture.by_session(bare("DELETE", &key_path(fixture.member_key_id))),
            "user_api_key",
            "User API Key",
            Some(fixture.member_key_id.uuid()),
        ),
        (fixture.submit_referral(&referral), "referral", "User", Some(fixture.member.id.uuid())),
        (log_in(&fixture.member.email, PASSWORD), "session", "User", Some(fixture.member.id.uuid())),
    ]
}

async fn conflicts(fixture: &Populated) -> Produced {
    let mut produced = Produced::new();
    // Putting a host is not retried when its network is in use or another unique key is taken: either is a
    // fault.
    let retried = |kind: &str| if kind == "host" { &OVERTAKEN[..2] } else { &OVERTAKEN[..] };
    for (request, kind, entity, id) in changes(fixture) {
        for failure in retried(kind) {
            let store = Hook::failing(Fault::Commit(Name::new(kind), *failure));
            let reply = fixture.server_with(&store).send(request.clone()).await;
            let params = reply.refuses(409, "entity_conflict");
            assert_eq!(params["entity"], entity);
            assert!(id.is_none_or(|id| params["id"] == id.to_string()), "{params}");
            produced.extend(produced_by(&reply));
            let commits =
                store.take_calls().iter().filter(|call| call.contains(kind) && is_commit(call)).count();
            assert!((2..=32).contains(&commits), "{kind}: tried {commits} times");
        }
    }
    produced
}

fn is_commit(call: &str) -> bool {
    call.starts_with("commit")
}

async fn faults(fixture: &Populated) -> Produced {
    let mut produced = Produced::new();
    for (request, kind, ..) in changes(fixture) {
        let failures: [(Failure, u16, &str); 3] = [
            (|_| StoreError::unavailable(SECRET), 503, "store_unavailable"),
            (|_| StoreError::corrupt(SECRET).with_source(SECRET), 500, "internal_error"),
            (|_| StoreError::invalid(SECRET), 500, "internal_error"),
        ];
        for (failure, _status, code) in failures {
            let store = Hook::failing(Fault::Commit(Name::new(kind), failure));
            let row = Row::refused(kind, request.clone(), code);
            produced.extend(check(&fixture.server_with(&store), [row]).await);
            // The first change of a new server opens the history.
            let is_change = |call: &String| is_commit(call) && call != "commit history";
            let commits: Vec<String> = store.take_calls().into_iter().filter(is_change).collect();
            assert_eq!(commits.len(), 1, "what may have been carried out is not tried again: {commits:?}");
        }
    }
    produced
}

pub(super) async fn rows() -> Produced {
    let fixture = Populated::new().await;
    let before = fixture.stored().await;
    let mut produced = conflicts(&fixture).await;
    produced.extend(faults(&fixture).await);
    assert_eq!(fixture.stored().await, before, "nothing of what is refused is stored");
    produced
}

/// Returns a request to every endpoint that needs the store. The requests use a session, because the use of an API key
/// would also be recorded.
fn all(fixture: &Populated) -> Vec<Request<String>> {
    let changes = changes(fixture).into_iter().map(|(mut request, ..)| {
        request.headers_mut().remove("authorization");
        fixture.by_session(request)
    });
    let others = [
        fixture.by_session(bare("GET", HOSTS)),
        bare("GET", &share_path(fixture.share_id)),
        fixture.by_session(bare("POST", LOG_OUT)),
    ];
    changes.chain(others).collect()
}

fn failing(fixture: &Fixture, fault: Fault) -> Server {
    fixture.server_with(&Hook::failing(fault))
}

/// Asserts that neither the headers nor the body reveal the cause of an error.
fn assert_nothing_revealed(reply: &Reply) {
    let text = format!("{:?} {}", reply.headers, String::from_utf8_lossy(&reply.body));
    for secret in ["hunter2", "db.internal", "source", "record", &NOBODY.to_string()] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[test]
fn unavailable_store_is_503_whichever_call_fails() {
    run(async || {
        let count = all(&Populated::new().await).len();
        for number in 0..count {
            let fixture = Populated::new().await;
            let request = &all(&fixture)[number];
            let before = fixture.stored().await;
            let mut calls = 0;
            loop {
                let fault = Fault::From(calls, || StoreError::unavailable(SECRET));
                let reply = failing(&fixture, fault).send(request.clone()).await;
                if reply.status == 200 {
                    break;
                }
                assert_eq!(reply.refuses(503, "store_unavailable"), &json!({}));
                assert_nothing_revealed(&reply);
                assert_eq!(fixture.stored().await, before);
                calls += 1;
            }
            assert!(calls >= 1, "every one of them needs the store");
        }
    });
}

#[test]
fn panicking_store_is_500_whichever_call_panics() {
    run_with(Populated::new, async |fixture| {
        let before = fixture.stored().await;
        for request in all(&fixture) {
            for call in 0..2 {
                let reply =
                    failing(&fixture, Fault::From(call, || panic!("{SECRET}"))).send(request.clone()).await;
                if reply.status != 200 {
                    assert_eq!(reply.refuses(500, "internal_error"), &json!({}));
                    assert_nothing_revealed(&reply);
                }
            }
        }
        assert_eq!(fixture.stored().await, before);
    });
}

/// A list requested with a key makes four calls of the store. It resolves the key, gets the records of the caller, asks
/// for the revision, and lists.
#[test]
fn faults_of_a_list_reveal_nothing_to_get_and_head() {
    run_with(Populated::new, async |fixture| {
        let internal: [fn() -> StoreError; 5] = [
            || StoreError::corrupt(SECRET).with_source(source()),
            || StoreError::invalid(SECRET),
            || StoreError::conflict(Key::new(Name::new("hunter2"), NOBODY)),
            || StoreError::unique_key_taken(UniqueKey::new(Name::new("hunter2"), "hunter2")),
            || StoreError::linked(Link::new(Name::new("hunter2"), NOBODY)),
        ];
        let mut cases = Vec::new();
        for call in 0..4 {
            let unavailable = || StoreError::unavailable(SECRET).with_source(source());
            cases.push((Fault::From(call, unavailable), 503, "store_unavailable"));
            cases.extend(internal.map(|error| (Fault::From(call, error), 500, "internal_error")));
        }
        cases.extend((0..3).map(|call| (Fault::From(call, || panic!("{SECRET}")), 500, "internal_error")));
        for body in [&b""[..], b"hunter2", b"{\"hunter2\":", b"{}", b"null", b"[1]", b"\xff\xfe"] {
            cases.extend((0..2).map(|call| (Fault::Body(call, body), 500, "internal_error")));
        }
        for (fault, status, code) in cases {
            let reply = failing(&fixture, fault).send(fixture.by_key(get(HOSTS))).await;
            assert_eq!(reply.refuses(status, code), &json!({}));
            assert_nothing_revealed(&reply);
            let head = failing(&fixture, fault).send(fixture.by_key(bare("HEAD", HOSTS))).await;
            let length = reply.body.len() as u64;
            assert_eq!((head.status.as_u16(), head.number("content-length")), (status, length));
        }
        // While a request waits for a database, the calls of background tasks come between its own.
        if !Backend::current().is_shared() {
            let last = Fault::From(4, || StoreError::unavailable(SECRET));
            assert_eq!(failing(&fixture, last).send(fixture.by_key(get(HOSTS))).await.status, 200);
        }
    });
}

#[test]
fn failed_requests_do_not_affect_others() {
    run_with(Populated::new, async |fixture| {
        let errors: [fn() -> StoreError; 3] =
            [|| StoreError::unavailable(SECRET), || StoreError::corrupt(SECRET), || panic!("{SECRET}")];
        for error in errors {
            let server = failing(&fixture, Fault::From(2, error));
            for _ in 0..5 {
                assert_eq!(server.get("/api/version").await.status, 200, "this needs no store");
                assert!(server.send(fixture.by_key(get(HOSTS))).await.status.is_server_error());
            }
        }
        assert_eq!(fixture.send(fixture.by_key(get(HOSTS))).await.status, 200);
    });
}

#[test]
fn requests_are_refused_without_the_store_where_it_is_not_needed() {
    run_with(Fixture::new, async |fixture| {
        let server = failing(&fixture, Fault::From(0, || StoreError::unavailable(SECRET)));
        let caller = fixture.viewer();
        // The organization of a caller is looked up before the query is read.
        let unknown = with_caller(get("/nothing?limit=x"), caller);
        for (request, status, code) in [
            (with_key(get("/nothing"), &fixture.key), 404, "route_not_found"),
            (with_key(bare("PATCH", HOSTS), &fixture.key), 405, "method_not_allowed"),
            (get(HOSTS), 401, "auth_not_authenticated"),
            (with_key(get(HOSTS), "nonsense"), 401, "auth_not_authenticated"),
            (unknown, 404, "route_not_found"),
        ] {
            server.send(request).await.refuses(status, code);
        }
    });
}

fn source() -> String {
    format!("source {SECRET}")
}

/// Changes that can be requested repeatedly, each time about another record.
const CHANGES: [fn(&Populated, usize) -> Request<String>; 3] = [
    |fixture, number| {
        let host = [NEIGHBOUR, HOST][number % 2];
        fixture.put_port(PORT, &with(&with(&port_body(), "host_id", json!(host)), "number", 5000 + number))
    },
    |fixture, number| fixture.put_own_key(&with(&fixture.key_body(), "name", format!("key {number}"))),
    |fixture, number| {
        let source = ["reddit", "youtube"][number % 2];
        fixture.submit_referral(&json!({"referral_source": source}))
    },
];

/// Polls a future at most `polls` times, and then drops it. It is polled each time it is woken. Returns `None` if it is
/// not ready by then.
async fn dropped_after<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[test]
fn dropped_request_is_carried_out_completely_or_not_at_all() {
    run(async || {
        for change in CHANGES {
            let fixture = Populated::new().await;
            let server = fixture.server_with(&Hook::yielding());
            for polls in 0.. {
                fixture.clock.advance(Duration::from_secs(1));
                let request = change(&fixture, polls);
                let before = fixture.stored().await;
                let is_answered = dropped_after(polls, server.send(request.clone())).await.is_some();
                // Writes still in progress complete before any later request.
                fixture.inventory.purge_expired().await.unwrap();
                let after = fixture.stored().await;
                assert_eq!(server.send(request).await.status, 200, "the next request is answered");
                let whole = fixture.stored().await;
                assert_ne!(whole, before);
                assert!(after == whole || (after == before && !is_answered), "dropped after {polls} polls");
                if is_answered {
                    break;
                }
            }
        }
    });
}
