//! The form of every answer. [`Server::send`] checks it for all of them; the tests here make sure that every
//! kind occurs.

use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::model::{Permission, UserId};
use toposcope::service::Api;
use tower::ServiceExt;
use uuid::Uuid;

use crate::backend::{run, run_with};
use crate::common::{
    Fixture, HOSTS, LOG_OUT, OFFICE, PASSWORD, PORT, Populated, Server, VERSION, ample, bare, daemon_body,
    get, host, key_path, log_in, port_body, share_path, with_caller, with_key,
};

/// A valid request to every endpoint; the one that deletes comes last.
fn endpoints(fixture: &Populated) -> [Request<String>; 10] {
    [
        get("/api/version"),
        log_in(&fixture.member.email, PASSWORD),
        bare("POST", LOG_OUT),
        fixture.by_key(get(HOSTS)),
        fixture.create_daemon_key(&daemon_body()),
        fixture.put_port(PORT, &port_body()),
        fixture.put_own_key(&fixture.key_body()),
        get(&share_path(fixture.share_id)),
        fixture.refer(),
        fixture.by_session(bare("DELETE", &key_path(fixture.member_key_id))),
    ]
}

#[test]
fn every_endpoint_succeeds_with_200() {
    run_with(Populated::new, async |fixture| {
        for request in endpoints(&fixture) {
            let shown = format!("{} {}", request.method(), request.uri());
            let reply = fixture.send(request).await;
            let data = reply.data();
            let is_empty = ["logout", "referral-source"].iter().any(|end| shown.ends_with(end))
                || shown.starts_with("DELETE");
            assert_eq!(data.as_object().is_some_and(serde_json::Map::is_empty), is_empty, "{shown}");
            assert_eq!(data.is_array(), shown.contains("hosts"), "{shown}");
            assert_eq!(reply.json["meta"].get("pagination").is_some(), shown.contains("hosts"), "{shown}");
            assert_eq!(reply.json["meta"]["server_version"], VERSION);
        }
    });
}

/// The message may quote the request but stays one readable sentence. The params contain the exact values.
#[test]
fn error_quotes_any_parameter_name_safely() {
    run_with(Fixture::new, async |fixture| {
        let long = "x".repeat(50_000);
        for (sent, field) in [
            ("%22%7D%5C", "\"}\\"),
            ("line%0Abreak%00%1B%5B31m", "line\nbreak\0\u{1b}[31m"),
            ("gr%C3%B6%C3%9Fe", "größe"),
            ("%F0%9F%98%80", "😀"),
            ("%3Cscript%3E", "<script>"),
            ("%E2%80%AEevil", "\u{202e}evil"),
            ("%FFlimit", "\u{fffd}limit"),
            ("%", "%"),
            ("limit%2", "limit%2"),
            ("", ""),
            (&long, &long),
        ] {
            let reply = fixture.list(&format!("{sent}=1")).await;
            assert_eq!(reply.refuses(400, "validation_unknown_parameter"), &json!({"field": field}));
        }
    });
}

#[test]
fn same_request_gives_the_same_bytes() {
    run(async || {
        let fixture = Fixture::with([host(1, OFFICE), host(2, OFFICE)]).await;
        let (first, second) = (fixture.list("").await, fixture.list("").await);
        assert_eq!(first.body, second.body);
        let other = Server::new(fixture.inventory.clone(), ample());
        assert_eq!(other.get_with(&fixture.key, "/api/v1/hosts?").await.body, first.body);
    });
}

/// Sends a request to an API whose answers do not pass the checks of [`Server`].
async fn json(api: Api, request: Request<String>) -> Value {
    let body = api.oneshot(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn version_is_that_of_the_application_or_else_of_the_crate() {
    run_with(Fixture::new, async |fixture| {
        let api = Api::builder(fixture.inventory.clone()).build();
        let default = json(api, get("/api/version")).await;
        assert_eq!(default["data"], json!({"api_version": 1, "server_version": env!("CARGO_PKG_VERSION")}));
        assert_eq!(default["meta"], default["data"]);
        let home = fixture.home.organization.id;
        for version in ["", "1.2.3-rc.1+build", "\"}],\\", "größe 😀", "line\nbreak\0"] {
            let api = Api::builder(fixture.inventory.clone()).server_version(version).build();
            for target in ["/api/version", HOSTS, "/nothing"] {
                let caller = Caller::new(home, UserId::nil(), Permission::Viewer, Scope::all());
                let answer = json(api.clone(), with_caller(get(target), caller)).await;
                assert_eq!(answer["meta"]["server_version"], version);
            }
        }
    });
}

#[test]
fn head_is_the_get_without_its_body_and_counts_as_a_request() {
    run_with(Populated::on_one_instance, async |fixture| {
        let (share, simple) = (share_path(fixture.share_id), share_path(fixture.share_id.uuid().simple()));
        let list = format!("{HOSTS}?limit=1&order_by=name&order_direction=desc");
        for (target, key) in [
            ("/api/version", Some(&*fixture.key)),
            (HOSTS, Some(&fixture.key)),
            ("/api/v1/hosts?limit=0", Some(&fixture.key)),
            ("/api/v1/hosts?offset=100", Some(&fixture.key)),
            (&list, Some(&fixture.key)),
            (&share, Some(&fixture.key)),
            (&share, None),
            (&simple, None),
            (&share_path(Uuid::nil()), None),
            (&share_path("x"), None),
            (&format!("{share}?x=1"), None),
            ("/nothing", None),
            ("/nothing", Some("topo_u_")),
            ("/nothing", Some(&fixture.key)),
            (HOSTS, None),
            (HOSTS, Some("topo_u_")),
            ("/api/v1/hosts?limit=x", None),
            ("/api/v1/hosts?limit=x", Some("topo_u_")),
            ("/api/v1/hosts?limit=x", Some(&fixture.key)),
        ] {
            let send = async |method| {
                let request = bare(method, target);
                fixture.send(key.map_or(request.clone(), |key| with_key(request, key))).await
            };
            let (get, head) = (send("GET").await, send("HEAD").await);
            assert_eq!((head.status, head.body.len()), (get.status, 0), "{target}");
            assert_eq!(head.number("content-length"), get.body.len() as u64, "{target}");
            let remaining = "x-ratelimit-remaining";
            assert_eq!(head.number(remaining), get.number(remaining) - 1);
            for (name, value) in get.headers.iter().filter(|(name, _)| *name != remaining) {
                assert_eq!(head.headers.get(name), Some(value), "{target} {name}");
            }
        }
    });
}
