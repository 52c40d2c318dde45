//! The requests of daemons in the form of this crate.

use serde_json::{Map, Value};

use super::ids::{VlanNumbers, chassis_id, without_nulls};
use super::{Dialect, rows};
use crate::model::NetworkId;

/// The lists of a reported host, which stand beside it, in the form of this crate.
const PART_LISTS: [&str; 4] = ["interfaces", "ports", "services", "if_entries"];

/// A host as a daemon reports it.
pub(in crate::service::endpoints::daemons) struct GivenHost {
    pub(in crate::service::endpoints::daemons) host: Map<String, Value>,
    pub(in crate::service::endpoints::daemons) ip_addresses: Option<Value>,
    pub(in crate::service::endpoints::daemons) interfaces: Option<Value>,
    pub(in crate::service::endpoints::daemons) if_entries: Option<Value>,
    pub(in crate::service::endpoints::daemons) ports: Option<Value>,
    pub(in crate::service::endpoints::daemons) services: Option<Value>,
}

/// A host in the form of this crate.
pub(in crate::service::endpoints::daemons) struct TranslatedHost {
    pub(in crate::service::endpoints::daemons) host: Map<String, Value>,
    pub(in crate::service::endpoints::daemons) names: ListNames,
    /// Number of rows of the table of interfaces that have no index and are left out.
    pub(in crate::service::endpoints::daemons) without_index: usize,
    /// Number of neighbors beyond the first of a protocol on a port, which are left out.
    pub(in crate::service::endpoints::daemons) further_neighbors: usize,
}

/// The names by which a daemon knows the lists of a host.
#[derive(Clone, Copy)]
pub(in crate::service::endpoints::daemons) struct ListNames {
    /// Whether the daemon calls addresses `ip_addresses`.
    has_ip_addresses: bool,
}

impl ListNames {
    /// Returns the name by which the daemon knows a list, given its name here.
    pub(in crate::service::endpoints::daemons) fn name_of(self, list: &str) -> Option<&str> {
        PART_LISTS.contains(&list).then_some(match list {
            "interfaces" if self.has_ip_addresses => "ip_addresses",
            "if_entries" if self.has_ip_addresses => "interfaces",
            other => other,
        })
    }
}

impl Dialect {
    /// Translates a host that a daemon reports.
    pub(in crate::service::endpoints::daemons) fn read_host(
        self,
        given: GivenHost,
        network: NetworkId,
    ) -> TranslatedHost {
        let GivenHost { mut host, ip_addresses, interfaces, if_entries, ports, services } = given;
        let has_ip_addresses =
            ip_addresses.is_some() || self.wire.has_ip_addresses && !has_addresses(interfaces.as_ref());
        let (addresses, entries) = if has_ip_addresses {
            (ip_addresses, joined(interfaces, if_entries))
        } else {
            (interfaces, if_entries)
        };
        without_nulls(&mut host);
        rows::replace(&mut host, "chassis_id", chassis_id);
        rows::source(&mut host);
        rows::virtualization(&mut host, "Proxmox");
        let mut vlans = VlanNumbers::new(network);
        let (mut without_index, mut further_neighbors) = (0, 0);
        let entries = entries.map(|mut entries| {
            if let Value::Array(rows) = &mut entries {
                let count = rows.len();
                rows.retain(|row| {
                    !row.is_object() || row.get("if_index").is_some_and(|index| !index.is_null())
                });
                without_index = count - rows.len();
            }
            each(entries, |row| further_neighbors += rows::if_entry(row, &mut vlans))
        });
        let lists = [
            addresses.map(|list| each(list, rows::address)),
            ports.map(|list| each(list, rows::port)),
            services.map(|list| each(list, rows::service)),
            entries,
        ];
        for (name, list) in PART_LISTS.into_iter().zip(lists) {
            match list {
                Some(list) => host.insert(name.to_owned(), list),
                None => host.remove(name),
            };
        }
        host.insert("network_id".to_owned(), network.to_string().into());
        TranslatedHost { host, names: ListNames { has_ip_addresses }, without_index, further_neighbors }
    }

    /// Translates a subnet that a daemon reports.
    pub(in crate::service::endpoints::daemons) fn read_subnet(
        self,
        subnet: &mut Map<String, Value>,
        network: NetworkId,
    ) {
        without_nulls(subnet);
        rows::source(subnet);
        // The key determines the network.
        subnet.insert("network_id".to_owned(), network.to_string().into());
        let cidr = subnet.get("cidr").cloned().unwrap_or_default();
        subnet.entry("name").or_insert(cidr);
    }
}

/// Returns whether the rows of a list are addresses.
fn has_addresses(list: Option<&Value>) -> bool {
    let Some(Value::Array(rows)) = list else { return false };
    rows.iter().any(|row| row.get("ip_address").is_some())
}

/// Joins two lists. A value that is no list stays as it is, and is refused where it is read.
fn joined(first: Option<Value>, second: Option<Value>) -> Option<Value> {
    match (first, second) {
        (Some(Value::Array(mut first)), Some(Value::Array(second))) => {
            first.extend(second);
            Some(first.into())
        }
        (first, second) => first.or(second),
    }
}

/// Translates the rows of a list that are objects. Others stay as they are, and are refused where they are read.
fn each(mut list: Value, mut translate: impl FnMut(&mut Map<String, Value>)) -> Value {
    if let Value::Array(rows) = &mut list {
        for row in rows.iter_mut().filter_map(Value::as_object_mut) {
            translate(row);
        }
    }
    list
}
