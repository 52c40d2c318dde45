//! The fields that the rows of a CSV have.

use std::collections::BTreeSet;
use std::mem;

use crate::model::{Host, Record as _};

/// The field of hosts with custom fields.
pub(super) const CUSTOM: &str = "custom";

/// The fields that have a column. Those without one stay as they are stored.
#[derive(Debug, Default)]
#[cfg_attr(not(feature = "csv"), allow(dead_code, reason = "only a CSV has columns"))]
pub(super) struct RowFields {
    /// The names of the fields. With `custom`, all custom fields are given.
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
        let given = mem::take(&mut host.custom);
        for field in Host::FIELDS.iter().filter(|field| !self.has(field.name)) {
            field.access.copy(host, before);
        }
        if !self.has(CUSTOM) {
            host.custom.retain(|name, _| !self.custom.contains(name));
        }
        host.custom.extend(given);
    }
}
