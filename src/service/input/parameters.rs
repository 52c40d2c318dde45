//! Parameters of paths and queries.

use std::borrow::Cow;
use std::str::FromStr;

use uuid::Uuid;

use crate::inventory::{Error, HostQuery, Problem};
use crate::service::error::ApiError;
use crate::wire::MAX_LIMIT;

const HOSTS_PARAMETERS: [&str; 8] =
    ["network_id", "ids", "tag_ids", "group_by", "order_by", "order_direction", "limit", "offset"];
const DEFAULT_LIMIT: u32 = 50;
/// The API defines an offset as a 32-bit signed integer.
const MAX_OFFSET: u32 = i32::MAX as u32;
/// Maximum number of values of `ids` and of `tag_ids`.
const MAX_IDS: usize = 1000;

/// Parses the id in the last segment of a path.
pub(in crate::service) fn read_id(segment: &str) -> Result<Uuid, ApiError> {
    segment.parse().map_err(|_| invalid_format("id"))
}

/// Checks the query of an endpoint that has no parameters.
pub(in crate::service) fn read_no_query(query: Option<&str>) -> Result<(), ApiError> {
    QueryValues::read(query, &[]).map(|_| ())
}

/// Parses the query of `GET /api/v1/hosts`. Also returns the limit as the response states it: 0 for no limit.
pub(in crate::service) fn read_hosts_query(query: Option<&str>) -> Result<(HostQuery, u64), ApiError> {
    let values = QueryValues::read(query, &HOSTS_PARAMETERS)?;
    let limit = values.number("limit", MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT);
    let query = HostQuery {
        network_id: values.value("network_id")?,
        ids: values.list("ids", MAX_IDS)?,
        tag_ids: values.list("tag_ids", MAX_IDS)?,
        group_by: values.value("group_by")?,
        order_by: values.value("order_by")?,
        order_direction: values.value("order_direction")?.unwrap_or_default(),
        limit: if limit == 0 { None } else { usize::try_from(limit).ok() },
        offset: values.number("offset", MAX_OFFSET)?.unwrap_or_default().into(),
    };
    Ok((query, limit.into()))
}

/// The names and values of a query string. Parameters with an empty value are left out.
#[derive(Debug)]
struct QueryValues<'q>(Vec<(Cow<'q, str>, Cow<'q, str>)>);

impl<'q> QueryValues<'q> {
    /// Splits a query string.
    ///
    /// # Errors
    /// `validation_unknown_parameter` for the first parameter that is not in `known`.
    fn read(query: Option<&'q str>, known: &[&str]) -> Result<Self, ApiError> {
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

    /// Returns the value of a parameter that may be given at most once.
    fn text(&self, field: &str) -> Result<Option<&str>, ApiError> {
        let mut values = self.all(field);
        let value = values.next();
        if values.next().is_some() { Err(invalid_format(field)) } else { Ok(value) }
    }

    /// Parses the value of a parameter that may be given at most once.
    fn value<T: FromStr>(&self, field: &str) -> Result<Option<T>, ApiError> {
        let text = self.text(field)?;
        text.map(|text| text.parse().map_err(|_| invalid_format(field))).transpose()
    }

    /// Parses a whole number from 0 to `max`. Only digits are accepted.
    fn number(&self, field: &str, max: u32) -> Result<Option<u32>, ApiError> {
        let Some(text) = self.text(field)? else { return Ok(None) };
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(invalid_format(field));
        }
        // Digits that overflow the type are out of range as well.
        match text.parse() {
            Ok(number) if number <= max => Ok(Some(number)),
            _ => Err(Error::invalid(field, Problem::OutOfRange { min: 0, max: i64::from(max) }).into()),
        }
    }

    /// Parses a list of at most `max` values: a repeated parameter, comma-separated values, or both.
    fn list<T: FromStr>(&self, field: &str, max: usize) -> Result<Option<Vec<T>>, ApiError> {
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
