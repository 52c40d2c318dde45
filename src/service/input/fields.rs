use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::inventory::{Error, Problem, dotted};
use crate::service::error::ApiError;

/// The fields of a JSON body that an endpoint knows, each as unparsed JSON text.
///
/// Each field is parsed on its own, so that an error names the field. Other fields are skipped; only their syntax is
/// checked.
#[derive(Debug)]
pub(super) struct Fields<'b>(Vec<(&'static str, &'b RawValue)>);

impl<'b> Fields<'b> {
    /// Splits a body into its fields.
    ///
    /// # Errors
    /// `validation_malformed_json` if the body is not a JSON object; `validation_invalid_format` if a known field is
    /// repeated.
    pub(super) fn read(body: &'b [u8], known: &[&'static str]) -> Result<Self, ApiError> {
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
    pub(super) fn required<T: Deserialize<'b>>(&self, field: &'static str) -> Result<T, ApiError> {
        self.optional(field)?.ok_or_else(|| Error::invalid(field, Problem::Required).into())
    }

    /// Parses a field that may be missing or null; both give `None`.
    pub(super) fn optional<T: Deserialize<'b>>(&self, field: &'static str) -> Result<Option<T>, ApiError> {
        Ok(self.nullable(field)?.flatten())
    }

    /// Parses a field for which missing (`None`) and null (`Some(None)`) mean different things.
    pub(super) fn nullable<T: Deserialize<'b>>(
        &self,
        field: &'static str,
    ) -> Result<Option<Option<T>>, ApiError> {
        self.text(field).map(|text| parse(field, text)).transpose()
    }

    /// Returns the unparsed JSON text of a field.
    pub(super) fn text(&self, field: &str) -> Option<&'b str> {
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
