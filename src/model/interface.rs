use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{MacAddress, Timestamp};

/// An address of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// The interface's id.
    pub id: Uuid,
    /// The host the interface belongs to.
    pub host_id: Uuid,
    /// The host's network.
    pub network_id: Uuid,
    /// The subnet that contains the address; `None` when unknown.
    pub subnet_id: Option<Uuid>,
    /// The interface's name on the device. Several interfaces of a host may share a name.
    pub name: Option<String>,
    /// The IPv4 or IPv6 address, without prefix length.
    pub ip_address: IpAddr,
    /// The MAC address; `None` when unknown.
    pub mac_address: Option<MacAddress>,
    /// The display position among the host's interfaces. Positions may repeat and have gaps.
    pub position: i64,
    /// When the interface was first recorded.
    pub created_at: Timestamp,
    /// When the interface last changed.
    pub updated_at: Timestamp,
}
