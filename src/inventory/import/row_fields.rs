//! The fields that the rows of a CSV have.

use std::collections::BTreeSet;

use crate::model::{Host, Record as _};

/// The field of hosts with custom fields.
pub(super) const CUSTOM: &str = "custom";

/// The fields that have a column. Those without one stay as they are stored, and so do custom fields where the column of those without a
/// column of their own is empty.
#[derive(Debug, Default)]
#[cfg_attr(not(feature = "csv"), allow(dead_code, reason = "only a CSV has columns"))]
pub(super) struct RowFields {
    /// The names of the fields.
    pub(super) names: BTreeSet<&'static str>,
    /// The names of the custom fields with a column of their own.
    pub(super) custom: BTreeSet<String>,
}

impl RowFields {
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Gives a host the stored values of the fields without a column.
    pub(super) fn keep_others(&self, before: &Host, host: &mut Host) {
        for field in Host::FIELDS.iter().filter(|field| !self.has(field.name) && field.name != CUSTOM) {
            field.access.copy(host, before);
        }
        let has_others = host.custom.keys().any(|name| !self.custom.contains(name));
        if has_others || (self.has(CUSTOM) && self.custom.is_empty()) {
            return;
        }
        let others = before.custom.iter().filter(|(name, _)| !self.custom.contains(*name));
        host.custom.extend(others.map(|(name, value)| (name.clone(), value.clone())));
    }
}
