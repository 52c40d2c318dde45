//! The JSON of an imported line.
//!
//! It is that of `POST /api/v1/hosts`, together with the fields that only the server sets: an exported host keeps its id,
//! its times and its age. Odd values from real devices are accepted, to be repaired. A part belongs to the host that
//! contains it, whatever host and network it names.

use std::net::IpAddr;
use std::{fmt, mem};

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use uuid::Uuid;

use crate::inventory::hosts::{BindingType, Given, Omissible, or_default};
use crate::model::{
    AdminStatus, BindingId, BindingTarget, CredentialAssignment, Custom, Host, HostRole, HostVirtualization,
    IfEntryId, InterfaceId, LldpChassisId, LldpPortId, MacAddress, MacSource, Neighbor, NetworkId,
    OperStatus, PortId, PortNumber, Protocol, ServiceDefinition, ServiceId, ServiceVirtualization, Source,
    SubnetId, TagId, Timestamp, Vlans, host_fields, read_source,
};

macro_rules! times_of {
    ($part:ident) => {
        [$part.created_at, $part.updated_at, $part.last_seen_at]
    };
}

/// Defines the document of a host by the table of its fields.
macro_rules! host_document {
    ([] $record:ident: $size:literal; $(
        $field:ident: $type:ty
        $(= $(required $required:literal)? $(parts $parts:literal)? $($optional:literal)?
            $(, $mark:ident $(($argument:expr))?)*)?;
    )*) => {
        /// A host as read by an import. It is the JSON of the API, tolerant of odd values from real devices.
        ///
        /// A required field that is missing has its default value.
        #[derive(Debug, Deserialize)]
        pub(super) struct HostDocument {
            #[serde(default, deserialize_with = "or_default")]
            pub(super) id: Uuid,
            $($(
                $(
                    #[doc = $required]
                    #[serde(default, deserialize_with = "or_default")]
                    pub(super) $field: $type,
                )?
                $(
                    #[doc = $optional]
                    #[serde(default = "Omissible::omitted", deserialize_with = "Given::read")]
                    $field: $type,
                )?
            )?)*
            pub(super) created_at: Option<Timestamp>,
            pub(super) updated_at: Option<Timestamp>,
            pub(super) last_seen_at: Option<Timestamp>,
            /// The `updated_at` that the client expects of the stored host.
            pub(super) expected_updated_at: Option<Timestamp>,
            #[serde(default, deserialize_with = "or_default")]
            pub(super) is_stale: bool,
            #[serde(default, deserialize_with = "or_default")]
            pub(super) interfaces: Vec<InterfaceDocument>,
            #[serde(default, deserialize_with = "or_default")]
            pub(super) ports: Vec<PortDocument>,
            #[serde(default, deserialize_with = "or_default")]
            pub(super) services: Vec<ServiceDocument>,
            #[serde(default, deserialize_with = "or_default")]
            pub(super) if_entries: Vec<IfEntryDocument>,
        }

        impl HostDocument {
            /// Returns whether the host and its parts have neither times nor ages.
            pub(super) fn has_no_time(&self) -> bool {
                let is_none = |times: [Option<Timestamp>; 3], is_stale: bool| times == [None; 3] && !is_stale;
                let bindings = self.services.iter().flat_map(|service| &service.bindings);
                is_none(times_of!(self), self.is_stale)
                    && bindings.map(|part| (part.created_at, part.updated_at)).all(|times| times == (None, None))
                    && self.interfaces.iter().all(|part| is_none(times_of!(part), part.is_stale))
                    && self.ports.iter().all(|part| is_none(times_of!(part), part.is_stale))
                    && self.services.iter().all(|part| is_none(times_of!(part), part.is_stale))
                    && self.if_entries.iter().all(|part| is_none(times_of!(part), part.is_stale))
            }

            /// Moves the values that have the form of a request to a host. They are all but the id, the times, the age
            /// and the parts.
            pub(super) fn move_values(&mut self, host: &mut $record) {
                $($(
                    $(host_document!(self.$field to host, $required);)?
                    $(host_document!(self.$field to host, $optional);)?
                )?)*
            }
        }
    };
    ($document:ident.$field:ident to $host:ident, $sentence:literal) => {
        $host.$field = mem::take(&mut $document.$field);
    };
}

host_fields!(host_document);

#[derive(Debug, Deserialize)]
pub(super) struct InterfaceDocument {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) id: InterfaceId,
    pub(super) subnet_id: Option<SubnetId>,
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
    pub(super) id: PortId,
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
    pub(super) id: ServiceId,
    pub(super) name: String,
    pub(super) position: Option<i64>,
    pub(super) service_definition: ServiceDefinition,
    #[serde(default, deserialize_with = "read_source")]
    pub(super) source: Option<Source>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) tags: Vec<TagId>,
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
    pub(super) id: BindingId,
    pub(super) target: BindingTarget,
    pub(super) created_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
}

/// The JSON form of a binding, with both ids beside the type.
#[derive(Deserialize)]
struct FlatBinding {
    #[serde(default, deserialize_with = "or_default")]
    id: BindingId,
    r#type: BindingType,
    port_id: Option<PortId>,
    interface_id: Option<InterfaceId>,
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
    pub(super) id: IfEntryId,
    pub(super) interface_id: Option<InterfaceId>,
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
    pub(super) lag_id: Option<IfEntryId>,
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

#[cfg(test)]
#[allow(dead_code, reason = "the test reads few fields of the document")]
mod tests {
    use super::*;
    use crate::model::extended::{Extended, extend, extended_fields};

    extended_fields!(host_document);

    #[test]
    fn new_field_of_the_table_is_imported() {
        let line = r#"{"network_id": "8476cd6d-34bc-5725-8e5b-3c2adcf38402", "name": "core", "rack": "R4"}"#;
        let mut document: HostDocument = serde_json::from_str(line).unwrap();
        let mut host = Extended::default();
        document.move_values(&mut host);
        assert_eq!((host.name.as_str(), host.rack.as_deref()), ("core", Some("R4")));
    }
}
