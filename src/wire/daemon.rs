//! The answers of the endpoints for discovery daemons.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{DiscoveryDaemon, DiscoveryPhase, Timestamp};

/// The answer to the registration of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DaemonRegistration {
    /// The daemon as registered. Its id differs from the requested one if that is taken.
    pub daemon: DiscoveryDaemon,
    /// The host that the daemon runs on.
    pub host_id: Uuid,
    /// The capabilities of the server.
    pub server_capabilities: ServerCapabilities,
}

/// The capabilities of a server, as daemons receive them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// The oldest version of daemons that the server supports.
    pub minimum_daemon_version: String,
    /// The version of the host application.
    pub server_version: String,
}

/// The answer to a daemon that asks for work, as a JSON array.
///
/// The discovery to begin, or null, and whether the daemon has to stop what it is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct DaemonWork(pub Option<DiscoverySession>, pub bool);

/// A discovery as daemons receive it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiscoverySession {
    /// The daemon that gets the work.
    pub daemon_id: Uuid,
    /// The subject of the discovery.
    pub discovery_type: SessionType,
    /// Always null for new work.
    pub error: Option<String>,
    /// Always null for new work.
    pub finished_at: Option<Timestamp>,
    /// The network to be discovered.
    pub network_id: Uuid,
    /// The phase: pending.
    pub phase: DiscoveryPhase,
    /// The progress in percent.
    pub progress: u8,
    /// The id of the discovery.
    pub session_id: Uuid,
    /// Always null for new work.
    pub started_at: Option<Timestamp>,
}

/// The subject of a discovery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum SessionType {
    /// The host that the daemon runs on.
    SelfReport {
        /// The id under which the daemon reports the host.
        host_id: Uuid,
    },
    /// The hosts of subnets.
    Network {
        /// The name of hosts that have none of their own.
        host_naming_fallback: HostNaming,
        /// Whether ports of raw sockets are probed: never.
        probe_raw_socket_ports: bool,
        /// The credentials for SNMP.
        snmp_credentials: SnmpCredentials,
        /// The subnets; null: those that the daemon's host has interfaces in.
        subnet_ids: Option<Vec<Uuid>>,
    },
    /// The containers of the host that the daemon runs on.
    Docker {
        /// The id under which the daemon reports the host.
        host_id: Uuid,
        /// The name of hosts that have none of their own.
        host_naming_fallback: HostNaming,
    },
}

/// The name that a daemon gives to hosts that have none of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum HostNaming {
    /// The name of their most significant service.
    #[default]
    BestService,
    /// Their address.
    Ip,
}

/// The credentials for SNMP. There are none: the server stores no secrets of devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SnmpCredentials {
    /// Always null.
    pub default_credential: Option<Uuid>,
    /// Always empty.
    pub ip_overrides: Vec<Uuid>,
}
