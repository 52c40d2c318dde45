//! Every field of every body: missing, null, and of another type.

use http::Request;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::common::PASSWORD;
use crate::contract::row::{Produced, Row, check};
use crate::contract::scene::{LOG_IN, PORT, Scene, daemon_body, port_body, with, without};

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

use Kind::{Flag, Id, Ids, Level, Number, Protocol, Text, Time};

/// Makes a request from a body.
type Make<'s> = Box<dyn Fn(&Value) -> Request<String> + 's>;

struct Body<'s> {
    name: &'static str,
    valid: Value,
    required: &'static [(&'static str, Kind)],
    optional: &'static [(&'static str, Kind)],
    request: Make<'s>,
}

fn bodies(scene: &Scene) -> [Body<'_>; 5] {
    [
        Body {
            name: "login",
            valid: json!({"email": scene.member.email, "password": PASSWORD}),
            required: &[("email", Text), ("password", Text)],
            optional: &[],
            request: Box::new(|body| crate::common::send_json("POST", LOG_IN, body)),
        },
        Body {
            name: "daemon key",
            valid: daemon_body(),
            required: &[("name", Text), ("network_id", Id), ("tags", Ids)],
            optional: &[("expires_at", Time), ("is_enabled", Flag)],
            request: Box::new(|body| scene.create_daemon_key(body)),
        },
        Body {
            name: "port",
            valid: port_body(),
            required: &[("host_id", Id), ("network_id", Id), ("number", Number), ("protocol", Protocol)],
            optional: &[],
            request: Box::new(|body| scene.put_port(PORT, body)),
        },
        Body {
            name: "user key",
            valid: scene.key_body(),
            required: &[("name", Text), ("organization_id", Id), ("user_id", Id), ("tags", Ids)],
            optional: &[
                ("expires_at", Time),
                ("is_enabled", Flag),
                ("network_ids", Ids),
                ("permissions", Level),
            ],
            request: Box::new(|body| scene.put_key(scene.key_id, body)),
        },
        Body {
            name: "referral",
            valid: json!({"referral_source": "reddit"}),
            required: &[("referral_source", Text)],
            optional: &[("referral_source_other", Text)],
            request: Box::new(|body| scene.submit_referral(body)),
        },
    ]
}

/// Values of the wrong type, each with the path, below that of the field, that the error names.
fn bad_values(kind: Kind) -> Vec<(Value, &'static str)> {
    let id = Uuid::from_u128(1);
    let at_the_field = |values: &[Value]| values.iter().map(|value| (value.clone(), "")).collect();
    match kind {
        Text => at_the_field(&[json!(5), json!(true), json!([]), json!({}), json!(["x"])]),
        Id => at_the_field(&[
            json!(5),
            json!("x"),
            json!(""),
            json!(format!(" {id}")),
            json!(format!("{id}0")),
            json!([id]),
            json!({}),
            json!(false),
        ]),
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
        Time => at_the_field(&[
            json!(5),
            json!(1_900_000_000),
            json!("x"),
            json!(""),
            json!("2030-01-01"),
            json!("2030-01-01T00:00:00"),
            json!("2030-13-01T00:00:00Z"),
            json!("2030-02-30T00:00:00Z"),
            json!("2030-01-01T24:00:00Z"),
            json!("2030-01-01T00:00Z"),
            json!(" 2030-01-01T00:00:00Z"),
            json!("2030-01-01T00:00:00Z "),
            json!("10000-01-01T00:00:00Z"),
            json!("0000-01-01T00:00:00+23:59"),
            json!([]),
            json!({}),
            json!(true),
        ]),
        Flag => at_the_field(&[json!(0), json!(1), json!("true"), json!(""), json!([]), json!({})]),
        Level => at_the_field(&[
            json!("owner"),
            json!("OWNER"),
            json!("Root"),
            json!(""),
            json!(0),
            json!(true),
            json!(["Owner"]),
            json!({"Owner": null}),
            json!({}),
        ]),
        Protocol => at_the_field(&[
            json!("tcp"),
            json!("TCP"),
            json!("Sctp"),
            json!(""),
            json!(6),
            json!(true),
            json!(["Tcp"]),
            json!({"Tcp": null}),
            json!({}),
        ]),
        Number => at_the_field(&[
            json!("443"),
            json!(""),
            json!(443.0),
            json!(443.5),
            json!(-443.5),
            json!(1e300),
            json!(true),
            json!([443]),
            json!({}),
        ]),
    }
}

pub(super) async fn rows() -> Produced {
    let scene = Scene::new().await;
    let mut rows = Vec::new();
    for body in bodies(&scene) {
        let name = body.name;
        for (field, _) in body.required {
            let params = json!({"field": field});
            for (how, sent) in
                [("missing", without(&body.valid, field)), ("null", with(&body.valid, field, Value::Null))]
            {
                let request = (body.request)(&sent);
                let name = format!("{name}: {field} {how}");
                rows.push(Row::refused(name, request, 400, "validation_required", params.clone()));
            }
        }
        for (field, kind) in body.required.iter().chain(body.optional) {
            for (value, place) in bad_values(*kind) {
                let request = (body.request)(&with(&body.valid, field, value.clone()));
                let params = json!({"field": format!("{field}{place}")});
                let name = format!("{name}: {field} {value}");
                rows.push(Row::refused(name, request, 400, "validation_invalid_format", params));
            }
        }
    }
    let before = scene.stored().await;
    let produced = check(scene.server(), rows).await;
    assert_eq!(scene.stored().await, before, "nothing of what is refused is stored");
    produced
}

#[tokio::test]
async fn a_field_that_is_missing_or_of_another_type_is_refused_by_its_path() {
    rows().await;
}

#[tokio::test]
async fn an_optional_field_may_be_missing_or_null() {
    let scene = Scene::new().await;
    let mut rows = Vec::new();
    for body in bodies(&scene) {
        rows.push(Row::succeeds(body.name, (body.request)(&body.valid)));
        for (field, _) in body.optional {
            let request = (body.request)(&with(&body.valid, field, Value::Null));
            rows.push(Row::succeeds(format!("{}: {field} null", body.name), request));
        }
    }
    check(scene.server(), rows).await;
}
