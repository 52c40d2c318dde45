//! The forwarding databases of BRIDGE-MIB and Q-BRIDGE-MIB.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::ports::{BasePorts, BridgePorts};
use super::vlans::VlanTables;
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::mib::interfaces::Interfaces;
use crate::discovery::parse::mib::{Accepted, VariableValue};
use crate::discovery::parse::text;
use crate::discovery::report::{FdbRow, FdbStatus, WarningCode};
use crate::model::MacAddress;

/// The longest index that may have an address in it.
const MAX_ARCS: usize = 16;

/// The entries of a bridge by table and index.
#[derive(Debug, Default)]
pub(super) struct Fdb {
    entries: BTreeMap<(FdbTable, FdbIndex), Entry>,
}

/// The table of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FdbTable {
    /// `dot1dTpFdbTable`.
    Bridge,
    /// `dot1qTpFdbTable`, with the number of the database if the index has one.
    QBridge(Option<u32>),
    /// `dot1dTpFdbTable` in the context of a VLAN.
    #[cfg_attr(not(feature = "collect"), expect(dead_code, reason = "files have no contexts"))]
    OfVlan(u16),
}

/// The index of an entry: the MAC address, or another one of devices that do not follow the MIB.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FdbIndex {
    Mac(MacAddress),
    Other(Vec<u64>),
}

#[derive(Debug, Default)]
struct Entry {
    /// The address from its own column. Needed if the index is another or lossy.
    mac_address: Option<MacAddress>,
    bridge_port: Option<i64>,
    status: Option<FdbStatus>,
    is_lossy: bool,
    /// Whether two addresses have the same lossy index.
    is_ambiguous: bool,
}

impl Fdb {
    /// Stores a variable of `dot1dTpFdbTable`.
    pub(super) fn accept(
        &mut self,
        column: u64,
        index: &[u64],
        lossy: bool,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        self.accept_entry(FdbTable::Bridge, column, index, lossy, value, meter)
    }

    /// Stores a variable of `dot1qTpFdbTable`.
    pub(super) fn accept_vlan(
        &mut self,
        column: u64,
        index: &[u64],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        // A number alone counts the rows, and an address alone belongs to no database.
        if matches!(index.len(), 1 | 6) {
            return self.accept_entry(FdbTable::QBridge(None), column, index, false, value, meter);
        }
        let Some((fdb_id, index)) = index.split_first() else { return Accepted::InvalidIndex };
        let Ok(fdb_id) = u32::try_from(*fdb_id) else { return Accepted::InvalidIndex };
        self.accept_entry(FdbTable::QBridge(Some(fdb_id)), column, index, false, value, meter)
    }

    /// Stores a variable of `dot1dTpFdbTable` from the context of a VLAN.
    #[cfg(feature = "collect")]
    pub(super) fn accept_of_vlan(
        &mut self,
        vlan: u16,
        column: u64,
        index: &[u64],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        self.accept_entry(FdbTable::OfVlan(vlan), column, index, false, value, meter)
    }

    fn accept_entry(
        &mut self,
        table: FdbTable,
        column: u64,
        index: &[u64],
        lossy: bool,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let index = match text::mac_of_arcs(index) {
            Some(address) => FdbIndex::Mac(address),
            None if (1..=MAX_ARCS).contains(&index.len()) => FdbIndex::Other(index.to_vec()),
            None => return Accepted::InvalidIndex,
        };
        let key = (table, index);
        meter.add_steps(1);
        if !self.entries.contains_key(&key) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        let entry = self.entries.entry(key).or_default();
        entry.is_lossy |= lossy;
        match column {
            1 => {
                let Some(address) = value.bytes().and_then(text::mac) else { return Accepted::InvalidValue };
                entry.is_ambiguous |= entry.mac_address.is_some_and(|held| held != address);
                entry.mac_address = Some(address);
                Accepted::Yes
            }
            2 => Accepted::store(&mut entry.bridge_port, value.integer()),
            3 => Accepted::store(&mut entry.status, value.integer().and_then(fdb_status)),
            _ => Accepted::Yes,
        }
    }

    /// Returns whether the device's own addresses show that the numbers of some tables are interface indexes.
    ///
    /// RouterOS has such numbers beside a table of bridge ports. Then all own addresses are at the indexes of their interfaces,
    /// and some of them are not at the bridge ports of these. An address of most interfaces could be anywhere.
    fn shows_indexes(
        &self,
        is_of: impl Fn(FdbTable) -> bool,
        base_ports: &BasePorts,
        interfaces: &Interfaces,
        own: &HashMap<MacAddress, usize>,
    ) -> bool {
        if base_ports.has_losses() {
            return false;
        }
        let is_own =
            |address: &MacAddress| own.get(address).is_some_and(|count| count * 2 <= interfaces.len());
        let mut shows_other_ports = false;
        for ((table, index), entry) in &self.entries {
            let Some(address) = entry.address(index).filter(|address| is_of(*table) && is_own(address))
            else {
                continue;
            };
            let Some(number) = entry.port() else { continue };
            let has_it =
                |index: i64| interfaces.get(index).is_some_and(|row| row.mac_address == Some(address));
            if !has_it(number) {
                return false;
            }
            shows_other_ports |= !base_ports.get(number).is_some_and(has_it);
        }
        shows_other_ports
    }

    /// Returns the port numbers of some tables.
    fn numbers(&self, is_of: impl Fn(FdbTable) -> bool) -> BTreeSet<i64> {
        self.entries
            .iter()
            .filter(|((table, _), _)| is_of(*table))
            .filter_map(|(_, entry)| entry.port())
            .collect()
    }

    /// Returns the rows. Bridges with VLANs repeat their entries, without the VLAN, in the table of BRIDGE-MIB.
    pub(super) fn into_rows(
        self,
        vlans: &VlanTables,
        (base_ports, vlan_ports): (&BasePorts, &BTreeMap<(u16, i64), i64>),
        interfaces: &Interfaces,
        meter: &mut Meter,
    ) -> Vec<FdbRow> {
        meter.add_steps(self.entries.len().saturating_mul(5));
        let by_fdb = vlans.by_fdb(meter);
        let own = interfaces.mac_addresses(meter);
        let tables = [
            |table: FdbTable| table == FdbTable::Bridge,
            |table: FdbTable| matches!(table, FdbTable::QBridge(_)),
        ];
        // The numbers of the tables with bridge ports.
        let numbers = tables.map(|is_of| {
            let has_indexes = self.shows_indexes(is_of, base_ports, interfaces, &own);
            (!has_indexes).then(|| self.numbers(is_of))
        });
        let ports = BridgePorts::new(
            base_ports,
            interfaces,
            &numbers.iter().flatten().flatten().copied().collect(),
            meter,
        );
        let [of_bridge, of_q_bridge] = numbers.map(|numbers| match numbers {
            Some(numbers) => ports.of_table(&numbers, meter),
            None => ports.of_indexes(),
        });
        let with_vlan = self.entries.iter().filter(|((table, _), _)| *table != FdbTable::Bridge);
        let with_vlan: BTreeSet<MacAddress> =
            with_vlan.filter_map(|((_, index), entry)| entry.address(index)).collect();
        let mut rows = Vec::new();
        for ((table, index), entry) in &self.entries {
            let Some(mac_address) = entry.address(index) else {
                meter.leave_out(WarningCode::RowIncomplete, || index.describe());
                continue;
            };
            meter.use_rows(1);
            if *table == FdbTable::Bridge && with_vlan.contains(&mac_address) {
                continue;
            }
            let bridge_port = entry.port();
            let (fdb_id, vlan, if_index) = match table {
                FdbTable::Bridge => (None, None, bridge_port.and_then(|port| of_bridge.index_of(port))),
                FdbTable::QBridge(fdb_id) => {
                    let vlan = fdb_id.and_then(|fdb_id| vlans.of_fdb(fdb_id, by_fdb.as_ref()?));
                    (*fdb_id, vlan, bridge_port.and_then(|port| of_q_bridge.index_of(port)))
                }
                FdbTable::OfVlan(vlan) => {
                    let index = |port| {
                        let of_vlan = vlan_ports.get(&(*vlan, port)).copied();
                        of_vlan.or_else(|| base_ports.get(port)).filter(|index| *index > 0)
                    };
                    (None, Some(*vlan), bridge_port.and_then(index))
                }
            };
            let row = FdbRow {
                vlan,
                fdb_id,
                if_index,
                bridge_port,
                status: entry.status,
                ..FdbRow::new(mac_address)
            };
            if !leads_to_interface(&row, interfaces) {
                meter.warn_of(WarningCode::BridgePortUnknown, || {
                    let port = bridge_port.map_or("unknown".to_owned(), |port| port.to_string());
                    format!("{mac_address} behind bridge port {port}")
                });
            }
            rows.push(row);
        }
        rows
    }
}

impl FdbIndex {
    /// Names an entry for a warning.
    fn describe(&self) -> String {
        let arcs = match self {
            Self::Mac(address) => address.octets().iter().copied().map(u64::from).collect(),
            Self::Other(arcs) => arcs.clone(),
        };
        let arcs: Vec<String> = arcs.iter().map(u64::to_string).collect();
        format!("forwarding entry with the index {}", arcs.join("."))
    }
}

impl Entry {
    /// Returns the address, from its column or from the index.
    fn address(&self, index: &FdbIndex) -> Option<MacAddress> {
        let address = match index {
            FdbIndex::Mac(address) if !self.is_lossy => Some(*address),
            FdbIndex::Mac(_) => self.mac_address,
            FdbIndex::Other(arcs) => self.mac_address.or_else(|| text::mac_in_index(arcs)),
        };
        address.filter(|_| !self.is_ambiguous)
    }

    /// Returns the port; 0 is none.
    fn port(&self) -> Option<i64> {
        self.bridge_port.filter(|port| *port != 0)
    }
}

/// Returns whether an entry is behind an interface of the device, if the report shows the interfaces.
fn leads_to_interface(row: &FdbRow, interfaces: &Interfaces) -> bool {
    row.if_index.is_some_and(|index| interfaces.is_empty() || interfaces.contains(index))
}

const fn fdb_status(number: i64) -> Option<FdbStatus> {
    match number {
        1 => Some(FdbStatus::Other),
        2 => Some(FdbStatus::Invalid),
        3 => Some(FdbStatus::Learned),
        4 => Some(FdbStatus::SelfAddress),
        5 => Some(FdbStatus::Configured),
        _ => None,
    }
}
