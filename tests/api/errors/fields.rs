//! Fields of the wrong type or beyond their bounds.

use Kind::{Flag, Id, Ids, Level, Number, Protocol, Text, Time};
use http::Request;
use serde_json::{Value, json};
use toposcope::model::Timestamp;
use uuid::Uuid;

use crate::backend::run_with;
use crate::common::{
    HOSTS, LOG_IN, LOG_OUT, PASSWORD, PORT, Populated, Produced, Row, at, bare, daemon_body, key_path,
    log_in, port_body, put_port, send_json, share_path, with, without,
};

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Id,
    Ids,
    Time,
    Flag,
    Level,
    Protocol,
    Number,
}

/// Makes a request from a body.
type Make<'s> = Box<dyn Fn(&Value) -> Request<String> + 's>;

struct Body<'s> {
    name: &'static str,
    valid: Value,
    required: &'static [(&'static str, Kind)],
    optional: &'static [(&'static str, Kind)],
    request: Make<'s>,
}

fn bodies(fixture: &Populated) -> [Body<'_>; 5] {
    [
        Body {
            name: "login",
            valid: json!({"email": fixture.member.email, "password": PASSWORD}),
            required: &[("email", Text), ("password", Text)],
            optional: &[],
            request: Box::new(|body| send_json("POST", LOG_IN, body)),
        },
        Body {
            name: "daemon key",
            valid: daemon_body(),
            required: &[("name", Text), ("network_id", Id), ("tags", Ids)],
            optional: &[("expires_at", Time), ("is_enabled", Flag)],
            request: Box::new(|body| fixture.create_daemon_key(body)),
        },
        Body {
            name: "port",
            valid: port_body(),
            required: &[("host_id", Id), ("network_id", Id), ("number", Number), ("protocol", Protocol)],
            optional: &[],
            request: Box::new(|body| fixture.put_port(PORT, body)),
        },
        Body {
            name: "user key",
            valid: fixture.key_body(),
            required: &[("name", Text), ("organization_id", Id), ("user_id", Id), ("tags", Ids)],
            optional: &[
                ("expires_at", Time),
                ("is_enabled", Flag),
                ("network_ids", Ids),
                ("permissions", Level),
            ],
            request: Box::new(|body| fixture.put_own_key(body)),
        },
        Body {
            name: "referral",
            valid: json!({"referral_source": "reddit"}),
            required: &[("referral_source", Text)],
            optional: &[("referral_source_other", Text)],
            request: Box::new(|body| fixture.submit_referral(body)),
        },
    ]
}

/// Values of the wrong type, each with the path that the error names. The path is relative to the field.
fn bad_values(kind: Kind) -> Vec<(Value, &'static str)> {
    let id = Uuid::from_u128(1);
    let at_the_field = |values: Value| -> Vec<_> {
        match values {
            Value::Array(values) => values.into_iter().map(|value| (value, "")).collect(),
            _ => panic!("a list of values"),
        }
    };
    match kind {
        Text => at_the_field(json!([5, true, [], {}, ["x"]])),
        Id => at_the_field(json!([5, "x", "", format!(" {id}"), format!("{id}0"), [id], {}, false])),
        Ids => vec![
            (json!(5), ""),
            (json!("x"), ""),
            (json!(id), ""),
            (json!({}), ""),
            (json!(true), ""),
            (json!(["x"]), ".0"),
            (json!([5, 6]), ".0"),
            (json!([[id]]), ".0"),
            (json!([{"id": id}]), ".0"),
            (json!([id, null]), ".1"),
            (json!([id, id, id, "x", "y"]), ".3"),
        ],
        Time => {
            let texts = "x|2030-01-01|2030-01-01T00:00:00|2030-13-01T00:00:00Z|2030-02-30T00:00:00Z|\
                         2030-01-01T24:00:00Z|2030-01-01T00:00Z| 2030-01-01T00:00:00Z|2030-01-01T00:00:00Z |\
                         10000-01-01T00:00:00Z|0000-01-01T00:00:00+23:59|";
            let others = json!([5, 1_900_000_000, [], {}, true]);
            let texts = texts.split('|').map(|text| (json!(text), ""));
            texts.chain(at_the_field(others)).collect()
        }
        Flag => at_the_field(json!([0, 1, "true", "", [], {}])),
        Level => at_the_field(json!(["owner", "OWNER", "Root", "", 0, true, ["Owner"], {"Owner": null}, {}])),
        Protocol => at_the_field(json!(["Sctp", "tcp ", "", 6, true, ["Tcp"], {"Tcp": null}, {}])),
        Number => at_the_field(json!(["443", "", 443.5, -443.5, 1e300, true, [443], {}])),
    }
}

async fn field_rows() -> Produced {
    let fixture = Populated::new().await;
    let mut rows = Vec::new();
    for body in bodies(&fixture) {
        let name = body.name;
        for (field, _) in body.required {
            let params = json!({"field": field});
            for (how, sent) in
                [("missing", without(&body.valid, field)), ("null", with(&body.valid, field, Value::Null))]
            {
                let request = (body.request)(&sent);
                let name = format!("{name}: {field} {how}");
                rows.push(Row::refused_with(name, request, "validation_required", params.clone()));
            }
        }
        for (field, kind) in body.required.iter().chain(body.optional) {
            for (value, place) in bad_values(*kind) {
                let request = (body.request)(&with(&body.valid, field, value.clone()));
                let params = json!({"field": format!("{field}{place}")});
                let name = format!("{name}: {field} {value}");
                rows.push(Row::refused_with(name, request, "validation_invalid_format", params));
            }
        }
    }
    let before = fixture.stored().await;
    let produced = fixture.check(rows).await;
    assert_eq!(fixture.stored().await, before, "nothing of what is refused is stored");
    produced
}

#[test]
fn optional_field_may_be_missing_or_null() {
    run_with(Populated::new, async |fixture| {
        let mut rows = Vec::new();
        for body in bodies(&fixture) {
            rows.push(Row::succeeds(body.name, (body.request)(&body.valid)));
            for (field, _) in body.optional {
                let request = (body.request)(&with(&body.valid, field, Value::Null));
                rows.push(Row::succeeds(format!("{}: {field} null", body.name), request));
            }
        }
        fixture.check(rows).await;
    });
}

/// Makes a request from a text.
type MakeText<'a> = &'a dyn Fn(&str) -> Request<String>;

/// Names and similar texts: empty, one character too long, and at their maximum length.
fn texts(fixture: &Populated) -> Vec<Row> {
    let mut rows = Vec::new();
    let key = |name: &str| fixture.put_own_key(&with(&fixture.key_body(), "name", name));
    let daemon = |name: &str| fixture.create_daemon_key(&with(&daemon_body(), "name", name));
    let referral = |source: &str| fixture.submit_referral(&json!({"referral_source": source}));
    let requests: [(&str, MakeText<'_>); 3] =
        [("name", &key), ("name", &daemon), ("referral_source", &referral)];
    for (field, request) in requests {
        for text in ["", " ", "\t\r\n", "\u{a0}\u{2003}\u{3000}"] {
            let params = json!({"field": field});
            rows.push(Row::refused_with(format!("{text:?}"), request(text), "validation_empty", params));
        }
        for text in ["x".repeat(101), "é".repeat(101), "😀".repeat(101), format!(" {} ", "x".repeat(101))]
        {
            let params = json!({"field": field, "max": 100});
            rows.push(Row::refused_with(&text, request(&text), "validation_max_length", params));
        }
    }
    let other = |text: &str| json!({"referral_source": "other", "referral_source_other": text.to_owned()});
    for text in ["x".repeat(501), "😀".repeat(501), " ".repeat(501)] {
        let params = json!({"field": "referral_source_other", "max": 500});
        let request = fixture.submit_referral(&other(&text));
        rows.push(Row::refused_with("other", request, "validation_max_length", params));
    }
    rows
}

/// Logins with values that no user can have.
fn logins() -> Vec<Row> {
    let mut rows = Vec::new();
    for (field, request) in
        [("email", log_in("", "x")), ("email", log_in("  ", "x")), ("password", log_in("me@example.net", ""))]
    {
        rows.push(Row::refused_with("login", request, "validation_empty", json!({"field": field})));
    }
    for email in ["@", "a@", "é@", " a@ "] {
        let params = json!({"field": "email", "min": 3});
        rows.push(Row::refused_with(email, log_in(email, "x"), "validation_min_length", params));
    }
    let params = json!({"field": "email", "max": 254});
    let longest = format!("{}@example.net", "x".repeat(243));
    rows.push(Row::refused_with("login", log_in(&longest, "x"), "validation_max_length", params));
    rows
}

/// The body of a port whose number is this literal text.
fn numbered(number: &str) -> Request<String> {
    let text = port_body().to_string().replace("443", number);
    send_json("PUT", &format!("/api/v1/ports/{PORT}"), &Value::Null).map(|_| text)
}

fn numbers(fixture: &Populated) -> Vec<Row> {
    let mut rows = Vec::new();
    let nines = "9".repeat(5000);
    for number in [
        "0",
        "-0",
        "-1",
        "65536",
        "65537",
        "4294967739",
        "18446744073709552059",
        "-1.0",
        "0.0",
        "6.5536e4",
        &nines,
    ] {
        let params = json!({"field": "number", "min": 1, "max": 65535});
        let request = fixture.by_key(numbered(number));
        rows.push(Row::refused_with(number, request, "validation_out_of_range", params));
    }
    for number in ["443.5", "4.435e2", "4431E-1", "1e999", "\"0\""] {
        let params = json!({"field": "number"});
        let request = fixture.by_key(numbered(number));
        rows.push(Row::refused_with(number, request, "validation_invalid_format", params));
    }
    rows
}

/// Expiry times of new keys, which must be in the future.
fn times(fixture: &Populated) -> Vec<Row> {
    let times = [at(0), at(-1), Timestamp::UNIX_EPOCH, at(1).plus_micros(-1_000_001)];
    let rows = times.map(|time| {
        let request = fixture.create_daemon_key(&with(&daemon_body(), "expires_at", time.to_string()));
        let (min, max) = ("2026-08-14T12:00:00.000001Z", "9999-12-31T23:59:59.999999Z");
        let params = json!({"field": "expires_at", "min": min, "max": max});
        Row::refused_with(time.to_string(), request, "validation_out_of_range", params)
    });
    rows.into()
}

/// Path segments that must be ids.
fn ids(fixture: &Populated) -> Vec<Row> {
    let mut rows = Vec::new();
    for id in
        ["x", "0", "1234", "%20", "00000000-0000-0000-0000-00000000000", "null", "{}", "é", "..", "a%2Fb"]
    {
        let params = json!({"field": "id"});
        for request in [
            fixture.by_key(put_port(percent(id), &port_body())),
            fixture.put_key(percent(id), &fixture.key_body()),
            fixture.by_session(bare("DELETE", &key_path(percent(id)))),
            bare("GET", &share_path(percent(id))),
        ] {
            rows.push(Row::refused_with(id, request, "validation_invalid_format", params.clone()));
        }
    }
    rows
}

/// Percent-encodes characters that a URI cannot contain.
fn percent(text: &str) -> String {
    text.replace('{', "%7B").replace('}', "%7D").replace('é', "%C3%A9")
}

/// Every endpoint refuses unknown query parameters; only the list has known ones.
fn parameters(fixture: &Populated) -> Vec<Row> {
    let key = key_path(fixture.member_key_id);
    let requests = [
        bare("GET", "/api/version"),
        log_in(&fixture.member.email, "x"),
        bare("POST", LOG_OUT),
        fixture.by_key(bare("GET", HOSTS)),
        fixture.create_daemon_key(&daemon_body()),
        fixture.put_port(PORT, &port_body()),
        fixture.put_own_key(&fixture.key_body()),
        fixture.by_session(bare("DELETE", &key)),
        bare("GET", &share_path(fixture.share_id)),
        fixture.refer(),
    ];
    let mut rows = Vec::new();
    for request in requests {
        for (query, field) in [("bogus=1", "bogus"), ("bogus", "bogus"), ("network=", "network"), ("=1", "")]
        {
            let mut request = request.clone();
            let target = format!("{}?{query}", request.uri().path());
            *request.uri_mut() = target.parse().unwrap();
            let params = json!({"field": field});
            rows.push(Row::refused_with(&target, request, "validation_unknown_parameter", params));
        }
    }
    let long = ["ids", "tag_ids"].map(|field| {
        let request = fixture.by_key(bare("GET", &format!("{HOSTS}?{field}={}", ",".repeat(1000))));
        let params = json!({"field": field, "max": 1000});
        Row::refused_with(field, request, "validation_max_length", params)
    });
    rows.extend(long);
    rows
}

async fn bound_rows() -> Produced {
    let fixture = Populated::new().await;
    let before = fixture.stored().await;
    let rows =
        [texts(&fixture), logins(), numbers(&fixture), times(&fixture), ids(&fixture), parameters(&fixture)];
    let produced = fixture.check(rows.into_iter().flatten()).await;
    assert_eq!(fixture.stored().await, before, "nothing of what is refused is stored");
    produced
}

#[test]
fn value_at_its_bounds_is_accepted() {
    run_with(Populated::new, async |fixture| {
        let name = "😀".repeat(100);
        let padded = format!("\u{3000} {name}\n");
        for text in [&*name, &padded, "x", "\0", "\u{1b}[31m", "\u{200b}"] {
            let trimmed = text.trim();
            let reply = fixture.send(fixture.create_daemon_key(&with(&daemon_body(), "name", text))).await;
            assert_eq!(reply.data()["api_key"]["name"], trimmed);
            let body = with(&fixture.key_body(), "name", text);
            assert_eq!(fixture.send(fixture.put_own_key(&body)).await.data()["name"], trimmed);
            let body = json!({"referral_source": text, "referral_source_other": "😀".repeat(500)});
            assert_eq!(fixture.send(fixture.submit_referral(&body)).await.data(), &json!({}));
        }
        let soon = with(&daemon_body(), "expires_at", at(0).plus_micros(1).to_string());
        let reply = fixture.send(fixture.create_daemon_key(&soon)).await;
        assert_eq!(reply.data()["api_key"]["expires_at"], "2026-08-14T12:00:00.000001Z");
        for number in [1, 65535] {
            let reply = fixture.send(fixture.put_port(PORT, &with(&port_body(), "number", number))).await;
            assert_eq!(reply.data()["number"], number);
        }
        for query in ["?", "?&", "?&&"] {
            let request = bare("GET", &format!("{}{query}", share_path(fixture.share_id)));
            assert_eq!(fixture.send(request).await.status, 200, "{query} has no parameters");
        }
    });
}

pub(super) async fn rows() -> Produced {
    let mut produced = field_rows().await;
    produced.extend(bound_rows().await);
    produced
}
