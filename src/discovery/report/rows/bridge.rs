use serde::{Deserialize, Serialize};

use crate::model::MacAddress;

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
    /// The name of the interface behind which the address is, for tables that have no index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_name: Option<String>,
    /// The bridge port behind which the address is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridge_port: Option<i64>,
    /// The origin of the entry; `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<FdbStatus>,
}

impl FdbRow {
    /// Creates a row of which only the address is known.
    #[must_use]
    pub const fn new(mac_address: MacAddress) -> Self {
        Self {
            mac_address,
            vlan: None,
            fdb_id: None,
            if_index: None,
            if_name: None,
            bridge_port: None,
            status: None,
        }
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
