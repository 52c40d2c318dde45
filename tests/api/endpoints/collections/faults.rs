//! Faults of bodies. They are reported before what the records say.

use super::*;
use crate::common::NOBODY;

/// A field, a wrong value of it, and the code of the error.
type Fault = (&'static str, Value, &'static str);

const INVALID_FORMAT: &str = "validation_invalid_format";
const MAX_LENGTH: &str = "validation_max_length";

/// Returns wrong values for every field that an update may change.
fn faults(kind: &Kind) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (field, value) in &kind.changes {
        let of_another_type = if value.is_string() { json!(7) } else { json!("x") };
        faults.push((*field, of_another_type, INVALID_FORMAT));
        if value.is_array() && *field != "redact" {
            faults.push((*field, json!(vec![NOBODY; 1_001]), MAX_LENGTH));
        }
        faults.extend(particular(field).into_iter().map(|(value, code)| (*field, value, code)));
    }
    faults
}

fn particular(field: &str) -> Vec<(Value, &'static str)> {
    let formats = |values: Vec<Value>| values.into_iter().map(|value| (value, INVALID_FORMAT)).collect();
    match field {
        "name" => vec![(json!("x".repeat(101)), MAX_LENGTH), (json!(" "), "validation_empty")],
        "description" => vec![(json!("ß".repeat(501)), MAX_LENGTH)],
        "color" => formats(vec![json!("reddish"), json!("#12345g")]),
        "cidr" => formats(vec![json!("x"), json!("10.0.0.1/8"), json!({})]),
        "subnet_type" => formats(vec![json!("Other"), json!({"Lan": null})]),
        "source" => formats(vec![json!({"type": "Other"}), json!(["Manual"]), deep_source()]),
        "options" => {
            vec![(json!({}), "validation_required"), (json!([true, true, true, true]), INVALID_FORMAT)]
        }
        "redact" => formats(vec![json!(["x"]), json!([{"names": null}])]),
        "view" => formats(vec![json!("l4"), json!({"l3": null})]),
        _ => Vec::new(),
    }
}

fn deep_source() -> Value {
    let deep = (0..70).fold(json!(1), |value, _| json!([value]));
    json!({"type": "Discovery", "metadata": [{"a": deep}]})
}

#[test]
fn fault_of_a_body_is_reported_before_what_the_records_say() {
    for_each(async |scene| {
        let record = scene.create(1).await;
        let path = scene.item(&record);
        let absent = format!("{}/{NOBODY}", scene.kind.path);
        for (field, value, code) in faults(&scene.kind) {
            let body = with(&record, field, value.clone());
            let stale = with_header(send_json("PUT", &path, &body), "if-match", "\"other\"");
            let mut requests = vec![send_json("PUT", &absent, &body), stale];
            let create = scene.kind.body(90).filter(|body| !body[field].is_null());
            requests.extend(
                create.map(|body| send_json("POST", scene.kind.path, &with(&body, field, value.clone()))),
            );
            for request in requests {
                let what = format!("{} {} with {field}: {value}", request.method(), request.uri());
                let reply = scene.send(request).await;
                let named = reply.json["params"]["field"].as_str().unwrap_or_default().to_owned();
                assert_eq!((reply.status.as_u16(), &reply.json["code"]), (400, &json!(code)), "{what}");
                assert!(named == field || named.starts_with(&format!("{field}.")), "{what}: {named}");
            }
        }
        assert_eq!(scene.send(get(&path)).await.data(), &record);
        let reply = scene.send(send_json("PUT", &absent, &record)).await;
        reply.refuses(404, "entity_not_found");
    });
}
