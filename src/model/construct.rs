//! Constructors of hosts and their parts: required fields as arguments, everything else empty.

use std::net::IpAddr;

use uuid::{Builder, Uuid};

#[cfg(feature = "topology")]
use super::NodeId;
use super::{
    Binding, BindingTarget, Host, HostId, IfEntry, Interface, NetworkId, Port, PortId, PortNumber, Protocol,
    Service, ServiceDefinition, Source, Timestamp, empty_record, host_fields, if_entry_fields,
};
use crate::sha256::sha256;

impl Host {
    /// Returns a manually entered host without parts, created now.
    ///
    /// Its id follows from network and name, so that building and storing the same host again replaces it. Use
    /// [`with_id`](Self::with_id) where two hosts of a network may share a name.
    ///
    /// ```
    /// use toposcope::model::{BindingTarget, Host, Interface, NetworkId, Port, PortNumber, Protocol, Service, ServiceDefinition};
    ///
    /// let network = NetworkId::from_u128(1);
    /// let mut host = Host::new(network, "printer");
    /// host.hostname = Some("printer.example.net".to_owned());
    /// host.interfaces.push(Interface::new(&host, "192.0.2.7".parse()?));
    ///
    /// let port = Port::new(&host, PortNumber::try_from(443)?, Protocol::Tcp);
    /// let definition = ServiceDefinition::new("Web Service")?;
    /// let service = Service::new(&host, "Web interface", definition)
    ///     .bound_to(BindingTarget::Port { port_id: port.id, interface_id: None });
    /// host.ports.push(port);
    /// host.services.push(service);
    ///
    /// assert_eq!(host.id, Host::new(network, "printer").id);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(network_id: NetworkId, name: impl Into<String>) -> Self {
        let name = name.into();
        Self::with_id(derived_id("host", &[network_id.as_bytes(), name.as_bytes()]), network_id, name)
    }

    /// Returns a manually entered host with this id, without parts, created now.
    #[must_use]
    pub fn with_id(id: HostId, network_id: NetworkId, name: impl Into<String>) -> Self {
        let now = Timestamp::now();
        Self {
            id,
            network_id,
            name: name.into(),
            created_at: now,
            updated_at: now,
            source: Source::Manual,
            ..host_fields!(empty_record)
        }
    }
}

impl Interface {
    /// Returns an interface of this host, placed behind its present interfaces.
    ///
    /// Its id follows from the host and the address; its times are those of the host.
    #[must_use]
    pub fn new(host: &Host, ip_address: IpAddr) -> Self {
        Self {
            id: derived_id("interface", &[host.id.as_bytes(), ip_address.to_string().as_bytes()]),
            host_id: host.id,
            network_id: host.network_id,
            subnet_id: None,
            name: None,
            ip_address,
            mac_address: None,
            mac_source: None,
            position: next_position(host.interfaces.len()),
            created_at: host.created_at,
            updated_at: host.updated_at,
            last_seen_at: None,
            is_stale: false,
        }
    }
}

impl Port {
    /// Returns an open port of this host.
    ///
    /// Its id follows from the host, the number and the protocol; its times are those of the host.
    #[must_use]
    pub fn new(host: &Host, number: PortNumber, protocol: Protocol) -> Self {
        let (digits, name) = (number.get().to_be_bytes(), protocol.to_string());
        Self {
            id: derived_id("port", &[host.id.as_bytes(), &digits, name.as_bytes()]),
            host_id: host.id,
            network_id: host.network_id,
            number,
            protocol,
            created_at: host.created_at,
            updated_at: host.updated_at,
            last_seen_at: None,
            is_stale: false,
        }
    }
}

impl Service {
    /// Returns a manually entered service of this host without bindings, placed behind its present services.
    ///
    /// Its id follows from the host, the name and the definition; its times are those of the host.
    #[must_use]
    pub fn new(host: &Host, name: impl Into<String>, definition: ServiceDefinition) -> Self {
        let name = name.into();
        let parts = [host.id.as_bytes().as_slice(), name.as_bytes(), definition.as_str().as_bytes()];
        Self {
            id: derived_id("service", &parts),
            host_id: host.id,
            network_id: host.network_id,
            name,
            position: next_position(host.services.len()),
            service_definition: definition,
            source: Source::Manual,
            tags: Vec::new(),
            virtualization: None,
            bindings: Vec::new(),
            created_at: host.created_at,
            updated_at: host.updated_at,
            last_seen_at: None,
            is_stale: false,
        }
    }

    /// Adds a binding to a port or an interface of the same host.
    #[must_use]
    pub fn bound_to(mut self, target: BindingTarget) -> Self {
        let binding = Binding::new(&self, target);
        self.bindings.push(binding);
        self
    }
}

impl Binding {
    /// Returns a binding of this service.
    ///
    /// Its id follows from the service and the target; its times are those of the service.
    #[must_use]
    pub fn new(service: &Service, target: BindingTarget) -> Self {
        let (port, interface) = match target {
            BindingTarget::Port { port_id, interface_id } => (port_id, interface_id.unwrap_or_default()),
            BindingTarget::Interface { interface_id } => (PortId::nil(), interface_id),
        };
        Self {
            id: derived_id("binding", &[service.id.as_bytes(), port.as_bytes(), interface.as_bytes()]),
            service_id: service.id,
            network_id: service.network_id,
            target,
            created_at: service.created_at,
            updated_at: service.updated_at,
        }
    }
}

impl IfEntry {
    /// Returns a row of this host's interface table, with no field but its index.
    ///
    /// Its id follows from the host and the index; its times are those of the host.
    #[must_use]
    pub fn new(host: &Host, if_index: i64) -> Self {
        Self {
            id: derived_id("if_entry", &[host.id.as_bytes(), &if_index.to_be_bytes()]),
            host_id: host.id,
            network_id: host.network_id,
            if_index,
            created_at: host.created_at,
            updated_at: host.updated_at,
            ..if_entry_fields!(empty_record)
        }
    }
}

fn next_position(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

/// Returns the id of the topology node that stands for leaves of an anchor. The anchor is a device or a container.
#[cfg(feature = "topology")]
pub(crate) fn group_node_id(anchor: NodeId) -> NodeId {
    derived_id("topology group", &[anchor.as_bytes()])
}

/// Returns the id that follows from a record's kind and its identifying parts. The id is a UUID of version 8.
pub(crate) fn derived_id<I: From<Uuid>>(kind: &str, parts: &[&[u8]]) -> I {
    derived_uuid(kind, parts).into()
}

fn derived_uuid(kind: &str, parts: &[&[u8]]) -> Uuid {
    let mut text = [b"toposcope ", kind.as_bytes()].concat();
    for part in parts {
        // Lengths keep the parts apart.
        text.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        text.extend_from_slice(part);
    }
    let digest = sha256(&text);
    Builder::from_custom_bytes(*digest.first_chunk::<16>().unwrap_or(&[0; 16])).into_uuid()
}
