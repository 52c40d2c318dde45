use serde_json::{Value, json};
use uuid::Uuid;

use crate::common::Reply;

/// Expected answer: status, code, and the entity of the error; null where that cannot be known.
pub(super) type Outcome = (u16, &'static str, Value);

pub(super) fn conflict(entity: &str, id: Uuid) -> Outcome {
    (409, "entity_conflict", json!({"entity": entity, "id": id}))
}

pub(super) fn access_denied(network: Uuid) -> Outcome {
    (403, "entity_access_denied", json!({"entity": "Network", "id": network}))
}

pub(super) fn permission_denied() -> Outcome {
    (403, "auth_permission_denied", json!({}))
}

pub(super) fn not_found(entity: &str, id: Uuid) -> Outcome {
    (404, "entity_not_found", json!({"entity": entity, "id": id}))
}

pub(super) fn reference_invalid(entity: &str, field: &str) -> Outcome {
    (400, "entity_reference_invalid", json!({"entity": entity, "field": field}))
}

pub(super) fn not_authenticated() -> Outcome {
    (401, "auth_not_authenticated", json!({}))
}

pub(super) fn disabled(entity: &str) -> Outcome {
    (401, "entity_disabled", json!({"entity": entity}))
}

/// Returns whether a request succeeded; asserts that a refusal is one of these.
#[track_caller]
pub(super) fn succeeded_or(reply: &Reply, refusals: &[Outcome]) -> bool {
    if reply.status == 200 {
        return true;
    }
    let (status, json) = (reply.status.as_u16(), &reply.json);
    let is_one = refusals.iter().any(|(known, code, params)| {
        (*known, *code) == (status, json["code"].as_str().unwrap())
            && (params.is_null() || *params == json["params"])
    });
    assert!(is_one, "{status} {json} is none of {refusals:?}");
    false
}
