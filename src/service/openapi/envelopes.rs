//! The envelopes of successes, each a schema of its own, because code generators name types after schemas.

use serde_json::{Map, Value, json};

use super::parameters::{reference, set};
use crate::invariant::Invariant;
use crate::service::routes::route::ResponseContent;

/// The schema of the metadata of a page.
const PAGE_META: &str = "PageMeta";

/// The schema of the metadata of a page of the history.
const FEED_META: &str = "FeedMeta";

/// The envelopes by name.
pub(super) struct Envelopes<'a> {
    /// The schemas of responses.
    records: &'a Map<String, Value>,
    schemas: Map<String, Value>,
}

impl<'a> Envelopes<'a> {
    /// Creates the envelopes of no operation. `records` are the schemas of responses.
    pub(super) fn new(records: &'a Map<String, Value>) -> Self {
        let mut meta = records.get("Meta").cloned().asserted_or_default();
        if let Some(Value::Array(required)) = meta.get_mut("required") {
            required.push(json!("pagination"));
        }
        Self { records, schemas: Map::from_iter([(PAGE_META.to_owned(), meta)]) }
    }

    /// Returns the schema of an answer that may be repeated for an `Idempotency-Key`.
    ///
    /// A long answer is repeated as its ids alone. One schema with optional fields says so, because generators make
    /// types of alternatives that hide the fields of all of them.
    pub(super) fn repeatable_schema(&mut self, answer: ResponseContent) -> Value {
        match answer {
            // An answer without an id, such as reserved addresses, is repeated whole.
            ResponseContent::Value(schema) if self.has_id(schema) => {
                let data = self.or_id(schema);
                self.add(&data, &reference(&data), &self.example(schema), "Meta")
            }
            ResponseContent::List(schema) => {
                let item = self.or_id(schema);
                self.add(&format!("{item}List"), &list(&item), &json!([self.example(schema)]), "Meta")
            }
            answer => self.schema(answer),
        }
    }

    /// Returns whether the records of a schema have ids.
    fn has_id(&self, schema: &str) -> bool {
        self.records.get(schema).is_some_and(|record| record["properties"].get("id").is_some())
    }

    /// Adds the schema of a record that requires only the id, and returns its name.
    fn or_id(&mut self, schema: &str) -> String {
        let mut record = self.records.get(schema).cloned().asserted_or_default();
        let described = record.get("description").and_then(Value::as_str).unwrap_or("");
        let description = format!(
            "{described} Only the id, if the answer is repeated for an `Idempotency-Key` and has more than 64 KiB."
        );
        set(&mut record, "description", json!(description.trim_start()));
        set(&mut record, "required", json!(["id"]));
        let name = format!("{schema}OrId");
        self.schemas.insert(name.clone(), record);
        name
    }

    /// Returns the schema of an answer, which is the reference to its envelope, unless it has none.
    pub(super) fn schema(&mut self, answer: ResponseContent) -> Value {
        let (name, data, example) = match answer {
            ResponseContent::Document(schema) => return reference(schema),
            ResponseContent::Empty => {
                ("Empty".to_owned(), json!({"type": "object", "maxProperties": 0}), json!({}))
            }
            ResponseContent::Value(schema) => (schema.to_owned(), reference(schema), self.example(schema)),
            ResponseContent::List(schema) => {
                (format!("{schema}List"), list(schema), json!([self.example(schema)]))
            }
            ResponseContent::Page(schema) => {
                (format!("{schema}Page"), list(schema), json!([self.example(schema)]))
            }
            // Generators have no type for a value that is always null.
            #[cfg(feature = "discovery")]
            ResponseContent::Null => ("Null".to_owned(), json!({"type": ["object", "null"]}), Value::Null),
            #[cfg(feature = "topology")]
            ResponseContent::TopologyFile => {
                let schema = "TopologyFile";
                (schema.to_owned(), reference(schema), self.example(schema))
            }
            ResponseContent::Feed(schema) => {
                (format!("{schema}Feed"), list(schema), json!([self.example(schema)]))
            }
            ResponseContent::Events(_) => return json!({"type": "string"}),
            #[cfg(feature = "topology")]
            ResponseContent::Picture | ResponseContent::SharePage | ResponseContent::NetworkPage => {
                return json!({"type": "string"});
            }
        };
        let meta = match answer {
            ResponseContent::Page(_) => PAGE_META,
            ResponseContent::Feed(_) => FEED_META,
            _ => "Meta",
        };
        self.add(&name, &data, &example, meta)
    }

    /// Adds an envelope, and returns the reference to it.
    fn add(&mut self, name: &str, data: &Value, example: &Value, meta: &str) -> Value {
        let envelope = self.envelope(data, example, meta);
        let name = format!("{name}Response");
        let schema = reference(&name);
        self.schemas.insert(name, envelope);
        schema
    }

    fn envelope(&self, data: &Value, example: &Value, meta: &str) -> Value {
        let mut meta_example = self.example(if meta == FEED_META { meta } else { "Meta" });
        if let (Value::Object(members), "Meta") = (&mut meta_example, meta) {
            members.remove("pagination");
        }
        json!({
            "type": "object",
            // Generators make an enum of strings of a boolean that is constant.
            "properties": {"success": {"type": "boolean"}, "data": data, "meta": reference(meta)},
            "required": ["success", "data", "meta"],
            "examples": [{"success": true, "data": example, "meta": meta_example}],
        })
    }

    fn example(&self, schema: &str) -> Value {
        let example = self.records.get(schema).and_then(|schema| schema.get("examples")?.get(0));
        example.cloned().asserted_or_default()
    }

    pub(super) fn into_schemas(self) -> Map<String, Value> {
        self.schemas
    }
}

fn list(schema: &str) -> Value {
    json!({"type": "array", "items": reference(schema)})
}
