use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Binding, ServiceDefinition, Source, Timestamp};

/// What runs on a host.
///
/// Reading takes missing lists for empty ones and a missing source for [`Source::Unknown`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// What names it.
    pub id: Uuid,
    /// The host it runs on.
    pub host_id: Uuid,
    /// The host's network.
    pub network_id: Uuid,
    /// What people call it.
    pub name: String,
    /// Its place among the services of the host. Places need not be unique or without gaps.
    pub position: i64,
    /// What sort of service it is.
    pub service_definition: ServiceDefinition,
    /// Where the record comes from.
    #[serde(default)]
    pub source: Source,
    /// The tags it bears.
    #[serde(default)]
    pub tags: Vec<Uuid>,
    /// What it runs in, when it is a container.
    pub virtualization: Option<ServiceVirtualization>,
    /// Where it is reached.
    #[serde(default)]
    pub bindings: Vec<Binding>,
    /// When it was first recorded.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What a virtual service runs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "details")]
#[non_exhaustive]
pub enum ServiceVirtualization {
    /// It is a container of Docker.
    Docker(DockerVirtualization),
}

/// A container of Docker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DockerVirtualization {
    /// What Docker calls the container.
    pub container_name: Option<String>,
    /// The container's id in Docker.
    pub container_id: Option<String>,
    /// The Docker service that runs it.
    pub service_id: Uuid,
}
