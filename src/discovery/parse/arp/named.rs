//! The entries of named values among the lines of a table.
//!
//! An address with a name is an entry if a MAC address belongs to it, or to another address with this name. Otherwise it
//! is a setting, such as the address of the device.

use std::mem;

use super::line::ArpLine;
use super::properties::Properties;

/// The most bytes of entries without a MAC address before the first entry with one.
const MAX_UNDECIDED: usize = 64 * 1024;

/// The part of a table that a line has ended.
pub(super) enum NamedPart {
    /// An entry and its first line.
    Entry(ArpLine, String),
    /// Lines of no entry.
    Lines(Vec<String>),
}

/// The entries of named values while their lines are read.
#[derive(Default)]
pub(super) struct NamedEntries {
    entry: Option<Properties>,
    /// The name of the IP address in the last entry with a MAC address.
    title: Option<String>,
    /// The entries without a MAC address that no entry with one has followed yet.
    undecided: Vec<Properties>,
    undecided_bytes: usize,
}

impl NamedEntries {
    /// Reads a line. Returns whether an entry has it, and the parts that precede the line.
    pub(super) fn accept(&mut self, text: &str) -> (bool, Vec<NamedPart>) {
        if self.entry.as_mut().is_some_and(|entry| entry.accept(text)) {
            return (true, Vec::new());
        }
        let mut parts = Vec::new();
        self.end_entry(&mut parts);
        self.entry = Properties::begin(text);
        // Empty lines and dashes separate entries. Other text ends the table.
        if self.entry.is_none() && text.contains(char::is_alphanumeric) {
            self.release(&mut parts);
        }
        (self.entry.is_some(), parts)
    }

    /// Returns the parts that precede the end of the table.
    pub(super) fn finish(&mut self) -> Vec<NamedPart> {
        let mut parts = Vec::new();
        self.end_entry(&mut parts);
        self.release(&mut parts);
        parts
    }

    fn end_entry(&mut self, parts: &mut Vec<NamedPart>) {
        let Some(entry) = self.entry.take() else { return };
        if entry.has_mac() {
            self.title = Some(entry.title().to_owned());
            self.release(parts);
        }
        if entry.has_mac() || self.is_of_table(&entry) {
            parts.push(part(entry, true));
            return;
        }
        self.undecided_bytes += entry.length();
        self.undecided.push(entry);
        if self.undecided_bytes > MAX_UNDECIDED {
            self.release(parts);
        }
    }

    fn is_of_table(&self, entry: &Properties) -> bool {
        self.title.as_deref() == Some(entry.title())
    }

    /// Decides about the entries without a MAC address.
    fn release(&mut self, parts: &mut Vec<NamedPart>) {
        self.undecided_bytes = 0;
        for entry in mem::take(&mut self.undecided) {
            let is_entry = self.is_of_table(&entry);
            parts.push(part(entry, is_entry));
        }
    }
}

fn part(entry: Properties, is_entry: bool) -> NamedPart {
    if is_entry {
        let (line, example) = entry.into_entry();
        NamedPart::Entry(line, example)
    } else {
        NamedPart::Lines(entry.into_lines())
    }
}
