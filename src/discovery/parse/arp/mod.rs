//! ARP tables and IPv6 neighbor tables.
//!
//! One reader reads the tables of all vendors. The addresses of a line are recognized by their form. The columns of the
//! heading determine which word is the interface ([`heading`]). In a table without a heading, a keyword precedes the
//! interface, or it is the name behind the addresses ([`line`]).

mod beside;
mod heading;
mod line;
mod section;

use std::io::{BufRead, Read};

pub(super) use line::{ip_address, state};

use self::beside::is_beside_table;
use self::heading::Heading;
use self::line::{ArpLine, Word};
use self::section::TableSection;
use super::meter::Meter;
use super::{ParseError, ParseErrorKind, ParseOptions, iproute2, json, named_device};
use crate::discovery::parse::lines::BoundedLines;
use crate::discovery::parse::text;
use crate::discovery::report::{ArpRow, Report, Table, WarningCode};
use crate::invariant::Invariant;

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
    let Sink { rows, incomplete, malformed, .. } = sink;
    if rows.is_empty() && incomplete == 0 && malformed > 0 {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    meter.use_rows(rows.len());
    // A table with lines that cannot be read may have more entries than these.
    let is_complete = options.complete && malformed == 0 && !meter.is_truncated();
    device.tables.arp = Some(Table::of(rows, is_complete));
    Ok(Report::of_device("arp", options.observed_at, device))
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

/// Maximum number of lines before the first entry. If there are more, the input counts as another format.
const MAX_LEADING_LINES: u64 = 1_000;
/// Maximum length of the part of a line that is read, in bytes.
const MAX_LINE: usize = 4 * 1024;
/// The distance of tab stops.
const TAB: usize = 8;

/// Reads the entries of a table.
fn read_lines(reader: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<(), ParseError> {
    let mut table = Reading::default();
    let mut lines = BoundedLines::new(reader);
    while let Some(line) = lines.next(sink.meter)? {
        sink.meter.add_steps(line.bytes.len().saturating_mul(8));
        let is_understood = table.accept(&expanded(line.bytes), sink);
        if !line.has_newline && !is_understood {
            // The rest of the line may be missing.
            sink.meter.truncate();
        }
        if !table.has_entries && table.unread.count > MAX_LEADING_LINES {
            return Err(sink.meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
        }
    }
    table.finish(sink);
    Ok(())
}

/// Returns whether text has a heading or an entry of a table among its first lines.
pub(in crate::discovery::parse) fn is_table(text: &[u8], max_lines: usize) -> bool {
    text.split(|byte| *byte == b'\n').take(max_lines).any(|line| {
        let line = expanded(line);
        let words = line::words(&line);
        match line::read_fields(&line).unwrap_or_else(|| line::read(&words, None)) {
            ArpLine::Row(_) => true,
            ArpLine::Incomplete => words.iter().any(|word| matches!(word.text, "at" | "dev")),
            ArpLine::NoAddress => Heading::read(&words).is_some(),
            ArpLine::AddressOnly | ArpLine::MacOnly => false,
        }
    })
}

/// Converts a line to text with spaces in place of tabs.
fn expanded(line: &[u8]) -> String {
    let line = text::text(line.get(..line.len().min(MAX_LINE)).asserted_or_default());
    let mut expanded = String::with_capacity(line.len());
    let mut column = 0;
    for character in line.trim_end().chars() {
        if character == '\t' {
            let spaces = TAB - column % TAB;
            expanded.extend(std::iter::repeat_n(' ', spaces));
            column += spaces;
        } else {
            expanded.push(character);
            column += 1;
        }
    }
    expanded
}

/// A table while it is read.
#[derive(Default)]
struct Reading {
    heading: Option<Heading>,
    section: Option<TableSection>,
    /// Whether the next line without addresses is the heading of a section, in any language.
    expects_heading: bool,
    /// A line with an address alone.
    held: Option<String>,
    /// An entry of named fields, which further lines may continue.
    fields: Option<String>,
    /// The lines without addresses since the last entry. They are titles if a heading follows.
    unread: Unread,
    has_entries: bool,
}

#[derive(Default)]
struct Unread {
    count: u64,
    line: u64,
    example: String,
}

impl Reading {
    /// Reads a line. Returns whether it is whole and understood.
    fn accept(&mut self, text: &str, sink: &mut Sink<'_>) -> bool {
        if let Some(entry) = self.fields.take() {
            if line::continues_fields(text) && entry.len() < MAX_LINE {
                self.fields = Some(format!("{entry} {}", text.trim()));
                return true;
            }
            self.accept_fields(&entry, sink);
        }
        if line::read_fields(text).is_some() {
            self.fields = Some(text.to_owned());
            return true;
        }
        let words = line::words(text);
        if let Some(held) = self.held.take() {
            let joined: Vec<Word<'_>> = line::words(&held).into_iter().chain(words.iter().copied()).collect();
            if matches!(line::read(&words, self.heading.as_ref()), ArpLine::MacOnly) {
                let line = line::read(&joined, self.heading.as_ref());
                return self.accept_line(line, &format!("{held} {}", text.trim()), sink);
            }
            self.release(&held, sink);
        }
        if words.is_empty() {
            return true;
        }
        if let Some(section) = TableSection::read(&words) {
            (self.section, self.heading, self.has_entries) = (Some(section), None, true);
            self.expects_heading = true;
            return true;
        }
        let line = line::read(&words, self.heading.as_ref());
        if matches!(line, ArpLine::NoAddress) {
            return self.accept_other(text, &words, sink);
        }
        self.accept_line(line, text, sink)
    }

    fn accept_fields(&mut self, entry: &str, sink: &mut Sink<'_>) {
        if let Some(line) = line::read_fields(entry) {
            self.accept_line(line, entry, sink);
        }
    }

    fn accept_line(&mut self, line: ArpLine, text: &str, sink: &mut Sink<'_>) -> bool {
        match line {
            ArpLine::Row(mut row) => {
                self.begin_entry(sink);
                if let Some(TableSection { index, name }) = &self.section {
                    (row.if_index, row.if_name) = (*index, name.clone());
                }
                sink.push(row);
                true
            }
            ArpLine::Incomplete => {
                self.begin_entry(sink);
                sink.skip_incomplete(text);
                false
            }
            ArpLine::AddressOnly => {
                self.held = Some(text.to_owned());
                false
            }
            ArpLine::MacOnly | ArpLine::NoAddress => {
                let line = sink.meter.line();
                sink.skip_malformed(1, line, text);
                false
            }
        }
    }

    /// Reads a line without addresses: a heading, or a line beside the table.
    fn accept_other(&mut self, text: &str, words: &[Word<'_>], sink: &Sink<'_>) -> bool {
        if let Some(heading) = Heading::read(words) {
            self.heading = Some(heading);
            self.unread = Unread::default();
            self.expects_heading = false;
            return true;
        }
        if std::mem::take(&mut self.expects_heading) {
            return true;
        }
        // Some devices continue the columns of the heading, or of an entry, on a second line.
        let continues = self.heading.is_some() && text.starts_with(' ') && words.len() <= 2;
        if continues || is_beside_table(text) {
            return true;
        }
        self.add_unread(text, sink);
        false
    }

    fn add_unread(&mut self, text: &str, sink: &Sink<'_>) {
        if self.unread.count == 0 {
            self.unread.line = sink.meter.line();
            text.clone_into(&mut self.unread.example);
        }
        self.unread.count += 1;
    }

    /// Begins an entry: the lines before it that no heading followed belong to no known form.
    fn begin_entry(&mut self, sink: &mut Sink<'_>) {
        self.has_entries = true;
        self.expects_heading = false;
        self.count_unread(sink);
    }

    fn count_unread(&mut self, sink: &mut Sink<'_>) {
        let Unread { count, line, example } = std::mem::take(&mut self.unread);
        if count > 0 {
            sink.skip_malformed(count, line, &example);
        }
    }

    /// Counts an address whose MAC address does not follow.
    fn release(&mut self, held: &str, sink: &mut Sink<'_>) {
        if self.heading.is_some() {
            self.begin_entry(sink);
            sink.skip_incomplete(held);
        } else {
            self.add_unread(held, sink);
        }
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        if let Some(entry) = self.fields.take() {
            self.accept_fields(&entry, sink);
        }
        if let Some(held) = self.held.take() {
            self.release(&held, sink);
        }
        self.count_unread(sink);
    }
}
