//! The ids of chassis and ports, which daemons send as text or with their kind, and those of VLANs.

use std::collections::HashMap;
use std::net::IpAddr;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::model::{LldpChassisIdSubtype, LldpPortIdSubtype, MacAddress, NetworkId, derived_id};

/// The numbers that VLANs may have.
pub(in crate::service::endpoints::daemons) const VLAN_NUMBERS: std::ops::RangeInclusive<u16> = 1..=4094;

/// Returns the id of a VLAN.
///
/// VLANs are no records: their ids follow from network and number. The rows of interfaces that name a VLAN by its id
/// are thus read without a look-up, and a VLAN that is reported twice has one id.
pub(in crate::service::endpoints::daemons) fn vlan_id(network: NetworkId, number: u16) -> Uuid {
    derived_id("vlan", &[network.as_bytes(), &number.to_be_bytes()])
}

/// The numbers of the VLANs of a network by their ids. Made when the first is looked up.
pub(super) struct VlanNumbers {
    network: NetworkId,
    numbers: Option<HashMap<Uuid, u16>>,
}

impl VlanNumbers {
    pub(super) const fn new(network: NetworkId) -> Self {
        Self { network, numbers: None }
    }

    /// Returns the number of a VLAN of the network.
    pub(super) fn get(&mut self, id: &Value) -> Option<u16> {
        let id: Uuid = id.as_str()?.parse().ok()?;
        let network = self.network;
        let numbers = self
            .numbers
            .get_or_insert_with(|| VLAN_NUMBERS.map(|number| (vlan_id(network, number), number)).collect());
        numbers.get(&id).copied()
    }
}

/// Gives the id of a chassis its kind. `None` for a value that is no id.
pub(super) fn chassis_id(given: Value) -> Option<Value> {
    with_kind::<LldpChassisIdSubtype>(given, "LocallyAssigned")
}

/// Gives the id of a port its kind. `None` for a value that is no id.
pub(super) fn port_id(given: Value) -> Option<Value> {
    with_kind::<LldpPortIdSubtype>(given, "InterfaceName")
}

/// Gives an id its kind: as stated, else by its form, else `otherwise`.
fn with_kind<K: serde::de::DeserializeOwned>(given: Value, otherwise: &str) -> Option<Value> {
    match given {
        Value::String(value) => {
            let value = value.trim();
            let subtype = kind_by_form(value).unwrap_or(otherwise);
            (!value.is_empty()).then(|| json!({"subtype": subtype, "value": value}))
        }
        Value::Object(mut members) => {
            let value = text_of(members.remove("value")?)?;
            let stated = members.remove("subtype").filter(|kind| K::deserialize(kind).is_ok());
            let subtype = stated.unwrap_or_else(|| kind_by_form(&value).unwrap_or("LocallyAssigned").into());
            Some(json!({"subtype": subtype, "value": value}))
        }
        _ => None,
    }
}

fn kind_by_form(value: &str) -> Option<&'static str> {
    if value.parse::<MacAddress>().is_ok() {
        return Some("MacAddress");
    }
    value.parse::<IpAddr>().is_ok().then_some("NetworkAddress")
}

fn text_of(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the value of an id, without its kind.
pub(super) fn without_kind(id: &Value) -> Value {
    id.get("value").cloned().unwrap_or_default()
}

/// Returns the members of an object that are not null.
pub(super) fn without_nulls(members: &mut Map<String, Value>) {
    members.retain(|_, value| !value.is_null());
}
