//! ARP tables and IPv6 neighbor tables.
//!
//! One reader reads the tables of all vendors. The addresses of a line are recognized by their form. The columns of the
//! heading determine which word is the interface ([`heading`]). In a table without a heading, a keyword precedes the
//! interface, or it is the name behind the addresses ([`line`]), or all values have names ([`properties`]).

mod beside;
mod heading;
mod line;
mod properties;
mod section;
mod table;
mod titles;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::net::IpAddr;

pub(super) use line::{ip_address, state};

use self::heading::Heading;
use self::line::ArpLine;
use self::properties::Properties;
use self::table::TableReader;
use super::meter::Meter;
use super::{ParseError, ParseErrorKind, ParseOptions, iproute2, json, named_device};
use crate::discovery::parse::lines::BoundedLines;
use crate::discovery::parse::terminal::{self, MAX_LINE};
use crate::discovery::parse::text;
use crate::discovery::report::{AddressFamily, ArpRow, Report, Table, WarningCode};
use crate::invariant::Invariant;
use crate::model::MacAddress;

const EXPECTED: &str = "an ARP table: `ip neigh`, `arp -an`, `arp -n`, `ndp -an`, or a table with a heading for IP and MAC addresses";

/// Reads a table in any of the forms.
pub(super) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let mut device = named_device(options, meter)?;
    let mut sink = Sink::new(meter);
    if json::first_byte(reader, sink.meter)? == Some(b'[') {
        // A prompt such as `[admin@router] >` begins with a bracket, too.
        reader.consume(1);
        let is_list = matches!(json::first_byte(reader, sink.meter)?, Some(b'{' | b']') | None);
        let mut whole = b"[".as_slice().chain(reader);
        if is_list {
            iproute2::read_neighbors(&mut whole, options, &mut sink)?;
        } else {
            read_lines(&mut whole, &mut sink)?;
        }
    } else {
        read_lines(reader, &mut sink)?;
    }
    let Sink { rows, incomplete, malformed, asked, .. } = sink;
    if rows.is_empty() && incomplete == 0 && malformed > 0 {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    meter.use_rows(rows.len());
    // A table with lines that cannot be read may have more entries than these.
    let is_complete = options.complete && malformed == 0 && !meter.is_truncated();
    // Most commands print the entries of one family, which must not replace those of the other.
    let family =
        if rows.is_empty() { asked } else { AddressFamily::of_all(rows.iter().map(|row| row.ip_address)) };
    device.tables.arp = Some(Table::of(rows, is_complete).limited_to(family));
    Ok(Report::of_device("arp", options.observed_at, device))
}

/// Collects the entries of a table, and counts the others.
pub(super) struct Sink<'m> {
    pub(super) meter: &'m mut Meter,
    rows: Vec<ArpRow>,
    /// The entries so far.
    known: HashSet<EntryKey>,
    /// The entries for which no device has answered, or that are no device's.
    incomplete: u64,
    malformed: u64,
    /// The family of which a table without entries has none; `None`: both.
    asked: Option<AddressFamily>,
}

/// An address and a MAC address on an interface.
type EntryKey = (IpAddr, MacAddress, Option<i64>, Option<String>);

impl<'m> Sink<'m> {
    fn new(meter: &'m mut Meter) -> Self {
        Self { meter, rows: Vec::new(), known: HashSet::new(), incomplete: 0, malformed: 0, asked: None }
    }

    /// Takes an entry. Addresses of groups are those of no device, and an entry of several commands counts once.
    pub(super) fn push(&mut self, row: ArpRow) {
        let key = (row.ip_address, row.mac_address, row.if_index, row.if_name.clone());
        if row.mac_address.is_group() {
            self.incomplete += 1;
            let example = || format!("{} {}", row.ip_address, row.mac_address);
            self.meter.skip_of(WarningCode::AddressShared, example);
        } else if self.known.contains(&key) {
            self.meter
                .skip_of(WarningCode::RowRepeated, || format!("{} {}", row.ip_address, row.mac_address));
        } else if self.meter.admit_row() {
            self.known.insert(key);
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
    pub(super) fn skip_malformed(&mut self, count: u64, line: u64, example: &str) {
        self.malformed = self.malformed.saturating_add(count);
        self.meter.skip_from(WarningCode::RowMalformed, count, line, example.trim());
    }
}

/// Maximum number of lines before the first entry. If there are more, the input counts as another format.
const MAX_LEADING_LINES: u64 = 1_000;
/// The distance of tab stops.
const TAB: usize = 8;

/// Reads the entries of a table.
fn read_lines(reader: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<(), ParseError> {
    let mut table = TableReader::default();
    let mut lines = BoundedLines::new(reader);
    while let Some(line) = lines.next(sink.meter)? {
        sink.meter.add_steps(line.bytes.len().saturating_mul(8));
        let is_understood = table.accept(&expanded(line.bytes), sink);
        table.check(sink)?;
        if !line.has_newline && !is_understood {
            // The rest of the line may be missing.
            sink.meter.truncate();
        }
        if !table.has_entries && table.unread.count > MAX_LEADING_LINES {
            return Err(sink.meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
        }
    }
    table.finish(sink);
    sink.asked = table.family();
    table.check(sink)?;
    if table.is_of_other_form() {
        return Err(sink.meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    Ok(())
}

/// Returns whether text has a heading or an entry of a table among its first lines.
pub(in crate::discovery::parse) fn is_table(text: &[u8], max_lines: usize) -> bool {
    let mut before = String::new();
    let mut entry: Option<Properties> = None;
    text.split(|byte| *byte == b'\n').take(max_lines).any(|line| {
        let line = expanded(line);
        if !entry.as_mut().is_some_and(|entry| entry.accept(&line)) {
            entry = Properties::begin(&line);
        }
        if entry.as_ref().is_some_and(Properties::has_mac) {
            return true;
        }
        let before = std::mem::replace(&mut before, line.clone());
        let words = line::words(&line);
        let wrapped = || Heading::read_wrapped(&line::words(&before), &words);
        match line::read_fields(&line).unwrap_or_else(|| line::read(&words, None)) {
            ArpLine::Row(_) => true,
            ArpLine::Incomplete => words.iter().any(|word| matches!(word.text, "at" | "dev")),
            ArpLine::NoAddress => {
                beside::announces_table(&line) || Heading::read(&words).or_else(wrapped).is_some()
            }
            ArpLine::AddressOnly | ArpLine::Lease | ArpLine::MacOnly => false,
        }
    })
}

/// Converts a line to text as a terminal shows it, with spaces in place of tabs and of the borders of cells.
fn expanded(line: &[u8]) -> String {
    let line = line.get(..line.len().min(MAX_LINE)).asserted_or_default();
    let text = text::text(line);
    let text =
        if terminal::has_controls(line) { Cow::Owned(terminal::shown(&text)) } else { Cow::Borrowed(&*text) };
    let line = terminal::without_pager(&text).trim_end();
    let is_framed = line.trim_start().starts_with('|') && line.ends_with('|');
    let mut expanded = String::with_capacity(line.len());
    let mut column = 0;
    for character in line.chars() {
        let character = if is_framed && character == '|' { ' ' } else { character };
        if character == '\t' {
            let spaces = TAB - column % TAB;
            expanded.extend(std::iter::repeat_n(' ', spaces));
            column += spaces;
        } else {
            expanded.push(character);
            column += 1;
        }
    }
    expanded.truncate(expanded.trim_end().len());
    expanded
}
