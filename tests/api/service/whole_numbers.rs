//! Integers of requests, as clients write them that know one type of numbers.

use std::collections::BTreeSet;

use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::description::Operation;
use crate::backend::run_with;
use crate::common::{Populated, openapi_document, with_key};

/// The fields that no example has. `management::numbers` sends them.
const WITHOUT_EXAMPLE: [&str; 2] = ["if_type", "other_untagged"];

/// Returns the schema that a reference leads to.
fn resolved(schema: &Value) -> &Value {
    match schema["$ref"].as_str() {
        Some(reference) => openapi_document().pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

/// Collects the names of the fields that are integers, at any depth of a schema.
fn collect_integers<'s>(
    name: &'s str,
    schema: &'s Value,
    seen: &mut BTreeSet<&'s str>,
    found: &mut BTreeSet<&'s str>,
) {
    if schema["$ref"].as_str().is_some_and(|reference| !seen.insert(reference)) {
        return;
    }
    let schema = resolved(schema);
    let types = &schema["type"];
    if types == "integer" || types.as_array().is_some_and(|types| types.contains(&json!("integer"))) {
        found.insert(name);
    }
    for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
        collect_integers(field, schema, seen, found);
    }
    let alternatives = ["anyOf", "oneOf", "allOf"].map(|of| schema[of].as_array());
    for schema in alternatives.into_iter().flatten().flatten().chain(schema.get("items")) {
        collect_integers(name, schema, seen, found);
    }
}

/// Writes all integers with a fraction, and collects the names of their fields.
fn with_fractions<'v>(name: &'v str, value: &'v Value, found: &mut BTreeSet<&'v str>) -> Value {
    match value {
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            found.insert(name);
            json!(number.as_f64().unwrap())
        }
        Value::Array(items) => items.iter().map(|item| with_fractions(name, item, found)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members.map(|(name, value)| (name.clone(), with_fractions(name, value, found))).collect()
        }
        other => other.clone(),
    }
}

/// Returns the status, the code and the params of an answer. Answers to daemons of some versions are not those of the document.
async fn outcome(fixture: &Populated, request: Request<String>) -> (u16, Value, Value) {
    let response = fixture.server.api.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let json: Value = serde_json::from_slice(&body).unwrap_or_default();
    (status, json["code"].clone(), json["params"].clone())
}

#[test]
fn whole_number_with_a_fraction_is_an_integer_in_every_request() {
    run_with(Populated::new, async |fixture| {
        let (mut integers, mut sent) = (BTreeSet::new(), BTreeSet::new());
        let operations = Operation::all();
        for operation in &operations {
            let content = &operation.described["requestBody"]["content"];
            let Some(schema) = content.pointer("/application~1json/schema") else { continue };
            collect_integers("", schema, &mut BTreeSet::new(), &mut integers);
            for example in resolved(schema)["examples"].as_array().into_iter().flatten() {
                let body = with_fractions("", example, &mut sent);
                if body == *example {
                    continue;
                }
                let requests = |body: &Value| {
                    let request = || operation.request("", body);
                    [
                        with_key(request(), &fixture.key),
                        fixture.by_session(request()),
                        with_key(request(), &fixture.daemon_key),
                    ]
                };
                for (exact, fractional) in requests(example).into_iter().zip(requests(&body)) {
                    let exact = outcome(&fixture, exact).await;
                    assert_eq!(exact, outcome(&fixture, fractional).await, "{}: {body}", operation.id());
                }
            }
        }
        let unsent: Vec<&str> = integers.difference(&sent).copied().collect();
        assert_eq!(unsent, WITHOUT_EXAMPLE);
    });
}
