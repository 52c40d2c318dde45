//! The JSON of an imported line.
//!
//! It is that of `POST /api/v1/hosts`, together with the fields that only the server sets: an exported host keeps its id,
//! its times and its age. Odd values from real devices are accepted, to be repaired. A part belongs to the host that
//! contains it, whatever host and network it names.

use std::fmt;
use std::net::IpAddr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use crate::inventory::hosts::{BindingType, or_default};
use crate::model::{
    AdminStatus, BindingTarget, CredentialAssignment, HostRole, HostVirtualization, LldpChassisId,
    LldpPortId, MacAddress, MacSource, Neighbor, OperStatus, PortNumber, Protocol, ServiceDefinition,
    ServiceVirtualization, Source, Timestamp, Vlans,
};

/// A host as read by an import. It is the JSON of the API, tolerant of odd values from real devices.
#[derive(Debug, Deserialize)]
pub(super) struct HostDocument {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) id: Uuid,
    pub(super) network_id: Uuid,
    pub(super) name: String,
    pub(super) hostname: Option<String>,
    pub(super) description: Option<String>,
    pub(super) sys_name: Option<String>,
    pub(super) sys_descr: Option<String>,
    pub(super) sys_object_id: Option<String>,
    pub(super) sys_location: Option<String>,
    pub(super) sys_contact: Option<String>,
    pub(super) chassis_id: Option<LldpChassisId>,
    pub(super) manufacturer: Option<String>,
    pub(super) model: Option<String>,
    pub(super) serial_number: Option<String>,
    pub(super) management_url: Option<String>,
    pub(super) role: Option<HostRole>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) hidden: bool,
    pub(super) created_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
    pub(super) last_seen_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) is_stale: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) tags: Vec<Uuid>,
    pub(super) source: Option<Source>,
    pub(super) virtualization: Option<HostVirtualization>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) credential_assignments: Vec<CredentialAssignment>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) interfaces: Vec<InterfaceDocument>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) ports: Vec<PortDocument>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) services: Vec<ServiceDocument>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) if_entries: Vec<IfEntryDocument>,
}

#[derive(Debug, Deserialize)]
pub(super) struct InterfaceDocument {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) id: Uuid,
    pub(super) subnet_id: Option<Uuid>,
    pub(super) name: Option<String>,
    pub(super) ip_address: IpAddr,
    #[serde(default)]
    pub(super) mac_address: MacDocument,
    pub(super) mac_source: Option<MacSource>,
    pub(super) position: Option<i64>,
    pub(super) created_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
    pub(super) last_seen_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) is_stale: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct PortDocument {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) id: Uuid,
    pub(super) number: NumberDocument,
    pub(super) protocol: Protocol,
    pub(super) created_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
    pub(super) last_seen_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) is_stale: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct ServiceDocument {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) position: Option<i64>,
    pub(super) service_definition: ServiceDefinition,
    pub(super) source: Option<Source>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) tags: Vec<Uuid>,
    pub(super) virtualization: Option<ServiceVirtualization>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) bindings: Vec<BindingDocument>,
    pub(super) created_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
    pub(super) last_seen_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) is_stale: bool,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "FlatBinding")]
pub(super) struct BindingDocument {
    pub(super) id: Uuid,
    pub(super) target: BindingTarget,
    pub(super) created_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
}

/// The JSON form of a binding, with both ids beside the type.
#[derive(Deserialize)]
struct FlatBinding {
    #[serde(default, deserialize_with = "or_default")]
    id: Uuid,
    r#type: BindingType,
    port_id: Option<Uuid>,
    interface_id: Option<Uuid>,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
}

impl TryFrom<FlatBinding> for BindingDocument {
    type Error = &'static str;

    fn try_from(flat: FlatBinding) -> Result<Self, &'static str> {
        let FlatBinding { id, r#type, port_id, interface_id, created_at, updated_at } = flat;
        Ok(Self { id, target: r#type.target(port_id, interface_id)?, created_at, updated_at })
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct IfEntryDocument {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) id: Uuid,
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
    pub(super) lag_id: Option<Uuid>,
    pub(super) vlans: Option<Vlans>,
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
    pub(super) created_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
    pub(super) last_seen_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) is_stale: bool,
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
