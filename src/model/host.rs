use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{IfEntry, Interface, Port, Service, Source, Timestamp};

/// A device of a network, with everything that is known to belong to it.
///
/// Reading asks for the ids, the name and the times; whatever else is missing counts as empty, and a missing source as
/// [`Source::Unknown`].
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
pub struct Host {
    /// What names it.
    pub id: Uuid,
    /// The network it is on.
    pub network_id: Uuid,
    /// What people call it. Empty on many devices that were found rather than entered.
    pub name: String,
    /// Its name in DNS, or what it calls itself.
    pub hostname: Option<String>,
    /// Free text; from a device this is its own description, control characters included.
    pub description: Option<String>,
    /// Whether a user interface should leave it out. Lists have it all the same.
    #[serde(default)]
    pub hidden: bool,
    /// When it was first recorded.
    pub created_at: Timestamp,
    /// When it or something embedded in it last changed.
    pub updated_at: Timestamp,
    /// The tags it bears.
    #[serde(default)]
    pub tags: Vec<Uuid>,
    /// Where the record comes from.
    #[serde(default)]
    pub source: Source,
    /// What it runs on, when it is a virtual machine.
    pub virtualization: Option<HostVirtualization>,
    /// The credentials to be used when it is asked about itself.
    #[serde(default)]
    pub credential_assignments: Vec<CredentialAssignment>,
    /// Its addresses.
    #[serde(default)]
    pub interfaces: Vec<Interface>,
    /// Its open ports. Scans of a single device have found more than 50,000.
    #[serde(default)]
    pub ports: Vec<Port>,
    /// What runs on it.
    #[serde(default)]
    pub services: Vec<Service>,
    /// The rows of its interface table, as SNMP tells them.
    #[serde(default)]
    pub if_entries: Vec<IfEntry>,
}

impl Host {
    /// Puts the embedded lists into the order in which they are shown: interfaces and services by position, interface
    /// entries by index, ports by number and protocol, the bindings of each service by age; what is equal in these, by
    /// id.
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

/// What a virtual host runs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "details")]
#[non_exhaustive]
pub enum HostVirtualization {
    /// It is a guest of Proxmox VE.
    Proxmox(ProxmoxVirtualization),
}

impl HostVirtualization {
    /// The service, on another host, that runs it.
    #[must_use]
    pub const fn service_id(&self) -> Uuid {
        match self {
            Self::Proxmox(details) => details.service_id,
        }
    }
}

/// A guest of Proxmox VE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxmoxVirtualization {
    /// What Proxmox calls the guest.
    pub vm_name: Option<String>,
    /// The guest's number in Proxmox; text, because that is what clients send.
    pub vm_id: Option<String>,
    /// The Proxmox service that runs it.
    pub service_id: Uuid,
}

/// A credential to be used on a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialAssignment {
    /// The credential.
    pub credential_id: Uuid,
    /// The interfaces it is good for; `None`: all of the host's, also later ones.
    pub interface_ids: Option<Vec<Uuid>>,
}
