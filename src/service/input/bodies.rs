//! Request bodies: their fields, and the values made from them.
//!
//! Fields that only the server sets, and unknown ones, are ignored.

use std::borrow::Cow;
use std::fmt;
use std::mem;

use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::json_text::{as_text, malformed};
use crate::inventory::{Error, MAX_BULK, Problem, dotted};
use crate::json_objects::Objects;
use crate::model::Timestamp;
use crate::service::response::error::ApiError;
use crate::service::routes::parameter::{Kind, MAX_NAME, Parameter, Presence, RequestContent};

/// Returns the e-mail address and the password.
pub(in crate::service) fn read_login(fields: &Fields<'_>) -> Result<(String, String), Error> {
    Ok((non_empty(fields, "email")?, non_empty(fields, "password")?))
}

/// Returns the referral source and its optional free-text detail.
pub(in crate::service) fn read_referral(fields: &Fields<'_>) -> Result<(String, Option<String>), Error> {
    Ok((fields.required("referral_source")?, fields.optional("referral_source_other")?))
}

/// Reads the body of a bulk deletion: a list of ids.
pub(in crate::service) fn read_ids(body: &[u8]) -> Result<Vec<Uuid>, ApiError> {
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
pub(in crate::service) struct Fields<'b>(Vec<(&'static Parameter, &'b RawValue)>);

impl<'b> Fields<'b> {
    /// Splits a body into its fields, and checks what the route table says about them.
    ///
    /// # Errors
    /// `validation_malformed_json` if the body is not a JSON object; `validation_invalid_format` if a known field is
    /// repeated; `validation_required` for a missing field; the errors of the values.
    pub(in crate::service) fn read(body: &'b [u8], content: RequestContent) -> Result<Self, ApiError> {
        let RequestContent::Fields(known) = content else { return Err(ApiError::internal()) };
        let text = as_text(body)?;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = deserializer.deserialize_map(KnownFields { known });
        let fields = read.and_then(|fields| deserializer.end().map(|()| fields));
        let fields = Self(fields.map_err(|error| malformed(text, "object", &error))?);
        for (index, (parameter, _)) in fields.0.iter().enumerate() {
            if fields.0.iter().take(index).any(|(other, _)| other.name == parameter.name) {
                return Err(Error::invalid(parameter.name, Problem::Duplicate).into());
            }
        }
        let is_missing = |parameter: &&Parameter| {
            parameter.presence == Presence::Required && fields.text(parameter.name).is_none()
        };
        if let Some(parameter) = known.iter().find(is_missing) {
            return Err(Error::invalid(parameter.name, Problem::Required).into());
        }
        for parameter in known {
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
                _ => Err(Error::invalid(name, Problem::InvalidFormat)),
            },
            Kind::Texts { .. }
            | Kind::Choices { .. }
            | Kind::Schema(_)
            | Kind::Schemas(_)
            | Kind::Sized { .. } => Ok(()),
        }
    }

    /// Returns the names of the fields that the body sets. A null that clears nothing sets nothing.
    pub(in crate::service) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.set().map(|(parameter, _)| parameter.name)
    }

    fn set(&self) -> impl Iterator<Item = &(&'static Parameter, &'b RawValue)> {
        let is_set = |parameter: &Parameter, value: &RawValue| {
            value.get() != "null" || parameter.presence == Presence::Nullable
        };
        self.0.iter().filter(move |(parameter, value)| is_set(parameter, value))
    }

    /// Sets the fields of a record that the body contains. Fields that it leaves out keep their value.
    pub(in crate::service) fn apply<T: Serialize + DeserializeOwned>(
        &self,
        record: &mut T,
    ) -> Result<(), Error> {
        let document = self.merged_with(record)?;
        *record = serde_path_to_error::deserialize(Objects(&document)).map_err(|error| {
            Error::invalid(dotted(error.path()).unwrap_or_default(), Problem::InvalidFormat)
        })?;
        check_types(&document, record)
    }

    /// Returns a record as JSON, with the fields of the body replacing its own.
    pub(in crate::service) fn merged_with(&self, record: &impl Serialize) -> Result<Value, Error> {
        let mut document = serde_json::to_value(record).map_err(Error::internal)?;
        let Value::Object(members) = &mut document else {
            return Err(Error::internal("a record is not a JSON object"));
        };
        for (parameter, value) in self.set() {
            members.insert(parameter.name.to_owned(), parse(parameter.name, value.get())?);
        }
        Ok(document)
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
        let given = self.0.iter().find(|(parameter, _)| parameter.name == field);
        given.map(|(_, value)| parse(field, value.get())).transpose()
    }

    /// Splits a required list into its items, which are not parsed, and checks their number.
    pub(in crate::service) fn items(&self, field: &'static str) -> Result<Vec<&'b RawValue>, Error> {
        let items: Vec<&RawValue> = self.required(field)?;
        let of_field = |(parameter, _): &&(&Parameter, _)| parameter.name == field;
        match self.0.iter().find(of_field).map(|(parameter, _)| parameter.kind) {
            Some(Kind::Sized { min, max, .. }) => check_size(field, items.len(), min, max)?,
            _ => return Err(Error::internal("the route does not say how many items a list may have")),
        }
        Ok(items)
    }

    /// Returns the unparsed JSON text of a field that is present and not null.
    fn text(&self, field: &str) -> Option<&'b str> {
        let given = self.0.iter().find(|(parameter, _)| parameter.name == field);
        given.map(|(_, value)| value.get()).filter(|text| *text != "null")
    }
}

/// Checks that every value was read from the JSON type that it has when written.
///
/// Serde also reads enums from objects.
pub(in crate::service) fn check_types(given: &Value, read: &impl Serialize) -> Result<(), Error> {
    let written = serde_json::to_value(read).map_err(Error::internal)?;
    let wrong = of_another_type(given, &written);
    wrong.map_or(Ok(()), |path| Err(Error::invalid(path, Problem::InvalidFormat)))
}

/// Returns the path of the first value whose JSON type differs. Null stands for a value of any type.
fn of_another_type(given: &Value, written: &Value) -> Option<String> {
    let within = |step: String, given, written| {
        let path = of_another_type(given, written)?;
        Some(if path.is_empty() { step } else { format!("{step}.{path}") })
    };
    match (given, written) {
        (Value::Object(given), Value::Object(written)) => {
            given.iter().find_map(|(name, value)| within(name.clone(), value, written.get(name)?))
        }
        (Value::Array(given), Value::Array(written)) => {
            let mut pairs = given.iter().zip(written).enumerate();
            pairs.find_map(|(index, (given, written))| within(index.to_string(), given, written))
        }
        (Value::Null, _) => None,
        _ => (mem::discriminant(given) != mem::discriminant(written)).then(String::new),
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
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::invalid(field, Problem::InvalidFormat));
    }
    let is_within = text.parse::<i64>().is_ok_and(|number| (min..=max).contains(&number));
    if is_within { Ok(()) } else { Err(Error::invalid(field, Problem::OutOfRange { min, max })) }
}

fn parse<'b, T: Deserialize<'b>>(field: &str, text: &'b str) -> Result<T, Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(Objects(&mut deserializer)).map_err(|error| {
        let field = match dotted(error.path()) {
            Some(inner) => format!("{field}.{inner}"),
            None => field.to_owned(),
        };
        Error::invalid(field, Problem::InvalidFormat)
    })
}

/// Deserializes the known fields of an object, in the order of the body.
struct KnownFields {
    known: &'static [Parameter],
}

impl<'de> Visitor<'de> for KnownFields {
    type Value = Vec<(&'static Parameter, &'de RawValue)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut fields = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            match self.known.iter().find(|known| known.name == name) {
                Some(known) => fields.push((known, map.next_value()?)),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields)
    }
}
