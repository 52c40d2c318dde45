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
    /// The version of the application that embeds the API.
    pub server_version: String,
}

/// The answer to a daemon that asks for work, as a JSON array.
///
/// The session to begin, or null, and whether the daemon has to stop what it is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct DaemonWork(pub Option<DiscoverySession>, pub bool);

/// A session of work as daemons receive it.
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
    /// The id of the session.
    pub session_id: Uuid,
    /// Always null for new work.
    pub started_at: Option<Timestamp>,
}

/// The subject of the discovery in a session.
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
        /// How hosts are named.
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
        /// How hosts are named.
        host_naming_fallback: HostNaming,
    },
}

/// How a daemon names hosts that have no name of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum HostNaming {
    /// After their most telling service.
    #[default]
    BestService,
    /// After their address.
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
