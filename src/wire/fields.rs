use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::ApiError;
use crate::inventory::{Error, Problem, dotted};

/// The fields of a body that an endpoint knows, each still as text, so that what is wrong with one can be told by its
/// name. All others are skipped; of these only the syntax counts.
#[derive(Debug)]
pub(super) struct Fields<'b>(Vec<(&'static str, &'b RawValue)>);

impl<'b> Fields<'b> {
    /// Fails where the body is no JSON object, or has a known field twice.
    pub(super) fn read(body: &'b [u8], known: &[&'static str]) -> Result<Self, ApiError> {
        let text = std::str::from_utf8(body).map_err(|error| {
            let (valid, _) = body.split_at_checked(error.valid_up_to()).unwrap_or_default();
            let (line, column) = place_after(valid);
            ApiError::malformed_json(line, column)
        })?;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = deserializer.deserialize_map(KnownFields { known });
        let fields = read.and_then(|fields| deserializer.end().map(|()| fields));
        let fields = fields.map_err(|error| ApiError::malformed_json(error.line(), error.column().max(1)))?;
        for (place, (name, _)) in fields.iter().enumerate() {
            if fields.iter().take(place).any(|(other, _)| other == name) {
                return Err(Error::invalid(*name, Problem::Duplicate).into());
            }
        }
        Ok(Self(fields))
    }

    /// A field that must be there and not be null.
    pub(super) fn required<T: Deserialize<'b>>(&self, field: &'static str) -> Result<T, ApiError> {
        self.optional(field)?.ok_or_else(|| Error::invalid(field, Problem::Required).into())
    }

    /// A field that may be missing or null.
    pub(super) fn optional<T: Deserialize<'b>>(&self, field: &'static str) -> Result<Option<T>, ApiError> {
        Ok(self.nullable(field)?.flatten())
    }

    /// A field that may be missing, which says another thing than that it is null.
    pub(super) fn nullable<T: Deserialize<'b>>(
        &self,
        field: &'static str,
    ) -> Result<Option<Option<T>>, ApiError> {
        self.text(field).map(|text| parse(field, text)).transpose()
    }

    /// The text of a field as it stands in the body.
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

/// The line and the column behind a text, counted as for other errors.
fn place_after(text: &[u8]) -> (usize, usize) {
    let line_start = memchr::memrchr(b'\n', text).map_or(0, |place| place + 1);
    (1 + memchr::memchr_iter(b'\n', text).count(), 1 + text.len() - line_start)
}

/// Reads an object's fields of these names, in the order in which they stand there.
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
