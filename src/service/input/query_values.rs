//! The values of a query string, by the names of their parameters.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::FromStr;

use super::parameters::{DEFAULT_LIMIT, MAX_OFFSET, Paging};
use crate::inventory::{
    CUSTOM_FILTER_EXAMPLE, CUSTOM_ORDER_EXAMPLE, CUSTOM_PREFIX, Error, MAX_CUSTOM_FIELDS, PageCursor,
    Problem, is_custom_name,
};
use crate::service::response::error::ApiError;
use crate::service::response::shape::FieldNames;
use crate::service::routes::parameter::{Kind, Parameter};
use crate::wire::MAX_LIMIT;

/// The parameter of the filters by custom fields.
const CUSTOM: &str = "custom";

/// The parameter of a position in a list.
pub(in crate::service) const CURSOR: &str = "cursor";

/// The parameter of the number of items before a page.
pub(in crate::service) const OFFSET: &str = "offset";

/// The groups of parameters that an endpoint has.
pub(super) type KnownParameters<'k> = &'k [&'static [Parameter]];

/// The names and values of a query string. Parameters with an empty value are left out, except for a cursor: the empty
/// one begins a list.
#[derive(Debug)]
pub(super) struct QueryValues<'q> {
    values: Vec<(Cow<'q, str>, Cow<'q, str>)>,
    known: KnownParameters<'q>,
}

/// Returns the values of a list in a query, which are separated by commas.
///
/// An encoded comma may belong to its value. Many clients encode all commas, so that it may also separate values.
fn separated(pair: &str) -> impl Iterator<Item = String> {
    let (_, values) = pair.split_once('=').unwrap_or_default();
    values.split(',').flat_map(|value| {
        let pair = format!("={value}");
        let value: String = form_urlencoded::parse(pair.as_bytes()).map(|(_, text)| text).collect();
        let parts: Vec<String> = match value.contains(',') {
            true => value.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect(),
            false => Vec::new(),
        };
        std::iter::once(value).chain(parts)
    })
}

/// Returns the problem of a value that is none of the possible ones.
pub(super) fn not_among(values: &[&str]) -> Problem {
    Problem::NotAmong { values: values.iter().map(|value| (*value).to_owned()).collect() }
}

/// Returns whether bytes of a value are no UTF-8 text, such as those of Latin-1. Each is then a replacement character, which a query can
/// also contain by itself.
fn is_damaged(query: &str, value: &str) -> bool {
    const ENCODED: &str = "%EF%BF%BD";
    let has_encoded =
        || query.as_bytes().windows(ENCODED.len()).any(|part| part.eq_ignore_ascii_case(ENCODED.as_bytes()));
    value.contains(char::REPLACEMENT_CHARACTER)
        && !query.contains(char::REPLACEMENT_CHARACTER)
        && !has_encoded()
}

/// Puts the plus sign back into a time such as `2026-11-30T09:00:00 00:00`. In a query it stands for a space, and clients forget to
/// encode it.
pub(super) fn with_sign(text: &str) -> Cow<'_, str> {
    let is_digit = |place: usize, byte: u8| if place == 2 { byte == b':' } else { byte.is_ascii_digit() };
    match text.rsplit_once(' ') {
        Some((time, offset))
            if time.contains('T')
                && offset.len() == 5
                && (0..).zip(offset.bytes()).all(|(place, byte)| is_digit(place, byte)) =>
        {
            Cow::Owned(format!("{time}+{offset}"))
        }
        _ => Cow::Borrowed(text),
    }
}

impl<'q> QueryValues<'q> {
    /// Splits a query string.
    ///
    /// # Errors
    /// `validation_unknown_parameter` for the first parameter that is not in `known`; `validation_invalid_format` for a value
    /// that is none of the choices.
    pub(super) fn read(query: Option<&'q str>, known: KnownParameters<'q>) -> Result<Self, ApiError> {
        let mut values = Vec::new();
        let mut wrong = None;
        let pairs = query
            .unwrap_or("")
            .split('&')
            .flat_map(|pair| form_urlencoded::parse(pair.as_bytes()).map(move |decoded| (pair, decoded)));
        for (pair, (name, value)) in pairs {
            let Some(parameter) = find(known, &name) else {
                return Err(unknown_parameter(known, &name));
            };
            if value.is_empty() && name != CURSOR {
                continue;
            }
            let problem = match parameter.kind {
                _ if is_damaged(query.unwrap_or(""), &value) => Some(Problem::InvalidFormat),
                Kind::Choice(_) if is_custom_order(known, &name, &value) => {
                    Some(Problem::CustomForm { example: CUSTOM_ORDER_EXAMPLE })
                }
                Kind::Choice(values) if !values.contains(&&*value) => Some(not_among(values)),
                Kind::Custom { .. } if !name.strip_prefix(CUSTOM_PREFIX).is_some_and(is_custom_name) => {
                    Some(Problem::CustomForm { example: CUSTOM_FILTER_EXAMPLE })
                }
                _ => None,
            };
            wrong = wrong.or(problem.map(|problem| (parameter.name, problem)));
            if parameter.kind.may_have_commas() {
                values.extend(separated(pair).map(|value| (name.clone(), value.into())));
            } else {
                values.push((name, value));
            }
        }
        match wrong {
            Some((name, problem)) => Err(Error::invalid(name, problem).into()),
            None => Ok(Self { values, known }),
        }
    }

    pub(super) fn paging(&self) -> Result<(Paging, Option<PageCursor>), ApiError> {
        let limit = self.number("limit", MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT);
        let offset = self.number(OFFSET, MAX_OFFSET)?;
        let cursor: Option<PageCursor> = self.value(CURSOR)?;
        if cursor.is_some() && offset.is_some() {
            return Err(exclusive(CURSOR, OFFSET));
        }
        let offset = offset.unwrap_or(0).into();
        Ok((Paging { limit: limit.into(), offset, is_by_cursor: cursor.is_some() }, cursor))
    }

    /// Returns the value of a parameter that may be given at most once.
    fn once(&self, field: &str) -> Result<Option<&str>, ApiError> {
        let mut values = self.all(field);
        let value = values.next();
        if values.next().is_some() { Err(invalid_format(field)) } else { Ok(value) }
    }

    /// Returns the text of a parameter that may be given at most once.
    pub(super) fn text(&self, field: &str) -> Result<Option<&str>, ApiError> {
        let Some(text) = self.once(field)? else { return Ok(None) };
        match find(self.known, field).map(|known| known.kind) {
            Some(Kind::Text { max, .. }) if text.chars().nth(max).is_some() => {
                Err(Error::invalid(field, Problem::MaxLength { max }).into())
            }
            _ => Ok(Some(text)),
        }
    }

    /// Parses the value of a parameter that may be given at most once.
    pub(super) fn value<T: FromStr>(&self, field: &str) -> Result<Option<T>, ApiError> {
        let text = self.once(field)?;
        text.map(|text| with_sign(text).parse().map_err(|_| self.not_of_form(field))).transpose()
    }

    /// Creates the error for a value that does not have the form of its parameter.
    pub(super) fn not_of_form(&self, field: &str) -> ApiError {
        let form = find(self.known, field).and_then(|known| known.kind.form());
        let problem = form.map_or(Problem::InvalidFormat, |form| Problem::NotOfForm { form: form.into() });
        Error::invalid(field, problem).into()
    }

    /// Parses a boolean that counts as its default if it is missing.
    pub(super) fn flag(&self, field: &str) -> Result<bool, ApiError> {
        let default = matches!(find(self.known, field).map(|known| known.kind), Some(Kind::Flag(true)));
        Ok(self.boolean(field)?.unwrap_or(default))
    }

    /// Parses a boolean in any case, such as the `True` of Python.
    pub(super) fn boolean(&self, field: &str) -> Result<Option<bool>, ApiError> {
        let text = self.once(field)?.map(str::to_ascii_lowercase);
        text.map(|text| text.parse().map_err(|_| self.not_of_form(field))).transpose()
    }

    /// Parses a whole number from 0 to `max`. Only digits are accepted.
    pub(super) fn number(&self, field: &str, max: u32) -> Result<Option<u32>, ApiError> {
        self.number_within(field, 0, max)
    }

    /// Parses a whole number from `min` to `max`. Only digits are accepted.
    pub(super) fn number_within(&self, field: &str, min: u32, max: u32) -> Result<Option<u32>, ApiError> {
        let Some(text) = self.once(field)? else { return Ok(None) };
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.not_of_form(field));
        }
        // Digits that overflow the type are out of range as well.
        match text.parse() {
            Ok(number) if (min..=max).contains(&number) => Ok(Some(number)),
            _ => {
                let (min, max) = (i64::from(min), i64::from(max));
                Err(Error::invalid(field, Problem::OutOfRange { min, max }).into())
            }
        }
    }

    /// Parses a list of at most `max` values: a repeated parameter, comma-separated values, or both.
    pub(super) fn list<T: FromStr>(&self, field: &str, max: usize) -> Result<Option<Vec<T>>, ApiError> {
        // Most lists are absent, and a request may have many.
        if self.all(field).next().is_none() {
            return Ok(None);
        }
        let is_separated = find(self.known, field).is_some_and(|known| known.kind.may_have_commas());
        let is_separator = move |character: char| character == ',' && !is_separated;
        let texts = || self.all(field).flat_map(|value| value.split(is_separator));
        if texts().nth(max).is_some() {
            return Err(Error::invalid(field, Problem::MaxLength { max }).into());
        }
        let values: Vec<T> =
            texts().map(str::parse).collect::<Result<_, _>>().map_err(|_| self.not_of_form(field))?;
        Ok(Some(values))
    }

    /// Returns at most `max` texts of a repeated parameter, which may have commas in them.
    #[cfg(feature = "topology")]
    pub(super) fn texts(&self, field: &str, max: usize, max_length: usize) -> Result<Vec<String>, ApiError> {
        if self.all(field).nth(max).is_some() {
            return Err(Error::invalid(field, Problem::MaxLength { max }).into());
        }
        if self.all(field).any(|text| text.chars().nth(max_length).is_some()) {
            return Err(Error::invalid(field, Problem::MaxLength { max: max_length }).into());
        }
        Ok(self.all(field).map(str::to_owned).collect())
    }

    /// Returns the values of custom fields by the names of these. Each may be given at most once.
    pub(super) fn custom(&self) -> Result<BTreeMap<String, String>, ApiError> {
        let mut custom = BTreeMap::new();
        for (name, text) in &self.values {
            let Some(field) = name.strip_prefix(CUSTOM_PREFIX) else { continue };
            if let Some(Kind::Custom { max }) = find(self.known, name).map(|known| known.kind)
                && text.chars().nth(max).is_some()
            {
                return Err(Error::invalid(name.as_ref(), Problem::MaxLength { max }).into());
            }
            if custom.insert(field.to_owned(), text.clone().into_owned()).is_some() {
                return Err(invalid_format(name));
            }
            if custom.len() > MAX_CUSTOM_FIELDS {
                return Err(Error::invalid("custom", Problem::MaxLength { max: MAX_CUSTOM_FIELDS }).into());
            }
        }
        Ok(custom)
    }

    /// Returns the custom field to order by, which is given in place of `order_by`.
    pub(super) fn order_by_custom(&self) -> Result<Option<String>, ApiError> {
        let field = self.text("order_by_custom")?;
        if field.is_some_and(|field| !is_custom_name(field)) {
            let problem = Problem::CustomForm { example: CUSTOM_ORDER_EXAMPLE };
            return Err(Error::invalid("order_by_custom", problem).into());
        }
        if field.is_some() && self.once("order_by")?.is_some() {
            return Err(exclusive("order_by_custom", "order_by"));
        }
        Ok(field.map(str::to_owned))
    }

    /// Returns the fields that the client selects, each once.
    pub(super) fn fields(&self) -> Result<Option<FieldNames>, ApiError> {
        if self.all("fields").next().is_none() {
            return Ok(None);
        }
        let all = fields_of(self.known);
        let Some(given) = self.list::<String>("fields", all.len())? else { return Ok(None) };
        let mut fields = FieldNames::new();
        for field in given {
            if !all.contains(&field.as_str()) {
                return Err(Error::invalid("fields", not_among(all)).into());
            }
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        Ok(Some(fields))
    }

    /// Returns whether there are no other parameters than these.
    pub(super) fn are_only(&self, names: &[&str]) -> bool {
        self.values.iter().all(|(name, _)| names.contains(&&**name))
    }

    fn all(&self, field: &str) -> impl Iterator<Item = &str> {
        self.values.iter().filter(move |(name, _)| name == field).map(|(_, value)| value.as_ref())
    }
}

/// Returns the fields that a list lets clients select.
pub(in crate::service) fn fields_of(known: KnownParameters<'_>) -> &'static [&'static str] {
    match find(known, "fields").map(|parameter| parameter.kind) {
        Some(Kind::Choices { of, .. }) => of,
        _ => &[],
    }
}

/// Finds a parameter. Those of custom fields are one.
fn find(known: KnownParameters<'_>, name: &str) -> Option<&'static Parameter> {
    let name = if name.starts_with(CUSTOM_PREFIX) { CUSTOM } else { name };
    known.iter().copied().flatten().find(|parameter| parameter.name == name)
}

/// Creates the error for a parameter that an endpoint does not have.
fn unknown_parameter(known: KnownParameters<'_>, name: &str) -> ApiError {
    if name.starts_with(CUSTOM) && find(known, CUSTOM).is_some() {
        return ApiError::unknown_custom_filter(name, CUSTOM_FILTER_EXAMPLE);
    }
    ApiError::unknown_parameter(name)
}

/// Returns whether a parameter orders a list by the name of a custom field, as only another parameter does.
fn is_custom_order(known: KnownParameters<'_>, name: &str, value: &str) -> bool {
    name == "order_by" && value.starts_with(CUSTOM_PREFIX) && find(known, "order_by_custom").is_some()
}

pub(super) fn invalid_format(field: &str) -> ApiError {
    Error::invalid(field, Problem::InvalidFormat).into()
}

/// Creates the error for a parameter that is given together with another one, which it excludes.
pub(super) fn exclusive(field: &str, other: &'static str) -> ApiError {
    Error::invalid(field, Problem::Exclusive { other }).into()
}
