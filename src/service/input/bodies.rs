//! Request bodies, one function for each endpoint that has one.
//!
//! Fields that only the server sets, and unknown ones, are ignored.

use std::fmt;

use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::fields::Fields;
use crate::inventory::{Error, NewDaemonApiKey, PortUpdate, Problem, UserApiKeyUpdate};
use crate::model::PortNumber;
use crate::service::error::ApiError;

/// The body of a login request.
pub(in crate::service) struct Login {
    pub(in crate::service) email: String,
    pub(in crate::service) password: String,
}

/// Omits the password.
impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Login").field("email", &self.email).finish_non_exhaustive()
    }
}

pub(in crate::service) fn read_login(body: &[u8]) -> Result<Login, ApiError> {
    let fields = Fields::read(body, &["email", "password"])?;
    Ok(Login { email: non_empty(&fields, "email")?, password: non_empty(&fields, "password")? })
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
