//! Answers when the store fails: for every endpoint, whichever of its calls fails.

use http::Request;
use serde_json::json;
use toposcope::store::{Key, Link, Name, StoreError, UniqueKey};
use uuid::Uuid;

use crate::common::{Server, bare};
use crate::contract::row::{Produced, Row, check, produced_by};
use crate::contract::scene::{
    HOSTS, LOG_OUT, PORT, Scene, daemon_body, key_path, log_in, port_body, share_path,
};
use crate::contract::store::{Fault, Interposed};

const SECRET: &str = "db.internal:5432 password=hunter2";

type Failure = fn(Key) -> StoreError;

/// Conflicting changes to the records that a change depends on.
const OVERTAKEN: [Failure; 4] = [
    StoreError::conflict,
    |key| StoreError::linked(Link::new(Name::new("x"), key.id)),
    |key| StoreError::network_in_use(key.id),
    |key| StoreError::unique_key_taken(UniqueKey::new(Name::new("x"), key.id)),
];

/// Every request that changes something, with the kind of record that it changes, and the entity and id that
/// the error names when that record keeps changing concurrently. The id is `None` for a record that is still
/// to be created.
fn changes(scene: &Scene) -> [(Request<String>, &'static str, &'static str, Option<Uuid>); 6] {
    let referral = json!({"referral_source": "reddit"});
    [
        (scene.put_port(PORT, &port_body()), "host", "Port", Some(PORT)),
        (scene.create_daemon_key(&daemon_body()), "daemon_api_key", "Daemon API Key", None),
        (scene.put_key(scene.key_id, &scene.key_body()), "user_api_key", "User API Key", Some(scene.key_id)),
        (
            scene.by_session(bare("DELETE", &key_path(scene.key_id))),
            "user_api_key",
            "User API Key",
            Some(scene.key_id),
        ),
        (scene.submit_referral(&referral), "referral", "User", Some(scene.member.id)),
        (log_in(&scene.member.email, crate::common::PASSWORD), "session", "User", Some(scene.member.id)),
    ]
}

async fn conflicts(scene: &Scene) -> Produced {
    let mut produced = Produced::new();
    // Putting a host is not retried when its network is in use or another unique key is taken: either is a
    // fault.
    let retried = |kind: &str| if kind == "host" { &OVERTAKEN[..2] } else { &OVERTAKEN[..] };
    for (request, kind, entity, id) in changes(scene) {
        for failure in retried(kind) {
            let store = Interposed::new(scene, Fault::Commit(Name::new(kind), *failure));
            let reply = store.server(scene).send(request.clone()).await;
            let params = reply.refuses(409, "entity_conflict");
            assert_eq!(params["entity"], entity);
            assert!(id.is_none_or(|id| params["id"] == id.to_string()), "{params}");
            produced.extend(produced_by(&reply));
            let commits =
                store.take_asked().iter().filter(|call| call.contains(kind) && is_commit(call)).count();
            assert!((2..=32).contains(&commits), "{kind}: tried {commits} times");
        }
    }
    produced
}

fn is_commit(call: &str) -> bool {
    call.starts_with("commit")
}

async fn faults(scene: &Scene) -> Produced {
    let mut produced = Produced::new();
    for (request, kind, ..) in changes(scene) {
        let failures: [(Failure, u16, &str); 3] = [
            (|_| StoreError::unavailable(SECRET), 503, "store_unavailable"),
            (|_| StoreError::corrupt(SECRET).with_source(SECRET), 500, "internal_error"),
            (|_| StoreError::invalid(SECRET), 500, "internal_error"),
        ];
        for (failure, status, code) in failures {
            let store = Interposed::new(scene, Fault::Commit(Name::new(kind), failure));
            let row = Row::refused(kind, request.clone(), status, code, json!({}));
            produced.extend(check(&store.server(scene), [row]).await);
            let commits: Vec<String> =
                store.take_asked().into_iter().filter(|call| is_commit(call)).collect();
            assert_eq!(commits.len(), 1, "what may have been carried out is not tried again: {commits:?}");
        }
    }
    produced
}

pub(super) async fn rows() -> Produced {
    let scene = Scene::new().await;
    let before = scene.stored().await;
    let mut produced = conflicts(&scene).await;
    produced.extend(faults(&scene).await);
    assert_eq!(scene.stored().await, before, "nothing of what is refused is stored");
    produced
}

#[tokio::test]
async fn a_change_that_cannot_be_carried_out_is_told_as_conflict_or_fault() {
    rows().await;
}

/// A request to every endpoint that needs the store, with a session: the use of an API key would also be
/// recorded.
fn all(scene: &Scene) -> Vec<Request<String>> {
    let changes = changes(scene).into_iter().map(|(mut request, ..)| {
        request.headers_mut().remove("authorization");
        scene.by_session(request)
    });
    let others = [
        scene.by_session(bare("GET", HOSTS)),
        bare("GET", &share_path(scene.share_id)),
        scene.by_session(bare("POST", LOG_OUT)),
    ];
    changes.chain(others).collect()
}

async fn send(scene: &Scene, request: &Request<String>, fault: Fault) -> crate::common::Reply {
    let server: Server = Interposed::new(scene, fault).server(scene);
    server.send(request.clone()).await
}

#[tokio::test]
async fn a_store_that_cannot_be_reached_is_503_whichever_call_it_fails() {
    let place = Scene::new().await;
    for number in 0..all(&place).len() {
        let scene = Scene::new().await;
        let request = &all(&scene)[number];
        let before = scene.stored().await;
        let mut calls = 0;
        loop {
            let reply = send(&scene, request, Fault::From(calls, || StoreError::unavailable(SECRET))).await;
            if reply.status == 200 {
                break;
            }
            assert_eq!(reply.refuses(503, "store_unavailable"), &json!({}));
            assert!(!String::from_utf8(reply.body).unwrap().contains("hunter2"));
            assert_eq!(scene.stored().await, before);
            calls += 1;
        }
        assert!(calls >= 1, "every one of them needs the store");
    }
}

#[tokio::test]
async fn a_store_that_panics_is_500_whichever_call_does() {
    let scene = Scene::new().await;
    let before = scene.stored().await;
    for request in all(&scene) {
        for call in 0..2 {
            let reply = send(&scene, &request, Fault::From(call, || panic!("{SECRET}"))).await;
            if reply.status != 200 {
                assert_eq!(reply.refuses(500, "internal_error"), &json!({}));
                assert!(!String::from_utf8(reply.body).unwrap().contains("hunter2"));
            }
        }
    }
    assert_eq!(scene.stored().await, before);
}
