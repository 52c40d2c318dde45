//! The parts of JSON Schemas that the types of the records do not show.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Any JSON object. A schema of its own, because code generators fail at objects within alternatives.
pub(super) struct Details;

impl JsonSchema for Details {
    fn schema_name() -> Cow<'static, str> {
        "Details".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object", "description": "Any members.", "additionalProperties": true})
    }
}

/// Custom fields. A schema of its own, because requests and responses name it.
pub(super) struct CustomFields;

impl JsonSchema for CustomFields {
    fn schema_name() -> Cow<'static, str> {
        "Custom".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Fields of the host application or of users, by name, of at most 16 KiB in all.",
            "additionalProperties": true,
            "propertyNames": {"pattern": "^[a-z0-9_.-]{1,64}$"},
            "maxProperties": 64,
        })
    }
}

/// Adds the field of a port that is derived from its number and protocol.
pub(super) fn add_port_type(schema: &mut Schema) {
    let description = "The service usually found on this number and protocol.";
    let field = json_schema!({"type": "string", "readOnly": true, "description": description});
    if let Some(properties) = schema.get_mut("properties").and_then(|properties| properties.as_object_mut()) {
        properties.insert("type".to_owned(), field.into());
    }
    if let Some(required) = schema.get_mut("required").and_then(|required| required.as_array_mut()) {
        required.push("type".into());
    }
}

/// Moves the fields of an object into each of its alternatives. Every alternative then describes a whole object.
#[cfg(feature = "discovery")]
pub(crate) fn describe_alternatives_whole(schema: &mut Schema) {
    let fields = schema.remove("properties").unwrap_or_default();
    let required = schema.remove("required").unwrap_or_default();
    schema.remove("type");
    let alternatives = schema.get_mut("oneOf").and_then(|alternatives| alternatives.as_array_mut());
    for alternative in alternatives.into_iter().flatten() {
        if let (Some(own), Some(fields)) =
            (alternative.get_mut("properties").and_then(|own| own.as_object_mut()), fields.as_object())
        {
            own.extend(fields.iter().map(|(name, field)| (name.clone(), field.clone())));
        }
        if let (Some(own), Some(required)) =
            (alternative.get_mut("required").and_then(|own| own.as_array_mut()), required.as_array())
        {
            own.extend(required.iter().cloned());
        }
    }
}
