//! The sentences of errors, which state what a client can do.

use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::backend::run_with;
use crate::common::{Fixture, HOSTS, OFFICE, get, send_json, with_key, with_session};

const SUBNETS: &str = "/api/v1/subnets";

async fn sentence(fixture: &Fixture, request: Request<String>) -> String {
    fixture.send(with_key(request, &fixture.key)).await.json["error"].as_str().unwrap().to_owned()
}

#[test]
fn invalid_value_is_refused_with_the_form_of_its_field() {
    run_with(Fixture::new, async |fixture| {
        let host = |field: &str, value| {
            let mut host = json!({"network_id": OFFICE, "name": "a"});
            host[field] = value;
            send_json("POST", HOSTS, &host)
        };
        let subnet = json!({"network_id": OFFICE, "name": "a", "cidr": "192.0.2.1/24", "subnet_type": "Lan"});
        for (request, expected) in [
            (host("network_id", json!("office")), "network_id must be a UUID."),
            (host("name", json!(7)), "name must be a text."),
            (host("hidden", json!("yes")), "hidden must be true or false."),
            (host("tags", json!("red")), "tags must be a list."),
            (
                host("interfaces", json!([{"ip_address": "192.0.2"}])),
                "interfaces.0.ip_address must be an IP address.",
            ),
            (
                host("interfaces", json!([{"ip_address": "192.0.2.1", "mac_address": "x"}])),
                "interfaces.0.mac_address must be a MAC address of 6, 8 or 20 bytes.",
            ),
            (
                host("ports", json!([{"number": "x", "protocol": "Tcp"}])),
                "ports.0.number must be an integer.",
            ),
            (send_json("POST", SUBNETS, &subnet), "cidr must be an IP prefix with all host bits zero."),
            (get("/api/v1/hosts/7"), "id must be a UUID."),
            (get("/api/v1/hosts?network_id=7"), "network_id must be a UUID."),
            (get("/api/v1/hosts?ids=7"), "ids must be UUIDs, repeated or separated by commas."),
            (get("/api/v1/hosts?limit=x"), "limit must be a whole number."),
            (get("/api/v1/hosts?hidden=x"), "hidden must be true or false."),
            (
                get("/api/v1/hosts?updated_since=yesterday"),
                "updated_since must be an RFC 3339 time, such as 2026-11-30T09:00:00Z.",
            ),
            (get("/api/v1/hosts?ip=x"), "ip must be IP addresses or prefixes, such as 192.0.2.0/24."),
        ] {
            assert_eq!(sentence(&fixture, request).await, expected);
        }
    });
}

#[test]
fn api_key_is_refused_with_the_advice_to_log_in_where_a_session_is_needed() {
    run_with(Fixture::new, async |fixture| {
        let body = json!({"name": "a", "permissions": "Viewer", "network_ids": [OFFICE]});
        let request = with_key(send_json("POST", "/api/v1/auth/keys", &body), &fixture.key);
        let reply = fixture.send(request).await;
        reply.refuses(403, "auth_user_context_required");
        let expected =
            "API keys are not accepted here; the operation requires a session: log in, and send its cookie.";
        assert_eq!(reply.json["error"], expected);
    });
}

#[test]
fn time_before_the_history_is_refused_with_its_beginning() {
    run_with(Fixture::new, async |fixture| {
        let reply = fixture.send(with_key(get("/api/v1/hosts?at=2000-01-01T00:00:00Z"), &fixture.key)).await;
        reply.refuses(410, "position_gone");
        let sentence = reply.json["error"].as_str().unwrap();
        let began_at =
            sentence.strip_prefix("The history begins at ").and_then(|rest| rest.split_once(';')).unwrap().0;
        assert!(began_at.parse::<toposcope::model::Timestamp>().is_ok(), "{sentence}");
        fixture.send(with_key(get(&format!("/api/v1/hosts?at={began_at}")), &fixture.key)).await.data();
    });
}

#[test]
fn password_in_the_update_of_a_user_is_refused() {
    run_with(Fixture::new, async |fixture| {
        let owner = fixture.user(&fixture.home, toposcope::model::Permission::Owner, &[]).await;
        let session = fixture.sign_in(&owner).await;
        let path = format!("/api/v1/users/{}", owner.id);
        let body = json!({"permissions": "Owner", "network_ids": [], "password": "correct horse battery"});
        for method in ["PUT", "PATCH"] {
            let reply = fixture.send(with_session(send_json(method, &path, &body), &session)).await;
            assert_eq!(*reply.refuses(400, "validation_invalid_format"), json!({"field": "password"}));
            assert!(reply.json["error"].as_str().unwrap().contains("/api/auth/password"), "{}", reply.json);
        }
        let null = json!({"permissions": "Owner", "network_ids": [], "password": null});
        fixture.send(with_session(send_json("PUT", &path, &null), &session)).await.data();
    });
}

#[test]
fn encoded_unreserved_characters_of_a_path_mean_themselves() {
    run_with(Fixture::new, async |fixture| {
        let host = send_json("POST", HOSTS, &json!({"network_id": OFFICE, "name": "a"}));
        let host = fixture.send(with_key(host, &fixture.key)).await.data().clone();
        let id = host["id"].as_str().unwrap();
        let encoded = format!("/api/v1/%68osts/%{:02x}{}", id.as_bytes()[0], id[1..].replace('-', "%2D"));
        // The checks of answers know paths in their normal form alone.
        let request = with_key(get(&encoded), &fixture.key);
        let response = fixture.server.api.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["data"], host);
        let foreign = fixture.owner_key(&fixture.abroad).await;
        let response = fixture.server.api.clone().oneshot(with_key(get(&encoded), &foreign)).await.unwrap();
        assert_eq!(response.status(), 404, "the host of another organization");
        let slash = fixture.send(with_key(get(&format!("/api/v1/hosts%2F{id}")), &fixture.key)).await;
        slash.refuses(404, "route_not_found");
        let trailing = fixture.send(with_key(get("/api/v1/hosts/"), &fixture.key)).await;
        trailing.refuses(404, "route_not_found");
        assert!(trailing.json["error"].as_str().unwrap().contains("without the `/`"), "{}", trailing.json);
    });
}
