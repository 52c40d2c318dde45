//! The description of one endpoint.

use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::envelopes::Envelopes;
use super::errors;
use super::headers::headers;
use super::inputs::Inputs;
use super::parameters::{in_header, in_path, in_query, reference, set};
use crate::invariant::Invariant;
use crate::inventory::MAX_BULK;
use crate::service::endpoints::once::MAX_KEY;
#[cfg(feature = "discovery")]
use crate::service::endpoints::reports::MEDIA_TYPES;
use crate::service::input::fields_of;
use crate::service::response::shape::LINES;
use crate::service::routes::parameter::RequestContent;
use crate::service::routes::route::{Repetition, ResponseContent, Route};
use crate::service::sender::AllowedSenders;
#[cfg(feature = "topology")]
use crate::topology::render::Format;
use crate::wire::ErrorCode;

impl Route {
    /// Returns the name under which tools group the endpoint: its collection.
    pub(super) fn tag(&self) -> &'static str {
        let path = self.path.trim_start_matches('/');
        let path = path.strip_prefix("api/").unwrap_or(path);
        match path.strip_prefix("v1/") {
            Some(path) if path.starts_with("auth/keys") => "user-api-keys",
            Some(path) if path.starts_with("auth/daemon") => "daemon-api-keys",
            Some(path) => path.split('/').next().unwrap_or(path),
            None if path.starts_with("auth/") => "auth",
            None if path.starts_with("topology/") => "topology",
            None if path.starts_with("daemons/") => "daemons",
            None => "server",
        }
    }
}

/// The schemas and responses that operations share.
pub(super) struct OperationContext<'a> {
    /// The schemas of responses.
    pub(super) records: &'a Map<String, Value>,
    pub(super) inputs: &'a Inputs,
    pub(super) envelopes: Envelopes<'a>,
    /// The error responses by name. Endpoints with the same errors share them.
    pub(super) errors: Map<String, Value>,
}

/// Describes an endpoint.
pub(super) fn operation(route: &Route, shared: &mut OperationContext<'_>) -> Value {
    let mut operation = json!({
        "operationId": route.operation_id,
        "summary": route.summary,
        "tags": [route.tag()],
        "security": security(route.access),
        "parameters": parameters(route),
        "responses": responses(route, shared),
    });
    if let Some(content) = body(route, shared.inputs) {
        let is_required = !matches!(route.body, RequestContent::Optional(_));
        set(&mut operation, "requestBody", json!({"required": is_required, "content": content}));
    }
    if let Some(description) = other_representations(route) {
        set(&mut operation, "description", json!(description));
    }
    operation
}

/// Describes the representations of a list beside JSON.
///
/// They are not in the list of media types, because they would make every generated list a text or a list.
fn other_representations(route: &Route) -> Option<String> {
    let ResponseContent::Page(schema) = route.answer else { return None };
    let mut sentences = Vec::new();
    if schema == "Host" {
        sentences.push(
            "With `limit=0`, and where `Accept` prefers `application/x-ndjson`, the answer is JSON Lines without an \
             envelope: each host is one JSON object on a line of its own.",
        );
    }
    if cfg!(feature = "csv") && !fields_of(&route.query).is_empty() {
        sentences.push(
            "Where `Accept` prefers `text/csv`, the answer is a CSV with a header. `fields` selects its columns.",
        );
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn security(access: AllowedSenders) -> Value {
    match access {
        AllowedSenders::Public | AllowedSenders::Unlimited => json!([]),
        #[cfg(feature = "topology")]
        AllowedSenders::Share => json!([{}, {"share_token": []}]),
        AllowedSenders::Session => json!([{}, {"session": []}]),
        AllowedSenders::Caller(requirement) if requirement.needs_session() => json!([{"session": []}]),
        AllowedSenders::Caller(_) => json!([{"api_key": []}, {"session": []}]),
        #[cfg(feature = "discovery")]
        AllowedSenders::Daemon => json!([{"daemon_key": []}]),
        #[cfg(feature = "discovery")]
        AllowedSenders::CallerOrDaemon(_) => json!([{"api_key": []}, {"session": []}, {"daemon_key": []}]),
    }
}

fn parameters(route: &Route) -> Value {
    let names = route.path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let mut parameters: Vec<Value> = names.map(in_path).collect();
    parameters.extend(route.query.iter().copied().flatten().map(in_query));
    if is_conditional(route) {
        parameters.push(in_header("If-None-Match", "Entity tags of states that the client has already."));
    }
    if route.errors.contains(&ErrorCode::PreconditionFailed) {
        parameters.push(in_header("If-Match", "Entity tags of the states that the request may change."));
    }
    if matches!(route.answer, ResponseContent::Events(_)) && route.errors.contains(&ErrorCode::PositionGone) {
        parameters.push(in_header("Last-Event-ID", "The id of the last event that the client has received."));
    }
    if route.repetition == Repetition::Answered {
        let mut header = in_header(
            "Idempotency-Key",
            "A key of the client. For 24 hours, the same request with the same key gets the same answer, and is not executed.",
        );
        set(&mut header, "schema", json!({"type": "string", "minLength": 1, "maxLength": MAX_KEY}));
        parameters.push(header);
    }
    parameters.into()
}

fn is_conditional(route: &Route) -> bool {
    route.is_tagged && route.method == Method::GET
}

fn body(route: &Route, inputs: &Inputs) -> Option<Value> {
    match route.body {
        RequestContent::Nothing => None,
        RequestContent::Fields(_) | RequestContent::Optional(_) | RequestContent::Update { .. } => {
            let name = inputs.name(route.operation_id.as_deref()?)?;
            Some(json!({"application/json": {"schema": reference(name)}}))
        }
        RequestContent::Patch { .. } => {
            let name = inputs.name(route.operation_id.as_deref()?)?;
            let content = json!({"schema": reference(name)});
            Some(json!({"application/merge-patch+json": content, "application/json": content}))
        }
        RequestContent::Ids => {
            let id = json!({"type": "string", "format": "uuid"});
            let ids = json!({"type": "array", "items": id, "minItems": 1, "maxItems": MAX_BULK});
            Some(json!({"application/json": {"schema": ids}}))
        }
        RequestContent::HostRows => {
            // Generators of clients know one type of text for a body.
            let csv = " With `text/csv`: a header with names of fields, and a host a row.";
            let csv = if cfg!(feature = "csv") { csv } else { "" };
            let description = format!("A host a line, each as one JSON object.{csv}");
            Some(json!({LINES: {"schema": {"type": "string", "description": description}}}))
        }
        #[cfg(feature = "discovery")]
        RequestContent::Report => {
            let description = "The output of a scanner or a device.";
            let types = MEDIA_TYPES.iter().map(|media_type| {
                // JSON is not sent as a string.
                let schema = match *media_type {
                    "application/json" => json!({"description": description}),
                    _ => json!({"type": "string", "description": description}),
                };
                ((*media_type).to_owned(), json!({"schema": schema}))
            });
            Some(types.collect::<Map<_, _>>().into())
        }
    }
}

fn responses(route: &Route, shared: &mut OperationContext<'_>) -> Value {
    let mut responses = Map::new();
    let schema = match route.repetition {
        Repetition::Answered => shared.envelopes.repeatable_schema(route.answer),
        _ => shared.envelopes.schema(route.answer),
    };
    let success = response(route, 200, Some(&schema));
    let success = with_events(route, success);
    #[cfg(feature = "topology")]
    let success = with_files(route, success);
    #[cfg(feature = "topology")]
    if route.answer.is_page() {
        let of_caller = if route.access.requirement().is_some() { &[400, 401, 403, 413][..] } else { &[] };
        let of_past = route.errors.contains(&ErrorCode::PositionGone).then_some(410);
        let statuses = [404, 429, 500, 503].into_iter().chain(of_caller.iter().copied()).chain(of_past);
        for status in statuses {
            let page = with_files(route, response(route, status, Some(&schema)));
            responses.insert(status.to_string(), page);
        }
    }
    responses.insert("200".to_owned(), success);
    if is_conditional(route) {
        responses.insert("304".to_owned(), response(route, 304, None));
    }
    for (status, codes) in errors::codes(route, shared.records) {
        let failure = match route.answer {
            // A server that is not healthy says so in the same document.
            ResponseContent::Document(_) if status == 503 => response(route, status, Some(&schema)),
            _ => {
                let name = share(error(route, status, &codes), reason(status), &mut shared.errors);
                json!({"$ref": format!("#/components/responses/{name}")})
            }
        };
        responses.insert(status.to_string(), failure);
    }
    responses.into()
}

/// Describes an error response with these codes.
///
/// All have one schema. If the schema had the codes, generators would make a type of it for every list of codes.
fn error(route: &Route, status: u16, codes: &[&str]) -> Value {
    let mut error = response(route, status, Some(&reference("Error")));
    let quoted: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    set(&mut error, "description", json!(format!("{}: {}.", reason(status), quoted.join(", "))));
    set(&mut error, "x-error-codes", json!(codes));
    error
}

/// Adds a response to the shared ones, unless it is there, and returns its name.
fn share(response: Value, reason: &str, errors: &mut Map<String, Value>) -> String {
    let reason = reason.replace(' ', "");
    let mut name = reason.clone();
    let mut number = 1;
    while errors.get(&name).is_some_and(|other| *other != response) {
        number += 1;
        name = format!("{reason}{number}");
    }
    errors.insert(name.clone(), response);
    name
}

/// Describes an answer that is a stream of events, in place of JSON.
fn with_events(route: &Route, mut response: Value) -> Value {
    if let ResponseContent::Events(events) = route.answer {
        // Without a type, because tools disagree on whether a schema describes the whole stream or an event.
        let events = json!({"schema": {"description": events}});
        set(&mut response, "content", json!({"text/event-stream": events}));
    }
    response
}

/// Describes answers that are files, in place of JSON or beside it.
#[cfg(feature = "topology")]
fn with_files(route: &Route, mut response: Value) -> Value {
    let text = json!({"schema": {"type": "string"}});
    let types: Vec<&str> = match route.answer {
        ResponseContent::TopologyFile => Format::ALL.iter().map(|format| format.media_type()).collect(),
        ResponseContent::Picture => vec![Format::Svg.media_type()],
        ResponseContent::SharePage | ResponseContent::NetworkPage => vec!["text/html"],
        _ => return response,
    };
    let is_also_json = matches!(route.answer, ResponseContent::TopologyFile);
    let Some(Value::Object(content)) = response.get_mut("content") else { return response };
    if !is_also_json {
        content.clear();
    }
    if is_also_json && let Some(json) = content.get_mut("application/json") {
        let envelope = json.get("schema").cloned().asserted_or_default();
        set(json, "schema", json!({"anyOf": [envelope, reference("Graph")]}));
    }
    for media_type in types {
        content.entry(media_type.split(';').next().unwrap_or(media_type)).or_insert_with(|| text.clone());
    }
    response
}

fn reason(status: u16) -> &'static str {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    reason.asserted_or_default()
}

fn response(route: &Route, status: u16, schema: Option<&Value>) -> Value {
    let mut response = json!({"description": reason(status), "headers": headers(route, status)});
    if let Some(schema) = schema {
        set(&mut response, "content", json!({"application/json": {"schema": schema}}));
    }
    response
}
