use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::model::MacAddress;

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
