//! ARP tables and IPv6 neighbor tables.
//!
//! One reader reads the tables of all vendors. The addresses of a line are recognized by their form. The columns of the
//! heading determine which word is the interface ([`heading`], [`side`]), or the cells have separators ([`separated`]). In a table
//! without a heading, a keyword precedes the interface, or it is the name behind the addresses ([`line`]), or all values
//! have names ([`properties`], [`fields`]). Documents in JSON have a reader of their own ([`document`]).
//! Titles and names show other tables with such addresses ([`other_tables`]), which are refused.

mod addresses;
mod beside;
mod document;
mod fields;
mod heading;
mod interface;
mod letters;
mod line;
mod named;
mod notes;
mod other_tables;
mod properties;
mod recognition;
mod section;
mod separated;
mod side;
mod table;
mod titles;
mod unread;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::net::IpAddr;

use self::line::ArpLine;
pub(super) use self::recognition::{has_entries, is_table};
use self::table::TableReader;
use super::meter::Meter;
use super::{ParseError, ParseErrorKind, ParseOptions, json, named_device};
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
    let (indent, first) = json::indented_byte(reader, sink.meter)?;
    if let Some(bracket @ (b'[' | b'{')) = first {
        reader.consume(1);
        sink.meter.add_bytes(indent.len());
        let next = json::first_byte(reader, sink.meter)?;
        let bracket = [bracket];
        let mut whole = bracket.as_slice().chain(reader);
        if is_document(&bracket, next) {
            document::read(&mut whole, options, &mut sink)?;
        } else {
            read_lines(&mut whole, &mut sink)?;
        }
    } else {
        // The columns of a heading are found by their places.
        read_lines(&mut indent.as_slice().chain(reader), &mut sink)?;
    }
    let Sink { rows, incomplete, malformed, shortened, asked, .. } = sink;
    if rows.is_empty() && incomplete + shortened == 0 && malformed > 0 {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    meter.use_rows(rows.len());
    // Most commands print the entries of one family, which must not replace those of the other.
    let (family, is_known) = match asked {
        _ if !rows.is_empty() => (AddressFamily::of_all(rows.iter().map(|row| row.ip_address)), true),
        AskedFamily::One(family) => (Some(family), true),
        AskedFamily::Both => (None, true),
        AskedFamily::Unknown => (None, false),
    };
    // A table with lines that cannot be read may have more entries than these.
    let is_whole = malformed == 0 && shortened == 0;
    let is_complete = options.complete && is_whole && is_known && !meter.is_truncated();
    device.tables.arp = Some(Table::of(rows, is_complete).limited_to(family));
    Ok(Report::of_device("arp", options.observed_at, device))
}

/// Returns whether input that begins with a bracket is JSON. Prompts such as `[admin@router] >` and `{master:0}` begin
/// with one, too.
fn is_document(bracket: &[u8], next: Option<u8>) -> bool {
    match next {
        Some(next) => matches!((bracket, next), (b"[", b'{' | b']') | (b"{", b'"' | b'}')),
        None => true,
    }
}

/// The family of which a table without entries has none.
#[derive(Clone, Copy)]
enum AskedFamily {
    One(AddressFamily),
    Both,
    Unknown,
}

/// Collects the entries of a table, and counts the others.
struct Sink<'m> {
    meter: &'m mut Meter,
    rows: Vec<ArpRow>,
    /// The entries so far.
    known: HashSet<EntryKey>,
    /// The entries for which no device has answered, or that are no device's.
    incomplete: u64,
    malformed: u64,
    /// The entries with addresses of which bytes are missing.
    shortened: u64,
    asked: AskedFamily,
}

/// An address and a MAC address on an interface.
type EntryKey = (IpAddr, MacAddress, Option<i64>, Option<String>);

impl<'m> Sink<'m> {
    fn new(meter: &'m mut Meter) -> Self {
        let asked = AskedFamily::Unknown;
        Self {
            meter,
            rows: Vec::new(),
            known: HashSet::new(),
            incomplete: 0,
            malformed: 0,
            shortened: 0,
            asked,
        }
    }

    /// Takes an entry. Addresses of groups are those of no device, and an entry of several commands counts once.
    fn push(&mut self, row: ArpRow) {
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
    fn skip_incomplete(&mut self, text: &str) {
        self.incomplete += 1;
        self.meter.skip_of(WarningCode::RowIncomplete, || text.trim());
    }

    /// Counts an entry that has no row, by its meaning.
    fn skip_entry(&mut self, line: &ArpLine, text: &str) {
        match line {
            ArpLine::Incomplete => self.skip_incomplete(text),
            ArpLine::Shortened => {
                self.shortened += 1;
                self.meter.skip_of(WarningCode::HardwareAddressShortened, || text.trim());
            }
            _ => self.skip_malformed_entry(text),
        }
    }

    /// Counts an entry that cannot be read.
    fn skip_malformed_entry(&mut self, text: &str) {
        self.malformed = self.malformed.saturating_add(1);
        self.meter.skip_of(WarningCode::RowMalformed, || text);
    }

    /// Counts lines that cannot be read, the first of which is on an earlier line.
    fn skip_malformed(&mut self, count: u64, line: u64, example: &str) {
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
        let is_understood = table.accept(&shown(line.bytes), sink);
        table.check(sink)?;
        if !line.has_newline && !is_understood {
            // The rest of the line may be missing.
            sink.meter.truncate();
        }
        if table.leading_lines() > MAX_LEADING_LINES {
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

/// Converts a line to text as a terminal shows it.
fn shown(line: &[u8]) -> String {
    let line = line.get(..line.len().min(MAX_LINE)).asserted_or_default();
    let text = text::text(line);
    let text =
        if terminal::has_controls(line) { Cow::Owned(terminal::shown(&text)) } else { Cow::Borrowed(&*text) };
    terminal::without_pager(&text).to_owned()
}

/// Puts spaces in place of tabs and of the borders of cells.
fn expanded(shown: &str) -> String {
    let line = shown.trim_end();
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
