use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::invariant::Invariant;

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
