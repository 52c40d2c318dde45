use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{HostId, IfEntryId, InterfaceId, MacAddress, NetworkId, SubnetId, Timestamp, record};

/// An address of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Interface {
    /// The interface's id.
    pub id: InterfaceId,
    /// The host the interface belongs to.
    pub host_id: HostId,
    /// The host's network.
    pub network_id: NetworkId,
    /// The subnet that contains the address; `None` when unknown.
    pub subnet_id: Option<SubnetId>,
    /// The interface's name on the device. Several interfaces of a host may share a name.
    pub name: Option<String>,
    /// The IPv4 or IPv6 address, without prefix length.
    pub ip_address: IpAddr,
    /// The MAC address; `None` when unknown.
    pub mac_address: Option<MacAddress>,
    /// The source of the MAC address if it is another device; `None`: a report of this device, or a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac_source: Option<MacSource>,
    /// The display position among the host's interfaces. Positions may repeat and have gaps.
    pub position: i64,
    /// When the interface was first recorded.
    pub created_at: Timestamp,
    /// When the interface last changed.
    pub updated_at: Timestamp,
    /// When a report last showed the interface, rounded down to the hour; `None`: none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// Whether three complete tables in a row lack the interface.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stale: bool,
}

/// The fields of [`Interface`].
macro_rules! interface_fields {
    ($then:ident $($argument:tt)*) => { $then! { [$($argument)*] Interface: 512;
        id: InterfaceId;
        host_id: HostId;
        network_id: NetworkId;
        subnet_id: Option<SubnetId> = "The subnet that contains the address.";
        name: Option<String> = "The interface's name on the device.";
        ip_address: IpAddr = required "The IP address.";
        mac_address: Option<MacAddress> = "The MAC address.";
        mac_source: Option<MacSource>;
        position: i64 = "The display position.", kept;
        created_at: Timestamp;
        updated_at: Timestamp;
        last_seen_at: Option<Timestamp>;
        is_stale: bool;
    } };
}

pub(crate) use interface_fields;

interface_fields!(record);

/// A source of the MAC address of an interface other than its own device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum MacSource {
    /// The ARP cache or IPv6 neighbor cache of another device.
    NeighborCache,
}

/// A row of a device's SNMP interface table, with its LLDP and CDP neighbor data.
///
/// Strings are stored as the device sent them, NUL and control characters included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct IfEntry {
    /// The entry's id.
    pub id: IfEntryId,
    /// The host the entry belongs to.
    pub host_id: HostId,
    /// The host's network.
    pub network_id: NetworkId,
    /// The host's interface (address) on this port; `None` when unknown.
    pub interface_id: Option<InterfaceId>,
    /// `ifIndex`. Devices exceed the standard's 32 bits; 1001000003000 has been observed.
    pub if_index: i64,
    /// `ifName`: the short name, such as `Gi0/1`.
    pub if_name: Option<String>,
    /// `ifDescr`: the device's description of the interface; empty when it has none.
    pub if_descr: String,
    /// `ifAlias`: the name given by an administrator.
    pub if_alias: Option<String>,
    /// `ifType`: the IANA interface type. Devices also send unassigned values, such as 1767992425.
    pub if_type: Option<i64>,
    /// The speed in bits per second. Devices report values up to 4294967295000000.
    pub speed_bps: Option<u64>,
    /// The MAC address. Several entries of a host may share one.
    pub mac_address: Option<MacAddress>,
    /// The configured state.
    pub admin_status: Option<AdminStatus>,
    /// The current state.
    pub oper_status: Option<OperStatus>,
    /// The id of the aggregate of which this port is a member; `None`: not aggregated. It is the id of another entry of
    /// the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_id: Option<IfEntryId>,
    /// The VLANs of the port; `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlans: Option<Vlans>,
    /// The neighbor, when it was found among the known hosts.
    pub neighbor: Option<Neighbor>,
    /// The neighbor's address by CDP. A string, because devices send other values than IP addresses.
    pub cdp_address: Option<String>,
    /// The neighbor's device id by CDP.
    pub cdp_device_id: Option<String>,
    /// The neighbor's model by CDP.
    pub cdp_platform: Option<String>,
    /// The neighbor's port by CDP.
    pub cdp_port_id: Option<String>,
    /// The neighbor's chassis id by LLDP.
    pub lldp_chassis_id: Option<LldpChassisId>,
    /// The neighbor's management address by LLDP. A string, because devices send other values than IP addresses.
    pub lldp_mgmt_addr: Option<String>,
    /// The neighbor's port description by LLDP.
    pub lldp_port_desc: Option<String>,
    /// The neighbor's port id by LLDP.
    pub lldp_port_id: Option<LldpPortId>,
    /// The neighbor's system description by LLDP.
    pub lldp_sys_desc: Option<String>,
    /// The neighbor's system name by LLDP.
    pub lldp_sys_name: Option<String>,
    /// When the entry was first recorded.
    pub created_at: Timestamp,
    /// When the entry last changed.
    pub updated_at: Timestamp,
    /// When a report last showed the entry, rounded down to the hour; `None`: none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// Whether three complete tables in a row lack the entry.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stale: bool,
}

/// The fields of [`IfEntry`].
macro_rules! if_entry_fields {
    ($then:ident $($argument:tt)*) => { $then! { [$($argument)*] IfEntry: 768;
        id: IfEntryId;
        host_id: HostId;
        network_id: NetworkId;
        interface_id: Option<InterfaceId> = "The host's interface on this port.";
        if_index: i64 = required "`ifIndex`.";
        if_name: Option<String> = "`ifName`.", kept;
        if_descr: String = required "`ifDescr`.";
        if_alias: Option<String> = "`ifAlias`.";
        if_type: Option<i64> = "`ifType`.";
        speed_bps: Option<u64> = "The speed in bits per second.";
        mac_address: Option<MacAddress> = "The MAC address.";
        admin_status: Option<AdminStatus> = "The configured state.";
        oper_status: Option<OperStatus> = "The current state.";
        lag_id: Option<IfEntryId> = "The host's entry that is the aggregate of this port.";
        vlans: Option<Vlans> = "The VLANs of the port.";
        neighbor: Option<Neighbor> = "The neighbor, if it is a known host.";
        cdp_address: Option<String> = "The neighbor's address by CDP.", kept;
        cdp_device_id: Option<String> = "The neighbor's device id by CDP.", kept;
        cdp_platform: Option<String> = "The neighbor's model by CDP.", kept;
        cdp_port_id: Option<String> = "The neighbor's port by CDP.", kept;
        lldp_chassis_id: Option<LldpChassisId> = "The neighbor's chassis.", kept;
        lldp_mgmt_addr: Option<String> = "The neighbor's management address by LLDP.", kept;
        lldp_port_desc: Option<String> = "The neighbor's port description by LLDP.", kept;
        lldp_port_id: Option<LldpPortId> = "The neighbor's port by LLDP.", kept;
        lldp_sys_desc: Option<String> = "The neighbor's system description by LLDP.", kept;
        lldp_sys_name: Option<String> = "The neighbor's system name by LLDP.", kept;
        created_at: Timestamp;
        updated_at: Timestamp;
        last_seen_at: Option<Timestamp>;
        is_stale: bool;
    } };
}

pub(crate) use if_entry_fields;

if_entry_fields!(record);

/// The VLANs of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Vlans {
    /// The VLAN of frames without a tag. `None`: such frames are dropped, or the VLAN is unknown.
    pub untagged: Option<u16>,
    /// The VLANs of frames with a tag, in ascending order.
    pub tagged: Vec<u16>,
    /// Further VLANs whose frames the port sends without a tag, in ascending order. Hybrid ports have them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_untagged: Vec<u16>,
}

/// The configured state of an interface: `ifAdminStatus` of RFC 2863.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub enum AdminStatus {
    /// Ready to pass packets.
    Up,
    /// Administratively disabled.
    Down,
    /// In test mode; no packets pass.
    Testing,
}

/// The current state of an interface: `ifOperStatus` of RFC 2863.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub enum OperStatus {
    /// Ready to pass packets.
    Up,
    /// Not passing packets.
    Down,
    /// In test mode; no packets pass.
    Testing,
    /// The device cannot determine the state.
    Unknown,
    /// Waiting for an external event, such as an incoming call.
    Dormant,
    /// A component is missing, typically hardware.
    NotPresent,
    /// Down because a lower-layer interface is down.
    LowerLayerDown,
}

/// The device at the other end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", content = "id")]
pub enum Neighbor {
    /// An interface entry of another host, by id.
    IfEntry(IfEntryId),
    /// A host, by id; its interface is unknown.
    Host(HostId),
}

impl Neighbor {
    /// Returns the id of the entry or the host.
    pub(crate) const fn uuid(self) -> Uuid {
        match self {
            Self::IfEntry(id) => id.uuid(),
            Self::Host(id) => id.uuid(),
        }
    }
}

/// An LLDP chassis id, which identifies a device.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct LldpChassisId {
    /// The kind of identifier.
    pub subtype: LldpChassisIdSubtype,
    /// The identifier as a string. Devices do not always follow the subtype they declare.
    pub value: String,
}

/// The kind of a chassis id: the subtypes of IEEE 802.1AB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub enum LldpChassisIdSubtype {
    /// The alias of the chassis (`entPhysicalAlias`).
    ChassisComponent,
    /// The alias of an interface (`ifAlias`).
    InterfaceAlias,
    /// The alias of a port or backplane (`entPhysicalAlias`).
    PortComponent,
    /// A MAC address.
    MacAddress,
    /// A network address.
    NetworkAddress,
    /// The name of an interface (`ifName`).
    InterfaceName,
    /// A locally assigned identifier.
    LocallyAssigned,
}

/// An LLDP port id, which identifies a port of a device.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct LldpPortId {
    /// The kind of identifier.
    pub subtype: LldpPortIdSubtype,
    /// The identifier as a string. Devices do not always follow the subtype they declare.
    pub value: String,
}

/// The kind of a port id: the subtypes of IEEE 802.1AB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub enum LldpPortIdSubtype {
    /// The alias of the interface (`ifAlias`).
    InterfaceAlias,
    /// The alias of the port or backplane (`entPhysicalAlias`).
    PortComponent,
    /// A MAC address.
    MacAddress,
    /// A network address.
    NetworkAddress,
    /// The name of the interface (`ifName`).
    InterfaceName,
    /// The circuit id of a DHCP relay agent.
    AgentCircuitId,
    /// A locally assigned identifier.
    LocallyAssigned,
}
