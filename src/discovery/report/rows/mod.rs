//! The rows of the tables that a device reports.

mod bridge;
mod neighbor;

use std::net::IpAddr;

pub use bridge::{BridgeId, FdbRow, FdbStatus, StpRow, StpState};
pub use neighbor::{CdpRow, LldpRow};
use serde::{Deserialize, Serialize};

use crate::model::{AdminStatus, Cidr, MacAddress, OperStatus, PortNumber, Protocol, Vlans};

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

/// A row of the SNMP interface table.
///
/// Strings are as the device sent them, control characters included, but without NUL at their ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct IfEntryRow {
    /// `ifIndex`, or 0 if it is unknown. Only the name or the description of such a row of a derived table is
    /// known.
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
    /// The state of the entry; `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<NeighborState>,
}

impl ArpRow {
    /// Creates a row of which only the two addresses are known.
    #[must_use]
    pub const fn new(ip_address: IpAddr, mac_address: MacAddress) -> Self {
        Self { ip_address, mac_address, if_index: None, if_name: None, state: None }
    }

    /// Returns whether another device has answered with the address.
    pub(crate) const fn has_answered(&self) -> bool {
        !matches!(self.state, Some(NeighborState::Unreachable | NeighborState::Static))
    }
}

/// Maximum number of rows of a routing table.
pub const MAX_ROUTES: usize = 20_000;

/// A route of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RouteRow {
    /// The addresses that the route leads to. `0.0.0.0/0` and `::/0` are those of all IPv4 and IPv6 addresses.
    pub destination: Cidr,
    /// The address of the next router; `None` if the addresses are those of connected devices, or packets are discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_hop: Option<IpAddr>,
    /// The index of the interface that packets leave by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_index: Option<i64>,
    /// The name of the interface that packets leave by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_name: Option<String>,
    /// The metric: of several routes to the same addresses, the least counts. `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<i64>,
    /// Whether packets are discarded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discards: bool,
}

impl RouteRow {
    /// Creates a route to connected devices.
    #[must_use]
    pub const fn new(destination: Cidr) -> Self {
        Self { destination, next_hop: None, if_index: None, if_name: None, metric: None, discards: false }
    }
}

/// The state of an entry of a neighbor cache.
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
