use serde::{Deserialize, Serialize};

use super::{DaemonApiKeyId, DaemonId, HostId, NetworkId, SubnetId, TagId, Timestamp, UserId};
use crate::text_enum::text_enum;

/// A discovery daemon: a program that asks for work and reports what it finds.
///
/// A daemon runs on a network. It belongs to the API key that registered it. Requests with other keys do not find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "Daemon"))]
#[non_exhaustive]
pub struct DiscoveryDaemon {
    /// The daemon's id, which the daemon has chosen unless it was taken.
    pub id: DaemonId,
    /// The network that the daemon reports on.
    pub network_id: NetworkId,
    /// The host that the daemon runs on.
    pub host_id: HostId,
    /// The nil id, for clients that expect a user: a daemon acts for none.
    pub user_id: UserId,
    /// The API key that registered the daemon. Left out in the answer to a registration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schemars(with = "DaemonApiKeyId"))]
    pub api_key_id: Option<DaemonApiKeyId>,
    /// The display name.
    pub name: String,
    /// Empty, for clients that expect an address: daemons are never contacted.
    pub url: String,
    /// The side that begins the contact.
    pub mode: DaemonMode,
    /// The version of the daemon's program; `None`: unknown.
    pub version: Option<String>,
    /// The capabilities of the daemon.
    pub capabilities: DaemonCapabilities,
    /// Whether other daemons have taken over its work. They do so after 5 minutes without a request of this daemon.
    pub is_unreachable: bool,
    /// False, for clients that expect it: daemons are never put on standby.
    pub standby: bool,
    /// When the daemon last sent a request.
    pub last_seen: Timestamp,
    /// When the daemon last reported a host, a subnet or VLANs, to the minute. `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_report_at: Option<Timestamp>,
    /// Empty, for clients that expect tags.
    pub tags: Vec<TagId>,
    /// When the daemon was registered.
    pub created_at: Timestamp,
    /// When the daemon last changed. Contact alone does not count as a change.
    pub updated_at: Timestamp,
}

text_enum! {
    /// The side that begins the contact between daemon and server.
    #[derive(Default)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum DaemonMode {
        /// The daemon asks the server for work.
        #[default]
        DaemonPoll = "daemon_poll",
        /// The daemon expects to be asked. This server never contacts it.
        ServerPoll = "server_poll",
    }
}

/// The capabilities of a daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct DaemonCapabilities {
    /// Whether the daemon can list the containers of its host.
    #[serde(default)]
    pub has_docker_socket: bool,
    /// The subnets that the daemon's host has interfaces in.
    #[serde(default)]
    pub interfaced_subnet_ids: Vec<SubnetId>,
}
