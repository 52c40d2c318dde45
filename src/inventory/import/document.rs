//! A host as read by an import: the API's JSON, tolerant of odd values from real devices.

use std::fmt;
use std::net::IpAddr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use crate::model::{
    AdminStatus, CredentialAssignment, HostVirtualization, LldpChassisId, LldpPortId, MacAddress, Neighbor,
    OperStatus, PortNumber, Protocol, Service, Source, Timestamp,
};

#[derive(Debug, Deserialize)]
pub(super) struct HostDocument {
    pub(super) id: Uuid,
    pub(super) network_id: Uuid,
    pub(super) name: String,
    pub(super) hostname: Option<String>,
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) hidden: bool,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    #[serde(default)]
    pub(super) tags: Vec<Uuid>,
    #[serde(default)]
    pub(super) source: Source,
    pub(super) virtualization: Option<HostVirtualization>,
    #[serde(default)]
    pub(super) credential_assignments: Vec<CredentialAssignment>,
    #[serde(default)]
    pub(super) interfaces: Vec<InterfaceDocument>,
    #[serde(default)]
    pub(super) ports: Vec<PortDocument>,
    #[serde(default)]
    pub(super) services: Vec<Service>,
    #[serde(default)]
    pub(super) if_entries: Vec<IfEntryDocument>,
}

#[derive(Debug, Deserialize)]
pub(super) struct InterfaceDocument {
    pub(super) id: Uuid,
    pub(super) host_id: Uuid,
    pub(super) network_id: Uuid,
    pub(super) subnet_id: Option<Uuid>,
    pub(super) name: Option<String>,
    pub(super) ip_address: IpAddr,
    #[serde(default)]
    pub(super) mac_address: MacDocument,
    pub(super) position: i64,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

#[derive(Debug, Deserialize)]
pub(super) struct PortDocument {
    pub(super) id: Uuid,
    pub(super) host_id: Uuid,
    pub(super) network_id: Uuid,
    pub(super) number: NumberDocument,
    pub(super) protocol: Protocol,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

#[derive(Debug, Deserialize)]
pub(super) struct IfEntryDocument {
    pub(super) id: Uuid,
    pub(super) host_id: Uuid,
    pub(super) network_id: Uuid,
    pub(super) interface_id: Option<Uuid>,
    pub(super) if_index: i64,
    pub(super) if_name: Option<String>,
    pub(super) if_descr: Option<String>,
    pub(super) if_alias: Option<String>,
    pub(super) if_type: Option<i64>,
    pub(super) speed_bps: Option<u64>,
    #[serde(default)]
    pub(super) mac_address: MacDocument,
    pub(super) admin_status: Option<AdminStatus>,
    pub(super) oper_status: Option<OperStatus>,
    pub(super) neighbor: Option<Neighbor>,
    pub(super) cdp_address: Option<String>,
    pub(super) cdp_device_id: Option<String>,
    pub(super) cdp_platform: Option<String>,
    pub(super) cdp_port_id: Option<String>,
    pub(super) lldp_chassis_id: Option<LldpChassisId>,
    pub(super) lldp_mgmt_addr: Option<String>,
    pub(super) lldp_port_desc: Option<String>,
    pub(super) lldp_port_id: Option<LldpPortId>,
    pub(super) lldp_sys_desc: Option<String>,
    pub(super) lldp_sys_name: Option<String>,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

/// A MAC address as reported by devices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum MacDocument {
    /// Null or missing.
    #[default]
    Absent,
    Empty,
    /// Text that is not six bytes long and not empty.
    Invalid,
    Valid(MacAddress),
}

impl<'de> Deserialize<'de> for MacDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NullOrText;

        impl Visitor<'_> for NullOrText {
            type Value = MacDocument;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a MAC address or null")
            }

            fn visit_unit<E: de::Error>(self) -> Result<MacDocument, E> {
                Ok(MacDocument::Absent)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<MacDocument, E> {
                Ok(match text.parse() {
                    Ok(mac) => MacDocument::Valid(mac),
                    Err(_) if text.is_empty() => MacDocument::Empty,
                    Err(_) => MacDocument::Invalid,
                })
            }
        }

        deserializer.deserialize_any(NullOrText)
    }
}

/// A port number as reported by devices. Some scanners report port 0.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(from = "u16")]
pub(super) enum NumberDocument {
    Zero,
    Valid(PortNumber),
}

impl From<u16> for NumberDocument {
    fn from(number: u16) -> Self {
        PortNumber::try_from(number).map_or(Self::Zero, Self::Valid)
    }
}
