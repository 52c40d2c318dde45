//! `lldpctl -f json` and `-f json0`.
//!
//! `json0` writes every value as a list of objects. `json` leaves out lists of one element, and uses the names of
//! interfaces and systems as keys.

mod interface;
mod node;
mod sink;

use std::cell::Cell;
use std::fmt;
use std::io::BufRead;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::meter::Meter;
use super::{ParseError, ParseErrorKind, ParseOptions, json, named_device};
use crate::discovery::report::{Report, Table, WarningCode};
use node::{JsonNode, NodeSeed};
use sink::Sink;

const EXPECTED: &str = "the output of `lldpctl -f json`: it has no `lldp`";
const EXPECTED_NEIGHBORS: &str = "the output of `lldpctl -f json`: it has no `interface` with neighbors";
/// Maximum number of values of one interface, including everything that its neighbor sends.
const MAX_NODES: u32 = 20_000;
/// The fields of an interface that are kept. Others belong to an interface, too, but rows have nothing of them.
const FIELDS: [&str; 9] = ["name", "via", "rid", "age", "status", "chassis", "ttl", "port", "vlan"];

/// Reads the neighbors of one device.
pub(super) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let mut device = named_device(options, meter)?;
    let lost_before = meter.lost_rows();
    let mut sink = Sink::new(meter);
    let counts = json::InputCounts::default();
    let mut deserializer = json::deserializer(reader, &counts, options);
    let read = json::each_document(&mut deserializer, |deserializer| {
        sink.begin_document();
        Level { sink: &mut sink, place: Place::Document }.deserialize(deserializer)
    });
    let conflict = sink.conflict();
    let Sink { lldp, cdp, found, has_others, .. } = sink;
    json::finish_rows(read, &counts, meter, !lldp.is_empty() || !cdp.is_empty())?;
    if !found {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    if let Some(conflict) = conflict {
        return Err(meter.error(ParseErrorKind::SeveralDevices(conflict)));
    }
    if has_others && lldp.is_empty() && cdp.is_empty() {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED_NEIGHBORS)));
    }
    meter.use_rows(lldp.len() + cdp.len());
    let is_whole = !has_others && !meter.is_truncated() && meter.lost_rows() == lost_before;
    let complete = options.complete && is_whole;
    // Without a neighbor by CDP, it is unknown whether lldpd listens to that protocol.
    if !cdp.is_empty() {
        device.tables.cdp = Some(Table::of(cdp, complete));
    }
    device.tables.lldp = Some(Table::of(lldp, complete));
    Ok(Report::of_device("lldpd", options.observed_at, device))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The whole document.
    Document,
    /// The value of `lldp`.
    Lldp,
    /// The value of `interface`.
    Interfaces,
}

/// A level of the document above the interfaces: an object, or a list of such.
struct Level<'l, 'm> {
    sink: &'l mut Sink<'m>,
    place: Place,
}

impl<'de> DeserializeSeed<'de> for Level<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object or a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(()) = list.next_element_seed(Level { sink: &mut *self.sink, place: self.place })? {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if self.place == Place::Interfaces {
            return read_interfaces(self.sink, map);
        }
        let (mut is_read, mut unread) = (false, None);
        while let Some(key) = map.next_key::<String>()? {
            match (self.place, key.as_str()) {
                (Place::Document, "lldp") => {
                    self.sink.found = true;
                    is_read = true;
                    map.next_value_seed(Level { sink: &mut *self.sink, place: Place::Lldp })?;
                }
                (Place::Lldp, "interface") => {
                    map.next_value_seed(Level { sink: &mut *self.sink, place: Place::Interfaces })?;
                }
                _ => {
                    self.sink.has_others |= self.place == Place::Lldp;
                    map.next_value::<IgnoredAny>()?;
                    unread.get_or_insert(key);
                }
            }
        }
        if let Some(key) = unread.filter(|_| self.place == Place::Document && !is_read) {
            let example = || format!("a document with `{key}`");
            self.sink.meter.skip_of(WarningCode::EntryInvalid, example);
        }
        Ok(())
    }
}

/// Reads an object of interfaces by name, or a single interface. A single interface has its name as a field.
fn read_interfaces<'de, A: MapAccess<'de>>(sink: &mut Sink<'_>, mut map: A) -> Result<(), A::Error> {
    let (mut fields, mut has_others) = (Vec::new(), false);
    let budget = Cell::new(MAX_NODES);
    while let Some(key) = map.next_key::<String>()? {
        let is_field = FIELDS.contains(&key.as_str());
        if !is_field {
            budget.set(MAX_NODES);
        }
        let value = map.next_value_seed(NodeSeed { budget: &budget })?;
        if is_field && !value.is_interface() {
            if fields.len() < FIELDS.len() {
                fields.push((key, value));
            }
        } else if value.is_interface() {
            value.elements().for_each(|interface| sink.push(&key, interface));
        } else {
            has_others = true;
        }
    }
    let interface = JsonNode::Object(fields);
    if interface.is_interface() {
        let name = interface.get("name").and_then(JsonNode::text).unwrap_or("").to_owned();
        sink.push(&name, &interface);
    } else {
        // Such as the counters of `lldpcli show statistics`.
        sink.has_others |= has_others || interface.fields().is_some_and(|fields| !fields.is_empty());
    }
    Ok(())
}
