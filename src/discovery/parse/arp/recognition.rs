//! Recognition of a neighbor table by its lines.

use super::beside::{self, Command};
use super::heading::Heading;
use super::line::{self, ArpLine};
use super::properties::Properties;
use super::separated::SeparatedTable;
use super::{expanded, fields, shown};

/// The fewest entries of a table before a document. `arp -n ADDRESS` prints one.
const MIN_ENTRIES: usize = 2;

/// Returns whether text has a heading or an entry of a table, or announces a table, among its first lines.
pub(in crate::discovery::parse) fn is_table(text: &[u8], max_lines: usize) -> bool {
    let mut lines = TableLines::default();
    text.split(|byte| *byte == b'\n').take(max_lines).any(|line| match lines.accept(&shown(line)) {
        LineKind::Titles | LineKind::Heading | LineKind::Entry | LineKind::Unanswered => true,
        LineKind::WithoutAddress => beside::announces_table(&lines.last),
        LineKind::Other => false,
    })
}

/// Returns whether text has the titles of a table with separators, or several entries, among its first lines.
pub(in crate::discovery::parse) fn has_entries(text: &[u8], max_lines: usize) -> bool {
    let (mut lines, mut entries) = (TableLines::default(), 0);
    text.split(|byte| *byte == b'\n').take(max_lines).any(|line| {
        let kind = lines.accept(&shown(line));
        entries += usize::from(kind == LineKind::Entry);
        kind == LineKind::Titles || entries == MIN_ENTRIES
    })
}

/// The kind of a line as evidence of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind {
    /// The titles of a table with separators.
    Titles,
    Heading,
    /// The end of an entry with both addresses.
    Entry,
    /// An address for which no device has answered. Routes have the same form.
    Unanswered,
    WithoutAddress,
    Other,
}

/// The lines of a text so far.
#[derive(Default)]
struct TableLines {
    last: String,
    entry: Option<Properties>,
    has_heading: bool,
}

impl TableLines {
    fn accept(&mut self, shown: &str) -> LineKind {
        let line = expanded(shown);
        let before = std::mem::replace(&mut self.last, line.clone());
        if SeparatedTable::begin(shown).is_some() {
            return LineKind::Titles;
        }
        let was_whole = self.entry.as_ref().is_some_and(Properties::has_mac);
        let is_continued = self.entry.as_mut().is_some_and(|entry| entry.accept(&line));
        if !is_continued {
            self.entry = Properties::begin(&line);
        }
        if self.entry.as_ref().is_some_and(Properties::has_mac) {
            return if is_continued && was_whole { LineKind::Other } else { LineKind::Entry };
        }
        let words = line::words(&line);
        match fields::read(&line).unwrap_or_else(|| line::read(&words, None)) {
            ArpLine::Row(_) => LineKind::Entry,
            // The IP address may be on the line before.
            ArpLine::MacOnly if self.has_heading => LineKind::Entry,
            ArpLine::Incomplete if words.iter().any(|word| matches!(word.text, "at" | "dev")) => {
                LineKind::Unanswered
            }
            ArpLine::NoAddress => {
                let is_heading =
                    !Command::is_line(&line) && Heading::read_lines(Some(&before), &words).is_some();
                self.has_heading |= is_heading;
                if is_heading { LineKind::Heading } else { LineKind::WithoutAddress }
            }
            ArpLine::Incomplete
            | ArpLine::AddressOnly
            | ArpLine::Other
            | ArpLine::MacOnly
            | ArpLine::Shortened
            | ArpLine::Unreadable => LineKind::Other,
        }
    }
}
