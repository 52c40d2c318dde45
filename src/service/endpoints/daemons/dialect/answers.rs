//! The answers to daemons, in the form that they read.

use serde::Serialize;
use serde_json::{Map, Value};

use super::ids::without_kind;
use super::{Dialect, POLL_MODES, Wire, rows};
use crate::inventory::Error;
use crate::model::{DaemonMode, Host, Subnet};

/// The lists of a host in an answer, whose rows are records too.
const PART_LISTS: [&str; 4] = ["interfaces", "ports", "services", "if_entries"];

impl Dialect {
    /// Returns a host as the daemon reads it.
    pub(in crate::service::endpoints::daemons) fn host(self, host: &Host) -> Result<Value, Error> {
        let mut answer = serde_json::to_value(host).map_err(Error::internal)?;
        let Some(members) = answer.as_object_mut().filter(|_| self.is_versioned) else { return Ok(answer) };
        rows::replace(members, "chassis_id", |id| Some(without_kind(&id)));
        if let Some(Value::Array(entries)) = members.get_mut("if_entries") {
            entries.retain(is_within_32_bits);
        }
        for list in PART_LISTS {
            if let Some(Value::Array(records)) = members.get_mut(list) {
                records.iter_mut().filter_map(Value::as_object_mut).for_each(|row| self.record(row));
            }
        }
        self.record(members);
        if self.wire.has_ip_addresses {
            rows::rename(members, "if_entries", "table");
            let addresses = members.remove("interfaces");
            rows::rename(members, "table", "interfaces");
            members.extend(addresses.map(|addresses| ("ip_addresses".to_owned(), addresses)));
        }
        Ok(answer)
    }

    /// Returns a subnet as the daemon reads it.
    pub(in crate::service::endpoints::daemons) fn subnet(self, subnet: &Subnet) -> Result<Value, Error> {
        Ok(self.subnet_document(serde_json::to_value(subnet).map_err(Error::internal)?))
    }

    /// Returns a subnet, given as JSON, as the daemon reads it.
    pub(in crate::service::endpoints::daemons) fn subnet_document(self, mut answer: Value) -> Value {
        if let Some(members) = answer.as_object_mut().filter(|_| self.is_versioned) {
            self.record(members);
            let Wire { unread_subnet_types: unread, .. } = self.wire;
            if members.get("subnet_type").and_then(Value::as_str).is_some_and(|name| unread.contains(&name)) {
                members.insert("subnet_type".to_owned(), "Unknown".into());
            }
        }
        answer
    }

    /// Returns another value as the daemon reads it: networks and modes have the names that it knows.
    pub(in crate::service::endpoints::daemons) fn value(
        self,
        value: &impl Serialize,
    ) -> Result<Value, Error> {
        let mut answer = serde_json::to_value(value).map_err(Error::internal)?;
        self.rename_all(&mut answer);
        Ok(answer)
    }

    fn rename_all(self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                rows::rename(members, "network_id", self.network_id);
                let mode = members.get("mode").and_then(Value::as_str).and_then(super::mode_named);
                let [polls, is_polled] = if self.is_versioned { self.wire.modes } else { POLL_MODES };
                if let Some(mode) = mode {
                    let name = if mode == DaemonMode::DaemonPoll { polls } else { is_polled };
                    members.insert("mode".to_owned(), name.into());
                }
                members.values_mut().for_each(|member| self.rename_all(member));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename_all(item)),
            _ => {}
        }
    }

    /// Renames the members of a record, and those of its bindings, and adds the times that newer daemons expect.
    fn record(self, record: &mut Map<String, Value>) {
        rows::rename(record, "network_id", self.network_id);
        if !self.wire.has_ip_addresses {
            return;
        }
        rows::rename(record, "interface_id", "ip_address_id");
        if record.get("type").and_then(Value::as_str) == Some("Interface") {
            record.insert("type".to_owned(), "IPAddress".into());
        }
        for (name, same_as) in [("last_seen_at", "updated_at"), ("valid_from", "created_at")] {
            let time = record.get(same_as).cloned().unwrap_or_default();
            record.entry(name).or_insert(time);
        }
        if record.contains_key("if_index") {
            record.entry("neighbor_candidates").or_insert_with(|| Value::Array(Vec::new()));
        }
        if let Some(Value::Array(bindings)) = record.get_mut("bindings") {
            bindings.iter_mut().filter_map(Value::as_object_mut).for_each(|binding| self.record(binding));
        }
    }
}

/// Returns whether a daemon can read the numbers of a row. Its index and type have 32 bits there.
fn is_within_32_bits(row: &Value) -> bool {
    let fits =
        |name: &str| row.get(name).and_then(Value::as_i64).is_none_or(|number| i32::try_from(number).is_ok());
    fits("if_index") && fits("if_type")
}
