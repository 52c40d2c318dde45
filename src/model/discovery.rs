use serde::{Deserialize, Serialize};

use super::{DaemonId, DiscoveryId, NetworkId, SubnetId, Timestamp};
use crate::text_enum::text_enum;

/// A discovery: work for a discovery daemon, with its progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Discovery {
    /// The id of the discovery.
    pub id: DiscoveryId,
    /// The network to be discovered.
    pub network_id: NetworkId,
    /// The daemon that has the work or is to get it. `None`: the first daemon of the network that asks.
    pub daemon_id: Option<DaemonId>,
    /// The subject of the discovery.
    #[serde(rename = "type")]
    pub discovery_type: DiscoveryType,
    /// The subnets to be scanned; `None`: those that the daemon's host has interfaces in.
    pub subnet_ids: Option<Vec<SubnetId>>,
    /// The progress of the work.
    pub phase: DiscoveryPhase,
    /// The progress in percent.
    #[cfg_attr(feature = "openapi", schemars(range(max = 100)))]
    pub progress: u8,
    /// The reason why the work failed, as the daemon states it, or one of the server's codes: `credentials_lost`,
    /// `daemon_restarted`, `no_progress`.
    pub error: Option<String>,
    /// When a daemon got the work; `None`: it is queued, for the first time or again.
    pub handed_out_at: Option<Timestamp>,
    /// Number of times that the work was handed out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// Whether the daemon gets credentials for SNMP with the work.
    ///
    /// The credentials are in the memory of one instance, and are neither stored nor shown.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_credentials: bool,
    /// When the work fails with the error `credentials_lost`. `None`: its credentials have not been missed.
    ///
    /// Set when a daemon asked an instance that does not hold them. The instance that does may still hand the work out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials_lost_at: Option<Timestamp>,
    /// When the daemon began, by its own clock.
    pub started_at: Option<Timestamp>,
    /// When the work ended, by the clock of the daemon that ended it.
    pub finished_at: Option<Timestamp>,
    /// Whether the work was cancelled and its daemon has not confirmed that it has stopped.
    pub is_cancelling: bool,
    /// When the daemon was first sent the cancellation; `None`: it was not, or need not be any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancellation_sent_at: Option<Timestamp>,
    /// When the work was queued.
    pub created_at: Timestamp,
    /// When the discovery last changed.
    pub updated_at: Timestamp,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Discovery {
    /// Returns whether the work is neither finished nor failed nor cancelled.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        !self.phase.is_final()
    }
}

text_enum! {
    /// The subject of a discovery.
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum DiscoveryType {
        /// The host that the daemon runs on, and its subnets.
        SelfReport = "SelfReport",
        /// The hosts of subnets.
        Network = "Network",
        /// The containers of the host that the daemon runs on.
        Docker = "Docker",
        /// The host that the daemon runs on, its containers, and the hosts of subnets.
        ///
        /// Daemons older than 0.15 do the work as `Network`.
        Unified = "Unified",
    }
}

impl DiscoveryType {
    /// Returns whether the work is about the daemon's own host. No other daemon can do such work.
    #[must_use]
    pub const fn is_about_own_host(self) -> bool {
        matches!(self, Self::SelfReport | Self::Docker)
    }
}

text_enum! {
    /// The progress of a discovery.
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum DiscoveryPhase {
        /// Queued, or handed out to a daemon that has not begun.
        Pending = "Pending",
        /// The daemon is about to begin.
        Starting = "Starting",
        /// The daemon has begun.
        Started = "Started",
        /// The daemon scans.
        Scanning = "Scanning",
        /// The work is finished.
        Complete = "Complete",
        /// The daemon could not finish the work.
        Failed = "Failed",
        /// A user cancelled the work.
        Cancelled = "Cancelled",
    }
}

impl DiscoveryPhase {
    /// Returns whether the work has ended.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Complete | Self::Failed | Self::Cancelled)
    }
}
