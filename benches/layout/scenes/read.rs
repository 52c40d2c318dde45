//! Networks from a file: hosts that name their neighbors by LLDP, and the tier of each.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toposcope::model::{Host, HostId, IfEntry, IfEntryId, Interface, NetworkId};

const NETWORK: NetworkId = NetworkId::from_u128(1);

/// A network with known tiers.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) name: String,
    pub(crate) kind: String,
    hosts: Vec<Value>,
    /// The tier of each host by name, 0 on top. Empty for networks without tiers.
    pub(crate) tiers: BTreeMap<String, usize>,
}

/// The hosts whose roles are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Roles {
    All,
    /// Every other host.
    Half,
    None,
}

impl Roles {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Half => "half",
            Self::None => "none",
        }
    }
}

/// Reads the networks.
pub(crate) fn scenes(data: &Path) -> Vec<Scene> {
    let file = data.join("scenes/scenes.jsonl.gz");
    let text =
        Command::new("gzip").arg("-dc").arg(file).output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|value| Scene {
            name: value["name"].as_str().unwrap_or("?").to_owned(),
            kind: value["kind"].as_str().unwrap_or("?").to_owned(),
            hosts: value["hosts"].as_array().cloned().unwrap_or_default(),
            tiers: serde_json::from_value(value["tiers"].clone()).unwrap_or_default(),
        })
        .collect()
}

impl Scene {
    /// Creates a scene from hosts as the API writes them.
    pub(crate) fn new(name: String, kind: &str, hosts: Vec<Value>, tiers: BTreeMap<String, usize>) -> Self {
        Self { name, kind: kind.to_owned(), hosts, tiers }
    }

    /// Returns the role that the file gives to a host.
    pub(crate) fn role(&self, name: &str) -> Option<&str> {
        self.hosts.iter().find(|host| host["name"] == name)?["role"].as_str()
    }

    /// Returns the hosts; with a stub, the last switch also names a neighbor that is no host.
    pub(crate) fn hosts(&self, roles: Roles, with_stub: bool) -> Vec<Host> {
        let mut hosts: Vec<Host> =
            self.hosts.iter().zip(1..).map(|(value, number)| host(value, number)).collect();
        for (index, host) in hosts.iter_mut().enumerate() {
            if roles == Roles::None || (roles == Roles::Half && index % 2 == 1) {
                host.role = None;
            }
        }
        let last = self.hosts.iter().rposition(|host| host["role"] == "switch" || host["role"] == "router");
        if let Some(host) = last.filter(|_| with_stub).and_then(|last| hosts.get_mut(last)) {
            let value = serde_json::json!({
                "if_index": 999, "if_name": "Ethernet99", "lldp_sys_name": "one-more",
                "lldp_chassis_id": {"subtype": "MacAddress", "value": "00:1B:21:00:00:99"},
                "lldp_port_id": {"subtype": "InterfaceName", "value": "eth0"},
            });
            let entry = if_entry(host, &value);
            host.if_entries.push(entry);
        }
        hosts
    }
}

fn host(value: &Value, number: u128) -> Host {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let mut host = Host::with_id(HostId::from_u128(number), NETWORK, text("name").unwrap_or_default());
    host.hostname = text("hostname");
    host.sys_name = text("sys_name");
    host.chassis_id = serde_json::from_value(value["chassis_id"].clone()).ok();
    host.role = serde_json::from_value(value["role"].clone()).ok();
    for interface in value["interfaces"].as_array().into_iter().flatten() {
        let address = interface["ip_address"].as_str().and_then(|address| address.parse().ok());
        host.interfaces.extend(address.map(|address| Interface::new(&host, address)));
    }
    for entry in value["if_entries"].as_array().into_iter().flatten() {
        let entry = if_entry(&host, entry);
        host.if_entries.push(entry);
    }
    host
}

fn if_entry(host: &Host, value: &Value) -> IfEntry {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    let index = value["if_index"].as_i64().unwrap_or(0);
    IfEntry {
        id: IfEntryId::from_u128(host.id.as_u128() << 64 | index.unsigned_abs() as u128),
        if_name: text("if_name"),
        if_descr: text("if_descr").unwrap_or_default(),
        if_type: value["if_type"].as_i64(),
        speed_bps: value["speed_bps"].as_u64(),
        admin_status: serde_json::from_value(value["admin_status"].clone()).ok(),
        oper_status: serde_json::from_value(value["oper_status"].clone()).ok(),
        vlans: serde_json::from_value(value["vlans"].clone()).ok(),
        lldp_chassis_id: serde_json::from_value(value["lldp_chassis_id"].clone()).ok(),
        lldp_port_id: serde_json::from_value(value["lldp_port_id"].clone()).ok(),
        lldp_sys_name: text("lldp_sys_name"),
        ..IfEntry::new(host, index)
    }
}
