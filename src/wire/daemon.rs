//! The answers of the endpoints for discovery daemons.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use crate::model::SnmpCredentials;
use crate::model::{
    Cidr, DaemonId, DiscoveryDaemon, DiscoveryId, DiscoveryPhase, HostId, NetworkId, SubnetId, Timestamp,
};

/// The answer to the registration of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DaemonRegistration {
    /// The daemon as registered. Its id differs from the requested one if that is taken.
    pub daemon: DiscoveryDaemon,
    /// The host that the daemon runs on.
    pub host_id: HostId,
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
/// The discovery to begin, or null, and whether the daemon has to stop its present work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct DaemonWork(pub Option<DiscoverySession>, pub bool);

/// A discovery as daemons receive it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiscoverySession {
    /// The daemon that gets the work.
    pub daemon_id: DaemonId,
    /// The subject of the discovery.
    pub discovery_type: SessionType,
    /// Always null for new work.
    pub error: Option<String>,
    /// Always null for new work.
    pub finished_at: Option<Timestamp>,
    /// The network to be discovered.
    pub network_id: NetworkId,
    /// The phase: pending.
    pub phase: DiscoveryPhase,
    /// The progress in percent.
    pub progress: u8,
    /// The id of the discovery.
    pub session_id: DiscoveryId,
    /// Always null for new work.
    pub started_at: Option<Timestamp>,
    /// The id of the discovery, for daemons since 0.15.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovery_id: Option<DiscoveryId>,
    /// The credentials, for daemons since 0.15, each with its type. There is one mapping or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential_mappings: Option<Vec<SnmpCredentials>>,
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
        host_id: HostId,
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
        subnet_ids: Option<Vec<SubnetId>>,
    },
    /// The containers of the host that the daemon runs on.
    Docker {
        /// The id under which the daemon reports the host.
        host_id: HostId,
        /// The name of hosts that have none of their own.
        host_naming_fallback: HostNaming,
    },
    /// The host that the daemon runs on, its containers, and the hosts of subnets. For daemons since 0.15.
    Unified {
        /// The id under which the daemon reports its host.
        host_id: HostId,
        /// The name of hosts that have none of their own.
        host_naming_fallback: HostNaming,
        /// Whether the containers of the daemon's host are listed.
        #[serde(default)]
        scan_local_docker_socket: bool,
        /// The settings of the scan.
        #[serde(default)]
        scan_settings: ScanSettings,
        /// The subnets; null: those that the daemon's host has interfaces in; none: only the daemon's host.
        subnet_ids: Option<Vec<SubnetId>>,
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

/// The settings of a scan. Those left out have the defaults of the daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ScanSettings {
    /// Whether all ports are scanned: never.
    #[serde(default)]
    pub is_full_scan: bool,
    /// Whether ports of raw sockets are probed: never.
    #[serde(default)]
    pub probe_raw_socket_ports: bool,
}

/// A subnet that a daemon states when it asks for work. It may have the other fields of a subnet too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct InterfacedSubnet {
    /// The addresses.
    pub cidr: Cidr,
    /// The display name. `None`: the addresses.
    #[serde(default)]
    pub name: Option<String>,
}

/// A VLAN that a daemon reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ReportedVlan {
    /// The number of the VLAN, 1 to 4094.
    pub vlan_number: u16,
    /// The name of the VLAN, which is not stored.
    #[serde(default)]
    pub name: Option<String>,
}

/// The ids of the VLANs that a daemon has reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct VlanIds {
    /// The VLANs, in the order of their numbers.
    pub vlans: Vec<VlanId>,
}

/// The id of a VLAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct VlanId {
    /// The number of the VLAN, 1 to 4094.
    pub vlan_number: u16,
    /// The id by which the daemon names the VLAN in the rows of interfaces. It follows from network and number.
    pub id: Uuid,
}
