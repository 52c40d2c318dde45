//! Hosts that daemons report one by one, in the form of hosts.

use std::sync::Arc;

use super::plan::Role;
use super::{DiscoverOptions, Reporting};
use crate::access::DaemonCaller;
use crate::discovery::reconcile::{Merging, device_of};
use crate::discovery::report::{Device, Report, Reporter};
use crate::inventory::schema::host_key;
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{Host, HostId, NetworkId, Timestamp, derived_id};
use crate::wire::DiscoveryOutcome;

/// A device to be discovered.
#[derive(Clone, Debug)]
pub(super) struct ReportedDevice {
    pub(super) device: Arc<Device>,
    /// The device as a host that a daemon reports. `None`: the report describes it by tables.
    pub(super) reported: Option<Arc<Host>>,
    pub(super) role: Role,
}

impl Inventory {
    /// Merges a host that a daemon reports into the stored host of the same device, or stores it as a new one.
    pub(in crate::inventory) async fn discover_host(
        &self,
        caller: &DaemonCaller,
        host: Host,
        observed_at: Timestamp,
    ) -> Result<Host, Error> {
        let (organization, network) = (caller.organization_id, caller.network_id);
        let host = self.reported_host(caller, host).await?;
        let mut device = device_of(&host);
        for id in given_ids(network, host.id) {
            if device.id.is_none() && self.discovered_host(caller, id).await?.is_some() {
                device.id = Some(id);
            }
        }
        let report = Report::new(Reporter::new("daemon"), observed_at);
        let options = DiscoverOptions::new(network);
        let mut discovery =
            self.begin_discovery(Reporting::Daemon(*caller), &report, options, Merging::Forbidden)?;
        let name = host.name.clone();
        let subject =
            ReportedDevice { device: Arc::new(device), reported: Some(Arc::new(host)), role: Role::Reported };
        let discovered = discovery.try_discover(&subject).await?;
        discovery.resolve_macs().await?;
        discovery.resolve_neighbors().await?;
        discovery.mark_stale_hosts().await?;
        let id = match (discovered.outcome, discovered.id) {
            (DiscoveryOutcome::Ambiguous, _) | (_, None) => {
                return Err(ErrorKind::AlreadyExists { entity: Entity::Host, name }.into());
            }
            (_, Some(id)) => id,
        };
        let record = self
            .get(host_key(id))
            .await?
            .ok_or(ErrorKind::NotFound { entity: Entity::Host, id: id.uuid() })?;
        self.decode_host(organization, &record).await
    }
}

/// Returns the ids that a host reported by a daemon may have. The first is the id in the report. The host has the
/// second if another host has the first. There are none for the nil id.
pub(in crate::inventory) fn given_ids(network: NetworkId, given: HostId) -> impl Iterator<Item = HostId> {
    // Always the same id, so that a second report of the host finds the first.
    let derived: HostId = derived_id("discovered host", &[network.as_bytes(), given.as_bytes()]);
    [given, derived].into_iter().filter(move |_| !given.is_nil())
}
