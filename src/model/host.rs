use serde::{Deserialize, Serialize};

use super::{
    CredentialId, Custom, HostId, HostRole, IfEntry, Interface, InterfaceId, LldpChassisId, NetworkId, Port,
    Redaction, Service, ServiceId, Source, TagId, Timestamp, record,
};

/// A device on a network, with everything recorded about it.
///
/// Deserialization requires `id`, `network_id`, `name`, `created_at` and `updated_at`. Other missing fields count as
/// empty, and a missing source as [`Source::Unknown`].
///
/// ```
/// use toposcope::model::{Host, Source};
///
/// let host: Host = serde_json::from_str(
///     r#"{
///         "id": "133e671d-8ee1-51bd-903c-32657d3d8ef1",
///         "network_id": "8476cd6d-34bc-5725-8e5b-3c2adcf38402",
///         "name": "core switch",
///         "created_at": "2026-08-14T12:00:14Z",
///         "updated_at": "2026-08-14T12:00:14Z",
///         "source": {"type": "Manual"}
///     }"#,
/// )?;
/// assert_eq!(host.source, Source::Manual);
/// assert!(host.hostname.is_none() && host.ports.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Host {
    /// The host's id.
    pub id: HostId,
    /// The network the host is on.
    pub network_id: NetworkId,
    /// The display name. Empty on many discovered devices.
    pub name: String,
    /// The DNS name, or the name the device reports for itself.
    pub hostname: Option<String>,
    /// Free text. On discovered devices, the description the device reports, control characters included.
    pub description: Option<String>,
    /// `sysName`: the name that the device reports for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sys_name: Option<String>,
    /// `sysDescr`: hardware and software, as the device describes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sys_descr: Option<String>,
    /// `sysObjectID` in numeric form, without a leading dot: the vendor's id of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sys_object_id: Option<String>,
    /// `sysLocation`: the location of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sys_location: Option<String>,
    /// `sysContact`: the person or team responsible for the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sys_contact: Option<String>,
    /// The id of the chassis. It is the id that the device announces by LLDP, or else its address as a bridge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chassis_id: Option<LldpChassisId>,
    /// The manufacturer of the chassis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manufacturer: Option<String>,
    /// The model of the chassis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The serial number of the chassis. Devices also report placeholders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial_number: Option<String>,
    /// The URL of the device's management interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management_url: Option<String>,
    /// The role of the device, as a user set it; `None`: the topology derives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<HostRole>,
    /// Whether user interfaces should hide the host. Lists still contain it.
    #[serde(default)]
    pub hidden: bool,
    /// When the host was first recorded.
    pub created_at: Timestamp,
    /// When the host or one of its embedded records last changed.
    pub updated_at: Timestamp,
    /// When a report last showed the host, rounded down to the hour; `None`: none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// Whether reports no longer show the host. All its parts that reports have shown are stale, or a report of its
    /// network came seven days or more after the last one that shows the host.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stale: bool,
    /// The ids of the host's tags.
    #[serde(default)]
    pub tags: Vec<TagId>,
    /// Fields of the host application or of users, by name.
    #[serde(
        default,
        deserialize_with = "super::custom::stored",
        skip_serializing_if = "std::collections::BTreeMap::is_empty"
    )]
    #[cfg_attr(feature = "openapi", schemars(with = "super::json_schema::CustomFields"))]
    pub custom: Custom,
    /// The origin of the record.
    #[serde(default)]
    pub source: Source,
    /// The hypervisor service that runs a virtual machine; `None`: not virtual.
    pub virtualization: Option<HostVirtualization>,
    /// The credentials for querying the host.
    #[serde(default)]
    pub credential_assignments: Vec<CredentialAssignment>,
    /// The host's addresses.
    #[serde(default, deserialize_with = "crate::fair_threads::long_list")]
    pub interfaces: Vec<Interface>,
    /// The host's open ports. Scans of a single device have found more than 50,000.
    #[serde(default, deserialize_with = "crate::fair_threads::long_list")]
    pub ports: Vec<Port>,
    /// The services that run on the host.
    #[serde(default, deserialize_with = "crate::fair_threads::long_list")]
    pub services: Vec<Service>,
    /// The rows of the host's SNMP interface table.
    #[serde(default, deserialize_with = "crate::fair_threads::long_list")]
    pub if_entries: Vec<IfEntry>,
}

/// The fields of [`Host`]. The module `field` explains the rows.
macro_rules! host_fields {
    ($then:ident $($argument:tt)*) => { $then! { [$($argument)*] Host: 1024;
        id: HostId;
        network_id: NetworkId = required "The network the host is on.";
        name: String = required "The display name.", reported, concealed(Redaction::Names);
        hostname: Option<String> = "The DNS name, or the name the device reports for itself.",
            reported, concealed(Redaction::Names);
        description: Option<String> = "Free text.", reported;
        sys_name: Option<String> = "`sysName`: the name that the device reports for itself.",
            reported, concealed(Redaction::Names);
        sys_descr: Option<String> = "`sysDescr`: hardware and software, as the device describes them.", reported;
        sys_object_id: Option<String> = "`sysObjectID` in numeric form.", reported;
        sys_location: Option<String> = "`sysLocation`.", reported;
        sys_contact: Option<String> = "`sysContact`.", reported;
        chassis_id: Option<LldpChassisId> = "The device's chassis id by LLDP.", reported;
        manufacturer: Option<String> = "The manufacturer of the chassis.", reported;
        model: Option<String> = "The model of the chassis.", reported;
        serial_number: Option<String> = "The serial number of the chassis.",
            reported, concealed(Redaction::Serials);
        management_url: Option<String> = "The URL of the device's management interface.", reported;
        role: Option<HostRole> = "The role of the device; derived if absent.";
        hidden: bool = "Whether user interfaces should hide the host.";
        created_at: Timestamp;
        updated_at: Timestamp;
        last_seen_at: Option<Timestamp>;
        is_stale: bool;
        tags: Vec<TagId> = "The ids of the host's tags.";
        custom: Custom = "Fields of the host application or of users, by name.";
        source: Source = "The origin of the record.";
        virtualization: Option<HostVirtualization> = "The hypervisor service.",
            reported, concealed(Redaction::Names), local;
        credential_assignments: Vec<CredentialAssignment> = "Credentials.", local;
        interfaces: Vec<Interface> = parts "The host's addresses.";
        ports: Vec<Port> = parts "The host's open ports.";
        services: Vec<Service> = parts "The services of the host.", local;
        if_entries: Vec<IfEntry> = parts "The SNMP interface table.", local;
    } };
}

pub(crate) use host_fields;

host_fields!(record);

impl Host {
    /// Sorts the embedded lists into display order.
    ///
    /// Interfaces and services are sorted by position, interface entries by index, ports by number and protocol, and
    /// the bindings of each service by creation time. Ties are broken by id.
    pub fn sort_embedded(&mut self) {
        self.interfaces.sort_by_key(|interface| (interface.position, interface.id));
        self.ports.sort_by_key(|port| (port.number, port.protocol, port.id));
        self.services.sort_by_key(|service| (service.position, service.id));
        for service in &mut self.services {
            service.bindings.sort_by_key(|binding| (binding.created_at, binding.id));
        }
        self.if_entries.sort_by_key(|entry| (entry.if_index, entry.id));
    }
}

/// The virtualization platform of a virtual host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", content = "details")]
#[non_exhaustive]
pub enum HostVirtualization {
    /// The host is a Proxmox VE guest.
    Proxmox(#[serde(deserialize_with = "crate::json_objects::object")] ProxmoxVirtualization),
}

impl HostVirtualization {
    /// Returns the id of the service, on another host, that runs this host.
    #[must_use]
    pub const fn service_id(&self) -> ServiceId {
        match self {
            Self::Proxmox(details) => details.service_id,
        }
    }
}

/// A Proxmox VE guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ProxmoxVirtualization {
    /// The guest's name in Proxmox.
    pub vm_name: Option<String>,
    /// The guest's number in Proxmox. A string, because clients send strings.
    pub vm_id: Option<String>,
    /// The id of the Proxmox service that runs the guest.
    pub service_id: ServiceId,
}

/// A credential assigned to a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct CredentialAssignment {
    /// The credential's id.
    pub credential_id: CredentialId,
    /// The interfaces the credential applies to; `None`: all interfaces, including those added later.
    pub interface_ids: Option<Vec<InterfaceId>>,
}
