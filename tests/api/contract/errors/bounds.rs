//! Values of the right type that are not acceptable, in paths, queries and bodies.

use http::Request;
use serde_json::{Value, json};
use toposcope::model::Timestamp;

use crate::common::{at, bare, send_json};
use crate::contract::row::{Produced, Row, check};
use crate::contract::scene::{
    HOSTS, LOG_OUT, PORT, Scene, daemon_body, key_path, log_in, port_body, put_port, share_path, with,
};

/// Makes a request from a text.
type Make<'a> = &'a dyn Fn(&str) -> Request<String>;

/// Names and similar texts: empty, one character too long, and at their maximum length.
fn texts(scene: &Scene) -> Vec<Row> {
    let mut rows = Vec::new();
    let key = |name: &str| scene.put_key(scene.key_id, &with(&scene.key_body(), "name", name));
    let daemon = |name: &str| scene.create_daemon_key(&with(&daemon_body(), "name", name));
    let referral = |source: &str| scene.submit_referral(&json!({"referral_source": source}));
    let requests: [(&str, Make<'_>); 3] = [("name", &key), ("name", &daemon), ("referral_source", &referral)];
    for (field, request) in requests {
        for text in ["", " ", "\t\r\n", "\u{a0}\u{2003}\u{3000}"] {
            let params = json!({"field": field});
            rows.push(Row::refused(format!("{text:?}"), request(text), 400, "validation_empty", params));
        }
        for text in ["x".repeat(101), "é".repeat(101), "😀".repeat(101), format!(" {} ", "x".repeat(101))]
        {
            let params = json!({"field": field, "max": 100});
            rows.push(Row::refused(&text, request(&text), 400, "validation_max_length", params));
        }
    }
    let other = |text: &str| json!({"referral_source": "other", "referral_source_other": text.to_owned()});
    for text in ["x".repeat(501), "😀".repeat(501), " ".repeat(501)] {
        let params = json!({"field": "referral_source_other", "max": 500});
        let request = scene.submit_referral(&other(&text));
        rows.push(Row::refused("other", request, 400, "validation_max_length", params));
    }
    rows
}

/// Logins with values that no user can have.
fn logins() -> Vec<Row> {
    let mut rows = Vec::new();
    for (field, request) in
        [("email", log_in("", "x")), ("email", log_in("  ", "x")), ("password", log_in("me@example.net", ""))]
    {
        rows.push(Row::refused("login", request, 400, "validation_empty", json!({"field": field})));
    }
    for email in ["@", "a@", "é@", " a@ "] {
        let params = json!({"field": "email", "min": 3});
        rows.push(Row::refused(email, log_in(email, "x"), 400, "validation_min_length", params));
    }
    let params = json!({"field": "email", "max": 254});
    let longest = format!("{}@example.net", "x".repeat(243));
    rows.push(Row::refused("login", log_in(&longest, "x"), 400, "validation_max_length", params));
    rows
}

/// The body of a port whose number is this literal text.
fn numbered(number: &str) -> Request<String> {
    let text = port_body().to_string().replace("443", number);
    send_json("PUT", &format!("/api/v1/ports/{PORT}"), &Value::Null).map(|_| text)
}

fn numbers(scene: &Scene) -> Vec<Row> {
    let mut rows = Vec::new();
    let nines = "9".repeat(5000);
    for number in ["0", "-0", "-1", "65536", "65537", "4294967739", "18446744073709552059", &nines] {
        let params = json!({"field": "number", "min": 1, "max": 65535});
        let request = scene.by_key(numbered(number));
        rows.push(Row::refused(number, request, 400, "validation_out_of_range", params));
    }
    for number in ["443.0", "4.43e2", "443e0", "4430E-1", "-1.0", "0.0", "1e999", "\"0\""] {
        let params = json!({"field": "number"});
        let request = scene.by_key(numbered(number));
        rows.push(Row::refused(number, request, 400, "validation_invalid_format", params));
    }
    rows
}

/// Expiry times of new keys, which must be in the future.
fn times(scene: &Scene) -> Vec<Row> {
    let times = [at(0), at(-1), Timestamp::UNIX_EPOCH, at(1).plus_micros(-1_000_001)];
    let rows = times.map(|time| {
        let request = scene.create_daemon_key(&with(&daemon_body(), "expires_at", time.to_string()));
        let (min, max) = ("2026-08-14T12:00:00.000001Z", "9999-12-31T23:59:59.999999Z");
        let params = json!({"field": "expires_at", "min": min, "max": max});
        Row::refused(time.to_string(), request, 400, "validation_out_of_range", params)
    });
    rows.into()
}

/// Path segments that must be ids.
fn ids(scene: &Scene) -> Vec<Row> {
    let mut rows = Vec::new();
    for id in
        ["x", "0", "1234", "%20", "00000000-0000-0000-0000-00000000000", "null", "{}", "é", "..", "a%2Fb"]
    {
        let params = json!({"field": "id"});
        for request in [
            scene.by_key(put_port(percent(id), &port_body())),
            scene.put_key(percent(id), &scene.key_body()),
            scene.by_session(bare("DELETE", &key_path(percent(id)))),
            bare("GET", &share_path(percent(id))),
        ] {
            rows.push(Row::refused(id, request, 400, "validation_invalid_format", params.clone()));
        }
    }
    rows
}

/// Percent-encodes characters that a URI cannot contain.
fn percent(text: &str) -> String {
    text.replace('{', "%7B").replace('}', "%7D").replace('é', "%C3%A9")
}

/// Every endpoint refuses unknown query parameters; only the list has known ones.
fn parameters(scene: &Scene) -> Vec<Row> {
    let key = key_path(scene.key_id);
    let requests = [
        bare("GET", "/api/version"),
        log_in(&scene.member.email, "x"),
        bare("POST", LOG_OUT),
        scene.by_key(bare("GET", HOSTS)),
        scene.create_daemon_key(&daemon_body()),
        scene.put_port(PORT, &port_body()),
        scene.put_key(scene.key_id, &scene.key_body()),
        scene.by_session(bare("DELETE", &key)),
        bare("GET", &share_path(scene.share_id)),
        scene.submit_referral(&json!({"referral_source": "reddit"})),
    ];
    let mut rows = Vec::new();
    for request in requests {
        for (query, field) in [("bogus=1", "bogus"), ("bogus", "bogus"), ("network=", "network"), ("=1", "")]
        {
            let mut request = request.clone();
            let target = format!("{}?{query}", request.uri().path());
            *request.uri_mut() = target.parse().unwrap();
            let params = json!({"field": field});
            rows.push(Row::refused(&target, request, 400, "validation_unknown_parameter", params));
        }
    }
    let long = ["ids", "tag_ids"].map(|field| {
        let request = scene.by_key(bare("GET", &format!("{HOSTS}?{field}={}", ",".repeat(1000))));
        let params = json!({"field": field, "max": 1000});
        Row::refused(field, request, 400, "validation_max_length", params)
    });
    rows.extend(long);
    rows
}

pub(super) async fn rows() -> Produced {
    let scene = Scene::new().await;
    let before = scene.stored().await;
    let rows = [texts(&scene), logins(), numbers(&scene), times(&scene), ids(&scene), parameters(&scene)];
    let produced = check(scene.server(), rows.into_iter().flatten()).await;
    assert_eq!(scene.stored().await, before, "nothing of what is refused is stored");
    produced
}

#[tokio::test]
async fn a_value_beyond_its_bounds_is_refused_by_its_path() {
    rows().await;
}

#[tokio::test]
async fn a_value_at_its_bounds_is_accepted() {
    let scene = Scene::new().await;
    let name = "😀".repeat(100);
    let padded = format!("\u{3000} {name}\n");
    for text in [&*name, &padded, "x", "\0", "\u{1b}[31m", "\u{200b}"] {
        let trimmed = text.trim();
        let reply = scene.server().send(scene.create_daemon_key(&with(&daemon_body(), "name", text))).await;
        assert_eq!(reply.data()["api_key"]["name"], trimmed);
        let body = with(&scene.key_body(), "name", text);
        assert_eq!(scene.server().send(scene.put_key(scene.key_id, &body)).await.data()["name"], trimmed);
        let body = json!({"referral_source": text, "referral_source_other": "😀".repeat(500)});
        assert_eq!(scene.server().send(scene.submit_referral(&body)).await.data(), &json!({}));
    }
    let soon = with(&daemon_body(), "expires_at", at(0).plus_micros(1).to_string());
    let reply = scene.server().send(scene.create_daemon_key(&soon)).await;
    assert_eq!(reply.data()["api_key"]["expires_at"], "2026-08-14T12:00:00.000001Z");
    for number in [1, 65535] {
        let reply = scene.server().send(scene.put_port(PORT, &with(&port_body(), "number", number))).await;
        assert_eq!(reply.data()["number"], number);
    }
    for query in ["?", "?&", "?&&"] {
        let request = bare("GET", &format!("{}{query}", share_path(scene.share_id)));
        assert_eq!(scene.server().send(request).await.status, 200, "{query} has no parameters");
    }
}
