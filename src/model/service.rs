use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    BindingId, HostId, InterfaceId, NetworkId, PortId, Redaction, ServiceId, Source, TagId, Timestamp, record,
};

/// A service that runs on a host.
///
/// Deserialization treats missing lists as empty and a missing source as [`Source::Unknown`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Service {
    /// The service's id.
    pub id: ServiceId,
    /// The host the service runs on.
    pub host_id: HostId,
    /// The host's network.
    pub network_id: NetworkId,
    /// The display name.
    pub name: String,
    /// The display position among the host's services. Positions may repeat and have gaps.
    pub position: i64,
    /// The definition that the service is an instance of.
    pub service_definition: ServiceDefinition,
    /// The origin of the record.
    #[serde(default)]
    pub source: Source,
    /// The ids of the service's tags.
    #[serde(default)]
    pub tags: Vec<TagId>,
    /// The container that runs the service; `None` when the service is not containerized.
    pub virtualization: Option<ServiceVirtualization>,
    /// The ports and interfaces on which the service is reachable.
    #[serde(default)]
    pub bindings: Vec<Binding>,
    /// When the service was first recorded.
    pub created_at: Timestamp,
    /// When the service last changed.
    pub updated_at: Timestamp,
    /// When a report last showed the service, rounded down to the hour; `None`: none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// Whether three complete tables in a row lack the service's port.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stale: bool,
}

/// The fields of [`Service`].
macro_rules! service_fields {
    ($then:ident $($argument:tt)*) => { $then! { [$($argument)*] Service: 512;
        id: ServiceId;
        host_id: HostId;
        network_id: NetworkId;
        name: String = required "The display name.", concealed(Redaction::Names);
        position: i64 = "The display position.", kept;
        service_definition: ServiceDefinition = required "The name of the definition.";
        source: Source = "The origin of the record.";
        tags: Vec<TagId> = "The ids of the service's tags.";
        virtualization: Option<ServiceVirtualization> = "The container.", concealed(Redaction::Names);
        bindings: Vec<Binding> = parts "Where the service listens.";
        created_at: Timestamp;
        updated_at: Timestamp;
        last_seen_at: Option<Timestamp>;
        is_stale: bool;
    } };
}

pub(crate) use service_fields;

service_fields!(record);

/// The container platform of a virtualized service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", content = "details")]
#[non_exhaustive]
pub enum ServiceVirtualization {
    /// The service is a Docker container.
    Docker(#[serde(deserialize_with = "crate::json_objects::object")] DockerVirtualization),
}

impl ServiceVirtualization {
    /// Returns the id of the service that runs the container.
    #[must_use]
    pub const fn service_id(&self) -> ServiceId {
        match self {
            Self::Docker(details) => details.service_id,
        }
    }
}

/// A Docker container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct DockerVirtualization {
    /// The container's name in Docker.
    pub container_name: Option<String>,
    /// The container's id in Docker.
    pub container_id: Option<String>,
    /// The id of the Docker service that runs the container.
    pub service_id: ServiceId,
}

/// The name of a service definition: any non-empty string, stored as given.
///
/// The set of names is open, because every client release adds some.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(inline, extend("minLength" = 1)))]
#[serde(try_from = "String")]
pub struct ServiceDefinition(String);

/// The error for an empty service definition name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a service definition must not be empty")]
#[non_exhaustive]
pub struct ServiceDefinitionError;

impl ServiceDefinition {
    /// Creates a service definition from its name.
    ///
    /// # Errors
    /// Returns an error when the name is empty.
    pub fn new(name: impl Into<String>) -> Result<Self, ServiceDefinitionError> {
        let name = name.into();
        if name.is_empty() { Err(ServiceDefinitionError) } else { Ok(Self(name)) }
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ServiceDefinition {
    type Error = ServiceDefinitionError;

    fn try_from(name: String) -> Result<Self, ServiceDefinitionError> {
        Self::new(name)
    }
}

impl fmt::Display for ServiceDefinition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// A port or interface on which a service is reachable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(try_from = "Wire", into = "Wire")]
pub struct Binding {
    /// The binding's id.
    pub id: BindingId,
    /// The service's id.
    pub service_id: ServiceId,
    /// The network of the service's host.
    pub network_id: NetworkId,
    /// The port or interface.
    pub target: BindingTarget,
    /// When the binding was first recorded.
    pub created_at: Timestamp,
    /// When the binding last changed.
    pub updated_at: Timestamp,
}

/// The port or interface that a service is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingTarget {
    /// A port of the host.
    Port {
        /// The port's id.
        port_id: PortId,
        /// The interface the service listens on; `None`: all interfaces.
        interface_id: Option<InterfaceId>,
    },
    /// A whole interface of the host, for services without ports.
    Interface {
        /// The interface's id.
        interface_id: InterfaceId,
    },
}

/// The JSON form of a binding.
///
/// It is flat, with both ids beside the type, so that it can express invalid combinations.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "Binding"))]
struct Wire {
    id: BindingId,
    service_id: ServiceId,
    network_id: NetworkId,
    interface_id: Option<InterfaceId>,
    port_id: Option<PortId>,
    r#type: Type,
    created_at: Timestamp,
    updated_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "BindingType"))]
enum Type {
    Port,
    Interface,
}

impl TryFrom<Wire> for Binding {
    type Error = &'static str;

    fn try_from(wire: Wire) -> Result<Self, &'static str> {
        let target = match (wire.r#type, wire.port_id, wire.interface_id) {
            (Type::Port, Some(port_id), interface_id) => BindingTarget::Port { port_id, interface_id },
            (Type::Port, None, _) => return Err("a binding of type Port requires a port_id"),
            (Type::Interface, None, Some(interface_id)) => BindingTarget::Interface { interface_id },
            (Type::Interface, None, None) => {
                return Err("a binding of type Interface requires an interface_id");
            }
            (Type::Interface, Some(_), _) => {
                return Err("a binding of type Interface must not have a port_id");
            }
        };
        let Wire { id, service_id, network_id, created_at, updated_at, .. } = wire;
        Ok(Self { id, service_id, network_id, target, created_at, updated_at })
    }
}

impl From<Binding> for Wire {
    fn from(binding: Binding) -> Self {
        let (r#type, port_id, interface_id) = match binding.target {
            BindingTarget::Port { port_id, interface_id } => (Type::Port, Some(port_id), interface_id),
            BindingTarget::Interface { interface_id } => (Type::Interface, None, Some(interface_id)),
        };
        let Binding { id, service_id, network_id, created_at, updated_at, .. } = binding;
        Self { id, service_id, network_id, interface_id, port_id, r#type, created_at, updated_at }
    }
}
