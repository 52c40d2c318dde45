//! The fields that the rows of a CSV have.

use std::collections::BTreeSet;

use crate::inventory::{Entity, Error, ErrorKind};
use crate::model::{Field, Form, Host, Record as _};

/// The field of hosts with custom fields.
pub(super) const CUSTOM: &str = "custom";

/// The fields that new hosts must have.
const REQUIRED: [&str; 2] = ["name", "network_id"];

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

    /// Returns the first required field without a column, which only rows of stored hosts may lack.
    pub(super) fn missing(&self) -> Option<&'static str> {
        REQUIRED.into_iter().find(|field| !self.has(field))
    }

    /// Gives a host the stored values of the fields without a column, and of those whose stored text an empty cell shows.
    pub(super) fn keep_others(&self, before: &Host, host: &mut Host) {
        for field in Host::FIELDS.iter().filter(|field| field.name != CUSTOM) {
            if !self.has(field.name) || is_blank(field, before) && is_blank(field, host) {
                field.access.copy(host, before);
            }
        }
        let has_others = host.custom.keys().any(|name| !self.custom.contains(name));
        if has_others || (self.has(CUSTOM) && self.custom.is_empty()) {
            return;
        }
        let others = before.custom.iter().filter(|(name, _)| !self.custom.contains(*name));
        host.custom.extend(others.map(|(name, value)| (name.clone(), value.clone())));
    }

    /// Returns the column whose list lacks a part to which a field without a column refers, and the reason, if that is the error.
    pub(super) fn column_without_part(&self, error: &Error) -> Option<(&'static str, String)> {
        let ErrorKind::ReferenceInvalid { entity, field } = error.kind() else { return None };
        let column = match entity {
            Entity::Interface => "interfaces",
            Entity::Port => "ports",
            _ => return None,
        };
        let (referring, _) = field.split_once('.')?;
        let reason = || format!("lacks the {entity} to which {field} of the stored host refers");
        (self.has(column) && !self.has(referring)).then(|| (column, reason()))
    }
}

/// Returns whether a field is a text that an export shows as an empty cell: a null, or a text without characters.
fn is_blank(field: &Field<Host>, host: &Host) -> bool {
    let is_text = matches!(field.form, Form::Text { .. });
    is_text && field.access.texts(host).iter().flatten().all(|(_, text)| text.is_empty())
}
