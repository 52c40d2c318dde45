//! IF-MIB: `ifTable` and `ifXTable`.

use std::collections::{HashMap, hash_map};

use super::{Accepted, VariableValue};
use crate::discovery::parse::meter::{MAX_INTERFACES, Meter};
use crate::discovery::parse::text;
use crate::discovery::report::{IfEntryRow, WarningCode};
use crate::model::{AdminStatus, MacAddress, OperStatus, Vlans};

/// `ifType` of a link aggregation group.
pub(super) const LAG_TYPE: i64 = 161;
/// `ifType` of Ethernet interfaces, with the types that RFC 3635 deprecates.
const ETHERNET_TYPES: &[i64] = &[6, 7, 26, 62, 69, 117];
/// The greatest speed that is believed, in bits per second: 10 Tbit/s.
const MAX_SPEED: u64 = 10_000_000_000_000;
/// `ifSpeed` of an interface whose speed it cannot express.
const SATURATED_SPEED: u64 = u32::MAX as u64;

/// The interfaces of a device, in the order of the input.
///
/// A list takes a third of the memory of an ordered map here, because the rows are large.
#[derive(Debug, Default)]
pub(super) struct Interfaces {
    entries: Vec<Entry>,
    /// The places of the entries by index.
    places: HashMap<i64, usize>,
}

#[derive(Debug)]
struct Entry {
    /// The row, whose speed is `ifSpeed` as the device sent it.
    row: IfEntryRow,
    /// `ifHighSpeed` as the device sent it, in millions of bits per second.
    high_speed: Option<u64>,
}

impl Entry {
    const fn new(index: i64) -> Self {
        Self { row: IfEntryRow::new(index), high_speed: None }
    }

    /// Returns the speed in bits per second.
    ///
    /// `ifHighSpeed` replaces `ifSpeed`, which ends at 4.29 Gbit/s, unless it is the same speed in whole millions. Some
    /// devices send it in bits per second, equal to `ifSpeed`; others send both in millions.
    fn speed(&self) -> Option<u64> {
        let low = self.row.speed_bps;
        let is_bits = low == self.high_speed && low.is_some_and(|speed| speed >= 1_000_000);
        let low = low.filter(|speed| *speed != SATURATED_SPEED && *speed <= MAX_SPEED);
        let Some(high) = self.high_speed.filter(|speed| *speed > 0 && !is_bits) else { return low };
        // 4,294 and 4,295 are the limit of `ifSpeed` again.
        if self.row.speed_bps == Some(SATURATED_SPEED) && matches!(high, 4_294 | 4_295) {
            return None;
        }
        let speed = high.saturating_mul(1_000_000);
        if let Some(exact) = low.filter(|low| low.abs_diff(speed) <= 500_000) {
            return Some(exact);
        }
        Some(speed).filter(|speed| *speed <= MAX_SPEED).or(low)
    }

    /// Returns whether a speed that was sent is above the greatest one.
    fn has_excessive_speed(&self) -> bool {
        let high = self.high_speed.filter(|high| Some(*high) != self.row.speed_bps);
        let is_excessive = |speed: u64| speed > MAX_SPEED;
        high.is_some_and(|high| is_excessive(high.saturating_mul(1_000_000)))
            || self.row.speed_bps.is_some_and(is_excessive)
    }
}

/// The interfaces that have a name, description, alias or MAC address to themselves.
#[derive(Debug, Default)]
pub(super) struct InterfaceNames<'i> {
    names: HashMap<&'i str, Option<i64>>,
    /// By name or description in lower case, without spaces and without the medium that follows ` : `.
    plain_names: HashMap<String, Option<i64>>,
    aliases: HashMap<&'i str, Option<i64>>,
    macs: HashMap<MacAddress, Option<i64>>,
}

impl Interfaces {
    pub(super) fn accept(
        &mut self,
        column: u64,
        index: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        if !matches!(column, 1 | 2 | 3 | 5..=8) {
            return Accepted::Yes;
        }
        let entry = match self.entry(index, meter) {
            Ok(entry) => entry,
            Err(refused) => return refused,
        };
        let row = &mut entry.row;
        match column {
            2 => Accepted::store(&mut row.if_descr, value.bytes().map(text::text)),
            3 => Accepted::store(&mut row.if_type, value.integer()),
            5 => Accepted::store(&mut row.speed_bps, value.integer().and_then(|speed| speed.try_into().ok())),
            6 => accept_mac(&mut row.mac_address, value),
            7 => Accepted::store(&mut row.admin_status, value.integer().and_then(admin_status)),
            8 => Accepted::store(&mut row.oper_status, value.integer().and_then(oper_status)),
            _ => Accepted::Yes,
        }
    }

    pub(super) fn accept_extended(
        &mut self,
        column: u64,
        index: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        if !matches!(column, 1 | 15 | 18) {
            return Accepted::Yes;
        }
        let entry = match self.entry(index, meter) {
            Ok(entry) => entry,
            Err(refused) => return refused,
        };
        if column == 15 {
            let speed = value.integer().and_then(|speed| u64::try_from(speed).ok());
            return Accepted::store(&mut entry.high_speed, speed);
        }
        let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
        let place = if column == 1 { &mut entry.row.if_name } else { &mut entry.row.if_alias };
        *place = text::non_empty(bytes);
        Accepted::Yes
    }

    fn entry(&mut self, index: u64, meter: &mut Meter) -> Result<&mut Entry, Accepted> {
        let index = i64::try_from(index).map_err(|_| Accepted::InvalidIndex)?;
        meter.add_steps(1);
        let place = match self.places.entry(index) {
            hash_map::Entry::Occupied(place) => *place.get(),
            hash_map::Entry::Vacant(place) if meter.admit_interface(self.entries.len()) => {
                self.entries.push(Entry::new(index));
                *place.insert(self.entries.len() - 1)
            }
            hash_map::Entry::Vacant(_) => return Err(Accepted::TooMany),
        };
        debug_assert!(place < self.entries.len(), "every place is that of an entry");
        self.entries.get_mut(place).ok_or(Accepted::TooMany)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn contains(&self, index: i64) -> bool {
        self.places.contains_key(&index)
    }

    /// Returns whether an interface can be a bridge port: one of Ethernet, an aggregate, or one of unknown type.
    pub(super) fn is_ethernet(&self, index: i64) -> bool {
        let kind = self.get(index).map(|row| row.if_type);
        kind.is_some_and(|kind| kind.is_none_or(|kind| kind == LAG_TYPE || ETHERNET_TYPES.contains(&kind)))
    }

    pub(super) fn get(&self, index: i64) -> Option<&IfEntryRow> {
        self.entries.get(*self.places.get(&index)?).map(|entry| &entry.row)
    }

    /// Returns the row of an interface that other tables name, for devices without an interface table.
    ///
    /// The row is added if it is new. It is no row of the input.
    pub(super) fn derive(&mut self, index: i64) -> Option<&mut IfEntryRow> {
        let is_known = self.places.contains_key(&index);
        if index <= 0 || (!is_known && self.entries.len() >= MAX_INTERFACES) {
            return None;
        }
        let place = *self.places.entry(index).or_insert_with(|| {
            self.entries.push(Entry::new(index));
            self.entries.len() - 1
        });
        self.entries.get_mut(place).map(|entry| &mut entry.row)
    }

    /// Returns the indexes of the interfaces with one of these types. Interfaces of unknown type are among them.
    pub(super) fn of_types(&self, types: &[i64], meter: &mut Meter) -> Vec<i64> {
        meter.add_steps(self.entries.len().saturating_mul(2));
        let is_of = |entry: &&Entry| entry.row.if_type.is_none_or(|kind| types.contains(&kind));
        let mut indexes: Vec<i64> =
            self.entries.iter().filter(is_of).map(|entry| entry.row.if_index).collect();
        indexes.sort_unstable();
        indexes
    }

    /// Returns whether the VLANs of any interface are known.
    pub(super) fn have_vlans(&self, meter: &mut Meter) -> bool {
        meter.add_steps(self.entries.len());
        self.entries.iter().any(|entry| entry.row.vlans.is_some())
    }

    /// Returns the number of interfaces with each MAC address.
    pub(super) fn mac_addresses(&self, meter: &mut Meter) -> HashMap<MacAddress, usize> {
        meter.add_steps(self.entries.len());
        let mut counts = HashMap::new();
        for address in self.entries.iter().filter_map(|entry| entry.row.mac_address) {
            *counts.entry(address).or_default() += 1;
        }
        counts
    }

    pub(super) fn set_vlans(&mut self, index: i64, vlans: Vlans) {
        let place = self.places.get(&index);
        if let Some(entry) = place.and_then(|place| self.entries.get_mut(*place)) {
            entry.row.vlans = Some(vlans);
        }
    }

    pub(super) fn names(&self, meter: &mut Meter) -> InterfaceNames<'_> {
        let mut names = InterfaceNames::default();
        meter.add_steps(self.entries.len() * 8);
        for Entry { row, .. } in &self.entries {
            let index = row.if_index;
            for name in [&row.if_name, &row.if_descr].into_iter().flatten() {
                note(&mut names.names, name.as_str(), index);
                note(&mut names.plain_names, plain(name), index);
            }
            if let Some(alias) = &row.if_alias {
                note(&mut names.aliases, alias.as_str(), index);
            }
            if let Some(address) = row.mac_address {
                note(&mut names.macs, address, index);
            }
        }
        names
    }

    /// Converts interfaces that other tables name, which are no rows of the input.
    pub(super) fn into_derived_rows(self, meter: &mut Meter) -> Vec<IfEntryRow> {
        self.into_sorted(meter).into_iter().map(|entry| entry.row).collect()
    }

    pub(super) fn into_rows(self, meter: &mut Meter) -> Vec<IfEntryRow> {
        let entries = self.into_sorted(meter);
        meter.use_rows(entries.len());
        for entry in entries.iter().filter(|entry| entry.has_excessive_speed()) {
            meter.warn_of(WarningCode::ValueInvalid, || {
                let Entry { row, high_speed, .. } = entry;
                let (index, low) = (row.if_index, row.speed_bps);
                let shown = |speed: Option<u64>| speed.map_or("none".to_owned(), |speed| speed.to_string());
                format!("interface {index}: ifSpeed {}, ifHighSpeed {}", shown(low), shown(*high_speed))
            });
        }
        let rows = entries.into_iter();
        // Collected in the memory of the entries.
        rows.map(|entry| IfEntryRow { speed_bps: entry.speed(), ..entry.row }).collect()
    }

    /// Returns the entries in the order of their indexes.
    fn into_sorted(self, meter: &mut Meter) -> Vec<Entry> {
        let Self { mut entries, places } = self;
        drop(places);
        meter.add_steps(entries.len().saturating_mul(2));
        entries.sort_unstable_by_key(|entry| entry.row.if_index);
        entries
    }
}

impl InterfaceNames<'_> {
    /// Returns the only interface with this name or description.
    pub(super) fn by_name(&self, name: &str) -> Option<i64> {
        let exact = self.names.get(name).copied().flatten();
        exact.or_else(|| self.plain_names.get(&plain(name)).copied().flatten())
    }

    /// Returns the only interface with this alias.
    pub(super) fn by_alias(&self, alias: &str) -> Option<i64> {
        self.aliases.get(alias).copied().flatten()
    }

    /// Returns the only interface with this MAC address.
    pub(super) fn by_mac(&self, address: MacAddress) -> Option<i64> {
        self.macs.get(&address).copied().flatten()
    }
}

/// Returns a name as it is compared with others: TP-Link's `gigabitEthernet 1/0/2 : copper` is `GigabitEthernet1/0/2`.
fn plain(name: &str) -> String {
    let name = name.split_once(" : ").map_or(name, |(name, _)| name);
    name.chars().filter(|character| !character.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Notes that an interface has a key. A key of two interfaces leads to none.
fn note<K: Eq + std::hash::Hash>(keys: &mut HashMap<K, Option<i64>>, key: K, index: i64) {
    keys.entry(key).and_modify(|held| *held = held.filter(|held| *held == index)).or_insert(Some(index));
}

/// Stores a MAC address. Tunnels and loopbacks have an empty one, and other link layers longer ones.
fn accept_mac(place: &mut Option<MacAddress>, value: &VariableValue<'_>) -> Accepted {
    let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
    *place = text::mac(bytes);
    if place.is_some() || text::is_blank(bytes) { Accepted::Yes } else { Accepted::InvalidValue }
}

const fn admin_status(number: i64) -> Option<AdminStatus> {
    match number {
        1 => Some(AdminStatus::Up),
        2 => Some(AdminStatus::Down),
        3 => Some(AdminStatus::Testing),
        _ => None,
    }
}

const fn oper_status(number: i64) -> Option<OperStatus> {
    match number {
        1 => Some(OperStatus::Up),
        2 => Some(OperStatus::Down),
        3 => Some(OperStatus::Testing),
        4 => Some(OperStatus::Unknown),
        5 => Some(OperStatus::Dormant),
        6 => Some(OperStatus::NotPresent),
        7 => Some(OperStatus::LowerLayerDown),
        _ => None,
    }
}
