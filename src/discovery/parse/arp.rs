//! ARP tables and IPv6 neighbor tables.

use std::fmt;
use std::io::BufRead;
use std::net::IpAddr;

use serde::de::{self, DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::lines::Lines;
use super::meter::Meter;
use super::{ParseError, ParseErrorKind, ParseOptions, json, named_device, text};
use crate::discovery::report::{ArpRow, NeighborState, Report, Reporter, Table, WarningCode};

const EXPECTED: &str = "an ARP table of `ip`, `arp` or Cisco: no line is an entry of one";
/// The lines without any entry after which the input counts as another format.
const MAX_LEADING_LINES: u64 = 1_000;

/// Reads a table in any of the forms.
pub(super) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let mut device = named_device(options, meter)?;
    let is_json = json::first_byte(reader, meter)? == Some(b'[');
    let rows = if is_json { read_json(reader, options, meter)? } else { read_lines(reader, meter)? };
    let complete = options.complete && !meter.is_truncated();
    device.tables.arp = Some(if complete { Table::complete(rows) } else { Table::truncated(rows) });
    let mut report = Report::new(Reporter::new("arp"), options.observed_at);
    report.devices.push(device);
    Ok(report)
}

fn read_lines(reader: &mut dyn BufRead, meter: &mut Meter) -> Result<Vec<ArpRow>, ParseError> {
    let mut rows = Vec::new();
    let mut lines = Lines::new(reader);
    let (mut found, mut malformed) = (false, false);
    while let Some(line) = lines.next(meter)? {
        meter.add_steps(line.bytes.len());
        let entry = entry(&text::text(line.bytes));
        if !line.has_newline && matches!(entry, Entry::Malformed | Entry::Incomplete) {
            meter.truncate();
        }
        match entry {
            Entry::Row(row) => {
                found = true;
                if meter.admit_row() {
                    rows.push(row);
                }
            }
            Entry::Incomplete => {
                found = true;
                meter.skip(WarningCode::RowIncomplete);
            }
            Entry::Heading => found = true,
            Entry::Empty => {}
            Entry::Malformed => {
                malformed = true;
                meter.skip(WarningCode::RowMalformed);
                if !found && meter.line() > MAX_LEADING_LINES {
                    return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
                }
            }
        }
    }
    if malformed && !found {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    Ok(rows)
}

enum Entry {
    Row(ArpRow),
    /// An address for which no device has answered.
    Incomplete,
    Heading,
    Empty,
    Malformed,
}

fn entry(line: &str) -> Entry {
    let words: Vec<&str> = line.split_whitespace().take(16).collect();
    match words.as_slice() {
        [] => Entry::Empty,
        // Cisco IOS: protocol, address, age, MAC address, encapsulation, interface.
        ["Protocol", "Address", ..]
        | ["Address", ..]
        | ["Flags:", ..]
        | ["IP", "ARP", ..]
        | ["Total", ..] => Entry::Heading,
        ["Internet", address, _, mac, _, interface @ ..] => row(address, mac, interface.first(), None),
        // arp -an: `? (192.0.2.1) at 00:00:5e:00:53:01 [ether] on eth0`.
        [_, address, "at", mac, rest @ ..] => {
            let address = address.trim_start_matches('(').trim_end_matches(')');
            let interface = rest.iter().skip_while(|word| **word != "on").nth(1);
            let is_static = rest.iter().any(|word| matches!(*word, "PERM" | "permanent"));
            row(address, mac, interface, is_static.then_some(NeighborState::Static))
        }
        // ip neigh: `192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 REACHABLE`.
        [address, "dev", interface, rest @ ..] => {
            let mac = rest.iter().skip_while(|word| **word != "lladdr").nth(1);
            let state = rest.iter().find_map(|word| state(word));
            row(address, mac.unwrap_or(&"<incomplete>"), Some(interface), state)
        }
        // Cisco NX-OS: address, age, MAC address, interface.
        [address, _, mac, interface, ..] => row(address, mac, Some(interface), None),
        _ => Entry::Malformed,
    }
}

fn row(address: &str, mac: &str, interface: Option<&&str>, state: Option<NeighborState>) -> Entry {
    let Some(ip_address) = ip(address) else { return Entry::Malformed };
    if mac.to_ascii_lowercase().contains("incomplete") || state == Some(NeighborState::Unreachable) {
        return Entry::Incomplete;
    }
    match text::mac_text(mac) {
        Some(address) if address.octets() == [0; 6] => Entry::Incomplete,
        Some(mac_address) => {
            let if_name = interface.map(|name| (*name).to_owned());
            Entry::Row(ArpRow { if_name, state, ..ArpRow::new(ip_address, mac_address) })
        }
        None => Entry::Malformed,
    }
}

/// Reads an address, without the zone that follows `%`.
fn ip(text: &str) -> Option<IpAddr> {
    text.split('%').next()?.parse().ok()
}

fn state(name: &str) -> Option<NeighborState> {
    match name {
        "REACHABLE" => Some(NeighborState::Reachable),
        "STALE" => Some(NeighborState::Stale),
        "DELAY" | "PROBE" => Some(NeighborState::Probing),
        "FAILED" | "INCOMPLETE" => Some(NeighborState::Unreachable),
        "PERMANENT" | "NOARP" => Some(NeighborState::Static),
        _ => None,
    }
}

fn read_json(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Vec<ArpRow>, ParseError> {
    let mut rows = Vec::new();
    let counts = json::Counts::default();
    let mut deserializer = json::deserializer(reader, &counts, options);
    let entries = Entries { rows: &mut rows, meter: &mut *meter };
    let read = entries.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    json::finish(read, &counts, meter)?;
    Ok(rows)
}

/// The list of `ip -j neigh`.
struct Entries<'e> {
    rows: &'e mut Vec<ArpRow>,
    meter: &'e mut Meter,
}

/// An entry of `ip -j neigh`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct EntryDocument {
    dst: String,
    dev: Option<String>,
    lladdr: Option<String>,
    state: Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the list of `ip -j neigh`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(document) = list.next_element::<EntryDocument>()? {
            if ip(&document.dst).is_none() {
                return Err(de::Error::custom("`dst` must be an IP address"));
            }
            let state = document.state.iter().find_map(|name| state(name));
            let mac = document.lladdr.as_deref().unwrap_or("<incomplete>");
            match row(&document.dst, mac, document.dev.as_deref().as_ref(), state) {
                Entry::Row(row) if self.meter.admit_row() => self.rows.push(row),
                Entry::Row(_) => {}
                Entry::Incomplete => self.meter.skip(WarningCode::RowIncomplete),
                Entry::Heading | Entry::Empty | Entry::Malformed => {
                    self.meter.skip(WarningCode::RowMalformed);
                }
            }
        }
        Ok(())
    }
}
