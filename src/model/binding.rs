use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Timestamp;

/// A port or interface on which a service is reachable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct Binding {
    /// The binding's id.
    pub id: Uuid,
    /// The service's id.
    pub service_id: Uuid,
    /// The network of the service's host.
    pub network_id: Uuid,
    /// The port or interface.
    pub target: BindingTarget,
    /// When the binding was first recorded.
    pub created_at: Timestamp,
    /// When the binding last changed.
    pub updated_at: Timestamp,
}

/// The port or interface that a service is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingTarget {
    /// A port of the host.
    Port {
        /// The port's id.
        port_id: Uuid,
        /// The interface the service listens on; `None`: all interfaces.
        interface_id: Option<Uuid>,
    },
    /// A whole interface of the host, for services without ports.
    Interface {
        /// The interface's id.
        interface_id: Uuid,
    },
}

/// The JSON form of a binding.
///
/// It is flat, with both ids beside the type, so that it can express invalid combinations.
#[derive(Serialize, Deserialize)]
struct Wire {
    id: Uuid,
    service_id: Uuid,
    network_id: Uuid,
    interface_id: Option<Uuid>,
    port_id: Option<Uuid>,
    r#type: Type,
    created_at: Timestamp,
    updated_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
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
