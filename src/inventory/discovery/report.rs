use crate::discovery::report::Warning;
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
