//! The state of a table while its lines are read.

use super::beside::{
    Command, is_about_ipv6, is_about_leases, is_beside_table, is_empty_total, is_log, is_refusal,
};
use super::heading::Heading;
use super::line::{self, ArpLine, Word};
use super::properties::Properties;
use super::section::TableSection;
use super::{MAX_LINE, Sink};
use crate::discovery::parse::{ParseError, ParseErrorKind};
use crate::discovery::report::{AddressFamily, ArpRow};
use crate::printable::printable;

/// The characters of a device's name that are shown in an error.
const MAX_NAME: usize = 40;

/// The words of a line that has the rest of an entry.
const MAX_RESTS: usize = 3;

/// A table while it is read.
#[derive(Default)]
pub(super) struct TableReader {
    heading: Option<Heading>,
    section: Option<TableSection>,
    /// Whether the next line without addresses is the heading of a section, in any language.
    expects_heading: bool,
    /// A line with an address alone.
    held: Option<String>,
    /// An entry of named fields, which further lines may continue.
    fields: Option<String>,
    /// An entry of named values, one or a few on each line.
    properties: Option<Properties>,
    /// The lines without addresses since the last entry. They are titles if a heading follows.
    pub(super) unread: Unread,
    pub(super) has_entries: bool,
    /// An entry whose interface the next line may continue.
    entry: Option<ArpRow>,
    /// The interface of the entry before.
    last_interface: Option<String>,
    /// The line before, if it may be the upper one of a heading.
    title: Option<String>,
    /// The name in the prompt of the last command, as long as no entry follows.
    asked: Option<String>,
    /// The name in the prompt of the first command that printed an entry.
    answered: Option<String>,
    /// The names of two devices whose commands printed entries.
    devices: Option<String>,
    /// Whether a command or a total shows that the table is empty if there are no entries.
    is_empty: bool,
    /// Whether a total states that there are entries.
    has_total: bool,
    /// Whether any line has text.
    has_text: bool,
    /// Whether the last command or heading is one of leases.
    lists_leases: bool,
    /// Whether the last command prints something else than the whole table.
    asks_other: bool,
    /// Whether the last command that prints the table, or a line behind it, names IPv6.
    names_ipv6: bool,
}

#[derive(Default)]
pub(super) struct Unread {
    pub(super) count: u64,
    line: u64,
    example: String,
}

impl Unread {
    /// Returns whether the only line is a heading in a language whose titles are not known.
    fn is_foreign_heading(&self) -> bool {
        let has_digit = self.example.contains(|character: char| character.is_ascii_digit());
        self.count == 1 && !self.example.is_ascii() && !has_digit
    }
}

impl TableReader {
    /// Reads a line. Returns whether it is whole and understood.
    pub(super) fn accept(&mut self, text: &str, sink: &mut Sink<'_>) -> bool {
        if let Some(mut entry) = self.properties.take() {
            // Without the lines behind it, the entry may not be whole.
            if entry.accept(text) {
                self.properties = Some(entry);
                return false;
            }
            self.accept_properties(entry, sink);
        }
        self.properties = Properties::begin(text);
        self.properties.is_none() && self.accept_line_of_table(text, sink)
    }

    /// Takes an entry of named values, or its lines as others if it has no MAC address.
    fn accept_properties(&mut self, entry: Properties, sink: &mut Sink<'_>) {
        match entry.finish() {
            Ok((line, example)) => {
                self.has_text = true;
                let line = if self.lists_leases { ArpLine::Lease } else { line };
                self.accept_line(line, &example, sink);
            }
            Err(lines) => {
                for line in lines {
                    self.accept_line_of_table(&line, sink);
                }
            }
        }
    }

    fn accept_line_of_table(&mut self, text: &str, sink: &mut Sink<'_>) -> bool {
        if let Some(row) = self.entry.take() {
            match self.continued(row, text) {
                Ok(continued) => {
                    self.last_interface.clone_from(&continued.if_name);
                    self.entry = Some(continued);
                    return true;
                }
                Err(row) => sink.push(row),
            }
        }
        if let Some(mut entry) = self.fields.take() {
            // RouterOS breaks the lines of its exports anywhere behind a backslash.
            if entry.ends_with('\\') && entry.len() < MAX_LINE {
                entry.pop();
                entry.push_str(text.trim());
                self.fields = Some(entry);
                return true;
            }
            if line::continues_fields(text) && entry.len() < MAX_LINE {
                entry.push(' ');
                entry.push_str(text.trim());
                self.fields = Some(entry);
                return true;
            }
            self.accept_fields(&entry, sink);
        }
        if is_log(text) {
            // Messages alone are no empty table.
            self.has_text = true;
            return true;
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
        self.has_text = true;
        if let Some(section) = TableSection::read(&words) {
            (self.section, self.heading, self.has_entries) = (Some(section), None, true);
            self.expects_heading = true;
            return true;
        }
        let line = line::read(&words, self.heading.as_ref());
        if matches!(line, ArpLine::NoAddress) {
            return self.accept_other(text, &words, sink);
        }
        if matches!(line, ArpLine::Incomplete | ArpLine::AddressOnly)
            && let Some(command) = Command::read(text)
        {
            // It names an address.
            self.note_command(&command);
            return true;
        }
        let line = if self.lists_leases { ArpLine::Lease } else { self.with_interface(line, &words) };
        self.accept_line(line, text, sink)
    }

    /// Adds the rest of the name of an interface to an entry. Returns the entry as it is if the line has another meaning.
    fn continued(&self, row: ArpRow, text: &str) -> Result<ArpRow, ArpRow> {
        let words = line::words(text);
        let heading = self.heading.as_ref().filter(|_| !words.is_empty() && words.len() <= MAX_RESTS);
        let is_other = is_beside_table(text) || !matches!(line::read(&words, None), ArpLine::NoAddress);
        let rest = heading.and_then(|heading| heading.rest_of_interface(&words)).filter(|_| !is_other);
        match (rest, &row.if_name) {
            (Some(rest), Some(name)) if name.len() < MAX_LINE => {
                Ok(ArpRow { if_name: Some(format!("{name}{rest}")), ..row })
            }
            _ => Err(row),
        }
    }

    /// Gives an entry the interface of the entry before if the table has it there alone.
    fn with_interface(&mut self, line: ArpLine, words: &[Word<'_>]) -> ArpLine {
        let ArpLine::Row(mut row) = line else { return line };
        let continues = self.heading.as_ref().is_some_and(|heading| heading.continues_interface(words));
        if row.if_name.is_none() && continues {
            row.if_name.clone_from(&self.last_interface);
        }
        self.last_interface.clone_from(&row.if_name);
        ArpLine::Row(row)
    }

    /// Fails if the commands of two devices printed entries.
    pub(super) fn check(&mut self, sink: &Sink<'_>) -> Result<(), ParseError> {
        let devices = self.devices.take();
        devices.map_or(Ok(()), |devices| Err(sink.meter.error(ParseErrorKind::SeveralDevices(devices))))
    }

    /// Returns whether the lines so far have no table, but other text.
    pub(super) const fn is_of_other_form(&self) -> bool {
        let is_empty = self.is_empty && !self.has_total;
        self.has_text && !self.has_entries && self.heading.is_none() && !is_empty
    }

    /// Returns the family of addresses that a table without entries is about. Without a text, it may be both.
    pub(super) fn family(&self) -> Option<AddressFamily> {
        let family = if self.names_ipv6 { AddressFamily::Ipv6 } else { AddressFamily::Ipv4 };
        self.has_text.then_some(family)
    }

    fn accept_fields(&mut self, entry: &str, sink: &mut Sink<'_>) {
        if let Some(line) = line::read_fields(entry) {
            let line = if self.lists_leases { ArpLine::Lease } else { line };
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
                let is_full =
                    |heading: &Heading| row.if_name.as_deref().is_some_and(|name| heading.is_full(name));
                if self.heading.as_ref().is_some_and(is_full) {
                    self.entry = Some(row);
                } else {
                    sink.push(row);
                }
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
            ArpLine::Lease | ArpLine::MacOnly | ArpLine::NoAddress => {
                let line = sink.meter.line();
                sink.skip_malformed(1, line, text);
                false
            }
        }
    }

    /// Reads a line without addresses: a heading, or a line beside the table.
    fn accept_other(&mut self, text: &str, words: &[Word<'_>], sink: &Sink<'_>) -> bool {
        let title = self.title.replace(text.to_owned());
        let wrapped = || Heading::read_wrapped(&line::words(title.as_deref()?), words);
        let heading = Heading::read(words).or_else(wrapped);
        // A heading may begin like a command of a shell, with a number sign.
        match &heading {
            Some(_) => self.note_title(text),
            None => self.note_beside(text),
        }
        if let Some(heading) = heading {
            (self.heading, self.title, self.last_interface) = (Some(heading), Some(text.to_owned()), None);
            self.unread = Unread::default();
            self.expects_heading = false;
            return true;
        }
        if std::mem::take(&mut self.expects_heading) {
            return true;
        }
        if !self.has_entries && self.heading.as_ref().is_some_and(|heading| heading.is_continued_by(words)) {
            self.heading = title.and_then(|title| Heading::read_stacked(&line::words(&title), words));
            return true;
        }
        if let Some(heading) = self.heading.as_mut().filter(|_| !self.has_entries) {
            heading.align(text);
        }
        // Some devices continue the columns of the heading, or of an entry, on a second line.
        let continues =
            words.len() <= 2 && self.heading.as_ref().is_some_and(|heading| heading.is_indented(words));
        if continues || is_beside_table(text) {
            return true;
        }
        self.add_unread(text, sink);
        false
    }

    /// Notes what a line beside a table shows about it.
    fn note_beside(&mut self, text: &str) {
        if is_refusal(text) {
            self.is_empty = false;
            return;
        }
        if let Some(command) = Command::read(text) {
            self.note_command(&command);
            return;
        }
        // An export of RouterOS names each menu on a line of its own.
        self.lists_leases &= !text.trim_start().starts_with('/');
        self.note_title(text);
        if let Some(is_empty) = is_empty_total(text) {
            self.is_empty |= is_empty && !self.asks_other;
            self.has_total |= !is_empty;
        }
    }

    /// Notes what a line names that is no command.
    fn note_title(&mut self, text: &str) {
        self.lists_leases |= is_about_leases(text);
        self.names_ipv6 |= is_about_ipv6(text);
    }

    fn note_command(&mut self, command: &Command<'_>) {
        self.asked = command.device.map(str::to_owned);
        self.lists_leases = is_about_leases(command.text);
        self.asks_other = !command.prints_table();
        if !self.asks_other {
            (self.is_empty, self.names_ipv6) = (true, is_about_ipv6(command.text));
        }
    }

    /// Notes that the last command printed an entry.
    fn note_answer(&mut self) {
        let Some(device) = self.asked.take() else { return };
        match &self.answered {
            None => self.answered = Some(device),
            Some(known) if known.eq_ignore_ascii_case(&device) => {}
            Some(known) => {
                let [known, device] = [known, &device].map(|name| printable(name, MAX_NAME));
                self.devices = Some(format!("there are commands of `{known}` and `{device}`"));
            }
        }
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
        self.note_answer();
        if !self.has_entries && self.unread.is_foreign_heading() {
            self.unread = Unread::default();
        }
        (self.has_entries, self.expects_heading, self.title) = (true, false, None);
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

    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) {
        if let Some(entry) = self.properties.take() {
            self.accept_properties(entry, sink);
        }
        if let Some(row) = self.entry.take() {
            sink.push(row);
        }
        if let Some(entry) = self.fields.take() {
            self.accept_fields(&entry, sink);
        }
        if let Some(held) = self.held.take() {
            self.release(&held, sink);
        }
        self.count_unread(sink);
    }
}
