use serde_json::json;
use uuid::Uuid;

use super::values::{Fields, needed, path_id};
use super::{Change, Outcome, Success};
use crate::isolation::ask::Ask;
use crate::isolation::json;
use crate::isolation::records::{Caller, Host, Model, Port};
use crate::isolation::refusal::{network_denied, not_found, reference_invalid, refusal};

/// Moves the updated port from one host to another, or puts it back on the same.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub(crate) from: Uuid,
    pub(crate) to: Uuid,
    pub(crate) port: Port,
}

pub(super) fn update(model: &Model, ask: &Ask, caller: &Caller, id: &str) -> Outcome {
    let id = path_id(ask, id)?;
    let fields = Fields::of(ask, &["host_id", "network_id", "number", "protocol"])?;
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
    let data = json::port(to.id, to.network, &port);
    Ok((Success::Data(data), Change::Port(Move { from: from.id, to: to.id, port })))
}

fn is_bound(host: &Host, port: Uuid) -> bool {
    host.services.iter().any(|service| service.bindings.iter().any(|binding| binding.port == Some(port)))
}
