//! `bridge -j vlan`.

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::{ParseError, ParseErrorKind, ParseOptions, json, named_device};
use crate::discovery::report::{IfEntryRow, Report, Table, WarningCode};
use crate::model::Vlans;
use crate::printable::printable;

const COMMAND: &str = "bridge -j vlan";
const EXPECTED: &str = "the output of `bridge -j vlan`: no entry has an interface and its VLANs";
const EXPECTED_PORTS: &str = "the output of `bridge -j vlan show`: it has the options of VLANs, as `bridge -j vlan global show` prints them";
/// The highest number of a VLAN.
const MAX_VLAN: u16 = 4094;
/// The VLANs of all ports together that are kept. A short text can state a range of thousands.
const MAX_MEMBERSHIPS: usize = 2_000_000;

/// Maximum number of characters that show a contradiction between two lists. Names of interfaces have up to 15.
const MAX_CONFLICT: usize = 120;

/// A port of a bridge.
#[derive(Default, Deserialize)]
#[serde(default)]
struct BridgePort {
    ifname: Option<String>,
    vlans: Option<Vec<Range>>,
}

/// A VLAN, or a range of VLANs, of a port.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Range {
    vlan: Option<u64>,
    #[serde(rename = "vlanEnd")]
    vlan_end: Option<u64>,
    flags: Vec<String>,
    /// Options of a VLAN on the whole bridge, whatever their values. A kernel may know only one of them.
    mcast_snooping: Option<IgnoredAny>,
    msti: Option<IgnoredAny>,
}

impl Range {
    /// Returns whether these are options of VLANs on the whole bridge, which no port has.
    const fn has_options(&self) -> bool {
        self.mcast_snooping.is_some() || self.msti.is_some()
    }
}

/// Reads the VLANs of the ports of one device.
pub(in crate::discovery::parse) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let mut device = named_device(options, meter)?;
    let first = json::first_byte(reader, meter)?;
    let mut sink = Sink::new(meter);
    let counts = json::InputCounts::default();
    let read = if first == Some(b'{') {
        let mut deserializer = json::deserializer(reader, &counts, options);
        json::each_document(&mut deserializer, |deserializer| {
            PortsByName(&mut sink).deserialize(deserializer)
        })
    } else {
        let accept = |_, port: BridgePort| sink.accept(port.ifname.as_deref(), port.vlans.as_deref());
        super::read_lists(reader, options, &counts, COMMAND, accept).map(drop)
    };
    let Sink { rows, malformed, has_options, conflict, .. } = sink;
    json::finish_rows(read, &counts, meter, !rows.is_empty())?;
    if has_options {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED_PORTS)));
    }
    if let Some(conflict) = conflict {
        return Err(meter.error(ParseErrorKind::SeveralDevices(conflict)));
    }
    if rows.is_empty() && malformed > 0 {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    meter.use_rows(rows.len());
    // The output never has all interfaces, as only ports of bridges have VLANs.
    device.tables.if_entries = Some(Table::truncated(rows));
    Ok(Report::of_device("bridge", options.observed_at, device))
}

struct Sink<'m> {
    meter: &'m mut Meter,
    rows: Vec<IfEntryRow>,
    /// The places of the ports in the rows.
    places: HashMap<String, usize>,
    /// A port that cannot be the same in two entries.
    conflict: Option<String>,
    /// The VLANs of all rows.
    memberships: usize,
    malformed: u64,
    /// Whether an entry has options of VLANs in place of the VLANs of a port.
    has_options: bool,
}

impl<'m> Sink<'m> {
    fn new(meter: &'m mut Meter) -> Self {
        Self {
            meter,
            rows: Vec::new(),
            places: HashMap::new(),
            conflict: None,
            memberships: 0,
            malformed: 0,
            has_options: false,
        }
    }

    fn accept(&mut self, ifname: Option<&str>, ranges: Option<&[Range]>) {
        let (Some(ifname), Some(ranges)) = (ifname.filter(|name| !name.is_empty()), ranges) else {
            self.malformed += 1;
            return self.meter.skip_of(WarningCode::RowIncomplete, || ifname.unwrap_or("without a name"));
        };
        self.has_options |= ranges.iter().any(Range::has_options);
        let vlans = self.vlans(ifname, ranges);
        if let Some(known) = self.places.get(ifname).and_then(|place| self.rows.get(*place)) {
            if known.vlans.as_ref() != Some(&vlans) {
                let conflict = || printable(&format!("{ifname} has different VLANs"), MAX_CONFLICT);
                self.conflict.get_or_insert_with(conflict);
            }
            return self.meter.skip_of(WarningCode::RowRepeated, || ifname);
        }
        self.memberships = self.memberships.saturating_add(vlans.tagged.len() + vlans.other_untagged.len());
        if self.memberships > MAX_MEMBERSHIPS {
            return self.meter.skip_of(WarningCode::RowLimitReached, || ifname);
        }
        if self.meter.admit_interface(self.rows.len()) {
            let if_name = Some(ifname.to_owned());
            self.places.insert(ifname.to_owned(), self.rows.len());
            self.rows.push(IfEntryRow { if_name, vlans: Some(vlans), ..IfEntryRow::new(0) });
        }
    }

    fn vlans(&mut self, ifname: &str, ranges: &[Range]) -> Vlans {
        let mut vlans = Vlans::default();
        let (mut tagged, mut untagged) = (VlanSet::new(), VlanSet::new());
        for range in ranges {
            let Some((first, last)) = bounds(range) else {
                self.meter.warn_of(WarningCode::ValueInvalid, || format!("a VLAN of {ifname}"));
                continue;
            };
            let has = |flag: &str| range.flags.iter().any(|other| other == flag);
            let is_untagged = has("Egress Untagged");
            if is_untagged && has("PVID") {
                vlans.untagged = Some(first);
            }
            let members = if is_untagged { &mut untagged } else { &mut tagged };
            members.add(first, last);
        }
        vlans.other_untagged = untagged.members().filter(|vlan| Some(*vlan) != vlans.untagged).collect();
        vlans.tagged = tagged.members().collect();
        vlans
    }
}

/// A set of VLANs.
struct VlanSet([bool; MAX_VLAN as usize + 1]);

impl VlanSet {
    const fn new() -> Self {
        Self([false; MAX_VLAN as usize + 1])
    }

    /// Adds all VLANs of a range.
    fn add(&mut self, first: u16, last: u16) {
        let places = self.0.get_mut(usize::from(first)..=usize::from(last));
        places.unwrap_or_default().fill(true);
    }

    fn members(&self) -> impl Iterator<Item = u16> {
        let places = (1..=MAX_VLAN).zip(self.0.iter().skip(1));
        places.filter(|(_, is_member)| **is_member).map(|(vlan, _)| vlan)
    }
}

/// Returns the first and the last VLAN of a range.
fn bounds(range: &Range) -> Option<(u16, u16)> {
    let first = u16::try_from(range.vlan?).ok()?;
    let last = range.vlan_end.map_or(Some(first), |last| u16::try_from(last).ok())?;
    (first >= 1 && first <= last && last <= MAX_VLAN).then_some((first, last))
}

/// The object of iproute2 before 4.20: VLANs by the name of the interface.
struct PortsByName<'s, 'm>(&'s mut Sink<'m>);

impl<'de> DeserializeSeed<'de> for PortsByName<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PortsByName<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the object of `bridge -j vlan`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((name, ranges)) = map.next_entry::<String, Option<Vec<Range>>>()? {
            self.0.accept(Some(&name), ranges.as_deref());
        }
        Ok(())
    }
}
