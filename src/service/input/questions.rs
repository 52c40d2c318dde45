//! The queries of questions about the links of a network.

use super::query_values::{KnownParameters, QueryValues, exclusive};
use super::topology::{MAX_VLAN, MIN_VLAN};
use crate::inventory::{Error, Problem};
use crate::model::{LinkId, NetworkId};
use crate::service::response::error::ApiError;
use crate::topology::paths::{DEFAULT_LIMIT, FragileQuery, LocateTarget, MAX_PATHS, VlanQuery};
use crate::wire::AddressQuery;

/// Maximum number of characters of an id, an address or a name in a question.
pub(in crate::service) const MAX_NODE_TEXT: usize = 255;

/// Maximum number of nodes, links and locations that fail together, of each.
pub(in crate::service) const MAX_FAILURES: usize = 100;

/// Maximum number of items of each list of an answer.
pub(in crate::service) const MAX_ANSWER_LIMIT: u32 = 10_000;

/// A question about paths, with texts that name nodes.
#[derive(Debug)]
pub(in crate::service) struct PathQuestion {
    pub(in crate::service) from: String,
    pub(in crate::service) to: String,
    pub(in crate::service) vlan: Option<u16>,
    pub(in crate::service) k: Option<usize>,
}

/// A question about failures, with texts that name nodes.
#[derive(Debug)]
pub(in crate::service) struct ImpactQuestion {
    pub(in crate::service) nodes: Vec<String>,
    pub(in crate::service) edges: Vec<LinkId>,
    pub(in crate::service) locations: Vec<String>,
    pub(in crate::service) from: Vec<String>,
    pub(in crate::service) limit: usize,
}

fn network_of(values: &QueryValues<'_>) -> Result<NetworkId, ApiError> {
    Ok(values.value("network_id")?.ok_or_else(|| Error::invalid("network_id", Problem::Required))?)
}

fn limit_of(values: &QueryValues<'_>) -> Result<usize, ApiError> {
    let limit = values.number_within("limit", 1, MAX_ANSWER_LIMIT)?;
    Ok(limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(DEFAULT_LIMIT))
}

fn vlan_of(values: &QueryValues<'_>) -> Result<Option<u16>, ApiError> {
    let vlan = values.number_within("vlan", MIN_VLAN.into(), MAX_VLAN.into())?;
    Ok(vlan.and_then(|vlan| u16::try_from(vlan).ok()))
}

fn required_text(values: &QueryValues<'_>, field: &str) -> Result<String, ApiError> {
    let text = values.text(field)?.map(str::to_owned);
    Ok(text.ok_or_else(|| Error::invalid(field, Problem::Required))?)
}

/// Parses a question where a device is connected. It names the device in one way.
pub(in crate::service) fn read_locate_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<(NetworkId, LocateTarget), ApiError> {
    let values = QueryValues::read(query, known)?;
    let network = network_of(&values)?;
    let mac = values.value("mac")?.map(LocateTarget::Mac);
    let ip = values.value("ip")?.map(LocateTarget::Ip);
    let name = values.text("name")?.map(|name| LocateTarget::Name(name.to_owned()));
    match (mac, ip, name) {
        (Some(target), None, None) | (None, Some(target), None) | (None, None, Some(target)) => {
            Ok((network, target))
        }
        (None, None, None) => {
            Err(Error::invalid("mac", Problem::RequiredUnless { others: "`ip` or `name`" }).into())
        }
        (Some(_), Some(_), _) => Err(exclusive("ip", "mac")),
        (Some(_), None, Some(_)) => Err(exclusive("name", "mac")),
        (None, Some(_), Some(_)) => Err(exclusive("name", "ip")),
    }
}

/// Parses a question how a device is reached.
pub(in crate::service) fn read_path_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<(NetworkId, PathQuestion), ApiError> {
    let values = QueryValues::read(query, known)?;
    let network = network_of(&values)?;
    let most = u32::try_from(MAX_PATHS).unwrap_or(u32::MAX);
    let k = values.number_within("k", 1, most)?.and_then(|k| usize::try_from(k).ok());
    let (from, to) = (required_text(&values, "from")?, required_text(&values, "to")?);
    Ok((network, PathQuestion { from, to, vlan: vlan_of(&values)?, k }))
}

/// Parses a question what breaks. Something must fail.
pub(in crate::service) fn read_impact_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<(NetworkId, ImpactQuestion), ApiError> {
    let values = QueryValues::read(query, known)?;
    let network = network_of(&values)?;
    let question = ImpactQuestion {
        nodes: values.texts("node", MAX_FAILURES, MAX_NODE_TEXT)?,
        edges: values.list("edge", MAX_FAILURES)?.unwrap_or_default(),
        locations: values.texts("location", MAX_FAILURES, MAX_NODE_TEXT)?,
        from: values.texts("from", MAX_FAILURES, MAX_NODE_TEXT)?,
        limit: limit_of(&values)?,
    };
    if question.nodes.is_empty() && question.edges.is_empty() && question.locations.is_empty() {
        return Err(Error::invalid("node", Problem::RequiredUnless { others: "`edge` or `location`" }).into());
    }
    Ok((network, question))
}

/// Parses a question what must not fail.
pub(in crate::service) fn read_fragile_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<(NetworkId, FragileQuery), ApiError> {
    let values = QueryValues::read(query, known)?;
    let mut question = FragileQuery::new();
    question.leaves = values.flag("leaves")?;
    question.pairs = values.flag("pairs")?;
    question.limit = limit_of(&values)?;
    Ok((network_of(&values)?, question))
}

/// Parses a question which VLAN is where.
pub(in crate::service) fn read_vlans_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<(NetworkId, VlanQuery), ApiError> {
    let values = QueryValues::read(query, known)?;
    let mut question = VlanQuery::new();
    question.vlan = vlan_of(&values)?;
    question.limit = limit_of(&values)?;
    Ok((network_of(&values)?, question))
}

/// Parses a question which addresses of a subnet are in a state.
pub(in crate::service) fn read_addresses_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<AddressQuery, ApiError> {
    let values = QueryValues::read(query, known)?;
    let mut question = AddressQuery::new();
    question.state = values.value("state")?;
    question.limit = limit_of(&values)?;
    Ok(question)
}
