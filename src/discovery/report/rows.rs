use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::Capability;
use crate::model::{
    AdminStatus, LldpChassisId, LldpPortId, MacAddress, OperStatus, PortNumber, Protocol, Vlans,
};

/// A row of the SNMP interface table.
///
/// Strings are as the device sent them, NUL and control characters included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct IfEntryRow {
    /// `ifIndex`, or the local port number of LLDP where the device reports no interface table.
    pub if_index: i64,
    /// `ifName`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_name: Option<String>,
    /// `ifDescr`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_descr: Option<String>,
    /// `ifAlias`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_alias: Option<String>,
    /// `ifType`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_type: Option<i64>,
    /// The speed in bits per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_bps: Option<u64>,
    /// `ifPhysAddress`, when it has 6 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac_address: Option<MacAddress>,
    /// `ifAdminStatus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admin_status: Option<AdminStatus>,
    /// `ifOperStatus`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oper_status: Option<OperStatus>,
    /// The VLANs of the port; `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlans: Option<Vlans>,
}

impl IfEntryRow {
    /// Creates a row of which only the index is known.
    #[must_use]
    pub const fn new(if_index: i64) -> Self {
        Self {
            if_index,
            if_name: None,
            if_descr: None,
            if_alias: None,
            if_type: None,
            speed_bps: None,
            mac_address: None,
            admin_status: None,
            oper_status: None,
            vlans: None,
        }
    }
}

/// An address of the device itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AddressRow {
    /// The address.
    pub ip_address: IpAddr,
    /// The length of the subnet's prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix_length: Option<u8>,
    /// The interface's index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_index: Option<i64>,
    /// The interface's MAC address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac_address: Option<MacAddress>,
}

impl AddressRow {
    /// Creates a row of which only the address is known.
    #[must_use]
    pub const fn new(ip_address: IpAddr) -> Self {
        Self { ip_address, prefix_length: None, if_index: None, mac_address: None }
    }
}

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
        }
    }
}

/// An entry of a forwarding database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FdbRow {
    /// The MAC address.
    pub mac_address: MacAddress,
    /// The VLAN; `None` in a database without VLANs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
    /// `dot1qFdbId`: the number of the database, which several VLANs may share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fdb_id: Option<u32>,
    /// The index of the interface behind which the address is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_index: Option<i64>,
    /// The bridge port behind which the address is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridge_port: Option<i64>,
    /// Where the entry comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<FdbStatus>,
}

impl FdbRow {
    /// Creates a row of which only the address is known.
    #[must_use]
    pub const fn new(mac_address: MacAddress) -> Self {
        Self { mac_address, vlan: None, fdb_id: None, if_index: None, bridge_port: None, status: None }
    }
}

/// The origin of an entry of a forwarding database: `dot1dTpFdbStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub enum FdbStatus {
    /// None of the others.
    Other,
    /// No longer valid.
    Invalid,
    /// Learned from a frame.
    Learned,
    /// An address of the device itself.
    SelfAddress,
    /// Configured.
    Configured,
}

/// An entry of an ARP cache or of an IPv6 neighbor cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ArpRow {
    /// The IP address.
    pub ip_address: IpAddr,
    /// The MAC address.
    pub mac_address: MacAddress,
    /// The index of the interface behind which the address is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_index: Option<i64>,
    /// The name of the interface behind which the address is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_name: Option<String>,
    /// How current the entry is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<NeighborState>,
}

impl ArpRow {
    /// Creates a row of which only the two addresses are known.
    #[must_use]
    pub const fn new(ip_address: IpAddr, mac_address: MacAddress) -> Self {
        Self { ip_address, mac_address, if_index: None, if_name: None, state: None }
    }
}

/// How current an entry of a neighbor cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum NeighborState {
    /// Confirmed recently, or learned.
    Reachable,
    /// Not confirmed recently.
    Stale,
    /// Being confirmed.
    Probing,
    /// No answer was received.
    Unreachable,
    /// Configured, or an address of the device itself.
    Static,
}

/// A port of a spanning tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StpRow {
    /// The bridge port.
    pub bridge_port: i64,
    /// The interface's index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_index: Option<i64>,
    /// The port's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StpState>,
    /// The cost of the path to the root through this port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_cost: Option<u32>,
    /// The root of the tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub designated_root: Option<BridgeId>,
    /// The bridge that forwards frames for this port's segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub designated_bridge: Option<BridgeId>,
    /// The port of the designated bridge: priority and number, 2 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub designated_port: Option<u16>,
}

impl StpRow {
    /// Creates a row of which only the port is known.
    #[must_use]
    pub const fn new(bridge_port: i64) -> Self {
        Self {
            bridge_port,
            if_index: None,
            state: None,
            path_cost: None,
            designated_root: None,
            designated_bridge: None,
            designated_port: None,
        }
    }
}

/// A bridge in a spanning tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct BridgeId {
    /// The priority; the lowest becomes root.
    pub priority: u16,
    /// The bridge's MAC address.
    pub mac_address: MacAddress,
}

/// The state of a port of a spanning tree: `dot1dStpPortState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub enum StpState {
    /// Switched off.
    Disabled,
    /// Blocked to avoid a loop.
    Blocking,
    /// Waits for topology changes.
    Listening,
    /// Learns addresses.
    Learning,
    /// Forwards frames.
    Forwarding,
    /// Out of order.
    Broken,
}

/// A member of a link aggregation group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LagRow {
    /// The member's index.
    pub if_index: i64,
    /// The index of the aggregate.
    pub lag_id: i64,
}

impl LagRow {
    /// Creates a row.
    #[must_use]
    pub const fn new(if_index: i64, lag_id: i64) -> Self {
        Self { if_index, lag_id }
    }
}

/// An open port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PortRow {
    /// The port number.
    pub number: PortNumber,
    /// The transport protocol.
    pub protocol: Protocol,
    /// The name of the service, such as `http`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The software, such as `nginx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The version of the software.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The protocol that carries the service, such as `ssl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<String>,
}

impl PortRow {
    /// Creates a row without a service.
    #[must_use]
    pub const fn new(number: PortNumber, protocol: Protocol) -> Self {
        Self { number, protocol, service: None, product: None, version: None, tunnel: None }
    }
}
