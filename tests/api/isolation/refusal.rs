//! The refusals of the contract.

use serde_json::{Value, json};
use uuid::Uuid;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    /// `None` for those of a malformed body: the oracle does not determine the position.
    pub(crate) params: Option<Value>,
    /// The methods in the `Allow` header.
    pub(crate) allow: Option<&'static [&'static str]>,
}

pub(crate) fn refusal(status: u16, code: &'static str, params: Value) -> Refusal {
    Refusal { status, code, params: Some(params), allow: None }
}

pub(crate) fn method_not_allowed(allow: &'static [&'static str]) -> Refusal {
    Refusal { allow: Some(allow), ..refusal(405, "method_not_allowed", json!({})) }
}

pub(crate) fn malformed() -> Refusal {
    Refusal { params: None, ..refusal(400, "validation_malformed_json", json!({})) }
}

pub(crate) fn not_authenticated() -> Refusal {
    refusal(401, "auth_not_authenticated", json!({}))
}

pub(crate) fn user_context_required() -> Refusal {
    refusal(403, "auth_user_context_required", json!({}))
}

pub(crate) fn permission_denied() -> Refusal {
    refusal(403, "auth_permission_denied", json!({}))
}

pub(crate) fn invalid_credentials() -> Refusal {
    refusal(401, "auth_invalid_credentials", json!({}))
}

pub(crate) fn disabled(entity: &str) -> Refusal {
    refusal(401, "entity_disabled", json!({"entity": entity}))
}

pub(crate) fn expired(entity: &str) -> Refusal {
    refusal(401, "entity_expired", json!({"entity": entity}))
}

pub(crate) fn not_found(entity: &str, id: Uuid) -> Refusal {
    refusal(404, "entity_not_found", json!({"entity": entity, "id": id}))
}

pub(crate) fn network_denied(id: Uuid) -> Refusal {
    refusal(403, "entity_access_denied", json!({"entity": "Network", "id": id}))
}

pub(crate) fn reference_invalid(entity: &str, field: &str) -> Refusal {
    refusal(400, "entity_reference_invalid", json!({"entity": entity, "field": field}))
}

pub(crate) fn invalid_format(field: &str) -> Refusal {
    refusal(400, "validation_invalid_format", json!({"field": field}))
}

pub(crate) fn required(field: &str) -> Refusal {
    refusal(400, "validation_required", json!({"field": field}))
}

pub(crate) fn empty(field: &str) -> Refusal {
    refusal(400, "validation_empty", json!({"field": field}))
}

pub(crate) fn too_long(field: &str, max: usize) -> Refusal {
    refusal(400, "validation_max_length", json!({"field": field, "max": max}))
}

pub(crate) fn too_short(field: &str, min: usize) -> Refusal {
    refusal(400, "validation_min_length", json!({"field": field, "min": min}))
}

pub(crate) fn out_of_range(field: &str, min: impl Into<Value>, max: impl Into<Value>) -> Refusal {
    let (min, max): (Value, Value) = (min.into(), max.into());
    refusal(400, "validation_out_of_range", json!({"field": field, "min": min, "max": max}))
}

pub(crate) fn unknown_parameter(field: &str) -> Refusal {
    refusal(400, "validation_unknown_parameter", json!({"field": field}))
}
