//! Parameters of paths and queries.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::str::FromStr;

use super::history::parsed;
use super::{Input, PathParameters};
#[cfg(feature = "discovery")]
use crate::discovery::report::TableKind;
use crate::invariant::Invariant;
use crate::inventory::{Error, HostQuery, ListQuery, MAX_CUSTOM_FIELDS, PageCursor, Problem, is_custom_name};
use crate::model::{Cidr, CidrError, HostId, NetworkId, RecordId};
use crate::service::response::error::ApiError;

use crate::service::response::shape::FieldNames;
use crate::service::routes::parameter::{Kind, Parameter};
use crate::wire::MAX_LIMIT;

pub(in crate::service) const DEFAULT_LIMIT: u32 = 50;
/// The API defines an offset as a 32-bit signed integer.
pub(in crate::service) const MAX_OFFSET: u32 = i32::MAX as u32;
/// Maximum number of values of `ids` and of `tag_ids`.
pub(in crate::service) const MAX_IDS: usize = 1000;
/// Maximum number of values of a filter other than one of ids.
pub(in crate::service) const MAX_TERMS: usize = 100;
const CURSOR: &str = "cursor";

/// The groups of parameters that an endpoint has.
pub(super) type KnownParameters<'k> = &'k [&'static [Parameter]];

/// The page of a list that a request asks for, as its response states it.
#[derive(Clone, Copy, Debug)]
pub(in crate::service) struct Paging {
    /// The maximum number of items; 0: no limit.
    pub(in crate::service) limit: u64,
    pub(in crate::service) offset: u64,
    pub(in crate::service) is_by_cursor: bool,
}

/// Parses the id in a path.
pub(in crate::service) fn read_id<I: RecordId>(path: &PathParameters<'_>) -> Result<I, ApiError> {
    path.get("id").asserted_or_default().parse().map_err(|_| invalid_format("id"))
}

/// Checks the query of an endpoint that has no parameters.
pub(in crate::service) fn read_no_query(input: &Input<'_>) -> Result<(), ApiError> {
    QueryValues::read(input.query(), &[]).map(|_| ())
}

/// Parses the query of `GET /api/health`. Returns whether a write is asked for.
pub(in crate::service) fn read_health_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<bool, ApiError> {
    QueryValues::read(query, known)?.flag("write")
}

/// The parameters that select a part of a list, and fields of its records.
const PAGING: &[&str] = &["limit", "offset", CURSOR, "fields"];

/// Parses the query of `GET /api/v1/hosts`.
pub(in crate::service) fn read_hosts_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<(HostQuery, Paging, Option<FieldNames>), ApiError> {
    let values = QueryValues::read(query, known)?;
    let (paging, cursor) = values.paging()?;
    let fields = values.fields()?;
    let page = HostQuery { limit: paging.items(), offset: paging.offset, cursor, ..HostQuery::default() };
    if values.are_only(PAGING) {
        // Most requests have no filter, and there are many filters to look for.
        return Ok((page, paging, fields));
    }
    let query = HostQuery {
        network_id: values.value("network_id")?,
        ids: values.list("ids", MAX_IDS)?,
        tag_ids: values.list("tag_ids", MAX_IDS)?,
        tag_ids_all: values.list("tag_ids_all", MAX_TERMS)?,
        tag_ids_none: values.list("tag_ids_none", MAX_IDS)?,
        without_tags: values.boolean("without_tags")?,
        name: values.text("name")?.map(str::to_owned),
        hostname: values.text("hostname")?.map(str::to_owned),
        updated_since: values.value("updated_since")?,
        ips: values
            .list("ip", MAX_TERMS)?
            .map(|prefixes| prefixes.into_iter().map(|AddressOrCidr(cidr)| cidr).collect()),
        macs: values.list("mac", MAX_TERMS)?,
        ports: values.list("port", MAX_TERMS)?,
        service_definitions: values.list("service_definition", MAX_TERMS)?,
        subnet_ids: values.list("subnet_id", MAX_IDS)?,
        sources: values.list("source", MAX_TERMS)?,
        hidden: values.boolean("hidden")?,
        seen_since: values.value("seen_since")?,
        stale: values.boolean("stale")?,
        search: values.text("search")?.map(str::to_owned),
        custom: values.custom()?,
        at: parsed(&values, "at")?,
        group_by: values.value("group_by")?,
        order_by: values.value("order_by")?,
        order_by_custom: values.order_by_custom()?,
        order_direction: values.value("order_direction")?.unwrap_or_default(),
        ..page
    };
    Ok((query, paging, fields))
}

/// An IP prefix, or an address as the prefix that contains only it.
struct AddressOrCidr(Cidr);

impl FromStr for AddressOrCidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        match text.parse::<IpAddr>() {
            Ok(address) => Cidr::containing(address, if address.is_ipv4() { 32 } else { 128 }).map(Self),
            Err(_) => text.parse().map(Self),
        }
    }
}

/// Parses the query of a list of other records. Filters that the list does not have are refused as unknown.
pub(in crate::service) fn read_list_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<(ListQuery, Paging), ApiError> {
    let values = QueryValues::read(query, known)?;
    let (paging, cursor) = values.paging()?;
    let query = ListQuery {
        network_id: values.value("network_id")?,
        ids: values.list("ids", MAX_IDS)?,
        tag_ids: values.list("tag_ids", MAX_IDS)?,
        contains: values.value("contains")?,
        custom: values.custom()?,
        order_by: values.value("order_by")?.unwrap_or_default(),
        order_by_custom: values.order_by_custom()?,
        order_direction: values.value("order_direction")?.unwrap_or_default(),
        limit: paging.items(),
        offset: paging.offset,
        cursor,
    };
    Ok((query, paging))
}

/// Parses the query of an import. Returns the only network, and whether nothing is to be stored.
pub(in crate::service) fn read_import_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<(Option<NetworkId>, bool), ApiError> {
    let values = QueryValues::read(query, known)?;
    Ok((values.value("network_id")?, values.flag("dry_run")?))
}

/// Parses the query of a list of claims: their kind.
#[cfg(feature = "discovery")]
pub(in crate::service) fn read_claims_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<Option<TableKind>, ApiError> {
    QueryValues::read(query, known)?.value("kind")
}

/// Parses the query of a stream: the only network.
#[cfg(feature = "discovery")]
pub(in crate::service) fn read_stream_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<Option<NetworkId>, ApiError> {
    QueryValues::read(query, known)?.value("network_id")
}

/// Parses the query of a list of the parts of one host or of all. Also returns the host.
pub(in crate::service) fn read_parts_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<(Option<HostId>, ListQuery, Paging), ApiError> {
    let host = QueryValues::read(query, known)?.value("host_id")?;
    let (query, paging) = read_list_query(query, known)?;
    Ok((host, query, paging))
}

/// Parses the selection of fields in the query of a list.
pub(in crate::service) fn read_fields(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<Option<FieldNames>, ApiError> {
    QueryValues::read(query, known)?.fields()
}

impl Paging {
    /// Returns the maximum number of items, `None` for no limit.
    fn items(self) -> Option<usize> {
        if self.limit == 0 { None } else { usize::try_from(self.limit).ok() }
    }
}

/// The names and values of a query string. Parameters with an empty value are left out, except for a cursor: the empty
/// one begins a list.
#[derive(Debug)]
pub(super) struct QueryValues<'q> {
    values: Vec<(Cow<'q, str>, Cow<'q, str>)>,
    known: KnownParameters<'q>,
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
        for (name, value) in form_urlencoded::parse(query.unwrap_or("").as_bytes()) {
            let Some(parameter) = find(known, &name) else {
                return Err(ApiError::unknown_parameter(&name));
            };
            if value.is_empty() && name != CURSOR {
                continue;
            }
            let is_wrong = match parameter.kind {
                Kind::Choice(choices) => !choices.contains(&&*value),
                Kind::Custom { .. } => !name.strip_prefix(CUSTOM_PREFIX).is_some_and(is_custom_name),
                _ => false,
            };
            if is_wrong {
                wrong = wrong.or(Some(parameter.name));
            }
            values.push((name, value));
        }
        match wrong {
            Some(name) => Err(invalid_format(name)),
            None => Ok(Self { values, known }),
        }
    }

    fn paging(&self) -> Result<(Paging, Option<PageCursor>), ApiError> {
        let limit = self.number("limit", MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT);
        let offset = self.number("offset", MAX_OFFSET)?;
        let cursor: Option<PageCursor> = self.value(CURSOR)?;
        if cursor.is_some() && offset.is_some() {
            return Err(invalid_format(CURSOR));
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
        text.map(|text| text.parse().map_err(|_| invalid_format(field))).transpose()
    }

    /// Parses a boolean that counts as its default if it is missing.
    pub(super) fn flag(&self, field: &str) -> Result<bool, ApiError> {
        let default = matches!(find(self.known, field).map(|known| known.kind), Some(Kind::Flag(true)));
        Ok(self.boolean(field)?.unwrap_or(default))
    }

    /// Parses a boolean in any case, such as the `True` of Python.
    pub(super) fn boolean(&self, field: &str) -> Result<Option<bool>, ApiError> {
        let text = self.once(field)?.map(str::to_ascii_lowercase);
        text.map(|text| text.parse().map_err(|_| invalid_format(field))).transpose()
    }

    /// Parses a whole number from 0 to `max`. Only digits are accepted.
    pub(super) fn number(&self, field: &str, max: u32) -> Result<Option<u32>, ApiError> {
        self.number_within(field, 0, max)
    }

    /// Parses a whole number from `min` to `max`. Only digits are accepted.
    pub(super) fn number_within(&self, field: &str, min: u32, max: u32) -> Result<Option<u32>, ApiError> {
        let Some(text) = self.once(field)? else { return Ok(None) };
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(invalid_format(field));
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
        let texts = || self.all(field).flat_map(|value| value.split(','));
        if texts().nth(max).is_some() {
            return Err(Error::invalid(field, Problem::MaxLength { max }).into());
        }
        let values: Vec<T> =
            texts().map(str::parse).collect::<Result<_, _>>().map_err(|_| invalid_format(field))?;
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
    fn custom(&self) -> Result<BTreeMap<String, String>, ApiError> {
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
    fn order_by_custom(&self) -> Result<Option<String>, ApiError> {
        let field = self.text("order_by_custom")?;
        if field.is_some_and(|field| !is_custom_name(field)) {
            return Err(invalid_format("order_by_custom"));
        }
        if field.is_some() && self.once("order_by")?.is_some() {
            return Err(invalid_format("order_by_custom"));
        }
        Ok(field.map(str::to_owned))
    }

    /// Returns the fields that the client selects, each once.
    fn fields(&self) -> Result<Option<FieldNames>, ApiError> {
        if self.all("fields").next().is_none() {
            return Ok(None);
        }
        let all = fields_of(self.known);
        let Some(given) = self.list::<String>("fields", all.len())? else { return Ok(None) };
        let mut fields = FieldNames::new();
        for field in given {
            if !all.contains(&field.as_str()) {
                return Err(invalid_format("fields"));
            }
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        Ok(Some(fields))
    }

    /// Returns whether there are no other parameters than these.
    fn are_only(&self, names: &[&str]) -> bool {
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

/// The text before the name of a custom field in the name of a parameter.
const CUSTOM_PREFIX: &str = "custom.";

/// Finds a parameter. Those of custom fields are one.
fn find(known: KnownParameters<'_>, name: &str) -> Option<&'static Parameter> {
    let name = if name.starts_with(CUSTOM_PREFIX) { "custom" } else { name };
    known.iter().copied().flatten().find(|parameter| parameter.name == name)
}

pub(super) fn invalid_format(field: &str) -> ApiError {
    Error::invalid(field, Problem::InvalidFormat).into()
}
