//! Schemas of the objects within JSON merge patches (RFC 7396).
//!
//! Such an object changes that of the record, so that it may have any of its fields and need not have one.

use serde_json::{Map, Value, json};

use super::parameters::{SCHEMAS, reference};

/// Makes the forms that schemas have within patches.
pub(super) struct Patches<'a> {
    /// Finds the schema of a value within a body.
    pub(super) find: &'a dyn Fn(&str) -> Option<Value>,
}

impl Patches<'_> {
    /// Returns the schema of a value of this type within a patch. Adds the forms of objects to `schemas`.
    pub(super) fn reference(&self, name: &str, schemas: &mut Map<String, Value>) -> Value {
        let Some(schema) = (self.find)(name) else { return reference(name) };
        let Some(properties) = self.fields(&schema) else { return reference(name) };
        let patch = format!("{}Patch", name.strip_suffix("Input").unwrap_or(name));
        if !schemas.contains_key(&patch) {
            // Its own name first: a type may contain itself.
            schemas.insert(patch.clone(), Value::Null);
            let properties: Map<String, Value> = properties
                .into_iter()
                .map(|(field, property)| (field, self.property(property, schemas)))
                .collect();
            let mut form = json!({"type": "object", "properties": properties});
            for keyword in ["description", "examples"] {
                if let (Value::Object(form), Some(value)) = (&mut form, schema.get(keyword)) {
                    form.insert(keyword.to_owned(), value.clone());
                }
            }
            schemas.insert(patch.clone(), form);
        }
        reference(&patch)
    }

    /// Returns the fields of an object, or those that any of several alternatives has. `None`: it is no object.
    fn fields(&self, schema: &Value) -> Option<Map<String, Value>> {
        if let Some(name) = target(schema) {
            return self.fields(&(self.find)(name)?);
        }
        if let Some(Value::Array(alternatives)) = schema.get("oneOf").or_else(|| schema.get("anyOf")) {
            let mut all = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
            for alternative in alternatives {
                for (field, property) in self.fields(alternative)? {
                    let merged = match all.remove(&field) {
                        Some(known) => either(known, &property),
                        None => property,
                    };
                    all.insert(field, merged);
                }
            }
            return Some(all);
        }
        schema.get("properties")?.as_object().cloned()
    }

    /// Returns the form of a property. Lists are replaced as a whole, so that their items are complete.
    fn property(&self, mut property: Value, schemas: &mut Map<String, Value>) -> Value {
        if let Value::Object(members) = &mut property {
            // A field that is left out stays as it is.
            members.remove("default");
        }
        if let Some(name) = target(&property) {
            return self.reference(name, schemas);
        }
        if let Some(Value::Array(alternatives)) = property.get_mut("anyOf") {
            alternatives
                .iter_mut()
                .for_each(|alternative| *alternative = self.property(alternative.take(), schemas));
        }
        property
    }
}

/// Returns the name of the schema to which a schema refers.
fn target(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(SCHEMAS)
}

/// Returns the schema of a property that two alternatives have. The texts that it may be become one list.
fn either(one: Value, other: &Value) -> Value {
    let choices = |schema: &Value| match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    };
    match (choices(&one), choices(other)) {
        _ if one == *other => one,
        (Some(mut values), Some(more)) => {
            values.extend(more);
            json!({"type": "string", "enum": values})
        }
        _ => json!({"anyOf": [one, other]}),
    }
}
