//! Request bodies, one function for each endpoint that has one.
//!
//! Fields that only the server sets, and unknown ones, are ignored.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::inventory::{Error, NewDaemonApiKey, PortUpdate, Problem, UserApiKeyUpdate, dotted};
use crate::model::PortNumber;
use crate::service::error::ApiError;

/// Returns the e-mail address and the password.
pub(in crate::service) fn read_login(body: &[u8]) -> Result<(String, String), ApiError> {
    let fields = Fields::read(body, &["email", "password"])?;
    Ok((non_empty(&fields, "email")?, non_empty(&fields, "password")?))
}

pub(in crate::service) fn read_daemon_key(body: &[u8]) -> Result<NewDaemonApiKey, ApiError> {
    let fields = Fields::read(body, &["name", "network_id", "tags", "expires_at", "is_enabled"])?;
    let name: String = fields.required("name")?;
    let mut key = NewDaemonApiKey::new(fields.required("network_id")?, name);
    key.tags = fields.required("tags")?;
    key.expires_at = fields.optional("expires_at")?;
    key.is_enabled = fields.optional("is_enabled")?.unwrap_or(key.is_enabled);
    Ok(key)
}

pub(in crate::service) fn read_port_update(body: &[u8]) -> Result<PortUpdate, ApiError> {
    let fields = Fields::read(body, &["host_id", "network_id", "number", "protocol"])?;
    Ok(PortUpdate::new(
        fields.required("host_id")?,
        fields.required("network_id")?,
        port_number(&fields, "number")?,
        variant(&fields, "protocol")?.ok_or_else(|| required("protocol"))?,
    ))
}

pub(in crate::service) fn read_user_key_update(body: &[u8]) -> Result<UserApiKeyUpdate, ApiError> {
    let known = [
        "name",
        "organization_id",
        "user_id",
        "tags",
        "expires_at",
        "is_enabled",
        "network_ids",
        "permissions",
    ];
    let fields = Fields::read(body, &known)?;
    let name: String = fields.required("name")?;
    let (organization, user) = (fields.required("organization_id")?, fields.required("user_id")?);
    let tags: Vec<Uuid> = fields.required("tags")?;
    let mut update = UserApiKeyUpdate::new(organization, user, name, tags);
    update.expires_at = fields.nullable("expires_at")?;
    update.is_enabled = fields.optional("is_enabled")?;
    update.network_ids = fields.optional("network_ids")?;
    update.permissions = variant(&fields, "permissions")?;
    Ok(update)
}

/// Returns the referral source and its optional free-text detail.
pub(in crate::service) fn read_referral(body: &[u8]) -> Result<(String, Option<String>), ApiError> {
    let fields = Fields::read(body, &["referral_source", "referral_source_other"])?;
    Ok((fields.required("referral_source")?, fields.optional("referral_source_other")?))
}

fn non_empty(fields: &Fields<'_>, field: &'static str) -> Result<String, ApiError> {
    let text: String = fields.required(field)?;
    if text.is_empty() { Err(Error::invalid(field, Problem::Empty).into()) } else { Ok(text) }
}

/// Reads a string that is one of a fixed set. Serde alone would also accept an object.
fn variant<T: DeserializeOwned>(fields: &Fields<'_>, field: &'static str) -> Result<Option<T>, ApiError> {
    match fields.text(field) {
        Some(text) if text.starts_with('{') => Err(Error::invalid(field, Problem::InvalidFormat).into()),
        _ => fields.optional(field),
    }
}

/// Reads a port number. An integer too large for any Rust type is out of range, not malformed.
fn port_number(fields: &Fields<'_>, field: &'static str) -> Result<PortNumber, ApiError> {
    let text = fields.text(field).filter(|text| *text != "null").ok_or_else(|| required(field))?;
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::invalid(field, Problem::InvalidFormat).into());
    }
    let number = text.parse::<u16>().ok().and_then(|number| PortNumber::try_from(number).ok());
    let out_of_range = Problem::OutOfRange { min: 1, max: i64::from(u16::MAX) };
    number.ok_or_else(|| Error::invalid(field, out_of_range).into())
}

fn required(field: &'static str) -> ApiError {
    Error::invalid(field, Problem::Required).into()
}

/// The fields of a JSON body that an endpoint knows, each as unparsed JSON text.
///
/// Each field is parsed on its own, so that an error names the field. Other fields are skipped; only their syntax is
/// checked.
#[derive(Debug)]
struct Fields<'b>(Vec<(&'static str, &'b RawValue)>);

impl<'b> Fields<'b> {
    /// Splits a body into its fields.
    ///
    /// # Errors
    /// `validation_malformed_json` if the body is not a JSON object; `validation_invalid_format` if a known field is
    /// repeated.
    fn read(body: &'b [u8], known: &[&'static str]) -> Result<Self, ApiError> {
        let text = std::str::from_utf8(body).map_err(|error| {
            let (valid, _) = body.split_at_checked(error.valid_up_to()).unwrap_or_default();
            let (line, column) = position_after(valid);
            ApiError::malformed_json(line, column)
        })?;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = deserializer.deserialize_map(KnownFields { known });
        let fields = read.and_then(|fields| deserializer.end().map(|()| fields));
        let fields = fields.map_err(|error| ApiError::malformed_json(error.line(), error.column().max(1)))?;
        for (index, (name, _)) in fields.iter().enumerate() {
            if fields.iter().take(index).any(|(other, _)| other == name) {
                return Err(Error::invalid(*name, Problem::Duplicate).into());
            }
        }
        Ok(Self(fields))
    }

    /// Parses a field that must be present and not null.
    fn required<T: Deserialize<'b>>(&self, field: &'static str) -> Result<T, ApiError> {
        self.optional(field)?.ok_or_else(|| Error::invalid(field, Problem::Required).into())
    }

    /// Parses a field that may be missing or null; both give `None`.
    fn optional<T: Deserialize<'b>>(&self, field: &'static str) -> Result<Option<T>, ApiError> {
        Ok(self.nullable(field)?.flatten())
    }

    /// Parses a field for which missing (`None`) and null (`Some(None)`) mean different things.
    fn nullable<T: Deserialize<'b>>(&self, field: &'static str) -> Result<Option<Option<T>>, ApiError> {
        self.text(field).map(|text| parse(field, text)).transpose()
    }

    /// Returns the unparsed JSON text of a field.
    fn text(&self, field: &str) -> Option<&'b str> {
        self.0.iter().find(|(name, _)| *name == field).map(|(_, value)| value.get())
    }
}

fn parse<'b, T: Deserialize<'b>>(field: &str, text: &'b str) -> Result<T, ApiError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let field = match dotted(error.path()) {
            Some(inner) => format!("{field}.{inner}"),
            None => field.to_owned(),
        };
        Error::invalid(field, Problem::InvalidFormat).into()
    })
}

/// Returns the line and column right after a text, counted from 1 as serde_json does.
fn position_after(text: &[u8]) -> (usize, usize) {
    let line_start = memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1);
    (1 + memchr::memchr_iter(b'\n', text).count(), 1 + text.len() - line_start)
}

/// Deserializes the known fields of an object, in the order of the body.
struct KnownFields<'k> {
    known: &'k [&'static str],
}

impl<'de> Visitor<'de> for KnownFields<'_> {
    type Value = Vec<(&'static str, &'de RawValue)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut fields = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            match self.known.iter().find(|known| **known == name) {
                Some(known) => fields.push((*known, map.next_value()?)),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields)
    }
}
