use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Binding, ServiceDefinition, Source, Timestamp};

/// A service that runs on a host.
///
/// Deserialization treats missing lists as empty and a missing source as [`Source::Unknown`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// The service's id.
    pub id: Uuid,
    /// The host the service runs on.
    pub host_id: Uuid,
    /// The host's network.
    pub network_id: Uuid,
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
    pub tags: Vec<Uuid>,
    /// The container that runs the service; `None` when the service is not containerized.
    pub virtualization: Option<ServiceVirtualization>,
    /// The ports and interfaces on which the service is reachable.
    #[serde(default)]
    pub bindings: Vec<Binding>,
    /// When the service was first recorded.
    pub created_at: Timestamp,
    /// When the service last changed.
    pub updated_at: Timestamp,
}

/// The container platform of a virtualized service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "details")]
#[non_exhaustive]
pub enum ServiceVirtualization {
    /// The service is a Docker container.
    Docker(DockerVirtualization),
}

/// A Docker container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DockerVirtualization {
    /// The container's name in Docker.
    pub container_name: Option<String>,
    /// The container's id in Docker.
    pub container_id: Option<String>,
    /// The id of the Docker service that runs the container.
    pub service_id: Uuid,
}
