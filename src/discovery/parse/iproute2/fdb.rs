//! `bridge -j fdb`.

use std::io::BufRead;

use serde::Deserialize;

use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text::mac_text;
use crate::discovery::parse::{ParseError, ParseErrorKind, ParseOptions, json, named_device};
use crate::discovery::report::{FdbRow, FdbStatus, Report, Table, WarningCode};

const COMMAND: &str = "bridge -j fdb";
const EXPECTED: &str = "the output of `bridge -j fdb`: no entry has a MAC address and an interface";
/// The highest number of a VLAN.
const MAX_VLAN: u16 = 4094;

/// An entry of the forwarding databases of all bridges and network cards.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    mac: Option<String>,
    /// Called `dev` by iproute2 before 4.17.
    #[serde(alias = "dev")]
    ifname: Option<String>,
    vlan: Option<u64>,
    /// The end of a tunnel that the device with the MAC address is behind.
    dst: Option<String>,
    flags: Vec<String>,
    state: Option<String>,
}

/// Reads the forwarding database of one device.
pub(in crate::discovery::parse) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let mut device = named_device(options, meter)?;
    let mut sink = Sink { meter, rows: Vec::new(), groups: 0, malformed: 0 };
    let counts = json::InputCounts::default();
    let read = super::read_lists(reader, options, &counts, COMMAND, |_, entry| sink.accept(&entry));
    let Sink { rows, groups, malformed, .. } = sink;
    json::finish_rows(read.map(drop), &counts, meter, !rows.is_empty())?;
    if rows.is_empty() && groups == 0 && malformed > 0 {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    meter.use_rows(rows.len());
    let is_complete = options.complete && malformed == 0 && !meter.is_truncated();
    device.tables.fdb = Some(Table::of(rows, is_complete));
    Ok(Report::of_device("bridge", options.observed_at, device))
}

struct Sink<'m> {
    meter: &'m mut Meter,
    rows: Vec<FdbRow>,
    /// The entries of groups, which are addresses of no device.
    groups: u64,
    malformed: u64,
}

impl Sink<'_> {
    fn accept(&mut self, entry: &Entry) {
        let (Some(mac), Some(ifname)) = (&entry.mac, &entry.ifname) else {
            self.malformed += 1;
            let example = entry.mac.as_ref().or(entry.ifname.as_ref());
            return self.meter.skip_of(WarningCode::RowIncomplete, || example.map_or("{…}", String::as_str));
        };
        let Some(address) = mac_text(mac) else {
            self.malformed += 1;
            return self.meter.skip_of(WarningCode::RowMalformed, || format!("{mac} dev {ifname}"));
        };
        if address.is_zero() {
            // VXLAN's destination for frames to unknown addresses.
            self.groups += 1;
            return self.meter.skip_of(WarningCode::RowIncomplete, || format!("{mac} dev {ifname}"));
        }
        if address.is_group() {
            self.groups += 1;
            return self.meter.skip_of(WarningCode::AddressShared, || format!("{mac} dev {ifname}"));
        }
        let vlan = entry.vlan.and_then(|vlan| u16::try_from(vlan).ok());
        let vlan = vlan.filter(|vlan| (1..=MAX_VLAN).contains(vlan));
        if entry.vlan.is_some() && vlan.is_none() {
            self.meter.warn_of(WarningCode::ValueInvalid, || format!("VLAN of {mac} dev {ifname}"));
        }
        if self.meter.admit_row() {
            let (if_name, status) = (Some(ifname.clone()), Some(status(entry)));
            self.rows.push(FdbRow { vlan, if_name, status, ..FdbRow::new(address) });
        }
    }
}

/// Returns the origin of an entry. A permanent entry is an address of the interface itself, unless it is sticky or behind
/// a tunnel.
fn status(entry: &Entry) -> FdbStatus {
    let is_other = entry.dst.is_some() || entry.flags.iter().any(|flag| flag == "sticky");
    match entry.state.as_deref() {
        Some("permanent") if !is_other => FdbStatus::SelfAddress,
        Some("permanent" | "static" | "noarp") => FdbStatus::Configured,
        _ => FdbStatus::Learned,
    }
}
