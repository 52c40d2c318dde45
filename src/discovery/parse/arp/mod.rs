//! ARP tables and IPv6 neighbor tables.
//!
//! One reader reads the tables of all vendors. The addresses of a line are recognized by their form. The columns that the
//! heading names show which word is the interface ([`heading`]). Without a heading, the tools of hosts name it by a
//! keyword, and otherwise it is the last word ([`line`]).

mod heading;
mod line;
mod table;
mod titles;

use std::io::BufRead;

use super::meter::Meter;
use super::{ParseError, ParseErrorKind, ParseOptions, iproute2, json, named_device};
use crate::discovery::report::{ArpRow, Report, Reporter, Table, WarningCode};

pub(super) use line::{ip_address, state};
pub(super) use table::is_table;

const EXPECTED: &str = "an ARP table: `ip neigh`, `arp -an`, `arp -n`, `ndp -an`, or a table with a heading for IP and MAC addresses";

/// Reads a table in any of the forms.
pub(super) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let mut device = named_device(options, meter)?;
    let mut sink = Sink { meter, rows: Vec::new(), incomplete: 0, malformed: 0 };
    if json::first_byte(reader, sink.meter)? == Some(b'[') {
        iproute2::read_neighbors(reader, options, &mut sink)?;
    } else {
        table::read_lines(reader, &mut sink)?;
    }
    let Sink { rows, incomplete, malformed, .. } = sink;
    if rows.is_empty() && incomplete == 0 && malformed > 0 {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    meter.use_rows(rows.len());
    // A table with lines that cannot be read may have more entries than these.
    let is_complete = options.complete && malformed == 0 && !meter.is_truncated();
    device.tables.arp = Some(if is_complete { Table::complete(rows) } else { Table::truncated(rows) });
    let mut report = Report::new(Reporter::new("arp"), options.observed_at);
    report.devices.push(device);
    Ok(report)
}

/// Collects the entries of a table, and counts the others.
pub(super) struct Sink<'m> {
    pub(super) meter: &'m mut Meter,
    rows: Vec<ArpRow>,
    /// The entries for which no device has answered, or that are no device's.
    incomplete: u64,
    malformed: u64,
}

impl Sink<'_> {
    /// Takes an entry. Addresses of groups are those of no device.
    pub(super) fn push(&mut self, row: ArpRow) {
        if row.mac_address.is_group() {
            self.incomplete += 1;
            let example = || format!("{} {}", row.ip_address, row.mac_address);
            self.meter.skip_of(WarningCode::AddressShared, example);
        } else if self.meter.admit_row() {
            self.rows.push(row);
        }
    }

    /// Counts an address for which no device has answered.
    pub(super) fn skip_incomplete(&mut self, text: &str) {
        self.incomplete += 1;
        self.meter.skip_of(WarningCode::RowIncomplete, || text.trim());
    }

    /// Counts an entry that cannot be read.
    pub(super) fn skip_malformed_entry(&mut self, text: &str) {
        self.malformed = self.malformed.saturating_add(1);
        self.meter.skip_of(WarningCode::RowMalformed, || text);
    }

    /// Counts lines that cannot be read, the first of which is on an earlier line.
    fn skip_malformed(&mut self, count: u64, line: u64, example: &str) {
        self.malformed = self.malformed.saturating_add(count);
        self.meter.skip_from(WarningCode::RowMalformed, count, line, example.trim());
    }
}
