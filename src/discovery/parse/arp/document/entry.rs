//! An entry of a neighbor table in JSON.

use super::super::interface::interface_name;
use super::super::line::state;
use super::super::other_tables::Remarks;
use super::Role;
use super::key::JsonKey;
use crate::discovery::report::NeighborState;

/// The fields of an entry. An object that is no entry has some of them at most.
#[derive(Default)]
pub(super) struct JsonEntry {
    /// The first key of an IP address, whatever its value, and that of a MAC address.
    ip_key: Option<JsonKey>,
    pub(super) ip: Option<String>,
    mac_key: Option<JsonKey>,
    pub(super) mac: Option<String>,
    pub(super) if_name: Option<String>,
    pub(super) if_index: Option<i64>,
    pub(super) state: Option<NeighborState>,
    /// Whether it has a field of other tables.
    has_other_field: bool,
    /// The fields that may be those of other tables, or remarks about an interface.
    remarks: Remarks,
}

impl JsonEntry {
    /// Sets a field. If several have one meaning, the first one with a value counts.
    pub(super) fn set(&mut self, key: JsonKey, text: Option<String>) {
        match key {
            JsonKey::IpAddress | JsonKey::Destination => {
                self.ip_key = self.ip_key.or(Some(key));
                self.ip = self.ip.take().or(text);
            }
            JsonKey::MacAddress | JsonKey::LinkLayerAddress => {
                self.mac_key = self.mac_key.or(Some(key));
                self.mac = self.mac.take().or(text);
            }
            JsonKey::Interface => self.if_name = self.if_name.take().or(text),
            JsonKey::LogicalInterface => {
                self.if_name = self.if_name.take().or_else(|| interface_name(&text?));
            }
            JsonKey::IfIndex => self.if_index = self.if_index.or_else(|| text?.parse().ok()),
            JsonKey::State => {
                let known = || text.as_deref()?.split(' ').find_map(state);
                self.state = self.state.or_else(known);
            }
            JsonKey::StateOfWindows => {
                let known = || text.as_deref().and_then(|text| state(text).or_else(|| numbered_state(text)));
                self.state = self.state.or_else(known);
            }
            JsonKey::OfOther => self.has_other_field = true,
            JsonKey::Remark(remarks) => self.remarks = self.remarks.joined(remarks),
            JsonKey::Flag(value, state) => {
                let is_set = text.is_some_and(|text| text.parse() == Ok(value));
                // An entry that is no longer in use has no other state.
                let is_unset = self.state.is_none() || state == NeighborState::Unreachable;
                self.state = if is_set && is_unset { Some(state) } else { self.state };
            }
            JsonKey::Data | JsonKey::Entries(_) | JsonKey::Table(_) | JsonKey::Other => {}
        }
    }

    /// Returns whether an object with this role and these fields is an entry.
    pub(super) const fn is_entry(&self, role: Role) -> bool {
        match role {
            Role::Entries => self.ip.is_some() || self.mac.is_some(),
            Role::Document | Role::Other => self.ip_key.is_some() && self.mac_key.is_some(),
            Role::Field => false,
        }
    }

    pub(super) const fn is_of_other_table(&self) -> bool {
        let has_interface = self.if_name.is_some() || self.if_index.is_some();
        self.has_other_field || self.remarks.are_of_other_table(has_interface)
    }

    /// Returns whether the IP address is the remote end of a tunnel, as in `bridge -j fdb`, and not that of the MAC address.
    pub(super) fn is_of_forwarding_database(&self) -> bool {
        self.ip_key == Some(JsonKey::Destination) && self.mac_key == Some(JsonKey::MacAddress)
    }
}

/// Reads the number of a state of Windows.
fn numbered_state(number: &str) -> Option<NeighborState> {
    match number {
        "0" | "1" => Some(NeighborState::Unreachable),
        "2" | "3" => Some(NeighborState::Probing),
        "4" => Some(NeighborState::Stale),
        "5" => Some(NeighborState::Reachable),
        "6" => Some(NeighborState::Static),
        _ => None,
    }
}
