use std::cmp::Ordering;

use serde_json::json;
use uuid::Uuid;

use super::{Change, Outcome, Success};
use crate::isolation::ask::Ask;
use crate::isolation::json;
use crate::isolation::records::{Caller, Host, Model};
use crate::isolation::refusal::{Refusal, invalid_format, out_of_range, unknown_parameter};

const PARAMETERS: [&str; 8] =
    ["network_id", "ids", "tag_ids", "group_by", "order_by", "order_direction", "limit", "offset"];
const FIELDS: [&str; 7] =
    ["created_at", "updated_at", "name", "hostname", "network_id", "virtualized_by", "interface_ip"];

pub(super) fn list(model: &Model, ask: &Ask, caller: &Caller) -> Outcome {
    if let Some((name, _)) = ask.query.iter().find(|(name, _)| !PARAMETERS.contains(name)) {
        return Err(unknown_parameter(name));
    }
    let network = scalar(ask, "network_id")?.map(|text| id(&text, "network_id")).transpose()?;
    let ids = ids(ask, "ids")?;
    let tags = self::ids(ask, "tag_ids")?;
    let group = scalar(ask, "group_by")?.map(|text| one_of(&FIELDS, &text, "group_by")).transpose()?;
    let order = scalar(ask, "order_by")?.map(|text| one_of(&FIELDS, &text, "order_by")).transpose()?;
    let direction = scalar(ask, "order_direction")?;
    let direction = direction.map(|text| one_of(&["asc", "desc"], &text, "order_direction")).transpose()?;
    let limit = number(ask, "limit", 1000)?.unwrap_or(50);
    let offset = number(ask, "offset", 2_147_483_647)?.unwrap_or(0);

    let mut found: Vec<&Host> = model
        .hosts
        .iter()
        .filter(|host| host.organization == caller.organization && caller.reaches(host.network))
        .filter(|host| network.is_none_or(|network| host.network == network))
        .filter(|host| ids.as_ref().is_none_or(|ids| ids.contains(&host.id)))
        .filter(|host| tags.as_ref().is_none_or(|tags| host.tags.iter().any(|tag| tags.contains(tag))))
        .collect();
    found.sort_by(|left, right| {
        let grouped = group.map_or(Ordering::Equal, |field| compare(model, field, left, right));
        let ordered = compare(model, order.unwrap_or("created_at"), left, right);
        let ordered = if direction == Some("desc") { ordered.reverse() } else { ordered };
        grouped.then(ordered).then(left.id.cmp(&right.id))
    });
    let size = if limit == 0 { found.len() } else { limit };
    let hosts: Vec<_> = found.iter().skip(offset).take(size).map(|host| json::host(host)).collect();
    let has_more = limit > 0 && offset + hosts.len() < found.len();
    let pagination =
        json!({"total_count": found.len(), "limit": limit, "offset": offset, "has_more": has_more});
    Ok((Success::Page { hosts, pagination }, Change::Nothing))
}

fn compare(model: &Model, field: &str, left: &Host, right: &Host) -> Ordering {
    match field {
        "created_at" => left.created_at.cmp(&right.created_at),
        "updated_at" => left.updated_at.cmp(&right.updated_at),
        "name" => left.name.cmp(&right.name),
        "hostname" => {
            let hostname = |host: &Host| host.hostname.clone().unwrap_or_default();
            hostname(left).cmp(&hostname(right))
        }
        "network_id" => left.network.cmp(&right.network),
        "virtualized_by" => virtualized_by(model, left).cmp(&virtualized_by(model, right)),
        "interface_ip" => address(left).cmp(&address(right)),
        _ => panic!("hosts are not ordered by {field}"),
    }
}

/// Returns the name of the service that virtualizes a host, if that belongs to the same organization.
fn virtualized_by(model: &Model, host: &Host) -> String {
    let own = model.hosts.iter().filter(|other| other.organization == host.organization);
    let mut services = own.flat_map(|other| &other.services);
    services
        .find(|service| Some(service.id) == host.runs_on)
        .map_or(String::new(), |found| found.name.clone())
}

/// IPv4 before IPv6, hosts without an address last.
fn address(host: &Host) -> (u8, Vec<u8>) {
    let first = host.interfaces.iter().min_by_key(|interface| (interface.position, interface.id));
    match first.map(|interface| interface.address) {
        Some(std::net::IpAddr::V4(address)) => (4, address.octets().to_vec()),
        Some(std::net::IpAddr::V6(address)) => (6, address.octets().to_vec()),
        None => (9, vec![]),
    }
}

/// Returns the values of a parameter; an empty value counts as missing.
fn given(ask: &Ask, name: &str) -> Vec<String> {
    let values = ask.query.iter().filter(|(given, value)| *given == name && !value.is_empty());
    values.map(|(_, value)| value.clone()).collect()
}

fn scalar(ask: &Ask, name: &str) -> Result<Option<String>, Refusal> {
    let mut values = given(ask, name);
    if values.len() > 1 { Err(invalid_format(name)) } else { Ok(values.pop()) }
}

fn ids(ask: &Ask, name: &str) -> Result<Option<Vec<Uuid>>, Refusal> {
    let mut ids = vec![];
    for value in given(ask, name) {
        for text in value.split(',') {
            ids.push(id(text, name)?);
        }
    }
    Ok(if ids.is_empty() { None } else { Some(ids) })
}

fn id(text: &str, name: &str) -> Result<Uuid, Refusal> {
    text.parse().map_err(|_| invalid_format(name))
}

fn one_of(known: &[&'static str], text: &str, name: &str) -> Result<&'static str, Refusal> {
    known.iter().copied().find(|known| *known == text).ok_or_else(|| invalid_format(name))
}

fn number(ask: &Ask, name: &str, max: usize) -> Result<Option<usize>, Refusal> {
    let Some(text) = scalar(ask, name)? else { return Ok(None) };
    if !text.chars().all(|digit| digit.is_ascii_digit()) {
        return Err(invalid_format(name));
    }
    match text.parse() {
        Ok(number) if number <= max => Ok(Some(number)),
        _ => Err(out_of_range(name, 0, max)),
    }
}
