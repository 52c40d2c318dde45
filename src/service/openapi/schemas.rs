//! Schemas of the types in requests and responses, made from the types themselves.

use std::collections::{BTreeMap, BTreeSet};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::examples;
use super::parameters::{SCHEMAS, set};
use crate::invariant::Invariant;
use crate::service::routes::parameter::RequestContent;
use crate::service::routes::route::Route;

/// The schemas of the types that requests and responses contain, by name.
pub(super) struct TypeSchemas {
    /// The forms of responses.
    pub(super) records: Map<String, Value>,
    /// The forms of requests, where they differ.
    pub(super) inputs: Map<String, Value>,
}

/// Returns the schemas of everything that a request or a response contains.
pub(super) fn of_types(routes: &[&Route]) -> TypeSchemas {
    let settings = || {
        let mut settings = SchemaSettings::draft2020_12();
        settings.definitions_path = "/components/schemas".into();
        settings
    };
    let (generator, inputs) =
        (settings().for_serialize().into_generator(), settings().for_deserialize().into_generator());
    let mut schemas = Schemas { generator, inputs, examples: Map::new() };
    examples::add_all(&mut schemas);
    let mut records = schemas.generator.take_definitions(true);
    let mut inputs = schemas.inputs.take_definitions(true);
    for (name, schema, example) in [
        (
            "OpenApiDocument",
            json!({"type": "object", "required": ["openapi", "info"]}),
            json!({"openapi": "3.1.0", "info": {}}),
        ),
        ("IpAddress", json!({"type": "string", "format": "ip"}), json!("192.0.2.17")),
        ("Speed", json!({"type": "integer", "format": "uint64", "minimum": 0}), json!(1_000_000_000)),
    ] {
        records.insert(name.to_owned(), schema);
        schemas.examples.insert(name.to_owned(), example);
    }
    schemas.examples.insert("Custom".to_owned(), json!({"asset_tag": "A-17"}));
    schemas.examples.insert("Details".to_owned(), json!({"confidence": "high"}));
    let writable = writable_fields(routes);
    let mut examples = schemas.examples;
    for (name, example) in examples.clone() {
        add_examples_of_parts(&records, records.get(&name), &example, &mut examples);
    }
    for (name, schema) in records.iter_mut().chain(&mut inputs) {
        simplify_descriptions(schema);
        list_choices(schema);
        mark_read_only(schema, writable.get(name));
        if let Some(example) = examples.get(name) {
            set(schema, "examples", json!([example]));
        }
    }
    retain_different(&mut inputs, &records);
    TypeSchemas { records, inputs }
}

/// Removes the forms of requests that are also those of responses.
fn retain_different(inputs: &mut Map<String, Value>, records: &Map<String, Value>) {
    let mut different: BTreeSet<String> = BTreeSet::new();
    loop {
        let is_new = |(name, schema): &(&String, &Value)| {
            !different.contains(*name)
                && (records.get(*name) != Some(*schema) || refers_to(schema, &different))
        };
        let new: Vec<String> = inputs.iter().filter(is_new).map(|(name, _)| name.clone()).collect();
        if new.is_empty() {
            break;
        }
        different.extend(new);
    }
    inputs.retain(|name, _| different.contains(name));
}

/// Returns whether a schema refers to any of these.
fn refers_to(schema: &Value, names: &BTreeSet<String>) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(name, member)| match member {
            Value::String(target) if name == "$ref" => {
                target.strip_prefix(SCHEMAS).is_some_and(|target| names.contains(target))
            }
            member => refers_to(member, names),
        }),
        Value::Array(items) => items.iter().any(|item| refers_to(item, names)),
        _ => false,
    }
}

/// Adds the values within an example as examples of their schemas.
fn add_examples_of_parts(
    records: &Map<String, Value>,
    schema: Option<&Value>,
    example: &Value,
    examples: &mut Map<String, Value>,
) {
    let Some(Value::Object(schema)) = schema.filter(|_| !example.is_null()) else { return };
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("$ref", Value::String(target)) => {
                let Some(name) = target.strip_prefix(SCHEMAS) else { continue };
                if !examples.contains_key(name) {
                    examples.insert(name.to_owned(), example.clone());
                    add_examples_of_parts(records, records.get(name), example, examples);
                }
            }
            ("properties", Value::Object(properties)) => {
                for (field, property) in properties {
                    let value = example.get(field).unwrap_or(&Value::Null);
                    add_examples_of_parts(records, Some(property), value, examples);
                }
            }
            ("items", items) => {
                add_examples_of_parts(records, Some(items), example.get(0).unwrap_or(&Value::Null), examples);
            }
            ("anyOf" | "oneOf", Value::Array(alternatives)) => {
                for alternative in alternatives {
                    add_examples_of_parts(records, Some(alternative), example, examples);
                }
            }
            _ => {}
        }
    }
}

/// Returns the fields of each record that some endpoint lets clients set.
fn writable_fields(routes: &[&Route]) -> BTreeMap<String, BTreeSet<&'static str>> {
    let mut writable: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for route in routes {
        if let (Some(record), RequestContent::Fields(fields)) = (route.subject(), route.body) {
            writable.entry(record).or_default().extend(fields.iter().map(|field| field.name));
        }
    }
    writable
}

fn mark_read_only(schema: &mut Value, writable: Option<&BTreeSet<&'static str>>) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (field, property) in properties {
        let is_time = field == "created_at" || field == "updated_at";
        let is_writable = writable.is_none_or(|writable| writable.contains(field.as_str()));
        if let (Value::Object(property), true) = (property, is_time || !is_writable) {
            property.insert("readOnly".to_owned(), Value::Bool(true));
        }
    }
}

/// Writes alternatives that are one text each as one `enum`. Code generators make a type of it.
///
/// The meaning of each text moves to the description of the whole.
fn list_choices(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    let Some(Value::Array(choices)) = members.get("oneOf") else { return };
    let values: Option<Vec<Value>> = choices.iter().map(|choice| choice.get("const").cloned()).collect();
    let Some(values) = values else { return };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
    let meanings = choices
        .iter()
        .map(|choice| format!("\n- `{}`: {}", text(choice.get("const")), text(choice.get("description"))));
    let description = text(members.get("description")) + "\n" + &meanings.collect::<String>();
    members.remove("oneOf");
    members.insert("type".to_owned(), json!("string"));
    members.insert("enum".to_owned(), values.into());
    members.insert("description".to_owned(), description.into());
}

/// Turns the documentation of Rust types into documentation of JSON.
fn simplify_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if name == "description" => *text = simplify(text),
                    member => simplify_descriptions(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(simplify_descriptions),
        _ => {}
    }
}

/// Leaves out examples and the targets of links, and writes `None` as null.
fn simplify(text: &str) -> String {
    let text = text.split("\n\n```").next().unwrap_or(text).replace("`None`", "null");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut simple = String::new();
    let mut rest = text.as_str();
    while let Some((before, link)) = rest.split_once('[') {
        let (label, after) = link.split_once(']').unwrap_or((link, ""));
        let after = match after.strip_prefix('(') {
            Some(target) => target.split_once(')').map_or("", |(_, after)| after),
            None => after,
        };
        simple.push_str(before);
        simple.push_str(label);
        rest = after;
    }
    simple + rest
}

/// Collects the schemas of types, each with an example.
pub(super) struct Schemas {
    /// Makes the forms that responses have.
    pub(super) generator: SchemaGenerator,
    /// Makes the forms that requests may have, in which optional fields may be missing.
    pub(super) inputs: SchemaGenerator,
    pub(super) examples: Map<String, Value>,
}

impl Schemas {
    /// Adds the schema of a type.
    pub(super) fn add<T: JsonSchema + Serialize>(&mut self, example: &T) {
        self.generator.subschema_for::<T>();
        self.inputs.subschema_for::<T>();
        let example = serde_json::to_value(example).ok().asserted_or_default();
        self.examples.insert(T::schema_name().into_owned(), example);
    }
}
