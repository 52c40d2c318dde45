//! Request bodies: their fields, and the values made from them.
//!
//! Fields that only the server sets, and unknown ones, are ignored.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::json_text::{as_text, malformed};
use super::query_values::not_among;
use crate::inventory::{Error, MAX_BULK, Problem, dotted, invalid_json};
use crate::json_objects::Objects;
use crate::model::{Exact, OrganizationId, RecordId, Timestamp};
use crate::service::response::error::ApiError;
use crate::service::routes::parameter::{
    EXPECTED_UPDATED_AT, Kind, MAX_NAME, Parameter, Presence, RequestContent,
};

/// The body of a login.
pub(in crate::service) struct Login {
    pub(in crate::service) email: String,
    pub(in crate::service) password: String,
    pub(in crate::service) organization: Option<OrganizationId>,
}

pub(in crate::service) fn read_login(fields: &Fields<'_>) -> Result<Login, Error> {
    let (email, password) = (non_empty(fields, "email")?, non_empty(fields, "password")?);
    Ok(Login { email, password, organization: fields.optional("organization_id")? })
}

/// Returns the referral source and its optional free-text detail.
pub(in crate::service) fn read_referral(fields: &Fields<'_>) -> Result<(String, Option<String>), Error> {
    Ok((fields.required("referral_source")?, fields.optional("referral_source_other")?))
}

/// Reads the body of a bulk deletion: a list of ids.
pub(in crate::service) fn read_ids<I: RecordId>(body: &[u8]) -> Result<Vec<I>, ApiError> {
    let text = as_text(body)?;
    let values: Vec<&RawValue> =
        serde_json::from_str(text).map_err(|error| malformed(text, "list", &error))?;
    if values.is_empty() {
        return Err(Error::invalid("ids", Problem::Empty).into());
    }
    if values.len() > MAX_BULK {
        return Err(Error::invalid("ids", Problem::MaxLength { max: MAX_BULK }).into());
    }
    let ids = values.iter().enumerate().map(|(index, id)| parse(&format!("ids.{index}"), id.get()));
    Ok(ids.collect::<Result<_, _>>()?)
}

fn non_empty(fields: &Fields<'_>, field: &'static str) -> Result<String, Error> {
    let text: String = fields.required(field)?;
    if text.is_empty() { Err(Error::invalid(field, Problem::Empty)) } else { Ok(text) }
}

/// The fields of a JSON body that an endpoint knows, each as unparsed JSON text.
///
/// Each field is parsed on its own, so that an error names the field. Other fields are skipped; only their syntax is
/// checked.
#[derive(Debug)]
pub(in crate::service) struct Fields<'b> {
    given: Vec<(&'static Parameter, &'b RawValue)>,
    /// Whether the body is a JSON merge patch.
    is_patch: bool,
}

impl<'b> Fields<'b> {
    /// Splits a body into its fields, and checks them by the route table.
    ///
    /// # Errors
    /// `validation_malformed_json` if the body is not a JSON object; `validation_invalid_format` if a known field is
    /// repeated; `validation_required` for a missing field, and in a patch for a null of one; the errors of the values.
    pub(in crate::service) fn read(body: &'b [u8], content: RequestContent) -> Result<Self, ApiError> {
        let text = as_text(body)?;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = deserializer.deserialize_map(KnownFields { content });
        let fields = read.and_then(|fields| deserializer.end().map(|()| fields));
        let is_patch = content.is_patch();
        let fields = Self { given: fields.map_err(|error| malformed(text, "object", &error))?, is_patch };
        for (index, (parameter, _)) in fields.given.iter().enumerate() {
            if fields.given.iter().take(index).any(|(other, _)| other.name == parameter.name) {
                return Err(Error::invalid(parameter.name, Problem::Duplicate).into());
            }
        }
        let is_missing = |parameter: &&Parameter| {
            fields.text(parameter.name).is_none()
                && (content.requires(parameter) || fields.is_patch && fields.clears_required(parameter))
        };
        if let Some(parameter) = content.fields().find(is_missing) {
            return Err(Error::invalid(parameter.name, Problem::Required).into());
        }
        for parameter in content.fields() {
            fields.check(parameter)?;
        }
        Ok(fields)
    }

    /// Checks a value as far as its kind determines it. Faults of the body are thus reported before faults that depend
    /// on records.
    fn check(&self, parameter: &Parameter) -> Result<(), Error> {
        let Some(text) = self.text(parameter.name) else { return Ok(()) };
        let name = parameter.name;
        match parameter.kind {
            Kind::Id => parse::<Uuid>(name, text).map(drop),
            Kind::Ids { min, max } => check_size(name, parse::<Vec<Uuid>>(name, text)?.len(), min, max),
            Kind::Boolean | Kind::Flag(_) => parse::<bool>(name, text).map(drop),
            Kind::Time => parse::<Timestamp>(name, text).map(drop),
            Kind::Name => check_name(name, text),
            Kind::Text { .. } | Kind::Secret { .. } => parse::<Cow<'_, str>>(name, text).map(drop),
            Kind::Number { min, max, .. } => check_number(name, text, min, max),
            // Serde alone would also accept an object.
            Kind::Choice(choices) => match parse::<Cow<'_, str>>(name, text) {
                Ok(chosen) if choices.contains(&&*chosen) => Ok(()),
                _ => Err(Error::invalid(name, not_among(choices))),
            },
            Kind::Schema("Custom" | "Source") => parse::<BTreeMap<Cow<'_, str>, Exact>>(name, text).map(drop),
            Kind::Texts { .. }
            | Kind::Matching { .. }
            | Kind::Choices { .. }
            | Kind::Schema(_)
            | Kind::Schemas(_)
            | Kind::Sized { .. }
            | Kind::Custom { .. } => Ok(()),
        }
    }

    /// Returns the names of the fields that the body sets. A null that clears nothing sets nothing.
    pub(in crate::service) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.set().map(|(parameter, _)| parameter.name)
    }

    pub(super) fn set(&self) -> impl Iterator<Item = &(&'static Parameter, &'b RawValue)> {
        let is_set = |parameter: &Parameter, value: &RawValue| {
            let means_something =
                value.get() != "null" || parameter.presence == Presence::Nullable || self.is_patch;
            means_something && parameter.name != EXPECTED_UPDATED_AT.name
        };
        self.given.iter().filter(move |(parameter, value)| is_set(parameter, value))
    }

    /// Returns whether the body sets a required field to null.
    fn clears_required(&self, parameter: &Parameter) -> bool {
        let is_given = |(given, _): &(&Parameter, _)| given.name == parameter.name;
        parameter.presence == Presence::Required && self.given.iter().any(is_given)
    }

    /// Returns the fields without objects, which mean nothing without the objects that they change.
    pub(in crate::service) fn without_objects(&self) -> Self {
        let is_plain = |(_, value): &&(&Parameter, &RawValue)| !value.get().starts_with('{');
        Self { given: self.given.iter().filter(is_plain).copied().collect(), is_patch: self.is_patch }
    }

    /// Returns whether the body is a JSON merge patch.
    pub(in crate::service) const fn is_patch(&self) -> bool {
        self.is_patch
    }

    /// Returns the time at which the client believes that the record last changed, if the body says so.
    pub(in crate::service) fn expected_updated_at(&self) -> Result<Option<Timestamp>, Error> {
        self.optional(EXPECTED_UPDATED_AT.name)
    }

    /// Parses a field that must be present and not null.
    pub(in crate::service) fn required<T: Deserialize<'b>>(&self, field: &'static str) -> Result<T, Error> {
        self.optional(field)?.ok_or_else(|| Error::invalid(field, Problem::Required))
    }

    /// Parses a field that may be missing or null; both give `None`.
    pub(in crate::service) fn optional<T: Deserialize<'b>>(
        &self,
        field: &'static str,
    ) -> Result<Option<T>, Error> {
        self.text(field).map(|text| parse(field, text)).transpose()
    }

    /// Parses a field for which missing (`None`) and null (`Some(None)`) mean different things.
    pub(in crate::service) fn nullable<T: Deserialize<'b>>(
        &self,
        field: &'static str,
    ) -> Result<Option<Option<T>>, Error> {
        let given = self.given.iter().find(|(parameter, _)| parameter.name == field);
        given.map(|(_, value)| parse(field, value.get())).transpose()
    }

    /// Splits a required list into its items, which are not parsed, and checks their number.
    pub(in crate::service) fn items(&self, field: &'static str) -> Result<Vec<&'b RawValue>, Error> {
        let items: Vec<&RawValue> = self.required(field)?;
        let of_field = |(parameter, _): &&(&Parameter, _)| parameter.name == field;
        match self.given.iter().find(of_field).map(|(parameter, _)| parameter.kind) {
            Some(Kind::Sized { min, max, .. }) => check_size(field, items.len(), min, max)?,
            _ => return Err(Error::internal("the route does not say how many items a list may have")),
        }
        Ok(items)
    }

    /// Returns the unparsed JSON text of a field that is present and not null.
    fn text(&self, field: &str) -> Option<&'b str> {
        let given = self.given.iter().find(|(parameter, _)| parameter.name == field);
        given.map(|(_, value)| value.get()).filter(|text| *text != "null")
    }
}

/// Checks the number of items of a list.
fn check_size(field: &str, size: usize, min: usize, max: usize) -> Result<(), Error> {
    match size {
        0 if min > 0 => Err(Error::invalid(field, Problem::Empty)),
        size if size > max => Err(Error::invalid(field, Problem::MaxLength { max })),
        _ => Ok(()),
    }
}

/// Checks a name, which has 1 to 100 characters between white space.
fn check_name(field: &str, text: &str) -> Result<(), Error> {
    let name: Cow<'_, str> = parse(field, text)?;
    match name.trim().chars().count() {
        0 => Err(Error::invalid(field, Problem::Empty)),
        length if length > MAX_NAME => Err(Error::invalid(field, Problem::MaxLength { max: MAX_NAME })),
        _ => Ok(()),
    }
}

/// Checks an integer. One that is too large for any Rust type is out of range, not malformed.
fn check_number(field: &str, text: &str, min: i64, max: i64) -> Result<(), Error> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let number = if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        Some(parse::<i64>(field, text)?)
    };
    let is_within = number.is_some_and(|number| (min..=max).contains(&number));
    if is_within { Ok(()) } else { Err(Error::invalid(field, Problem::OutOfRange { min, max })) }
}

pub(super) fn parse<'b, T: Deserialize<'b>>(field: &str, text: &'b str) -> Result<T, Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(Objects(&mut deserializer)).map_err(|error| {
        let field = match dotted(error.path()) {
            Some(inner) => format!("{field}.{inner}"),
            None => field.to_owned(),
        };
        invalid_json(field, error.inner())
    })
}

/// Deserializes the known fields of an object, in the order of the body.
struct KnownFields {
    content: RequestContent,
}

impl<'de> Visitor<'de> for KnownFields {
    type Value = Vec<(&'static Parameter, &'de RawValue)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut fields = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            match self.content.fields().find(|known| known.name == name) {
                Some(known) => fields.push((known, map.next_value()?)),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields)
    }
}
