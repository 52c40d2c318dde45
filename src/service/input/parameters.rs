//! Parameters of paths and queries.

use std::net::IpAddr;
use std::str::FromStr;

use super::history::parsed;
use super::query_values::{CURSOR, KnownParameters, QueryValues};
use super::{Input, PathParameters};
#[cfg(feature = "discovery")]
use crate::discovery::report::TableKind;
use crate::invariant::Invariant;
use crate::inventory::{Error, HostQuery, ListQuery, Problem};
use crate::model::{Cidr, CidrError, HostId, NetworkId, RecordId};
use crate::service::response::error::ApiError;
use crate::service::response::shape::FieldNames;

pub(in crate::service) const DEFAULT_LIMIT: u32 = 50;
/// The API defines an offset as a 32-bit signed integer.
pub(in crate::service) const MAX_OFFSET: u32 = i32::MAX as u32;
/// Maximum number of values of `ids` and of `tag_ids`.
pub(in crate::service) const MAX_IDS: usize = 1000;
/// Maximum number of values of a filter other than one of ids.
pub(in crate::service) const MAX_TERMS: usize = 100;

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
    path.get("id")
        .asserted_or_default()
        .parse()
        .map_err(|_| Error::invalid("id", Problem::NotOfForm { form: "a UUID".into() }).into())
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
        limit: page.limit,
        offset: page.offset,
        cursor: page.cursor,
    };
    Ok((query, paging, fields))
}

fn not_a_prefix() -> Error {
    let form = "an IP prefix with all host bits zero, such as 192.0.2.0/24";
    Error::invalid("cidr", Problem::NotOfForm { form: form.into() })
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
        cidr: values.text("cidr")?.map(|text| text.parse().map_err(|_| not_a_prefix())).transpose()?,
        name: values.text("name")?.map(str::to_owned),
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
