use serde::{Deserialize, Serialize};

use super::Tables;
use crate::model::{HostId, LldpChassisId, MacAddress};

/// A device of a report. It has identities, and the tables seen by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Device {
    /// The id of the host, when the sender of the report knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<HostId>,
    /// `sysName`, or the system name that the device announces by LLDP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sys_name: Option<String>,
    /// The DNS name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// `sysDescr`: hardware and software, as the device describes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sys_descr: Option<String>,
    /// `sysObjectID` in numeric form, without a leading dot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sys_object_id: Option<String>,
    /// `sysLocation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sys_location: Option<String>,
    /// `sysContact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sys_contact: Option<String>,
    /// The chassis id that the device announces by LLDP. Boxed, because scanned devices have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chassis_id: Option<Box<LldpChassisId>>,
    /// The device id that the device announces by CDP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp_device_id: Option<String>,
    /// `dot1dBaseBridgeAddress`: the MAC address that identifies the device as a bridge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridge_address: Option<MacAddress>,
    /// The manufacturer of the chassis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manufacturer: Option<String>,
    /// The model of the chassis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The serial number of the chassis. Devices also send placeholders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial_number: Option<String>,
    /// The URL of the device's management interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub management_url: Option<String>,
    /// The capabilities that the device announces as enabled by LLDP. They are not stored: the role of a host follows from those that its
    /// neighbors have received, in their rows of LLDP and CDP.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<Capability>,
    /// The tables seen by the device, or by the scanner that reached it.
    pub tables: Tables,
}

impl Device {
    /// Returns whether the device has only an id or a name, and tables about other devices.
    ///
    /// Neither an ARP cache nor a forwarding database describes the device that has it, and neither do the VLANs of
    /// interfaces of which only the names are known.
    pub(crate) fn is_only_observer(&self) -> bool {
        let Self { tables, .. } = self;
        let has_own_tables = tables.addresses.is_some()
            || tables.lldp.is_some()
            || tables.cdp.is_some()
            || tables.stp.is_some()
            || tables.lag.is_some()
            || tables.ports.is_some()
            || tables
                .if_entries
                .as_deref()
                .is_some_and(|table| table.derived || table.rows.iter().any(|row| row.if_index != 0));
        let texts = [
            &self.hostname,
            &self.sys_descr,
            &self.sys_object_id,
            &self.cdp_device_id,
            &self.serial_number,
            &self.model,
            &self.manufacturer,
        ];
        let describes_itself = has_own_tables
            || self.chassis_id.is_some()
            || self.bridge_address.is_some()
            || texts.into_iter().any(Option::is_some);
        let has_tables = tables.arp.is_some()
            || tables.fdb.is_some()
            || tables.if_entries.is_some()
            || tables.routes.is_some();
        !describes_itself && has_tables
    }
}

/// A system capability of IEEE 802.1AB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub enum Capability {
    /// A capability without a name of its own.
    Other,
    /// Repeats signals.
    Repeater,
    /// Forwards frames by MAC address.
    Bridge,
    /// Connects wireless stations.
    WlanAccessPoint,
    /// Forwards packets by IP address.
    Router,
    /// Is a telephone.
    Telephone,
    /// Is a DOCSIS cable modem.
    DocsisCableDevice,
    /// Is an end station and nothing else.
    StationOnly,
}

impl Capability {
    /// All capabilities in the order of the bits of `LldpSystemCapabilitiesMap`.
    pub const ALL: &[Self] = &[
        Self::Other,
        Self::Repeater,
        Self::Bridge,
        Self::WlanAccessPoint,
        Self::Router,
        Self::Telephone,
        Self::DocsisCableDevice,
        Self::StationOnly,
    ];
}
