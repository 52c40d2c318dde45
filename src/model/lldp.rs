use serde::{Deserialize, Serialize};

/// What names a device, by LLDP.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LldpChassisId {
    /// What sort of name it is.
    pub subtype: LldpChassisIdSubtype,
    /// The name as text, whatever its sort: devices do not always keep to the sort they tell.
    pub value: String,
}

/// What sort of name a chassis id is: the subtypes of IEEE 802.1AB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LldpChassisIdSubtype {
    /// The alias of the chassis.
    ChassisComponent,
    /// The alias of an interface.
    InterfaceAlias,
    /// The alias of a port or backplane.
    PortComponent,
    /// A hardware address.
    MacAddress,
    /// An address of a network protocol.
    NetworkAddress,
    /// The name of an interface.
    InterfaceName,
    /// Something of the device's own.
    LocallyAssigned,
}

/// What names a port of a device, by LLDP.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LldpPortId {
    /// What sort of name it is.
    pub subtype: LldpPortIdSubtype,
    /// The name as text, whatever its sort: devices do not always keep to the sort they tell.
    pub value: String,
}

/// What sort of name a port id is: the subtypes of IEEE 802.1AB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LldpPortIdSubtype {
    /// The alias of the interface.
    InterfaceAlias,
    /// The alias of the port or backplane.
    PortComponent,
    /// A hardware address.
    MacAddress,
    /// An address of a network protocol.
    NetworkAddress,
    /// The name of the interface.
    InterfaceName,
    /// The circuit of a DHCP relay agent.
    AgentCircuitId,
    /// Something of the device's own.
    LocallyAssigned,
}
