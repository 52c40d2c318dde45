//! What daemons report: hosts and whole reports.

use super::Daemons;
use crate::access::DaemonCaller;
use crate::discovery::Report;
use crate::inventory::{DiscoverOptions, DiscoveryReport, Error};
use crate::model::{Host, Timestamp};

impl Daemons<'_> {
    /// Reconciles a report like [`Reconciliation::reconcile`](crate::inventory::Reconciliation::reconcile), on behalf of a
    /// daemon. The network must be the daemon's.
    ///
    /// Existing hosts never become one: a device that has identities of several is ambiguous.
    ///
    /// # Errors
    /// `AccessDenied` for another network than the daemon's; otherwise those of [`Reconciliation::reconcile`](crate::inventory::Reconciliation::reconcile).
    pub async fn report(
        self,
        daemon: &DaemonCaller,
        report: &Report,
        options: DiscoverOptions,
    ) -> Result<DiscoveryReport, Error> {
        self.inventory.discover_owned_as_daemon(daemon, report.clone(), options).await
    }

    /// Stores a host that a daemon reports, on the network of its key.
    ///
    /// The host is the one with the given id if discovery has made it. Otherwise, it is recognized as in
    /// [`Daemons::report`](crate::inventory::Daemons::report), or is new and keeps its id unless another host has it. The
    /// report is merged into the host as by `report`, the lists as truncated tables. Tags, custom fields, credentials and
    /// neighbors of the report are left out, and so are subnets and virtualizing services that are not on the network.
    /// Subnets follow from addresses, and neighbors from what is reported by LLDP and CDP.
    ///
    /// Returns the host as stored.
    ///
    /// # Errors
    /// - `ReferenceInvalid`: an embedded record refers to nothing within the host.
    /// - `AlreadyExists` with the entity `Port`: two ports share number and protocol.
    /// - `AlreadyExists` with the entity `Host`: the host may be any of several hosts, and none of them was changed.
    /// - `Invalid`, `TooLarge` and `QuotaExceeded`: as for [`Hosts::put`](crate::inventory::Hosts::put).
    /// - `Invalid` with the field `discovery`: the inventory stores hosts [without terms](crate::Inventory::without_host_terms).
    pub async fn report_host(
        self,
        caller: &DaemonCaller,
        host: Host,
        observed_at: Timestamp,
    ) -> Result<Host, Error> {
        self.inventory.discover_host(caller, host, observed_at).await
    }
}
