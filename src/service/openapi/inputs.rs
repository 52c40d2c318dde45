//! Schemas of request bodies, made from the fields that the route table lists.
//!
//! They are separate from the schemas of responses, which require every field: a client sends only the fields that it
//! may set.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::examples::POSITION;
use super::parameters::{SCHEMAS, reference, schema_of, set};
use super::patches::Patches;
use crate::invariant::Invariant;
use crate::model::MacAddress;
use crate::service::routes::parameter::{EXPECTED_UPDATED_AT, Kind, Parameter, Presence, RequestContent};
use crate::service::routes::route::Route;

/// The schemas of request bodies by name, and the name for each operation.
pub(super) struct Inputs {
    schemas: Map<String, Value>,
    names: BTreeMap<String, String>,
}

impl Inputs {
    /// Creates the schemas of all bodies. `records` are the schemas of responses, and `forms` those of requests that
    /// differ from them.
    pub(super) fn new(routes: &[&Route], records: &Map<String, Value>, forms: &Map<String, Value>) -> Self {
        let types = Types { routes, records, forms };
        let (mut items, mut patches) = (Map::new(), Map::new());
        for route in routes {
            for field in route.body.fields() {
                if let Kind::Schema(name) | Kind::Schemas(name) | Kind::Sized { schema: name, .. } =
                    field.kind
                {
                    types.add_item(name, &mut items);
                }
            }
        }
        let mut names = BTreeMap::new();
        let bodies: Vec<(&Route, Value)> = routes
            .iter()
            .filter_map(|route| Some((*route, types.body_of(route, &items, &mut patches)?)))
            .collect();
        let mut schemas: Map<String, Value> = items.into_iter().chain(patches).collect();
        for (route, schema) in &bodies {
            let Some(operation) = &route.operation_id else { continue };
            let subject = route.subject();
            let mut of_subject = bodies.iter().filter(|(other, _)| other.subject() == subject);
            // The schema of a record that has no input but a patch is named after the patch.
            let is_patch_alone = route.body.is_patch() && of_subject.clone().count() == 1;
            let is_shared = !is_patch_alone && of_subject.all(|(_, body)| body == schema);
            let name = match subject.filter(|_| is_shared) {
                Some(subject) => format!("{subject}Input"),
                None => format!("{}Input", pascal_case(operation)),
            };
            schemas.insert(name.clone(), schema.clone());
            names.insert(operation.clone(), name);
        }
        Self { schemas, names }
    }

    /// Returns the name of the schema of an operation's body.
    pub(super) fn name(&self, operation: &str) -> Option<&str> {
        self.names.get(operation).map(String::as_str)
    }

    pub(super) fn into_schemas(self) -> Map<String, Value> {
        self.schemas
    }
}

impl Route {
    /// Returns the schema of the record that the endpoint creates, updates or deletes.
    pub(super) fn subject(&self) -> Option<String> {
        let operation = self.operation_id.as_deref()?;
        let singular = ["create_", "update_", "patch_", "delete_"]
            .iter()
            .find_map(|verb| operation.strip_prefix(verb))?;
        Some(pascal_case(singular))
    }
}

/// Converts `user_api_key` to `UserApiKey`.
fn pascal_case(name: &str) -> String {
    let words = name.split('_').map(|word| word.split_at_checked(1).unwrap_or((word, "")));
    words.map(|(first, rest)| first.to_ascii_uppercase() + rest).collect()
}

fn required(fields: &[Parameter]) -> impl Iterator<Item = &str> {
    fields.iter().filter(|field| field.presence == Presence::Required).map(|field| field.name)
}

fn property(field: &Parameter, item: &dyn Fn(&str) -> Value) -> Value {
    let mut schema = schema_of(field.kind, item);
    if field.presence == Presence::Nullable {
        schema = or_null(schema);
    }
    set(&mut schema, "description", json!(field.description));
    schema
}

fn or_null(mut schema: Value) -> Value {
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
    match schema.get_mut("type") {
        Some(kind) => {
            *kind = json!([kind, "null"]);
            schema
        }
        None => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}

/// The types that bodies contain.
struct Types<'a> {
    routes: &'a [&'a Route],
    /// The schemas of responses.
    records: &'a Map<String, Value>,
    /// The schemas of requests, where they differ.
    forms: &'a Map<String, Value>,
}

impl Types<'_> {
    /// Returns the schema of a body. `items` holds the schemas of the values within bodies. Adds the schemas of the objects within
    /// a patch to `patches`.
    fn body_of(
        &self,
        route: &Route,
        items: &Map<String, Value>,
        patches: &mut Map<String, Value>,
    ) -> Option<Value> {
        let fields: Vec<&Parameter> = route.body.fields().collect();
        if fields.is_empty() {
            return None;
        }
        let required = fields.iter().filter(|field| route.body.requires(field)).map(|field| field.name);
        let item = |name: &str| reference(&self.item_name(name));
        let find = |name: &str| items.get(name).or_else(|| self.records.get(name)).cloned();
        let mut within = |field: &Parameter| match field.kind {
            Kind::Schema(name) if route.body.is_patch() => {
                let form = Patches { find: &find }.reference(&self.item_name(name), patches);
                property(field, &|_| form.clone())
            }
            _ => property(field, &item),
        };
        let properties: Map<String, Value> =
            fields.iter().map(|field| (field.name.to_owned(), within(field))).collect();
        let example = route.subject().and_then(|subject| self.records.get(&subject)?.get("examples")?.get(0));
        let is_alias = |field: &&&Parameter| matches!(field.kind, Kind::Schema(GIVEN_DISCOVERY_TYPE));
        let example = fields.iter().filter(|field| !is_alias(field)).map(|field| {
            let value = example.and_then(|example| example.get(field.name)).cloned();
            let value = value.unwrap_or_else(|| self.example_of(field));
            (field.name.to_owned(), without_server_values(value))
        });
        let example: Map<String, Value> = example.collect();
        Some(json!({
            "type": "object",
            "properties": properties,
            "required": required.collect::<Value>(),
            "examples": [example],
        }))
    }

    /// Returns an example of a field that no record has.
    fn example_of(&self, field: &Parameter) -> Value {
        match (field.kind, field.name) {
            (Kind::Id, _) => json!("0192f0c1-5a3e-7b64-9d0f-3c1b2a4d5e6f"),
            (Kind::Boolean, _) => json!(true),
            (Kind::Flag(default), _) => json!(default),
            (Kind::Time, _) => json!("2027-01-01T00:00:00Z"),
            (Kind::Text { .. }, "email") => json!("ann@example.net"),
            (Kind::Text { .. }, "position") => json!(POSITION),
            (Kind::Texts { .. }, "addresses") => json!(["192.0.2.17"]),
            (Kind::Name | Kind::Text { .. } | Kind::Secret { .. }, _) => json!("an example"),
            (Kind::Number { min, .. }, _) => json!(min),
            (Kind::Choice([.., last]), _) => json!(last),
            (Kind::Schema(REPORTED_HOST), _) => reportable(self.example_of_schema("Host")),
            (Kind::Schema(name), _) => self.example_of_schema(record_name(name)),
            (Kind::Schemas(name) | Kind::Sized { schema: name, .. }, _) => {
                json!([self.example_of_schema(record_name(name))])
            }
            (
                Kind::Ids { .. }
                | Kind::Choice(_)
                | Kind::Texts { .. }
                | Kind::Matching { .. }
                | Kind::Choices { .. },
                _,
            ) => json!([]),
            (Kind::Custom { .. }, _) => json!({}),
        }
    }

    fn example_of_schema(&self, name: &str) -> Value {
        let example = self.records.get(name).and_then(|schema| schema.get("examples")?.get(0));
        example.cloned().asserted_or_default()
    }

    /// Returns whether a schema describes a record, with fields that only the server sets.
    fn is_record(&self, name: &str) -> bool {
        let properties = self.records.get(name).and_then(|schema| schema.get("properties"));
        properties.is_some_and(|properties| properties.get("updated_at").is_some())
    }

    /// Returns the schema of a value within a body.
    fn item_name(&self, name: &str) -> String {
        let record = record_name(name);
        if name == REPORTED_HOST || self.forms.contains_key(name) && !self.is_record(record) {
            format!("{name}Input")
        } else if self.is_record(record) {
            format!("{record}ItemInput")
        } else {
            name.to_owned()
        }
    }

    /// Adds the schema of a value within a body, and the schemas of the values within that.
    fn add_item(&self, name: &str, schemas: &mut Map<String, Value>) {
        let item = self.item_name(name);
        if item == name || schemas.contains_key(&item) {
            return;
        }
        let mut inner = Vec::new();
        let schema = match self.forms.get(name) {
            _ if name == REPORTED_HOST => self.reported_host(&mut inner),
            _ if name == LISTED_HOST => self.listed_host(&mut inner),
            Some(form) if !self.is_record(name) => {
                let mut form = form.clone();
                self.refer_to_items(&mut form, &mut inner);
                Some(form)
            }
            _ => self.record(record_name(name), &mut inner),
        };
        schemas.extend(schema.map(|schema| (item, schema)));
        for name in inner {
            self.add_item(&name, schemas);
        }
    }

    /// Returns the schema of a record within a body. Adds the names of the values within it to `inner`.
    ///
    /// The schema has all fields that any client may set, and the id, to which other parts of the body refer. The
    /// required fields are those that the endpoint for creating such a record alone requires, except for the records
    /// that contain it.
    fn record(&self, name: &str, inner: &mut Vec<String>) -> Option<Value> {
        let record = self.records.get(name)?;
        let mut properties = record.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        // Clients may send a port's type, which is ignored.
        properties
            .retain(|field, property| field == "id" || field == "type" || property.get("readOnly").is_none());
        for property in properties.values_mut() {
            if let Value::Object(property) = property {
                property.remove("readOnly");
            }
            self.refer_to_items(property, inner);
        }
        if let Some(custom) = properties.get_mut("custom") {
            *custom = json!({"anyOf": [custom.take(), {"type": "null"}]});
        }
        let owners: &[&str] =
            if properties.contains_key("host_id") { &["host_id", "network_id"] } else { &[] };
        let fields = self.fields_of_new(name);
        let mut required: Vec<&str> = required(fields).filter(|field| !owners.contains(field)).collect();
        if fields.is_empty() && properties.contains_key("type") {
            required.push("type");
        }
        let example = without_server_values(self.example_of_schema(name));
        Some(json!({"type": "object", "properties": properties, "required": required, "examples": [example]}))
    }

    /// Returns the schema of a host of a bulk request.
    fn listed_host(&self, inner: &mut Vec<String>) -> Option<Value> {
        let mut host = self.record(LISTED_HOST, inner)?;
        let lock = property(&EXPECTED_UPDATED_AT, &reference);
        set(host.get_mut("properties")?, EXPECTED_UPDATED_AT.name, lock);
        Some(host)
    }

    /// Returns the schema of a host in the report of a daemon.
    fn reported_host(&self, inner: &mut Vec<String>) -> Option<Value> {
        let mut host = self.record("Host", inner)?;
        if let Some(Value::Array(required)) = host.get_mut("required") {
            required.retain(|field| field != "network_id");
        }
        for part in ["properties", "examples"] {
            let part = host.get_mut(part)?;
            *part = match part.take() {
                Value::Array(examples) => examples.into_iter().map(reportable).collect(),
                properties => reportable(properties),
            };
        }
        Some(host)
    }

    /// Replaces references to types by references to their forms in bodies. Adds the names of the types to `found`.
    fn refer_to_items(&self, schema: &mut Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(members) => {
                if let Some(Value::String(target)) = members.get_mut("$ref")
                    && let Some(name) = target.strip_prefix(SCHEMAS).map(str::to_owned)
                {
                    *target = format!("{SCHEMAS}{}", self.item_name(&name));
                    found.push(name);
                }
                // Requests may have MAC addresses in the notation of any vendor.
                if members.get("pattern").is_some_and(|pattern| pattern == MacAddress::PATTERN) {
                    let (min, max) = MacAddress::TEXT_LENGTHS;
                    members.remove("pattern");
                    members
                        .extend([("minLength".to_owned(), json!(min)), ("maxLength".to_owned(), json!(max))]);
                }
                members.values_mut().for_each(|member| self.refer_to_items(member, found));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.refer_to_items(item, found)),
            _ => {}
        }
    }

    /// Returns the fields of the endpoint that creates a kind of record.
    fn fields_of_new(&self, name: &str) -> &'static [Parameter] {
        let creates = |route: &&&Route| {
            route.operation_id.as_deref().is_some_and(|id| id.starts_with("create_"))
                && route.subject().is_some_and(|subject| subject == name)
        };
        self.routes.iter().find(creates).map_or(&[], |route| match route.body {
            RequestContent::Fields(fields) | RequestContent::Optional(fields) => fields,
            _ => &[],
        })
    }
}

/// A host in the report of a daemon: its network is that of the daemon, and its parts stand beside it.
const REPORTED_HOST: &str = "ReportedHost";

/// A host of a bulk request.
const LISTED_HOST: &str = "Host";

/// The schema of a field that is another name of `type`. A body has one of both.
const GIVEN_DISCOVERY_TYPE: &str = "GivenDiscoveryType";

/// Returns the record of which a schema is the form in bodies.
fn record_name(name: &str) -> &str {
    match name {
        REPORTED_HOST => "Host",
        name => name.strip_suffix("Input").unwrap_or(name),
    }
}

/// Removes the parts of a host, and the fields that only users set.
fn reportable(mut host: Value) -> Value {
    if let Value::Object(members) = &mut host {
        let removed = ["interfaces", "ports", "services", "if_entries", "custom"];
        members.retain(|name, _| !removed.contains(&name.as_str()));
    }
    host
}

/// Removes the values that only the server sets: times, and the sources of values.
fn without_server_values(mut example: Value) -> Value {
    match &mut example {
        Value::Object(members) => {
            members.retain(|name, _| !["created_at", "updated_at", "mac_source"].contains(&name.as_str()));
            members.values_mut().for_each(|member| *member = without_server_values(member.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_server_values(item.take())),
        _ => {}
    }
    example
}
