//! Parses the values of paths, queries and bodies.

use serde_json::Value;
use toposcope::model::{Permission, Timestamp};
use uuid::Uuid;

use crate::isolation::ask::{Ask, BODY_LIMIT, Body};
use crate::isolation::records::LEVELS;
use crate::isolation::refusal::{
    Refusal, empty, invalid_format, malformed, out_of_range, refusal, required, too_long, unknown_parameter,
};
use serde_json::json;

/// Parses the id of a path that takes no query.
pub(super) fn path_id(ask: &Ask, segment: &str) -> Result<Uuid, Refusal> {
    let id = segment.parse().map_err(|_| invalid_format("id"))?;
    no_query(ask)?;
    Ok(id)
}

pub(super) fn no_query(ask: &Ask) -> Result<(), Refusal> {
    match ask.query.first() {
        Some((name, _)) => Err(unknown_parameter(name)),
        None => Ok(()),
    }
}

/// The fields of a body, each as literal JSON text.
pub(super) struct Fields<'a>(&'a [(&'static str, String)]);

impl<'a> Fields<'a> {
    /// Parses the body of a request; the endpoint must accept its size, type and fields.
    pub(super) fn of(ask: &'a Ask, known: &[&str]) -> Result<Self, Refusal> {
        let types = ["application/json", "application/json; charset=utf-8", "application/merge-patch+json"];
        if !ask.content_type.is_some_and(|given| types.contains(&given)) {
            return Err(refusal(415, "request_unsupported_media_type", json!({})));
        }
        if ask.body_text().len() > BODY_LIMIT {
            return Err(refusal(413, "request_too_large", json!({"limit": BODY_LIMIT})));
        }
        let Body::Fields(fields) = &ask.body else { return Err(malformed()) };
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

    fn some<T>(
        &self,
        field: &str,
        read: impl Fn(&Value) -> Result<T, Refusal>,
    ) -> Result<Option<T>, Refusal> {
        self.value(field).map(|value| read(&value)).transpose()
    }

    pub(super) fn text(&self, field: &str) -> Result<Option<String>, Refusal> {
        self.some(field, |value| value.as_str().map(str::to_owned).ok_or_else(|| invalid_format(field)))
    }

    pub(super) fn id(&self, field: &str) -> Result<Option<Uuid>, Refusal> {
        self.some(field, |value| id(value, field))
    }

    pub(super) fn ids(&self, field: &str) -> Result<Option<Vec<Uuid>>, Refusal> {
        self.some(field, |value| {
            let values = value.as_array().ok_or_else(|| invalid_format(field))?;
            values.iter().enumerate().map(|(place, value)| id(value, &format!("{field}.{place}"))).collect()
        })
    }

    pub(super) fn flag(&self, field: &str) -> Result<Option<bool>, Refusal> {
        self.some(field, |value| value.as_bool().ok_or_else(|| invalid_format(field)))
    }

    pub(super) fn time(&self, field: &str) -> Result<Option<Timestamp>, Refusal> {
        self.some(field, |value| {
            let time = value.as_str().and_then(|text| text.parse().ok());
            time.ok_or_else(|| invalid_format(field))
        })
    }

    pub(super) fn level(&self, field: &str) -> Result<Option<Permission>, Refusal> {
        self.some(field, |value| {
            let level = LEVELS.into_iter().find(|level| value.as_str() == Some(&level.to_string()));
            level.ok_or_else(|| invalid_format(field))
        })
    }

    pub(super) fn protocol(&self, field: &str) -> Result<Option<&'static str>, Refusal> {
        self.some(field, |value| match value.as_str() {
            Some("Tcp") => Ok("Tcp"),
            Some("Udp") => Ok("Udp"),
            _ => Err(invalid_format(field)),
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

fn id(value: &Value, field: &str) -> Result<Uuid, Refusal> {
    value.as_str().and_then(|text| text.parse().ok()).ok_or_else(|| invalid_format(field))
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
