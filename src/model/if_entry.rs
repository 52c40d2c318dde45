use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{LldpChassisId, LldpPortId, MacAddress, Timestamp};

/// A row of a device's interface table, as SNMP tells it, with what LLDP and CDP say of the other end of the cable.
///
/// Texts are what the device sent, NUL and control characters included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IfEntry {
    /// What names it.
    pub id: Uuid,
    /// The host it belongs to.
    pub host_id: Uuid,
    /// The host's network.
    pub network_id: Uuid,
    /// The address of the host that is known to be on it.
    pub interface_id: Option<Uuid>,
    /// The row's number in the table. Devices break the standard's 32 bits: 1001000003000 is a real one.
    pub if_index: i64,
    /// The short name, such as `Gi0/1`.
    pub if_name: Option<String>,
    /// The device's own description of it; empty where it has none.
    pub if_descr: String,
    /// The name an administrator gave it.
    pub if_alias: Option<String>,
    /// What sort of interface it is, by IANA's numbers. Devices send others too, such as 1767992425.
    pub if_type: Option<i64>,
    /// Its speed in bits per second. Devices claim up to 4294967295000000.
    pub speed_bps: Option<u64>,
    /// The hardware address. Several entries of a host may share one.
    pub mac_address: Option<MacAddress>,
    /// What it was told to be.
    pub admin_status: Option<AdminStatus>,
    /// What it is.
    pub oper_status: Option<OperStatus>,
    /// What is at the other end, where that was found among the known hosts.
    pub neighbor: Option<Neighbor>,
    /// The neighbour's address by CDP; text, because devices send more than IP addresses.
    pub cdp_address: Option<String>,
    /// The neighbour's name by CDP.
    pub cdp_device_id: Option<String>,
    /// The neighbour's model by CDP.
    pub cdp_platform: Option<String>,
    /// The neighbour's port by CDP.
    pub cdp_port_id: Option<String>,
    /// What names the neighbour, by LLDP.
    pub lldp_chassis_id: Option<LldpChassisId>,
    /// The neighbour's management address by LLDP; text, because devices send more than IP addresses.
    pub lldp_mgmt_addr: Option<String>,
    /// The neighbour's description of its port, by LLDP.
    pub lldp_port_desc: Option<String>,
    /// What names the neighbour's port, by LLDP.
    pub lldp_port_id: Option<LldpPortId>,
    /// The neighbour's description of itself, by LLDP.
    pub lldp_sys_desc: Option<String>,
    /// The neighbour's name by LLDP.
    pub lldp_sys_name: Option<String>,
    /// When it was first recorded.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What an interface was told to be: `ifAdminStatus` of RFC 2863.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AdminStatus {
    /// Ready to pass packets.
    Up,
    /// Switched off.
    Down,
    /// Under test: no packets pass.
    Testing,
}

/// What an interface is: `ifOperStatus` of RFC 2863.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OperStatus {
    /// Ready to pass packets.
    Up,
    /// Not passing packets.
    Down,
    /// Under test: no packets pass.
    Testing,
    /// The device cannot tell.
    Unknown,
    /// Waiting for something outside, such as an incoming call.
    Dormant,
    /// A part of it is missing, typically the hardware.
    NotPresent,
    /// Down because of what it stands on.
    LowerLayerDown,
}

/// What is at the other end of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", content = "id")]
pub enum Neighbor {
    /// An interface entry of another host.
    IfEntry(Uuid),
    /// A host, of which the interface is not known.
    Host(Uuid),
}
