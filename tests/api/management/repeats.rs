//! `Idempotency-Key`: a repeated request gets the answer to the first.

use std::time::Duration;

use toposcope::model::{NetworkId, UserId};

use super::*;
use crate::common::{Hook, Server, ample};

const BULK: &str = "/api/v1/hosts/bulk";
#[cfg(feature = "discovery")]
const DISCOVERIES: &str = "/api/v1/discoveries";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn keyed(request: Request<String>, key: &str) -> Request<String> {
    with_header(request, "idempotency-key", key)
}

fn create(path: &str, body: &Value, key: &str) -> Request<String> {
    keyed(send_json("POST", path, body), key)
}

fn is_replayed(reply: &Reply) -> bool {
    reply.headers.get("idempotent-replayed").is_some_and(|value| value == "true")
}

/// Returns a body for each kind of record that is created once for a key.
async fn bodies(fixture: &Fixture) -> Vec<(&'static str, Value)> {
    let host = fixture.post(HOSTS, &host_body()).await;
    let part =
        |fields: Value| with(&with(&fields, "host_id", host["id"].clone()), "network_id", OFFICE.to_string());
    vec![
        (HOSTS, host_body()),
        ("/api/v1/interfaces", part(json!({"ip_address": "192.0.2.1"}))),
        ("/api/v1/ports", part(json!({"number": 443, "protocol": "Tcp"}))),
        ("/api/v1/services", part(json!({"name": "web", "service_definition": "Nginx"}))),
        ("/api/v1/if-entries", part(json!({"if_index": 1, "if_descr": "eth0"}))),
        ("/api/v1/subnets", json!({"name": "lan", "cidr": "192.0.2.0/24", "network_id": OFFICE})),
        ("/api/v1/tags", json!({"name": "critical"})),
        ("/api/v1/shares", json!({"name": "wall", "network_id": OFFICE, "password": "correct horse"})),
        #[cfg(feature = "discovery")]
        (DISCOVERIES, json!({"network_id": OFFICE})),
        (BULK, json!({"hosts": [host_body(), host_body()]})),
        (BULK, json!({"hosts": [host_body(), {"name": "faulty"}], "atomic": false})),
    ]
}

#[test]
fn repetition_gets_the_first_answer_and_changes_nothing() {
    run_new(async |fixture| {
        for (place, (path, body)) in bodies(&fixture).await.into_iter().enumerate() {
            let request = || create(path, &body, &format!("key {place}"));
            let first = fixture.ask(request()).await;
            assert!(!is_replayed(&first) && first.status == 200, "{path}: {first:?}");
            let hosts = fixture.list("limit=0").await.data().clone();
            fixture.clock.advance(Duration::from_secs(60));
            for _ in 0..2 {
                let again = fixture.ask(request()).await;
                assert!(is_replayed(&again), "{path}");
                assert_eq!(again.data(), first.data(), "{path}");
                assert_eq!(again.headers.get("etag"), first.headers.get("etag"), "{path}");
            }
            assert_eq!(*fixture.list("limit=0").await.data(), hosts);
        }
    });
}

#[cfg(feature = "discovery")]
#[test]
fn repeated_discovery_is_queued_once() {
    run_new(async |fixture| {
        let body = |community: &str| {
            let credential = json!({"version": "V2c", "community": community});
            json!({"network_id": OFFICE, "snmp_credentials": {"default_credential": credential}})
        };
        let first = fixture.ask(create(DISCOVERIES, &body("hidden"), "key")).await;
        let again = fixture.ask(create(DISCOVERIES, &body("hidden"), "key")).await;
        assert!(is_replayed(&again) && !is_replayed(&first));
        assert_eq!(again.data(), first.data());
        for name in ["etag", "location"] {
            assert_eq!(again.headers[name], first.headers[name], "{name}");
        }
        fixture.ask(create(DISCOVERIES, &body("other"), "key")).await.refuses(409, "idempotency_key_reused");
        assert_eq!(fixture.ask(get(DISCOVERIES)).await.total(), 1);
        assert_eq!(fixture.ask(create(DISCOVERIES, &body("hidden"), "next")).await.status, 200);
        assert_eq!(fixture.ask(get(DISCOVERIES)).await.total(), 2);
    });
}

#[test]
fn key_belongs_to_one_body_of_one_user_and_path() {
    run_new(async |fixture| {
        let tag = |name: &str| json!({"name": name});
        let first = fixture.ask(create("/api/v1/tags", &tag("one"), "key")).await;
        for body in [tag("two"), json!({"name": "one", "color": null})] {
            fixture.ask(create("/api/v1/tags", &body, "key")).await.refuses(409, "idempotency_key_reused");
        }
        let host = fixture.ask(create(HOSTS, &host_body(), "key")).await;
        assert!(!is_replayed(&host) && host.status == 200);
        let other = fixture.key(Permission::Admin, &[]).await;
        let theirs = fixture.send(with_key(create("/api/v1/tags", &tag("two"), "key"), &other)).await;
        assert!(!is_replayed(&theirs) && theirs.data()["id"] != first.data()["id"]);
        let abroad = fixture.ask_abroad(create("/api/v1/tags", &tag("one"), "key")).await;
        assert!(!is_replayed(&abroad) && abroad.status == 200);
    });
}

#[test]
fn refused_request_leaves_its_key_free() {
    run_new(async |fixture| {
        fixture
            .ask(create("/api/v1/tags", &json!({"name": ""}), "key"))
            .await
            .refuses(400, "validation_empty");
        let tag = fixture.ask(create("/api/v1/tags", &json!({"name": "t"}), "key")).await;
        assert!(!is_replayed(&tag) && tag.status == 200);
        let taken = create("/api/v1/tags", &json!({"name": "t"}), "other");
        fixture.ask(taken).await.refuses(409, "entity_already_exists");
    });
}

#[test]
fn key_expires_after_a_day_and_is_purged() {
    run_new(async |fixture| {
        let request = || create(HOSTS, &host_body(), "key");
        let first = fixture.ask(request()).await.data()["id"].clone();
        fixture.clock.advance(DAY - Duration::from_micros(1));
        let last = fixture.ask(request()).await;
        assert!(is_replayed(&last) && last.data()["id"] == first);
        fixture.clock.advance(Duration::from_micros(1));
        let next = fixture.ask(request()).await;
        assert!(!is_replayed(&next) && next.data()["id"] != first);
        fixture.clock.advance(DAY);
        assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 1);
    });
}

#[test]
fn repetition_is_checked_like_a_first_request() {
    run_new(async |fixture| {
        let member = fixture.key(Permission::Member, &[OFFICE]).await;
        let request = || create(HOSTS, &host_body(), "key");
        let send = async |request| fixture.send(with_key(request, &member)).await;
        assert_eq!(send(request()).await.status, 200);
        let user = fixture.send(with_key(get("/api/auth/me"), &member)).await.data()["id"].clone();
        let owner = fixture.owner(&fixture.home);
        let id: UserId = serde_json::from_value(user).unwrap();
        let change = |networks: Vec<NetworkId>, level| {
            move |user: &mut toposcope::model::User| {
                (user.network_ids, user.permissions) = (networks.clone(), level);
                Ok(())
            }
        };
        let update = async |networks, level| {
            fixture.inventory.records().update(&owner, id, change(networks, level)).await.unwrap();
        };
        update(vec![LAB], Permission::Member).await;
        send(request()).await.refuses(403, "entity_access_denied");
        update(vec![OFFICE], Permission::Viewer).await;
        send(request()).await.refuses(403, "auth_permission_denied");
        update(vec![OFFICE], Permission::Member).await;
        assert!(is_replayed(&send(request()).await));
    });
}

#[test]
fn two_servers_execute_a_request_once() {
    run_new(async |fixture| {
        let servers = [(); 2].map(|()| Server::new(fixture.inventory_with(&Hook::yielding()), ample()));
        for (place, (path, body)) in bodies(&fixture).await.into_iter().enumerate() {
            let before = fixture.list("").await.total();
            let request = || with_key(create(path, &body, &format!("key {place}")), &fixture.key);
            let (one, other) = tokio::join!(servers[0].send(request()), servers[1].send(request()));
            let executed =
                [&one, &other].into_iter().filter(|reply| reply.status == 200 && !is_replayed(reply));
            assert_eq!(executed.count(), 1, "{path}: {one:?} {other:?}");
            for reply in [&one, &other] {
                if reply.status != 200 {
                    reply.refuses(409, "idempotency_key_in_use");
                }
            }
            let created = match path {
                HOSTS => 1,
                BULK if body["atomic"].is_null() => 2,
                BULK => 1,
                _ => 0,
            };
            assert_eq!(fixture.list("").await.total(), before + created, "{path}");
        }
    });
}

#[test]
fn long_answer_is_replayed_as_its_ids() {
    run_new(async |fixture| {
        let body = with(&host_body(), "description", "x".repeat(65_536));
        let first = fixture.ask(create(HOSTS, &body, "key")).await;
        let again = fixture.ask(create(HOSTS, &body, "key")).await;
        assert!(is_replayed(&again) && !again.headers.contains_key("etag"));
        assert_eq!(*again.data(), json!({"id": first.data()["id"]}));
        let hosts: Vec<Value> = (0..1_000).map(|_| host_body()).collect();
        let body = json!({"hosts": hosts});
        let first = fixture.ask(create(BULK, &body, "many")).await;
        let again = fixture.ask(create(BULK, &body, "many")).await;
        let ids = |reply: &Reply| -> Vec<Value> {
            reply.data().as_array().unwrap().iter().map(|host| host["id"].clone()).collect()
        };
        assert!(is_replayed(&again));
        assert_eq!(ids(&again), ids(&first));
    });
}

#[test]
fn oldest_answers_of_a_user_go_for_new_ones() {
    run_new(async |fixture| {
        // Nothing grows with the number of tags, unlike a host with its parts.
        let request = |number: usize| {
            let body = json!({"name": format!("tag {number}")});
            create("/api/v1/tags", &body, &format!("key {number}"))
        };
        for number in 0..=1_000 {
            assert_eq!(fixture.ask(request(number)).await.status, 200);
            fixture.clock.advance(Duration::from_micros(1));
        }
        assert!(!is_replayed(&fixture.ask(request(0)).await), "the oldest answer is gone");
        for number in [2, 500, 1_000] {
            assert!(is_replayed(&fixture.ask(request(number)).await), "{number}");
        }
        fixture.clock.advance(DAY);
        assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 1_000);
    });
}

#[test]
fn key_is_refused_where_the_answer_has_a_secret() {
    run_new(async |fixture| {
        let body = json!({"name": "k", "network_id": OFFICE, "tags": []});
        let reply = fixture.ask(create("/api/v1/auth/daemon", &body, "key")).await;
        assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "Idempotency-Key"}));
        let login = json!({"email": "a@example.net", "password": "x"});
        let reply = fixture.send(create("/api/auth/login", &login, "key")).await;
        assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "Idempotency-Key"}));
        let keys = fixture.ask(get("/api/v1/auth/daemon")).await;
        assert_eq!(keys.total(), 0);
    });
}

/// Its lines have no ids, so that a repetition would create the hosts again.
#[test]
fn key_is_refused_by_imports() {
    run_new(async |fixture| {
        let import = |query: &str| {
            let request = send_json("POST", &format!("/api/v1/hosts/import{query}"), &host_body());
            with_header(request, "content-type", "application/x-ndjson")
        };
        for query in ["", "?dry_run=true"] {
            let reply = fixture.ask(keyed(import(query), "key")).await;
            assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "Idempotency-Key"}));
            let sentence = reply.json["error"].as_str().unwrap();
            assert!(sentence.contains("Give its lines ids"), "{sentence}");
        }
        assert_eq!(fixture.list("").await.total(), 0);
        assert_eq!(fixture.ask(import("")).await.data()["imported"], 1);
    });
}

#[test]
fn key_has_1_to_255_characters() {
    run_new(async |fixture| {
        let long = "k".repeat(256);
        for (key, code) in [("", "validation_empty"), (&*long, "validation_max_length")] {
            fixture.ask(create(HOSTS, &host_body(), key)).await.refuses(400, code);
        }
        let mut twice = create(HOSTS, &host_body(), "one");
        twice.headers_mut().append("idempotency-key", "two".parse().unwrap());
        fixture.ask(twice).await.refuses(400, "validation_invalid_format");
        assert_eq!(fixture.ask(create(HOSTS, &host_body(), &long[1..])).await.status, 200);
        let other = keyed(send_json("PUT", &format!("{HOSTS}/{NOBODY}"), &host_body()), "");
        fixture.ask(other).await.refuses(404, "entity_not_found");
    });
}
