//! `ip -j addr` and `ip -j link`, with and without `-d`.

mod entry;
mod interface;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::BufRead;
use std::net::IpAddr;

use self::entry::{Address, InterfaceEntry};
use self::interface::Interfaces;
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::{ParseError, ParseErrorKind, ParseOptions, json, named_device};
use crate::discovery::report::{AddressRow, IfEntryRow, LagRow, Report, Table, Tables, WarningCode};
use crate::model::{MacAddress, Vlans};
use crate::printable::printable;

const COMMAND: &str = "ip -j addr";
const EXPECTED: &str =
    "the output of `ip -j addr` or `ip -j link`: no entry has `ifindex`, `ifname` and `operstate`";
/// Maximum number of characters that show a contradiction between two entries. Names of interfaces have up to 15.
const MAX_CONFLICT: usize = 120;

/// Reads the interfaces and addresses of one device.
pub(in crate::discovery::parse) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let mut device = named_device(options, meter)?;
    let mut sink = Sink::new(meter);
    let counts = json::InputCounts::default();
    let read = super::read_lists(reader, options, &counts, COMMAND, |list, entry| sink.accept(list, entry));
    let has_rows = !sink.interfaces.is_empty();
    json::finish_rows(read.map(drop), &counts, sink.meter, has_rows)?;
    if let Some(conflict) = sink.conflict {
        return Err(meter.error(ParseErrorKind::SeveralDevices(conflict)));
    }
    if sink.interfaces.is_empty() && sink.has_malformed {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    device.tables = sink.into_tables(options.complete);
    Ok(Report::of_device("ip", options.observed_at, device))
}

struct Sink<'m> {
    meter: &'m mut Meter,
    interfaces: Interfaces,
    addresses: Vec<AddressRow>,
    /// The addresses so far, with the lengths of their prefixes and the indexes of their interfaces.
    known_addresses: HashSet<(IpAddr, Option<u8>, i64)>,
    /// The tagged VLANs of the interfaces that VLAN interfaces are stacked on.
    tagged: BTreeMap<String, BTreeSet<u16>>,
    /// Whether any entry has a list of addresses. `ip link` prints none.
    has_addresses: bool,
    has_malformed: bool,
    /// Whether an address of IP cannot be read.
    has_unread_address: bool,
    /// The number of the list at the place.
    list: usize,
    /// Two entries that cannot be of one device.
    conflict: Option<String>,
}

impl<'m> Sink<'m> {
    fn new(meter: &'m mut Meter) -> Self {
        Self {
            meter,
            interfaces: Interfaces::default(),
            addresses: Vec::new(),
            known_addresses: HashSet::new(),
            tagged: BTreeMap::new(),
            has_addresses: false,
            has_malformed: false,
            has_unread_address: false,
            list: 0,
            conflict: None,
        }
    }

    fn accept(&mut self, list: usize, entry: InterfaceEntry) {
        if std::mem::replace(&mut self.list, list) != list {
            self.interfaces.end_list();
        }
        let (Some(index), Some(name), true) = (entry.ifindex, &entry.ifname, entry.is_interface()) else {
            self.has_malformed = true;
            let name = entry.ifname.as_deref().unwrap_or("an entry without `ifname`");
            return self.meter.skip_of(WarningCode::RowIncomplete, || name);
        };
        match self.interfaces.knows(index, name, &entry) {
            // Further entries of an interface come from other commands, such as `ip -j -6 addr` and `ip -j -d link`.
            Ok(true) => {}
            Ok(false) if self.meter.admit_interface(self.interfaces.len()) => {}
            Ok(false) => return,
            Err(conflict) => {
                self.conflict.get_or_insert_with(|| printable(&conflict, MAX_CONFLICT));
                return;
            }
        }
        let mac_address = self.interfaces.join(index, name, &entry);
        if let Some((parent, vlan)) = entry.link.as_ref().zip(entry.vlan()) {
            self.tagged.entry(parent.clone()).or_default().insert(vlan);
        }
        if let Some(addresses) = entry.addr_info {
            self.has_addresses = true;
            let addresses = addresses.into_iter().filter_map(|super::NonEmpty(address)| address);
            addresses.for_each(|address| self.accept_address(&address, index, mac_address));
        }
    }

    fn accept_address(&mut self, address: &Address, index: i64, mac_address: Option<MacAddress>) {
        let text = address.local.as_deref().unwrap_or("");
        let Ok(ip_address) = text.parse::<IpAddr>() else {
            self.has_unread_address |= address.is_of_ip();
            return self.meter.skip_of(WarningCode::RowIncomplete, || format!("address {text:?}"));
        };
        if address.dadfailed {
            return self.meter.skip_of(WarningCode::AddressUnusable, || text);
        }
        let has_peer = address.peer.is_some() && address.peer != address.local;
        let whole = if ip_address.is_ipv4() { 32 } else { 128 };
        let prefix_length = if has_peer { Some(whole) } else { address.prefixlen };
        let key = (ip_address, prefix_length, index);
        if self.known_addresses.contains(&key) {
            return self.meter.skip_of(WarningCode::RowRepeated, || text);
        }
        if self.meter.admit_row() {
            self.known_addresses.insert(key);
            let if_index = Some(index);
            self.addresses.push(AddressRow {
                prefix_length,
                if_index,
                mac_address,
                ..AddressRow::new(ip_address)
            });
        }
    }

    fn into_tables(self, is_complete: bool) -> Tables {
        let Self { meter, mut interfaces, addresses, mut tagged, .. } = self;
        interfaces.end_list();
        meter.use_rows(interfaces.len() + addresses.len());
        let is_complete = is_complete && !self.has_malformed && !meter.is_truncated();
        let lag = aggregates(&interfaces);
        // Without `-d`, a complete table would clear the types, and the members of teams, which have no flag.
        let has_details = !interfaces.is_empty() && interfaces.iter().all(|interface| interface.has_details);
        let mut has_types = true;
        let entries = interfaces.into_list().into_iter().map(|interface| {
            let if_type = interface.if_type();
            let name = interface.row.if_name.as_deref().unwrap_or_default();
            if if_type.is_none() && !interface.has_details {
                has_types = false;
                if is_complete {
                    meter.warn_of(WarningCode::DetailsMissing, || name);
                }
            }
            // A port of a bridge has the VLANs that `bridge -j vlan` states, whichever file is imported last. It prints those
            // of bridges and their ports, so that others never have VLANs from there.
            let vlans = tagged.remove(name).filter(|_| !interface.is_of_bridge);
            let vlans = vlans.map(|tagged| tagged.into_iter().collect());
            let vlans = vlans.map(|tagged| Vlans { tagged, ..Vlans::default() });
            IfEntryRow { if_type, vlans, ..interface.row }
        });
        let entries = entries.collect();
        Tables {
            if_entries: Some(Table::of(entries, is_complete && has_types)),
            addresses: self
                .has_addresses
                .then(|| Table::of(addresses, is_complete && !self.has_unread_address)),
            lag: (is_complete && has_details || !lag.is_empty())
                .then(|| Table::of(lag, is_complete && has_details)),
            ..Tables::default()
        }
    }
}

/// Returns the members of bonds and teams.
fn aggregates(interfaces: &Interfaces) -> Vec<LagRow> {
    let members = interfaces.iter().filter_map(|interface| {
        let (name, is_bundle) = interface.master.as_ref()?;
        let master = interfaces.by_name(name).filter(|master| *is_bundle || master.is_aggregate)?;
        Some(LagRow::new(interface.row.if_index, master.row.if_index))
    });
    members.collect()
}
