//! The OpenAPI document, against which every response is checked.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{LazyLock, OnceLock};

use http::Method;
use jsonschema::{Draft, Registry, Validator};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Reply;
use super::asked::Asked;
use super::check::contract_code;
use crate::requests::routes::matches;

/// Paths that are other names of documented ones.
const ALIASES: [(&str, &str); 2] = [("/api/hosts", "/api/v1/hosts"), ("/api/openapi.json", "/openapi.json")];

/// Errors of paths and methods that are not documented.
const ROUTING: [&str; 4] = ["route_not_found", "method_not_allowed", "rate_limit_exceeded", "internal_error"];

static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| operations(openapi_document()));

/// The address of the document for references to its schemas.
const DOCUMENT: &str = "https://document.example/";

/// The schemas of the document, in which objects have no fields but the documented ones.
static COMPONENTS: LazyLock<Value> = LazyLock::new(|| {
    let mut components = openapi_document()["components"].clone();
    close(&mut components["schemas"]);
    components
});

static ANSWERS: LazyLock<Registry<'static>> = LazyLock::new(|| registry(&COMPONENTS));

/// Unknown fields of requests are ignored.
static REQUESTS: LazyLock<Registry<'static>> = LazyLock::new(|| registry(&openapi_document()["components"]));

/// Returns the document, which is made once.
pub(crate) fn openapi_document() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(toposcope::openapi);
    &DOCUMENT
}

/// A documented endpoint.
#[derive(Debug)]
struct Operation {
    method: String,
    path: String,
    /// The schema of the body, of an operation that takes JSON.
    request: Option<Body>,
    responses: BTreeMap<String, Response>,
}

#[derive(Debug)]
struct Response {
    described: Value,
    body: Option<Body>,
}

/// A body of JSON.
#[derive(Debug)]
struct Body {
    schema: Value,
    validator: OnceLock<Validator>,
}

impl Body {
    fn new(described: &Value) -> Option<Self> {
        let schema = described.pointer("/content/application~1json/schema")?.clone();
        Some(Self { schema, validator: OnceLock::new() })
    }

    fn of_request(&self) -> &Validator {
        self.validator.get_or_init(|| {
            let options = jsonschema::options().with_draft(Draft::Draft202012).with_registry(&REQUESTS);
            options.build(&absolute(self.schema.clone())).unwrap()
        })
    }

    fn of_answer(&self) -> &Validator {
        self.validator.get_or_init(|| validator(&self.schema))
    }
}

fn operations(document: &Value) -> Vec<Operation> {
    let paths = document["paths"].as_object().unwrap();
    let resolved = |described: &Value| match described["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap().clone(),
        None => described.clone(),
    };
    let operations = paths.iter().flat_map(|(path, methods)| {
        methods.as_object().unwrap().iter().map(move |(method, operation)| {
            let responses = operation["responses"].as_object().unwrap().iter();
            let responses = responses.map(|(status, described)| {
                let described = resolved(described);
                (status.clone(), Response { body: Body::new(&described), described })
            });
            let method = method.to_ascii_uppercase();
            let request = operation.get("requestBody").and_then(Body::new);
            Operation { method, path: path.clone(), request, responses: responses.collect() }
        })
    });
    operations.collect()
}

/// Checks that the document describes a response, and the body of a request that the server has accepted.
pub(super) fn check_described(asked: &Asked, reply: &Reply) {
    let Asked { method, path, .. } = asked;
    let Some(operation) = find(method, path) else {
        let code = reply.json["code"].as_str();
        let is_routing = code.is_some_and(|code| ROUTING.contains(&code)) || *method == Method::HEAD;
        assert!(is_routing && reply.status != 200, "{method} {path} is not documented: {reply:?}");
        return;
    };
    let status = reply.status.as_u16();
    let response = operation.responses.get(status.to_string().as_str());
    let response = response.unwrap_or_else(|| panic!("{method} {path} has no {status}: {}", reply.json));
    let is_as_described = !asked.is_versioned;
    if let (200, true, Some(request), Some(body)) =
        (status, is_as_described, &operation.request, accepted(asked, reply))
        && let Some(error) = request.of_request().iter_errors(&body).next()
    {
        panic!("{method} {path} accepts: {error} at {}: {body}", error.instance_path());
    }
    let headers = response.described["headers"].as_object().unwrap();
    for name in ["etag", "location", "set-cookie", "retry-after", "www-authenticate", "x-ratelimit-limit"] {
        let is_documented = headers.keys().any(|header| header.eq_ignore_ascii_case(name));
        let is_sent = reply.headers.contains_key(name);
        assert!(is_documented || !is_sent, "{method} {path} {status}: {name}");
    }
    if reply.json.is_null() {
        let sent = reply.headers.get("content-type").map(|content_type| content_type.to_str().unwrap());
        let sent = sent.filter(|_| status != 304).and_then(|sent| sent.split(';').next());
        let described = &response.described["content"];
        assert!(sent.is_none_or(|sent| described.get(sent).is_some()), "{method} {path} {status}: {sent:?}");
        return;
    }
    if status == 200 && !is_as_described {
        return;
    }
    let body = response.body.as_ref().unwrap_or_else(|| panic!("{method} {path} {status} has no body"));
    let codes = response.described["x-error-codes"].as_array();
    let code = reply.json["code"].as_str().map(contract_code);
    let is_documented = codes.is_none_or(|codes| codes.contains(&json!(code)));
    assert!(is_documented, "{method} {path} {status}: {}", reply.json["code"]);
    let json = with_all_fields(asked, reply.json.clone());
    if let Some(error) = body.of_answer().iter_errors(&json).next() {
        panic!("{method} {path} {status}: {error} at {}: {}", error.instance_path(), reply.json);
    }
}

/// Adds the fields that a request has not selected, and that the schema requires.
fn with_all_fields(asked: &Asked, mut json: Value) -> Value {
    let selects = form_urlencoded::parse(asked.query.as_bytes()).any(|(name, _)| name == "fields");
    let schema = match asked.path.rsplit('/').next().unwrap() {
        "hosts" => "Host",
        "interfaces" => "Interface",
        "ports" => "Port",
        "services" => "Service",
        "if-entries" => "IfEntry",
        _ => return json,
    };
    let records = json.get_mut("data").and_then(Value::as_array_mut).filter(|_| selects);
    for record in records.into_iter().flatten() {
        let mut all = COMPONENTS["schemas"][schema]["examples"][0].clone();
        all.as_object_mut().unwrap().extend(record.as_object().unwrap().clone());
        *record = all;
    }
    json
}

/// Returns the JSON that a server has accepted, without the parts that the document does not describe.
fn accepted(asked: &Asked, reply: &Reply) -> Option<Value> {
    let results = reply.json["data"].as_array();
    // Some of many hosts may be refused by themselves.
    if results.is_some_and(|results| results.iter().any(|result| result["outcome"] == "failed")) {
        return None;
    }
    // Ignored fields may be nested more deeply than this parser allows.
    let mut body = without_nulls(serde_json::from_str(asked.body.as_ref()?).ok()?);
    if let Value::Object(members) = &mut body {
        if asked.is_by_daemon && asked.path.ends_with("/subnets") {
            // The key determines the network, and the addresses are a name.
            members.entry("network_id").or_insert_with(|| json!(Uuid::nil()));
            members.entry("name").or_insert_with(|| json!("Addresses"));
        }
        // Daemons may send types of a later version, which become `Unknown`.
        members.remove("subnet_type");
        // Their lengths count without the white space around them.
        for name in ["name", "referral_source"] {
            if let Some(Value::String(text)) = members.get_mut(name) {
                *text = text.trim().to_owned();
            }
        }
    }
    Some(body)
}

/// Removes the fields that are null. An optional one that is null counts as missing.
fn without_nulls(mut body: Value) -> Value {
    match &mut body {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(|member| *member = without_nulls(member.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_nulls(item.take())),
        _ => {}
    }
    body
}

/// Finds the operation with the most literal path.
fn find(method: &Method, path: &str) -> Option<&'static Operation> {
    let path = ALIASES.iter().find(|(alias, _)| *alias == path).map_or(path, |(_, path)| path);
    let method = if *method == Method::HEAD { &Method::GET } else { method };
    let parameters = |operation: &Operation| operation.path.matches('{').count();
    let of_path = OPERATIONS.iter().filter(|operation| matches(&operation.path, path));
    let fewest = of_path.clone().map(parameters).min()?;
    of_path
        .filter(|operation| parameters(operation) == fewest)
        .find(|operation| operation.method == method.as_str())
}

/// Compiles a schema of the document.
pub(crate) fn validator(schema: &Value) -> Validator {
    let options = jsonschema::options().with_draft(Draft::Draft202012).with_registry(&ANSWERS);
    let options = options.should_validate_formats(true);
    options
        .with_format("ip", |text: &str| text.parse::<IpAddr>().is_ok())
        .build(&absolute(schema.clone()))
        .unwrap()
}

/// Prepares the components of the document once for all of its schemas.
fn registry(components: &Value) -> Registry<'static> {
    Registry::new().add(DOCUMENT, json!({"components": components})).unwrap().prepare().unwrap()
}

/// Has the references in a schema lead to the document.
fn absolute(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                reference.insert_str(0, DOCUMENT);
            }
            members.values_mut().for_each(|member| *member = absolute(member.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = absolute(item.take())),
        _ => {}
    }
    schema
}

/// Forbids undocumented fields.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.iter_mut().filter(|(name, _)| *name != "examples").for_each(|(_, member)| close(member));
            if members.contains_key("properties") && members.get("type") == Some(&json!("object")) {
                members.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
