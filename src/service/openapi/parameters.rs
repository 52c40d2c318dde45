//! Parameters of paths, queries and headers, and the schemas of their values.

use serde_json::{Value, json};

use crate::model::TopologyView;
use crate::service::routes::parameter::{Kind, MAX_NAME, Parameter, Presence};

/// Where the document has its schemas.
pub(super) const SCHEMAS: &str = "#/components/schemas/";

/// Returns the reference to a schema.
pub(super) fn reference(schema: &str) -> Value {
    json!({"$ref": format!("{SCHEMAS}{schema}")})
}

/// Sets a member of an object.
pub(super) fn set(object: &mut Value, name: &str, value: Value) {
    if let Value::Object(members) = object {
        members.insert(name.to_owned(), value);
    }
}

/// Returns the schema of a value. `item` makes the schemas of JSON values.
pub(super) fn schema_of(kind: Kind, item: &dyn Fn(&str) -> Value) -> Value {
    match kind {
        Kind::Id => id(),
        Kind::Ids { min, max } => list(&id(), min, max),
        Kind::Boolean => json!({"type": "boolean"}),
        Kind::Flag(default) => json!({"type": "boolean", "default": default}),
        Kind::Time => json!({"type": "string", "format": "date-time"}),
        Kind::Name => json!({"type": "string", "minLength": 1, "maxLength": MAX_NAME}),
        Kind::Text { min: 0, max } => json!({"type": "string", "maxLength": max}),
        Kind::Text { min, max } => json!({"type": "string", "minLength": min, "maxLength": max}),
        Kind::Secret { min, max: None } => json!({"type": "string", "minLength": min, "writeOnly": true}),
        Kind::Secret { min, max } => {
            json!({"type": "string", "minLength": min, "maxLength": max, "writeOnly": true})
        }
        Kind::Custom { max } => json!({
            "type": "object",
            "propertyNames": {"type": "string", "pattern": "^custom\\.[a-z0-9_.-]{1,64}$"},
            "additionalProperties": {"type": "string", "maxLength": max},
        }),
        Kind::Number { min, max, .. } => {
            let format = if i32::try_from(min).and(i32::try_from(max)).is_ok() { "int32" } else { "int64" };
            json!({"type": "integer", "format": format, "minimum": min, "maximum": max})
        }
        Kind::Choice(values) => json!({"type": "string", "enum": values}),
        Kind::Texts { format, max } => list(&json!({"type": "string", "format": format}), 0, max),
        Kind::Matching { pattern, max } => list(&json!({"type": "string", "pattern": pattern}), 0, max),
        Kind::Choices { of, max } => list(&json!({"type": "string", "enum": of}), 0, max),
        Kind::Schema(name) => item(name),
        Kind::Schemas(name) => json!({"type": "array", "items": item(name)}),
        Kind::Sized { schema, min, max } => list(&item(schema), min, max),
    }
}

fn list(items: &Value, min: usize, max: usize) -> Value {
    match min {
        0 => json!({"type": "array", "items": items, "maxItems": max}),
        min => json!({"type": "array", "items": items, "minItems": min, "maxItems": max}),
    }
}

fn id() -> Value {
    json!({"type": "string", "format": "uuid"})
}

/// Returns the description of a query parameter.
pub(super) fn in_query(parameter: &Parameter) -> Value {
    let mut schema = schema_of(parameter.kind, &reference);
    if let Some(default) = default_of(parameter) {
        set(&mut schema, "default", default);
    }
    let mut described = json!({
        "name": parameter.name,
        "in": "query",
        "required": parameter.presence == Presence::Required,
        "description": parameter.description,
        "schema": schema,
    });
    if matches!(
        parameter.kind,
        Kind::Ids { .. }
            | Kind::Texts { .. }
            | Kind::Matching { .. }
            | Kind::Choices { .. }
            | Kind::Custom { .. }
    ) {
        set(&mut described, "style", json!("form"));
        set(&mut described, "explode", json!(true));
    }
    described
}

fn default_of(parameter: &Parameter) -> Option<Value> {
    match (parameter.kind, parameter.presence) {
        (Kind::Number { default, .. }, _) => default.map(Value::from),
        (Kind::Choice([first, ..]), Presence::Optional) => Some(json!(first)),
        _ => None,
    }
}

/// Returns the description of a path parameter: an id, or the name of a view.
pub(super) fn in_path(name: &str) -> Value {
    let schema = match name {
        "view" => json!({"type": "string", "enum": TopologyView::ALL}),
        _ => id(),
    };
    json!({"name": name, "in": "path", "required": true, "schema": schema})
}

/// Returns the description of a header with entity tags.
pub(super) fn in_header(name: &str, description: &str) -> Value {
    let schema = json!({"type": "string"});
    json!({"name": name, "in": "header", "required": false, "description": description, "schema": schema})
}
