use std::borrow::Cow;
use std::str::FromStr;

use super::ApiError;
use crate::inventory::{Error, Problem};

/// The query of an endpoint that takes none.
pub(crate) fn read_no_query(query: Option<&str>) -> Result<(), ApiError> {
    QueryValues::read(query, &[]).map(|_| ())
}

/// The values of a query string, by parameter. A value that is empty counts as absent.
#[derive(Debug)]
pub(super) struct QueryValues<'q>(Vec<(Cow<'q, str>, Cow<'q, str>)>);

impl<'q> QueryValues<'q> {
    /// Fails at the first parameter that is none of these.
    pub(super) fn read(query: Option<&'q str>, known: &[&str]) -> Result<Self, ApiError> {
        let mut values = Vec::new();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if !known.contains(&name.as_ref()) {
                return Err(ApiError::unknown_parameter(&name));
            }
            if !value.is_empty() {
                values.push((name, value));
            }
        }
        Ok(Self(values))
    }

    /// A parameter that may be given once.
    pub(super) fn text(&self, field: &str) -> Result<Option<&str>, ApiError> {
        let mut given = self.all(field);
        let value = given.next();
        if given.next().is_some() { Err(invalid_format(field)) } else { Ok(value) }
    }

    /// A parameter that may be given once, of a type that is read from text.
    pub(super) fn value<T: FromStr>(&self, field: &str) -> Result<Option<T>, ApiError> {
        let text = self.text(field)?;
        text.map(|text| text.parse().map_err(|_| invalid_format(field))).transpose()
    }

    /// A whole number from 0 to `max`, digits alone.
    pub(super) fn number(&self, field: &str, max: u32) -> Result<Option<u32>, ApiError> {
        let Some(text) = self.text(field)? else { return Ok(None) };
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(invalid_format(field));
        }
        // More digits than a number has room for are a number that is too large.
        match text.parse() {
            Ok(number) if number <= max => Ok(Some(number)),
            _ => Err(Error::invalid(field, Problem::OutOfRange { min: 0, max: i64::from(max) }).into()),
        }
    }

    /// A list: the parameter repeated, or its values with commas between them, or both.
    pub(super) fn list<T: FromStr>(&self, field: &str, max: usize) -> Result<Option<Vec<T>>, ApiError> {
        let texts = || self.all(field).flat_map(|value| value.split(','));
        if texts().nth(max).is_some() {
            return Err(Error::invalid(field, Problem::MaxLength { max }).into());
        }
        let values: Vec<T> =
            texts().map(str::parse).collect::<Result<_, _>>().map_err(|_| invalid_format(field))?;
        Ok(if values.is_empty() { None } else { Some(values) })
    }

    fn all(&self, field: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(name, _)| name == field).map(|(_, value)| value.as_ref())
    }
}

fn invalid_format(field: &str) -> ApiError {
    Error::invalid(field, Problem::InvalidFormat).into()
}
