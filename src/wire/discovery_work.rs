//! The inputs for daemons and for their work.

use crate::model::{
    DaemonCapabilities, DaemonId, DaemonMode, DiscoveryId, DiscoveryPhase, DiscoveryType, NetworkId,
    SnmpCredentials, SubnetId, Timestamp,
};

/// The input for [`DiscoveryJobs::create`](crate::inventory::DiscoveryJobs::create).
///
/// ```
/// use toposcope::inventory::NewDiscovery;
/// use toposcope::model::{DiscoveryType, NetworkId, SubnetId};
///
/// let mut new = NewDiscovery::new(NetworkId::from_u128(1));
/// assert_eq!(new.discovery_type, DiscoveryType::Network);
/// new.subnet_ids = Some(vec![SubnetId::from_u128(2)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewDiscovery {
    /// The network to be discovered.
    pub network_id: NetworkId,
    /// The daemon that is to do the work. `None`: the first daemon of the network that asks.
    pub daemon_id: Option<DaemonId>,
    /// The type of the work.
    pub discovery_type: DiscoveryType,
    /// The subnets to be scanned, 1 to 1,000. `None`: the subnets that the daemon's host has interfaces in.
    pub subnet_ids: Option<Vec<SubnetId>>,
    /// The credentials for SNMP that the daemon gets with the work.
    ///
    /// They are in the memory of this inventory and its clones until the discovery ends. If they are lost, by a restart
    /// or because the daemon asks another instance, the discovery fails with the error `credentials_lost`.
    pub snmp_credentials: Option<SnmpCredentials>,
}

impl NewDiscovery {
    /// Creates the input for a scan of all subnets by any daemon of the network.
    #[must_use]
    pub const fn new(network_id: NetworkId) -> Self {
        Self {
            network_id,
            daemon_id: None,
            discovery_type: DiscoveryType::Network,
            subnet_ids: None,
            snmp_credentials: None,
        }
    }
}

/// The input for [`Daemons::register`](crate::inventory::Daemons::register).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewDaemon {
    /// The id that the daemon has chosen.
    pub id: DaemonId,
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// The side that opens the connection.
    pub mode: DaemonMode,
    /// The version of the daemon's program.
    pub version: Option<String>,
    /// The capabilities of the daemon.
    pub capabilities: DaemonCapabilities,
    /// Whether the daemon does all of its work as discoveries of the type `Unified`.
    pub is_unified: bool,
}

impl NewDaemon {
    /// Creates the input for a daemon that asks for work.
    #[must_use]
    pub fn new(id: DaemonId, name: impl Into<String>) -> Self {
        let (mode, capabilities) = (DaemonMode::default(), DaemonCapabilities::default());
        Self { id, name: name.into(), mode, version: None, capabilities, is_unified: false }
    }
}

/// The status that a daemon reports when it asks for work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DaemonStatus {
    /// The version of the daemon's program; `None`: as before.
    pub version: Option<String>,
    /// Whether the daemon can begin new work; `None`: unless it is scanning.
    pub is_ready: Option<bool>,
    /// Whether the daemon can list the containers of its host; `None`: as before.
    pub has_docker_socket: Option<bool>,
    /// The subnets that the daemon's host has interfaces in; `None`: as before. Those of other networks are left out.
    pub interfaced_subnet_ids: Option<Vec<SubnetId>>,
}

/// The progress that a daemon reports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoveryUpdate {
    /// The id of the discovery.
    pub session_id: DiscoveryId,
    /// The daemon that has the discovery.
    pub daemon_id: DaemonId,
    /// The progress.
    pub phase: DiscoveryPhase,
    /// The progress in percent; values over 100 count as 100.
    pub progress: u8,
    /// The reason why the work failed, of at most 65,536 characters.
    pub error: Option<String>,
    /// When the daemon began.
    pub started_at: Option<Timestamp>,
    /// When the work ended.
    pub finished_at: Option<Timestamp>,
}

impl DiscoveryUpdate {
    /// Creates an update without details.
    #[must_use]
    pub const fn new(
        session_id: DiscoveryId,
        daemon_id: DaemonId,
        phase: DiscoveryPhase,
        progress: u8,
    ) -> Self {
        Self { session_id, daemon_id, phase, progress, error: None, started_at: None, finished_at: None }
    }
}
