//! Conversion of the tables that describe ports to interface entries.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::names;
use crate::discovery::report::{AddressRow, CdpRow, IfEntryRow, LagRow, LldpRow, Table, Tables};
use crate::invariant::Invariant;
use crate::model::{Host, IfEntry, IfEntryId, Interface, derived_id};

/// The interface entries that a report describes.
#[derive(Debug)]
pub(super) struct InterfaceEntries {
    host: Host,
    entries: Vec<IfEntry>,
    by_index: HashMap<i64, usize>,
    /// Positions of entries by name and description; `None`: several entries have the text.
    by_name: HashMap<String, Option<usize>>,
}

impl InterfaceEntries {
    /// Converts all tables of ports. `host` is the host without its lists.
    pub(super) fn new(host: &Host, tables: &Tables) -> Self {
        let rows = tables.if_entries.as_deref().map_or(0, |table| table.rows.len());
        let (entries, by_index, by_name) = (Vec::with_capacity(rows), HashMap::new(), HashMap::new());
        let mut entries = Self { host: host.clone(), entries, by_index, by_name };
        for row in sorted(tables.if_entries.as_deref(), |row| row.if_index) {
            entries.add_row(row);
        }
        for row in sorted(tables.lldp.as_deref(), |row| (row.if_index, row.if_name.clone())) {
            entries.add_lldp(row);
        }
        for row in sorted(tables.cdp.as_deref(), |row| (row.if_index, row.if_name.clone())) {
            entries.add_cdp(row);
        }
        for row in sorted(tables.lag.as_deref(), |row| (row.if_index, row.lag_id)) {
            entries.add_lag(row);
        }
        entries
    }

    pub(super) fn by_index(&self, index: i64) -> Option<&IfEntry> {
        self.entries.get(*self.by_index.get(&index)?)
    }

    /// Sets the address of each port: the first, if there are several.
    pub(super) fn set_interfaces(&mut self, interfaces: &[Interface], rows: Option<&Table<AddressRow>>) {
        let mut addresses: BTreeMap<i64, _> = BTreeMap::new();
        for row in rows.iter().flat_map(|table| table.read_rows()) {
            if let Some((index, address)) = row.if_index.zip(names::own_ip(row.ip_address)) {
                let first = addresses.entry(index).or_insert(address);
                *first = (*first).min(address);
            }
        }
        let ids: HashMap<_, _> =
            interfaces.iter().map(|interface| (interface.ip_address, interface.id)).collect();
        for entry in &mut self.entries {
            entry.interface_id = addresses.get(&entry.if_index).and_then(|address| ids.get(address)).copied();
        }
    }

    pub(super) fn into_parts(self) -> Vec<IfEntry> {
        self.entries
    }

    fn add_row(&mut self, row: &IfEntryRow) {
        let name = row.if_name.as_deref().or(row.if_descr.as_deref()).filter(|name| !name.is_empty());
        let is_known = match row.if_index {
            // The row is about the port with this name.
            0 => name.is_none_or(|name| self.by_name.contains_key(name)),
            index => self.by_index.contains_key(&index),
        };
        if is_known {
            return;
        }
        let vlans = row.vlans.as_ref().map(|vlans| {
            let mut vlans = vlans.clone();
            for list in [&mut vlans.tagged, &mut vlans.other_untagged] {
                list.sort_unstable();
                list.dedup();
            }
            vlans
        });
        let new = IfEntry::new(&self.host, row.if_index);
        let id = name.filter(|_| row.if_index == 0).map_or(new.id, |name| self.id_by_name(name));
        let entry = IfEntry {
            id,
            if_name: row.if_name.clone(),
            if_descr: row.if_descr.clone().unwrap_or_default(),
            if_alias: row.if_alias.clone(),
            if_type: row.if_type,
            speed_bps: row.speed_bps,
            mac_address: row.mac_address.filter(|address| !address.is_zero()),
            admin_status: row.admin_status,
            oper_status: row.oper_status,
            vlans,
            ..new
        };
        self.push(entry);
    }

    /// Returns the id of an entry whose index is unknown.
    fn id_by_name(&self, name: &str) -> IfEntryId {
        derived_id("if_entry", &[self.host.id.as_bytes(), name.as_bytes()])
    }

    fn push(&mut self, entry: IfEntry) -> usize {
        let place = self.entries.len();
        if entry.if_index != 0 {
            self.by_index.entry(entry.if_index).or_insert(place);
        }
        for name in [entry.if_name.as_deref(), Some(entry.if_descr.as_str())].into_iter().flatten() {
            if !name.is_empty() {
                let held = self.by_name.entry(name.to_owned()).or_insert(Some(place));
                *held = held.filter(|held| *held == place);
            }
        }
        self.entries.push(entry);
        place
    }

    /// Returns the entry of a port. The entry is added if no table of interfaces has it.
    ///
    /// A port of which only the name is known has index 0, which no interface has.
    fn port(&mut self, index: Option<i64>, name: Option<&str>) -> Option<&mut IfEntry> {
        let index = index.filter(|index| *index != 0);
        let name = name.filter(|name| !name.is_empty());
        let by_index = index.and_then(|index| self.by_index.get(&index).copied());
        let by_name = || self.by_name.get(name?).copied().flatten();
        let place = match by_index.or_else(by_name) {
            Some(place) => place,
            None => {
                let mut entry = IfEntry::new(&self.host, index.unwrap_or(0));
                match (index, name) {
                    (None, None) => return None,
                    (None, Some(name)) => entry.id = self.id_by_name(name),
                    (Some(_), _) => {}
                }
                entry.if_name = name.map(str::to_owned);
                self.push(entry)
            }
        };
        self.entries.get_mut(place)
    }

    fn add_lldp(&mut self, row: &LldpRow) {
        let Some(entry) = self.port(row.if_index, row.if_name.as_deref()) else { return };
        if entry.lldp_chassis_id.is_some() {
            return;
        }
        entry.lldp_chassis_id = Some(row.chassis_id.clone());
        entry.lldp_port_id.clone_from(&row.port_id);
        entry.lldp_port_desc.clone_from(&row.port_desc);
        entry.lldp_sys_name.clone_from(&row.sys_name);
        entry.lldp_sys_desc.clone_from(&row.sys_desc);
        entry.lldp_mgmt_addr = row.mgmt_addrs.first().cloned();
    }

    fn add_cdp(&mut self, row: &CdpRow) {
        let Some(entry) = self.port(row.if_index, row.if_name.as_deref()) else { return };
        if entry.cdp_device_id.is_some() {
            return;
        }
        entry.cdp_device_id = Some(row.device_id.clone());
        entry.cdp_port_id.clone_from(&row.port_id);
        entry.cdp_platform.clone_from(&row.platform);
        entry.cdp_address.clone_from(&row.address);
    }

    fn add_lag(&mut self, row: &LagRow) {
        if row.if_index == row.lag_id || row.lag_id == 0 {
            return;
        }
        let Some(lag_id) = self.port(Some(row.lag_id), None).map(|aggregate| aggregate.id) else { return };
        if let Some(member) = self.port(Some(row.if_index), None)
            && member.lag_id.is_none()
        {
            member.lag_id = Some(lag_id);
        }
    }
}

/// Returns the rows of a table, ordered by `key` and then by their JSON.
///
/// The result does not depend on the order of the rows in the table.
fn sorted<T: Serialize, K: Ord>(table: Option<&Table<T>>, key: impl Fn(&T) -> K) -> Vec<&T> {
    let mut rows: Vec<&T> = table.iter().flat_map(|table| table.read_rows()).collect();
    let text = |row: &T| serde_json::to_string(row).ok().asserted_or_default();
    rows.sort_by(|one, other| key(one).cmp(&key(other)).then_with(|| text(one).cmp(&text(other))));
    rows
}
