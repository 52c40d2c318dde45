//! Work on large bodies and lists, which must not keep the threads of other requests.

use std::sync::mpsc::channel;

use tokio::runtime::Builder;
use tokio::task::{spawn, spawn_blocking, yield_now};
use uuid::Uuid;

use super::*;
use crate::common::host;

/// More polls than any small request takes.
const TURNS: usize = 1_000;

/// Returns whether a request is answered while the only blocking thread is busy.
///
/// `bytes` is the length of the description of each host.
fn is_answered_in_place(bytes: usize, request: impl FnOnce(&Fixture) -> Request<String>) -> bool {
    let runtime = Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let hosts = (1..=10).map(|id| {
            let mut host = host(id, OFFICE);
            host.description = Some("x".repeat(bytes));
            host
        });
        let fixture = Fixture::with(hosts).await;
        let request = request(&fixture);
        let (release, released) = channel::<()>();
        let blocker = spawn_blocking(move || released.recv().is_err());
        let server = fixture.server.clone();
        let reply = spawn(async move { server.send(request).await });
        for _ in 0..TURNS {
            yield_now().await;
        }
        let is_answered = reply.is_finished();
        drop(release);
        assert!(blocker.await.unwrap());
        assert!(reply.await.unwrap().status.as_u16() < 500);
        is_answered
    })
}

#[test]
fn fields_of_large_lists_are_selected_on_a_blocking_thread() {
    for query in ["fields=name", "limit=0&fields=name"] {
        let list = |fixture: &Fixture| with_key(get(&format!("{HOSTS}?{query}")), &fixture.key);
        assert!(!is_answered_in_place(60_000, list), "{query}");
        assert!(is_answered_in_place(100, list), "{query}");
        let whole = |fixture: &Fixture| with_key(get(&format!("{HOSTS}?limit=10")), &fixture.key);
        assert!(is_answered_in_place(60_000, whole), "nothing is selected");
    }
}

#[test]
fn large_bulk_request_is_split_on_a_blocking_thread() {
    let bulk = |size: usize| {
        move |fixture: &Fixture| {
            // It has no hosts, so that splitting it is all the work.
            let body = json!({"hosts": [], "unknown": "x".repeat(size)});
            with_key(send_json("POST", "/api/v1/hosts/bulk", &body), &fixture.key)
        }
    };
    assert!(!is_answered_in_place(0, bulk(300_000)));
    assert!(is_answered_in_place(0, bulk(1_000)));
}

#[test]
fn large_update_of_a_host_is_read_on_a_blocking_thread() {
    for method in ["PUT", "PATCH"] {
        let update = |size: usize| {
            move |fixture: &Fixture| {
                let body = json!({"name": "renamed", "unknown": "x".repeat(size)});
                let path = format!("{HOSTS}/{}", Uuid::from_u128(1));
                with_key(send_json(method, &path, &body), &fixture.key)
            }
        };
        assert!(!is_answered_in_place(0, update(300_000)), "{method}");
        assert!(is_answered_in_place(0, update(1_000)), "{method}");
    }
}
