use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{MacAddress, Timestamp};

/// An address of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// What names it.
    pub id: Uuid,
    /// The host it belongs to.
    pub host_id: Uuid,
    /// The host's network.
    pub network_id: Uuid,
    /// The subnet the address lies in, where it is known.
    pub subnet_id: Option<Uuid>,
    /// What the device calls it. Several interfaces of a host may share a name.
    pub name: Option<String>,
    /// The address, IPv4 or IPv6, without prefix length.
    pub ip_address: IpAddr,
    /// The hardware address, where it is known.
    pub mac_address: Option<MacAddress>,
    /// Its place among the interfaces of the host. Places need not be unique or without gaps.
    pub position: i64,
    /// When it was first recorded.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
