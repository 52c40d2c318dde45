//! Parts of the OpenAPI document, and their merge into the document of a host application by `utoipa`.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toposcope::service::UnknownGroup;
use toposcope::{openapi, openapi_for};
use utoipa::openapi::{InfoBuilder, OpenApi, OpenApiBuilder};

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().into_iter().flat_map(|members| members.keys()).map(String::as_str).collect()
}

fn references(value: &Value) -> BTreeSet<&str> {
    match value {
        Value::Object(members) => {
            let own = members.get("$ref").and_then(Value::as_str);
            own.into_iter().chain(members.values().flat_map(references)).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => BTreeSet::new(),
    }
}

#[test]
fn whole_excerpt_differs_from_the_document_by_its_paths_and_servers_only() {
    let (mut whole, mut excerpt) = (openapi(), openapi_for("", &[]).unwrap());
    assert_eq!(excerpt.get("servers"), None);
    for document in [&mut whole, &mut excerpt] {
        document.as_object_mut().unwrap().remove("servers");
    }
    assert_eq!(excerpt["paths"], whole["paths"]);
    assert_eq!(excerpt["tags"], whole["tags"]);
    for (kind, components) in excerpt["components"].as_object().unwrap() {
        for (name, component) in components.as_object().unwrap() {
            assert_eq!(component, &whole["components"][kind][name], "{kind}/{name}");
        }
    }
}

#[test]
fn excerpt_has_the_operations_of_its_groups_and_every_component_that_they_need() {
    let excerpt = openapi_for("netinv/", &["tags", "networks"]).unwrap();
    for (path, operations) in excerpt["paths"].as_object().unwrap() {
        let path = path.strip_prefix("/netinv").unwrap();
        for (method, operation) in operations.as_object().unwrap() {
            assert_eq!(operation, &openapi()["paths"][path][method]);
            assert!(["tags", "networks"].contains(&operation["tags"][0].as_str().unwrap()), "{path}");
        }
    }
    assert!(keys(&excerpt["paths"]).contains("/netinv/api/v1/networks/{id}"));
    let mut names: Vec<&Value> = excerpt["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]).collect();
    names.sort_by_key(|name| name.to_string());
    assert_eq!(names, [&json!("networks"), &json!("tags")]);

    let referred = references(&excerpt);
    for reference in &referred {
        assert!(excerpt.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
    for kind in ["schemas", "responses"] {
        let needed = referred.iter().filter_map(|name| name.strip_prefix(&format!("#/components/{kind}/")));
        assert_eq!(keys(&excerpt["components"][kind]), needed.collect(), "{kind}");
    }
    assert_eq!(keys(&excerpt["components"]["securitySchemes"]), BTreeSet::from(["api_key", "session"]));
    assert!(!keys(&excerpt["components"]["schemas"]).contains("Host"));
}

#[test]
fn unknown_group_is_named() {
    let UnknownGroup { group, .. } = openapi_for("", &["hosts", "racks", "shelves"]).unwrap_err();
    assert_eq!(group, "racks");
}

#[test]
fn utoipa_merges_the_document_into_another_and_keeps_operations_parameters_and_schemas() {
    // utoipa reads no schema without a type, as those of events and of reports in any form are.
    let whole = openapi();
    let groups = whole["tags"].as_array().unwrap().iter().map(|group| group["name"].as_str().unwrap());
    let groups: Vec<&str> =
        groups.filter(|group| !["changes", "discoveries", "discovery"].contains(group)).collect();
    let document = openapi_for("/netinv", &groups).unwrap();
    let parsed: OpenApi = serde_json::from_value(document.clone()).unwrap();
    let info = InfoBuilder::new().title("An application").version("1.0.0").build();
    let mut own = OpenApiBuilder::new().info(info).build();
    own.merge(parsed);
    let merged = serde_json::to_value(own).unwrap();

    assert_eq!(merged["info"]["title"], "An application");
    assert_eq!(keys(&merged["paths"]), keys(&document["paths"]));
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let found = &merged["paths"][path][method];
            assert_eq!(found["operationId"], operation["operationId"]);
            assert_eq!(found["security"], operation["security"], "{path}");
            assert_eq!(keys(&found["responses"]), keys(&operation["responses"]), "{path}");
            let parameters = |of: &Value| -> Vec<Value> {
                let parameters = of["parameters"].as_array().into_iter().flatten();
                parameters
                    .map(|one| json!([one["name"], one["in"], one["required"], one["schema"]["type"]]))
                    .collect()
            };
            assert_eq!(parameters(found), parameters(operation), "{path}");
            let headers = |of: &Value| keys(&of["responses"]["200"]["headers"]).len();
            assert_eq!(headers(found), headers(operation), "{path}");
        }
    }
    for kind in ["schemas", "responses", "securitySchemes"] {
        assert_eq!(keys(&merged["components"][kind]), keys(&document["components"][kind]), "{kind}");
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let found = &merged["components"]["schemas"][name];
        assert_eq!(keys(&found["properties"]), keys(&schema["properties"]), "{name}");
        // utoipa has no types for the places of a tuple.
        if schema.get("prefixItems").is_none() {
            assert_eq!(references(found), references(schema), "{name}");
        }
    }
}
