//! Parses the values of paths, queries and bodies, and defines the refusals.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toposcope::model::{Permission, Timestamp};
use uuid::Uuid;

use crate::isolation::model::LEVELS;
use crate::requests::request::{ApiRequest, BODY_LIMIT, Body};

/// An expected error of the API.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    /// `None` for those of a malformed body: the oracle does not determine the position.
    pub(crate) params: Option<Value>,
    /// The methods in the `Allow` header.
    pub(crate) allow: Option<BTreeSet<&'static str>>,
}

pub(crate) fn refusal(status: u16, code: &'static str, params: Value) -> Refusal {
    Refusal { status, code, params: Some(params), allow: None }
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

pub(crate) fn not_found(entity: &str, id: impl Into<Uuid>) -> Refusal {
    let id = id.into();
    refusal(404, "entity_not_found", json!({"entity": entity, "id": id}))
}

pub(crate) fn network_denied(id: impl Into<Uuid>) -> Refusal {
    let id = id.into();
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

pub(crate) fn out_of_range(field: &str, min: impl Into<Value>, max: impl Into<Value>) -> Refusal {
    let (min, max): (Value, Value) = (min.into(), max.into());
    refusal(400, "validation_out_of_range", json!({"field": field, "min": min, "max": max}))
}

pub(crate) fn unknown_parameter(field: &str) -> Refusal {
    refusal(400, "validation_unknown_parameter", json!({"field": field}))
}

/// Parses the id of a path that takes no query.
pub(super) fn path_id(request: &ApiRequest, segment: &str) -> Result<Uuid, Refusal> {
    let id = segment.parse().map_err(|_| invalid_format("id"))?;
    no_query(request)?;
    Ok(id)
}

pub(super) fn no_query(request: &ApiRequest) -> Result<(), Refusal> {
    match request.query.first() {
        Some((name, _)) => Err(unknown_parameter(name)),
        None => Ok(()),
    }
}

/// The fields of a body, each as literal JSON text.
pub(super) struct Fields<'a>(&'a [(&'static str, String)]);

impl<'a> Fields<'a> {
    /// Parses the body of a request; the endpoint must accept its size, type and fields.
    pub(super) fn of(request: &'a ApiRequest, known: &[&str]) -> Result<Self, Refusal> {
        let types = ["application/json", "application/json; charset=utf-8", "application/merge-patch+json"];
        if !request.content_type.is_some_and(|given| types.contains(&given)) {
            return Err(refusal(415, "request_unsupported_media_type", json!({})));
        }
        if request.body_text().len() > BODY_LIMIT {
            return Err(refusal(413, "request_too_large", json!({"limit": BODY_LIMIT})));
        }
        let Body::Fields(fields) = &request.body else {
            return Err(Refusal { params: None, ..refusal(400, "validation_malformed_json", json!({})) });
        };
        for name in known {
            if fields.iter().filter(|(given, _)| given == name).count() > 1 {
                return Err(invalid_format(name));
            }
        }
        Ok(Self(fields))
    }

    /// Returns the literal text of a field, or `None` if it is missing.
    fn raw(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| *name == field).map(|(_, value)| value.as_str())
    }

    /// Returns a value that is neither missing nor null.
    fn value(&self, field: &str) -> Option<Value> {
        let value: Value = serde_json::from_str(self.raw(field)?).unwrap();
        if value.is_null() { None } else { Some(value) }
    }

    /// Returns whether the field is null.
    pub(super) fn is_null(&self, field: &str) -> bool {
        self.raw(field) == Some("null")
    }

    fn read<T>(&self, field: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Option<T>, Refusal> {
        self.value(field).map(|value| read(&value).ok_or_else(|| invalid_format(field))).transpose()
    }

    pub(super) fn text(&self, field: &str) -> Result<Option<String>, Refusal> {
        self.read(field, |value| value.as_str().map(str::to_owned))
    }

    pub(super) fn id(&self, field: &str) -> Result<Option<Uuid>, Refusal> {
        self.read(field, id)
    }

    pub(super) fn ids(&self, field: &str) -> Result<Option<Vec<Uuid>>, Refusal> {
        let Some(values) = self.read(field, |value| value.as_array().cloned())? else { return Ok(None) };
        let ids = values
            .iter()
            .enumerate()
            .map(|(place, value)| id(value).ok_or_else(|| invalid_format(&format!("{field}.{place}"))));
        ids.collect::<Result<_, _>>().map(Some)
    }

    pub(super) fn flag(&self, field: &str) -> Result<Option<bool>, Refusal> {
        self.read(field, Value::as_bool)
    }

    pub(super) fn time(&self, field: &str) -> Result<Option<Timestamp>, Refusal> {
        self.read(field, |value| value.as_str()?.parse().ok())
    }

    pub(super) fn level(&self, field: &str) -> Result<Option<Permission>, Refusal> {
        self.read(field, |value| LEVELS.into_iter().find(|level| value == &level.to_string()))
    }

    pub(super) fn protocol(&self, field: &str) -> Result<Option<&'static str>, Refusal> {
        self.read(field, |value| {
            ["Tcp", "Udp"]
                .into_iter()
                .find(|protocol| value.as_str().is_some_and(|text| text.eq_ignore_ascii_case(protocol)))
        })
    }

    /// Parses an integer of any size.
    pub(super) fn port_number(&self, field: &str) -> Result<u16, Refusal> {
        let raw = self.raw(field).filter(|raw| *raw != "null").ok_or_else(|| required(field))?;
        let digits = raw.trim_start_matches('-');
        if digits.is_empty() || !digits.chars().all(|digit| digit.is_ascii_digit()) {
            return Err(invalid_format(field));
        }
        match raw.parse::<u16>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(out_of_range(field, 1, 65535)),
        }
    }
}

/// Returns the value, or the error for a missing field.
pub(super) fn needed<T>(value: Option<T>, field: &str) -> Result<T, Refusal> {
    value.ok_or_else(|| required(field))
}

fn id(value: &Value) -> Option<Uuid> {
    value.as_str()?.parse().ok()
}

/// Parses a name of 1 to 100 characters, without the surrounding white space.
pub(super) fn name(text: &str, field: &str) -> Result<String, Refusal> {
    text_of(text, field, 100)
}

/// Parses a text of 1 to `max` characters, without the surrounding white space.
pub(super) fn text_of(text: &str, field: &str, max: usize) -> Result<String, Refusal> {
    let text = text.trim();
    if text.is_empty() {
        return Err(empty(field));
    }
    if text.chars().count() > max {
        return Err(too_long(field, max));
    }
    Ok(text.to_owned())
}
