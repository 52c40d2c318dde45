use serde::{Deserialize, Serialize};

use crate::discovery::report::Capability;
use crate::model::{LldpChassisId, LldpPortId};

/// A neighbor by LLDP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LldpRow {
    /// The index of the local interface; `None` when it could not be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_index: Option<i64>,
    /// The name of the local interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_name: Option<String>,
    /// `lldpRemLocalPortNum`: the number that the LLDP agent gives to the local port. It may differ from `ifIndex`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_port_number: Option<i64>,
    /// The port id that the local port announces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_port_id: Option<LldpPortId>,
    /// The port description that the local port announces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_port_desc: Option<String>,
    /// The neighbor's chassis id.
    pub chassis_id: LldpChassisId,
    /// The neighbor's port id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_id: Option<LldpPortId>,
    /// The neighbor's port description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_desc: Option<String>,
    /// The neighbor's system name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sys_name: Option<String>,
    /// The neighbor's system description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sys_desc: Option<String>,
    /// The neighbor's management addresses. Strings, because devices send other values than IP addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mgmt_addrs: Vec<String>,
    /// The neighbor's enabled capabilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<Capability>,
    /// The number that the neighbor gives to the aggregate of which its port is a member (LLDP-EXT-DOT3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_id: Option<i64>,
    /// The VLAN of untagged frames on the neighbor's port (LLDP-EXT-DOT1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_vlan: Option<u16>,
}

impl LldpRow {
    /// Creates a row of which only the neighbor's chassis id is known.
    #[must_use]
    pub const fn new(chassis_id: LldpChassisId) -> Self {
        Self {
            if_index: None,
            if_name: None,
            local_port_number: None,
            local_port_id: None,
            local_port_desc: None,
            chassis_id,
            port_id: None,
            port_desc: None,
            sys_name: None,
            sys_desc: None,
            mgmt_addrs: Vec::new(),
            capabilities: Vec::new(),
            lag_id: None,
            port_vlan: None,
        }
    }
}

/// A neighbor by CDP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CdpRow {
    /// The index of the local interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_index: Option<i64>,
    /// The name of the local interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_name: Option<String>,
    /// The neighbor's device id.
    pub device_id: String,
    /// The neighbor's port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_id: Option<String>,
    /// The neighbor's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The neighbor's software.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The neighbor's address. A string, because devices send other values than IP addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The neighbor's native VLAN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_vlan: Option<u16>,
    /// The neighbor's capabilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<Capability>,
}

impl CdpRow {
    /// Creates a row of which only the neighbor's device id is known.
    #[must_use]
    pub fn new(device_id: impl Into<String>) -> Self {
        Self {
            if_index: None,
            if_name: None,
            device_id: device_id.into(),
            port_id: None,
            platform: None,
            version: None,
            address: None,
            native_vlan: None,
            capabilities: Vec::new(),
        }
    }
}
