use crate::discovery::report::Warning;
use crate::model::NetworkId;
use crate::wire::{DiscoveredHost, DiscoveredTable, DiscoveryReport};

impl DiscoveryReport {
    pub(super) fn add_host(&mut self, host: DiscoveredHost) {
        *self.outcomes.entry(host.outcome).or_default() += 1;
        if self.hosts.len() < Self::MAX_DETAILS {
            self.hosts.push(host);
        }
    }

    pub(super) fn add_table(&mut self, table: DiscoveredTable) {
        self.table_count += 1;
        if self.tables.len() < Self::MAX_DETAILS {
            self.tables.push(table);
        }
    }
}

/// Joins warnings of one code, which devices and daemons may repeat as often as they like.
pub(super) fn joined(warnings: &[Warning]) -> Vec<Warning> {
    let mut joined: Vec<Warning> = Vec::new();
    for warning in warnings {
        match joined.iter_mut().find(|other| other.code == warning.code) {
            Some(other) => other.count = other.count.saturating_add(warning.count),
            None => joined.push(warning.clone()),
        }
    }
    joined
}
/// Options of [`Reconciliation::reconcile`](crate::inventory::Reconciliation::reconcile).
///
/// ```
/// use toposcope::inventory::DiscoverOptions;
/// use toposcope::model::NetworkId;
///
/// let options = DiscoverOptions::new(NetworkId::from_u128(1)).dry_run();
/// assert!(options.dry_run && !options.create_neighbors);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoverOptions {
    /// The network that the devices of the report are on.
    pub network_id: NetworkId,
    /// Whether devices that others name as neighbors become hosts as well. Default: false.
    ///
    /// Such hosts are hidden until a report describes them.
    pub create_neighbors: bool,
    /// Whether to return the same answer without storing anything. Default: false.
    pub dry_run: bool,
}

impl DiscoverOptions {
    /// Creates options for a network, with the defaults for everything else.
    #[must_use]
    pub const fn new(network_id: NetworkId) -> Self {
        Self { network_id, create_neighbors: false, dry_run: false }
    }

    /// Creates hosts for devices that others name as neighbors.
    #[must_use]
    pub const fn create_neighbors(self) -> Self {
        Self { create_neighbors: true, ..self }
    }

    /// Returns the answer without storing anything.
    #[must_use]
    pub const fn dry_run(self) -> Self {
        Self { dry_run: true, ..self }
    }
}
