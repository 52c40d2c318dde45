//! Checks that every response must pass.

use std::collections::BTreeSet;

use serde_json::Value;
use toposcope::model::{Change, ChangePosition};
use toposcope::service::RateLimit;
use toposcope::wire::{Failure, Success};

use super::asked::{Asked, Form, SVG};
use super::{Reply, VERSION};

/// The error codes with their statuses and the keys of their params, from the contract.
pub(crate) const CODES: [(u16, &str, &[&str]);
    46 + cfg!(feature = "discovery") as usize + 4 * cfg!(feature = "topology") as usize] = [
    (400, "validation_required", &["field"]),
    (400, "validation_empty", &["field"]),
    (400, "validation_max_length", &["field", "max"]),
    (400, "validation_min_length", &["field", "min"]),
    (400, "validation_invalid_format", &["field"]),
    (400, "validation_out_of_range", &["field", "max", "min"]),
    #[cfg(feature = "topology")]
    (400, "validation_ambiguous", &["candidates", "field"]),
    (400, "validation_unknown_parameter", &["field"]),
    (400, "validation_malformed_json", &["column", "line"]),
    (409, "idempotency_key_reused", &[]),
    (409, "idempotency_key_in_use", &[]),
    (400, "import_refused", &["report"]),
    (400, "request_incomplete", &["report"]),
    (400, "entity_reference_invalid", &["entity", "field"]),
    (400, "entity_network_mismatch", &["entity"]),
    (401, "auth_not_authenticated", &[]),
    (401, "entity_expired", &["entity"]),
    (401, "entity_disabled", &["entity"]),
    (401, "auth_session_expired", &[]),
    (401, "auth_invalid_credentials", &[]),
    (403, "auth_password_incorrect", &["field"]),
    (403, "auth_permission_denied", &[]),
    (403, "auth_user_context_required", &[]),
    (403, "auth_cross_site_request", &[]),
    (403, "share_password_incorrect", &[]),
    #[cfg(feature = "topology")]
    (401, "share_password_required", &[]),
    (403, "billing_feature_not_available", &["feature"]),
    (403, "entity_access_denied", &["entity", "id"]),
    (403, "entity_update_forbidden", &["entity"]),
    (404, "entity_not_found", &["entity", "id"]),
    #[cfg(feature = "discovery")]
    (404, "daemon_not_registered", &["entity", "id"]),
    (404, "route_not_found", &[]),
    (410, "position_gone", &["newest", "oldest"]),
    (405, "method_not_allowed", &[]),
    (409, "entity_already_exists", &["entity", "name"]),
    (409, "entity_in_use", &["entity", "name", "used_by"]),
    (409, "entity_conflict", &["entity", "id"]),
    #[cfg(feature = "topology")]
    (409, "addresses_exhausted", &["free"]),
    (409, "quota_exceeded", &["entity", "limit"]),
    (408, "request_timeout", &[]),
    (412, "precondition_failed", &["entity", "id"]),
    (422, "policy.refused", &[]),
    (413, "request_too_large", &["limit"]),
    #[cfg(feature = "topology")]
    (413, "answer_too_large", &["limit"]),
    (415, "request_unsupported_media_type", &[]),
    (429, "rate_limit_exceeded", &["retry_after"]),
    (409, "auth_choose_organization", &["organizations"]),
    (429, "auth_too_many_attempts", &["retry_after"]),
    (500, "internal_error", &[]),
    (503, "store_unavailable", &[]),
    (503, "server_stopping", &[]),
];

/// Words that may appear in the log but in no answer.
const INTERNALS: [&str; 14] = [
    "::",
    "src/",
    ".rs",
    "panick",
    "thread",
    "StoreError",
    "Err(",
    "Some(",
    "None",
    "unwrap",
    "serde",
    "sqlx",
    "sled",
    "mutex",
];

pub(super) fn check_response(asked: &Asked, reply: &Reply, limit: Option<RateLimit>) {
    #[cfg(feature = "openapi")]
    super::description::check_described(asked, reply);
    let limit = limit.filter(|_| !asked.is_health());
    check_headers(asked, reply, limit.is_some());
    if let Some(limit) = limit {
        check_allowance(reply, limit);
    }
    if asked.is_head() || reply.status == 304 {
        assert_eq!(reply.body.len(), 0, "there is no body: {asked:?}");
    } else if asked.is_health() && reply.status != 400 {
        assert_eq!(keys(&reply.json), ["data", "error", "success"]);
    } else if asked.is_description() && reply.status == 200 {
        assert_eq!(reply.json["openapi"], "3.1.0");
    } else if asked.form(reply.status.as_u16()) != Form::Json {
        check_other_form(asked.form(reply.status.as_u16()), reply);
    } else if reply.status == 200 {
        check_success(asked, reply);
    } else {
        check_failure(asked, reply);
    }
}

fn check_headers(asked: &Asked, reply: &Reply, is_limited: bool) {
    let status = reply.status.as_u16();
    let mut expected = BTreeSet::from(["cache-control", "x-content-type-options"]);
    if status != 304 {
        expected.insert("content-type");
        assert_eq!(reply.header("content-type"), asked.form(status).content_type());
    }
    expected.extend(headers_of_topologies(asked, status));
    let is_list = asked.is_list() && (status == 200 || status == 304);
    let is_tagged = is_list || reply.headers.contains_key("etag");
    if is_tagged {
        expected.insert("etag");
        assert!(status == 200 || status == 304);
        let start = if is_list || asked.is_view() { "W/\"" } else { "\"" };
        assert!(reply.header("etag").starts_with(start) && reply.header("etag").ends_with('"'));
    }
    if is_list && asked.has_other_forms() {
        expected.insert("vary");
        assert_eq!(reply.header("vary"), "Accept");
    }
    if status == 200 && asked.is_stream() {
        expected.insert("x-accel-buffering");
        assert_eq!(reply.header("x-accel-buffering"), "no");
    }
    if is_limited {
        expected.extend(["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]);
    }
    match status {
        401 => expected.insert("www-authenticate"),
        405 => expected.insert("allow"),
        429 | 503 => expected.insert("retry-after"),
        200 if asked.sets_cookie() => expected.insert("set-cookie"),
        200 if asked.creates_in().is_some() => expected.insert("location"),
        _ => false,
    };
    if reply.headers.contains_key("idempotent-replayed") {
        expected.insert("idempotent-replayed");
        assert_eq!((status, reply.header("idempotent-replayed")), (200, "true"));
    }
    if reply.headers.contains_key("link") {
        expected.insert("link");
        assert!(is_list && asked.has_other_forms(), "{asked:?}");
    }
    if reply.headers.contains_key("connection") {
        expected.insert("connection");
        assert_eq!(reply.header("connection"), "close");
        assert!([401, 408, 413, 429, 503].contains(&status), "{asked:?} {status}");
    }
    let is_length_known = status != 304 && !asked.is_whole_list() && !(status == 200 && asked.is_stream());
    if (asked.is_head() && is_length_known) || reply.headers.contains_key("content-length") {
        expected.insert("content-length");
    }
    let given: BTreeSet<&str> = reply.headers.keys().map(|name| name.as_str()).collect();
    assert_eq!(given, expected, "{asked:?} {status}");
    let kept = if is_tagged { "private, no-cache" } else { "no-store" };
    assert_eq!(reply.header("cache-control"), kept);
    assert_eq!(reply.header("x-content-type-options"), "nosniff");
    if status == 401 {
        assert_eq!(reply.header("www-authenticate"), "Bearer");
    }
    if status == 429 || status == 503 {
        assert!(reply.number("retry-after") >= 1);
    }
    if !asked.is_head() && reply.headers.contains_key("content-length") {
        assert_eq!(reply.number("content-length"), reply.body.len() as u64);
    }
}

/// Returns the additional headers of pictures, files and pages.
fn headers_of_topologies(asked: &Asked, status: u16) -> BTreeSet<&'static str> {
    let form = asked.form(status);
    let is_success = status == 200 || status == 304;
    let mut names = BTreeSet::new();
    if is_success && asked.is_export() {
        names.insert("vary");
    }
    let is_private = asked.is_public_topology() || asked.is_picture() || asked.is_network_page();
    if form == Form::Page || (is_success && is_private) {
        names.extend(["referrer-policy", "x-robots-tag"]);
    }
    if let Form::File(media_type) = form {
        names.insert("content-disposition");
        names.extend((media_type == SVG).then_some("content-security-policy"));
    }
    if matches!(form, Form::Page | Form::Picture) {
        names.insert("content-security-policy");
    }
    names
}

/// Checks a body without an envelope, and the properties that only such responses have.
fn check_other_form(form: Form, reply: &Reply) {
    let text = str::from_utf8(&reply.body).expect("text");
    let policy = || reply.header("content-security-policy");
    match form {
        Form::Json => {}
        Form::Events => assert!(text.starts_with("retry: ") && text.ends_with("\n\n")),
        Form::File(media_type) => {
            let disposition = reply.header("content-disposition");
            assert!(disposition.starts_with("attachment; filename=\""));
            assert_eq!(reply.header("vary"), "Accept");
            assert_eq!(text.contains("<svg"), media_type == SVG);
        }
        Form::Picture => assert!(text.contains("<svg")),
        Form::Page => {
            assert!(text.starts_with("<!DOCTYPE html>") && text.trim_end().ends_with("</html>"), "{text}");
            assert!(policy().contains("frame-ancestors") && !policy().contains("unsafe"), "{}", policy());
        }
    }
    if matches!(form, Form::Picture | Form::File(SVG)) {
        assert!(
            policy().starts_with("default-src 'none'; style-src 'sha256-") && policy().ends_with("sandbox")
        );
    }
    if matches!(form, Form::Picture | Form::Page) {
        assert_eq!(reply.header("referrer-policy"), "no-referrer");
        assert_eq!(reply.header("x-robots-tag"), "noindex");
    }
}

/// Checks that the three figures of the rate limit are present and consistent.
fn check_allowance(reply: &Reply, limit: RateLimit) {
    let (minute, burst) = (u64::from(limit.per_minute().get()), u64::from(limit.burst().get()));
    assert_eq!(reply.number("x-ratelimit-limit"), minute);
    let remaining = reply.number("x-ratelimit-remaining");
    let reset = reply.number("x-ratelimit-reset");
    assert!(remaining < burst, "a response has cost a request, or was refused: {remaining}");
    // Number of requests that must be refilled for the bucket to be full.
    let missing = burst - remaining;
    assert!(reset <= (missing * 60).div_ceil(minute), "{remaining} remain, full in {reset} s");
    assert!(reset >= ((missing - 1) * 60).div_ceil(minute).max(1), "{remaining} remain, full in {reset} s");
    // The limits on lists without a limit, streams, imports, bulk requests and drawings have the same code,
    // independently of the bucket.
    let is_other_limit = reply.json["error"].as_str().is_some_and(|error| {
        let others = [
            "large bodies",
            "lists without a limit",
            "lists, diffs and summaries of the past",
            "streams",
            "reports",
            "imports",
            "bulk requests",
            "topologies",
        ];
        error.strip_prefix("Too many ").is_some_and(|rest| others.iter().any(|other| rest.starts_with(other)))
    });
    if reply.json["code"] == "rate_limit_exceeded" && !is_other_limit {
        assert_eq!(remaining, 0);
        assert!(reply.number("retry-after") <= reset, "{reply:?}");
    }
}

fn check_success(asked: &Asked, reply: &Reply) {
    let json = &reply.json;
    assert_eq!(keys(json), ["data", "meta", "success"], "{asked:?}");
    assert_eq!(json["success"], true);
    check_meta(asked, &json["meta"], asked.is_list() || asked.is_feed());
    if asked.is_feed() {
        return check_feed(json);
    }
    // Parsing into the type also detects duplicate fields.
    let typed: Success<Value> = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(typed.data, json["data"]);
    if let Some(collection) = asked.creates_in() {
        let record = json["data"].get("api_key").unwrap_or(&json["data"]);
        let id = record["id"].as_str().unwrap();
        assert_eq!(reply.header("location"), format!("{collection}/{id}"));
    }
    if !asked.is_list() {
        assert_eq!(json["data"].is_array(), asked.is_array());
        return;
    }
    let pagination = &json["meta"]["pagination"];
    let items = json["data"].as_array().expect("the data of a list is an array").len() as u64;
    if asked.is_by_cursor() {
        assert_eq!(keys(pagination), ["has_more", "limit", "next_cursor", "offset", "total_count"]);
        let limit = pagination["limit"].as_u64().unwrap();
        assert!(limit == 0 || items <= limit);
        assert_eq!(pagination["has_more"], pagination["next_cursor"].is_string());
        return;
    }
    assert_eq!(keys(pagination), ["has_more", "limit", "offset", "total_count"]);
    let number = |name: &str| pagination[name].as_u64().unwrap_or_else(|| panic!("{name}: {pagination}"));
    let (limit, offset, total) = (number("limit"), number("offset"), number("total_count"));
    assert_eq!(pagination["has_more"], limit > 0 && offset + items < total, "{pagination}");
    let rest = total.saturating_sub(offset);
    assert_eq!(items, if limit == 0 { rest } else { rest.min(limit) }, "{pagination}");
}

/// Checks a page of the history, which has neither a total nor an offset.
fn check_feed(json: &Value) {
    let pagination = &json["meta"]["pagination"];
    assert_eq!(keys(pagination), ["has_more", "limit", "next_cursor"]);
    assert!(pagination["next_cursor"].as_str().is_some_and(|position| !position.is_empty()), "{pagination}");
    let entries = json["data"].as_array().expect("the data of a page is an array").len() as u64;
    let limit = pagination["limit"].as_u64().unwrap();
    assert!(entries <= limit, "{pagination}");
    assert!(pagination["has_more"] == false || limit > 0, "{pagination}");
    let changes: Vec<Change> = serde_json::from_value(json["data"].clone()).unwrap();
    let positions: BTreeSet<&ChangePosition> = changes.iter().map(|change| &change.position).collect();
    assert_eq!(positions.len(), changes.len());
}

fn check_failure(asked: &Asked, reply: &Reply) {
    let json = &reply.json;
    assert_eq!(keys(json), ["code", "error", "meta", "params", "success"], "{asked:?}");
    assert_eq!(json["success"], false);
    check_meta(asked, &json["meta"], false);
    let typed: Failure = serde_json::from_slice(&reply.body).unwrap();
    let status = reply.status.as_u16();
    let code = contract_code(&typed.code);
    let (_, _, params) = CODES
        .iter()
        .find(|(known, listed, _)| (*known, *listed) == (status, code))
        .unwrap_or_else(|| panic!("the contract has no {status} {code}"));
    let mut given = keys(&json["params"]);
    if asked.is_report() && json["params"]["field"] == "body" {
        // The place of the fault is a byte or a line: the input need not be text.
        assert_eq!(given.iter().filter(|name| ["byte", "line"].contains(name)).count(), 1, "{json}");
        given.retain(|name| !["byte", "format", "line"].contains(name));
    }
    let place = json["params"]["field"].as_str();
    if asked.is_bulk() && place.is_some_and(|place| place.starts_with("hosts.")) && !params.contains(&"field")
    {
        given.retain(|name| *name != "field");
    }
    if asked.is_import() && !params.contains(&"report") {
        // The report of an upload that ended early.
        given.retain(|name| *name != "report");
    }
    if code == "entity_in_use" && asked.is_host_update() {
        // The list of parts that lacks the record.
        given.retain(|name| *name != "field");
    }
    if code == "entity_already_exists" {
        // The record that exists, where the caller may see it.
        given.retain(|name| *name != "id");
    }
    if code == "policy.refused" {
        // A policy may refuse a value or the whole record.
        given.retain(|name| *name != "field");
    }
    assert_eq!(given, *params, "{json}");
    for name in ["field", "entity", "feature", "id", "name", "newest", "oldest"] {
        assert!(json["params"].get(name).is_none_or(Value::is_string), "{json}");
    }
    for name in ["limit", "retry_after", "line", "column", "byte"] {
        // A limit of the host application is not known.
        let is_known = |value: &Value| value.is_i64() || (name == "limit" && value.is_null());
        assert!(json["params"].get(name).is_none_or(is_known), "{json}");
    }
    if status == 429 {
        assert_eq!(json["params"]["retry_after"], reply.number("retry-after"));
    }
    check_sentence(&typed.error);
}

/// Returns the code under which the contract lists that of an answer. Policies have codes of their own.
pub(super) fn contract_code(code: &str) -> &str {
    if code.starts_with("policy.") { "policy.refused" } else { code }
}

fn check_sentence(text: &str) {
    assert!(text.contains(' ') && text.ends_with('.'), "no sentence: {text:?}");
    assert!(text.chars().count() <= 200, "too long to read: {text:?}");
    assert!(!text.contains(char::is_control), "{text:?}");
    let own = without_quotation(text);
    for internal in INTERNALS {
        assert!(!own.contains(internal), "{internal:?} in {text:?}");
    }
}

/// Returns a sentence without its quotations from the request.
fn without_quotation(text: &str) -> String {
    match (text.find('"'), text.rfind('"')) {
        (Some(begin), Some(end)) => [&text[..begin], &text[end..]].concat(),
        _ => text.to_owned(),
    }
}

fn check_meta(asked: &Asked, meta: &Value, has_pagination: bool) {
    let expected: &[&str] = if has_pagination {
        &["api_version", "pagination", "server_version"]
    } else {
        &["api_version", "server_version"]
    };
    assert_eq!(keys(meta), expected, "{asked:?}");
    assert_eq!(meta["api_version"], 1);
    assert_eq!(meta["server_version"], VERSION);
}

/// Returns the keys of an object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
