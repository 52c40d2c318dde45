//! The endpoints that require a caller.

use std::cmp::Ordering;

use serde_json::json;
use toposcope::model::Timestamp;
use uuid::Uuid;

use super::values::{
    Fields, Refusal, invalid_format, name, needed, network_denied, no_query, not_found, out_of_range,
    path_id, permission_denied, reference_invalid, refusal, too_long, unknown_parameter,
};
use super::{Change, Outcome, Success};
use crate::common::natural;
use crate::isolation::documents;
use crate::isolation::model::{Caller, Host, Key, Model, Port, Referral, ids_of, rank};
use crate::requests::request::ApiRequest;

const PARAMETERS: [&str; 11] = [
    "network_id",
    "ids",
    "tag_ids",
    "tag_ids_all",
    "tag_ids_none",
    "without_tags",
    "group_by",
    "order_by",
    "order_direction",
    "limit",
    "offset",
];
const ORDERS: [&str; 9] = [
    "created_at",
    "updated_at",
    "name",
    "hostname",
    "network_id",
    "virtualized_by",
    "interface_ip",
    "name_natural",
    "hostname_natural",
];
const USER_KEY_FIELDS: [&str; 8] =
    ["name", "organization_id", "user_id", "tags", "expires_at", "is_enabled", "network_ids", "permissions"];

pub(super) fn list_hosts(model: &Model, request: &ApiRequest, caller: &Caller) -> Outcome {
    if let Some((name, _)) = request.query.iter().find(|(name, _)| !PARAMETERS.contains(name)) {
        return Err(unknown_parameter(name));
    }
    let network = scalar(request, "network_id")?.map(|text| id(&text, "network_id")).transpose()?;
    let (named, tags) = (ids(request, "ids")?, ids(request, "tag_ids")?);
    let (all, none) = (ids(request, "tag_ids_all")?, ids(request, "tag_ids_none")?);
    let untagged = scalar(request, "without_tags")?.map(|text| text.to_lowercase() == "true");
    let group = scalar(request, "group_by")?.map(|text| one_of(&ORDERS, &text, "group_by")).transpose()?;
    let order = scalar(request, "order_by")?.map(|text| one_of(&ORDERS, &text, "order_by")).transpose()?;
    let direction = scalar(request, "order_direction")?;
    let direction = direction.map(|text| one_of(&["asc", "desc"], &text, "order_direction")).transpose()?;
    let limit = number(request, "limit", 1000)?.unwrap_or(50);
    let offset = number(request, "offset", 2_147_483_647)?.unwrap_or(0);

    let mut found: Vec<&Host> = model
        .hosts
        .iter()
        .filter(|host| host.organization == caller.organization && caller.reaches(host.network))
        .filter(|host| network.is_none_or(|network| host.network == network))
        .filter(|host| named.as_ref().is_none_or(|ids| ids.contains(&host.id)))
        .filter(|host| tags.as_ref().is_none_or(|tags| host.tags.iter().any(|tag| tags.contains(tag))))
        .filter(|host| all.iter().flatten().all(|tag| host.tags.contains(tag)))
        .filter(|host| !none.iter().flatten().any(|tag| host.tags.contains(tag)))
        .filter(|host| untagged.is_none_or(|untagged| host.tags.is_empty() == untagged))
        .collect();
    found.sort_by(|left, right| {
        let grouped = group.map_or(Ordering::Equal, |field| compare(model, field, left, right));
        let ordered = compare(model, order.unwrap_or("created_at"), left, right);
        let ordered = if direction == Some("desc") { ordered.reverse() } else { ordered };
        grouped.then(ordered).then(left.id.cmp(&right.id))
    });
    let size = if limit == 0 { found.len() } else { limit };
    let hosts: Vec<_> = found.iter().skip(offset).take(size).map(|host| documents::host(host)).collect();
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
        "name_natural" => natural(&left.name).cmp(&natural(&right.name)),
        "hostname_natural" => {
            let hostname = |host: &Host| natural(host.hostname.as_deref().unwrap_or_default());
            hostname(left).cmp(&hostname(right))
        }
        "network_id" => left.network.cmp(&right.network),
        "virtualized_by" => virtualized_by(model, left).cmp(&virtualized_by(model, right)),
        "interface_ip" => address(left).cmp(&address(right)),
        _ => panic!("hosts are not ordered by {field}"),
    }
}

/// Returns the name of the service that virtualizes a host. It is empty unless the service belongs to the same
/// organization.
fn virtualized_by(model: &Model, host: &Host) -> String {
    let own = model.hosts.iter().filter(|other| other.organization == host.organization);
    let mut services = own.flat_map(|other| &other.services);
    services
        .find(|service| Some(service.id) == host.runs_on)
        .map_or(String::new(), |found| found.name.clone())
}

/// Returns a sort key: IPv4 before IPv6, and hosts without an address last.
fn address(host: &Host) -> (u8, Vec<u8>) {
    let first = host.interfaces.iter().min_by_key(|interface| (interface.position, interface.id));
    match first.map(|interface| interface.address) {
        Some(std::net::IpAddr::V4(address)) => (4, address.octets().to_vec()),
        Some(std::net::IpAddr::V6(address)) => (6, address.octets().to_vec()),
        None => (9, vec![]),
    }
}

/// Returns the values of a parameter; an empty value counts as missing.
fn given(request: &ApiRequest, name: &str) -> Vec<String> {
    let values = request.query.iter().filter(|(given, value)| *given == name && !value.is_empty());
    values.map(|(_, value)| value.clone()).collect()
}

fn scalar(request: &ApiRequest, name: &str) -> Result<Option<String>, Refusal> {
    let mut values = given(request, name);
    if values.len() > 1 { Err(invalid_format(name)) } else { Ok(values.pop()) }
}

fn ids(request: &ApiRequest, name: &str) -> Result<Option<Vec<Uuid>>, Refusal> {
    let values = given(request, name);
    let ids = values.iter().flat_map(|value| value.split(',')).map(|text| id(text, name));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    Ok((!ids.is_empty()).then_some(ids))
}

fn id(text: &str, name: &str) -> Result<Uuid, Refusal> {
    text.parse().map_err(|_| invalid_format(name))
}

fn one_of(known: &[&'static str], text: &str, name: &str) -> Result<&'static str, Refusal> {
    known.iter().copied().find(|known| *known == text).ok_or_else(|| invalid_format(name))
}

fn number(request: &ApiRequest, name: &str, max: usize) -> Result<Option<usize>, Refusal> {
    let Some(text) = scalar(request, name)? else { return Ok(None) };
    if !text.chars().all(|digit| digit.is_ascii_digit()) {
        return Err(invalid_format(name));
    }
    match text.parse() {
        Ok(number) if number <= max => Ok(Some(number)),
        _ => Err(out_of_range(name, 0, max)),
    }
}

/// A move of the updated port to another host, or back to its own.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub(crate) from: Uuid,
    pub(crate) to: Uuid,
    pub(crate) port: Port,
}

pub(super) fn update_port(model: &Model, request: &ApiRequest, caller: &Caller, id: &str) -> Outcome {
    let id = path_id(request, id)?;
    let fields = Fields::of(request, &["host_id", "network_id", "number", "protocol"])?;
    let host_id = needed(fields.id("host_id")?, "host_id")?;
    let network_id = needed(fields.id("network_id")?, "network_id")?;
    let number = fields.port_number("number")?;
    let protocol = needed(fields.protocol("protocol")?, "protocol")?;

    let own_hosts = || model.hosts.iter().filter(|host| host.organization == caller.organization);
    let from = own_hosts().find(|host| host.ports.iter().any(|port| port.id == id));
    let from = from.ok_or_else(|| not_found("Port", id))?;
    if !caller.reaches(from.network) {
        return Err(network_denied(from.network));
    }
    if !model.is_own_network(caller, network_id) {
        return Err(reference_invalid("Network", "network_id"));
    }
    if !caller.reaches(network_id) {
        return Err(network_denied(network_id));
    }
    let to = own_hosts().find(|host| host.id == host_id);
    let to = to.ok_or_else(|| reference_invalid("Host", "host_id"))?;
    if to.network != network_id {
        return Err(refusal(400, "entity_network_mismatch", json!({"entity": "Host"})));
    }
    let port = from.ports.iter().find(|port| port.id == id).unwrap().clone();
    if from.id != to.id && is_bound(from, id) {
        let name = format!("{}/{}", port.number, port.protocol);
        let params = json!({"entity": "Port", "name": name, "used_by": "Service"});
        return Err(refusal(409, "entity_in_use", params));
    }
    let mut others = to.ports.iter().filter(|other| other.id != id);
    if others.any(|other| other.number == number && other.protocol == protocol) {
        let params = json!({"entity": "Port", "name": format!("{number}/{protocol}")});
        return Err(refusal(409, "entity_already_exists", params));
    }
    let port = Port { number, protocol, updated_at: model.now, ..port };
    let data = documents::port(to.id, to.network, &port);
    Ok((Success::Data(data), Change::Port(Move { from: from.id, to: to.id, port })))
}

fn is_bound(host: &Host, port: Uuid) -> bool {
    host.services.iter().any(|service| service.bindings.iter().any(|binding| binding.port == Some(port)))
}

/// Decides about a new key. The key has neither its id nor its text yet.
pub(super) fn create_daemon_key(model: &Model, request: &ApiRequest, caller: &Caller) -> Outcome {
    no_query(request)?;
    let fields = Fields::of(request, &["name", "network_id", "tags", "expires_at", "is_enabled"])?;
    let text = needed(fields.text("name")?, "name")?;
    let network = needed(fields.id("network_id")?, "network_id")?;
    let tags = needed(fields.ids("tags")?, "tags")?;
    let expires_at = fields.time("expires_at")?;
    let is_enabled = fields.flag("is_enabled")?.unwrap_or(true);
    let name = name(&text, "name")?;
    if expires_at.is_some_and(|time| time <= model.now) {
        let first = model.now.plus_micros(1);
        return Err(out_of_range("expires_at", first.to_string(), Timestamp::MAX.to_string()));
    }

    if !model.is_own_network(caller, network) || !caller.reaches(network) {
        return Err(network_denied(network));
    }
    check_tags(model, caller, &tags)?;
    let tags = each_once(&tags);
    let new = Key::new(caller.organization, network, name, model.now);
    let key = Key { tags, expires_at, is_enabled, ..new };
    Ok((Success::Issued, Change::NewDaemonKey(Box::new(key))))
}

pub(super) fn update_user_key(model: &Model, request: &ApiRequest, caller: &Caller, id: &str) -> Outcome {
    let id = path_id(request, id)?;
    let fields = Fields::of(request, &USER_KEY_FIELDS)?;
    let text = needed(fields.text("name")?, "name")?;
    let organization = needed(fields.id("organization_id")?, "organization_id")?;
    let user = needed(fields.id("user_id")?, "user_id")?;
    let tags = needed(fields.ids("tags")?, "tags")?;
    let expires_at = fields.time("expires_at")?;
    let is_enabled = fields.flag("is_enabled")?;
    let networks = fields.ids("network_ids")?;
    let level = fields.level("permissions")?;
    let name = name(&text, "name")?;

    let mut key = own_user_key(model, caller, id)?;
    if organization != key.organization || Some(user) != key.user {
        return Err(refusal(403, "entity_update_forbidden", json!({"entity": "User API Key"})));
    }
    let wanted = networks.clone().unwrap_or_default();
    let is_new = |network: &Uuid| !key.networks.contains(network);
    let is_unknown = |network: &Uuid| is_new(network) && !model.is_own_network(caller, *network);
    if let Some(place) = wanted.iter().position(is_unknown) {
        return Err(reference_invalid("Network", &format!("network_ids.{place}")));
    }
    check_tags(model, caller, &tags)?;
    if let Some(network) = wanted.iter().find(|network| is_new(network) && !caller.reaches(**network)) {
        return Err(network_denied(*network));
    }
    if level.is_some_and(|level| level != key.level && rank(level) > rank(caller.level)) {
        return Err(permission_denied());
    }
    let before = format!("{key:?}");

    key.name = name;
    key.tags = each_once(&tags);
    if expires_at.is_some() || fields.is_null("expires_at") {
        key.expires_at = expires_at;
    }
    key.is_enabled = is_enabled.unwrap_or(key.is_enabled);
    key.networks = networks.map_or(key.networks, |networks| each_once(&networks));
    key.level = level.unwrap_or(key.level);
    if format!("{key:?}") != before {
        key.updated_at = model.now;
    }
    Ok((Success::Key(Box::new(key.clone())), Change::UserKey(Box::new(key))))
}

pub(super) fn delete_user_key(model: &Model, request: &ApiRequest, caller: &Caller, id: &str) -> Outcome {
    let id = path_id(request, id)?;
    own_user_key(model, caller, id)?;
    Ok((Success::Data(json!({})), Change::NoUserKey(id)))
}

fn own_user_key(model: &Model, caller: &Caller, id: Uuid) -> Result<Key, Refusal> {
    let mut keys = model.keys.iter();
    let own = keys
        .find(|key| key.id == id && key.organization == caller.organization && key.user == Some(caller.user));
    own.cloned().ok_or_else(|| not_found("User API Key", id))
}

fn check_tags(model: &Model, caller: &Caller, tags: &[Uuid]) -> Result<(), Refusal> {
    let own = ids_of(&model.tags, caller.organization);
    match tags.iter().position(|tag| !own.contains(tag)) {
        Some(place) => Err(reference_invalid("Tag", &format!("tags.{place}"))),
        None => Ok(()),
    }
}

/// Returns each value once, at its first position.
fn each_once(ids: &[Uuid]) -> Vec<Uuid> {
    let mut once: Vec<Uuid> = vec![];
    for id in ids {
        if !once.contains(id) {
            once.push(*id);
        }
    }
    once
}

pub(super) fn submit_referral(model: &Model, request: &ApiRequest, caller: &Caller) -> Outcome {
    no_query(request)?;
    let fields = Fields::of(request, &["referral_source", "referral_source_other"])?;
    let source = needed(fields.text("referral_source")?, "referral_source")?;
    let other = fields.text("referral_source_other")?;
    let source = name(&source, "referral_source")?;
    if other.as_ref().is_some_and(|text| text.chars().count() > 500) {
        return Err(too_long("referral_source_other", 500));
    }
    let (organization, user) = (caller.organization, caller.user);
    let mut known = model.referrals.iter();
    let known = known.find(|known| known.organization == organization && known.user == user);
    let created_at = known.map_or(model.now, |known| known.created_at);
    let referral = Referral { organization, user, source, other, created_at, updated_at: model.now };
    Ok((Success::Data(json!({})), Change::Referral(Box::new(referral))))
}
