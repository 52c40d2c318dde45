//! The state of a table while its lines are read.

use super::addresses::ip_address;
use super::beside::{Command, is_beside_table, is_message};
use super::fields::FieldsEntry;
use super::heading::Heading;
use super::letters::StateLetters;
use super::line::{self, ArpLine, Word};
use super::named::{NamedEntries, NamedPart};
use super::notes::TableNotes;
use super::section::TableSection;
use super::separated::SeparatedTable;
use super::unread::UnreadLines;
use super::{AskedFamily, MAX_LINE, Sink, expanded};
use crate::discovery::parse::detect::is_structured;
use crate::discovery::parse::{ParseError, ParseErrorKind};
use crate::discovery::report::{AddressFamily, ArpRow};

/// The words of a line that has the rest of an entry.
const MAX_RESTS: usize = 3;

/// A table while it is read.
#[derive(Default)]
pub(super) struct TableReader {
    heading: Option<Heading>,
    /// The columns of a table with separators.
    separated: Option<SeparatedTable>,
    section: Option<TableSection>,
    /// Whether the next line without addresses is the heading of a section, in any language.
    expects_heading: bool,
    /// A line with an address alone.
    held: Option<String>,
    /// An entry of named fields, which further lines may continue.
    fields: Option<FieldsEntry>,
    /// The entries of named values, one or a few on each line.
    named: NamedEntries,
    unread: UnreadLines,
    has_entries: bool,
    /// Whether a heading has gaps between its titles, which sentences with the words of titles lack.
    has_titles: bool,
    /// An entry whose interface the next line may continue.
    entry: Option<ArpRow>,
    /// The interface of the entry before.
    last_interface: Option<String>,
    /// The line before, if it may be the upper one of a heading.
    title: Option<String>,
    /// Whether any line has text.
    has_text: bool,
    notes: TableNotes,
    /// The legend of the entries that follow.
    letters: Option<StateLetters>,
}

impl TableReader {
    /// Reads a line, as a terminal shows it. Returns whether it is whole and understood.
    pub(super) fn accept(&mut self, shown: &str, sink: &mut Sink<'_>) -> bool {
        let is_document = is_structured(shown.trim_start().as_bytes());
        if is_document && shown.contains(char::is_alphanumeric) {
            // It may have further entries, whatever addresses its first line has. Those of several lines have unread lines.
            self.flush(sink);
            self.has_text = true;
            return self.accept_line(ArpLine::Unreadable, shown, sink);
        }
        if let Some(is_understood) = self.accept_separated(shown, sink) {
            return is_understood;
        }
        let text = expanded(shown);
        let (is_taken, parts) = self.named.accept(&text);
        self.accept_named(parts, sink);
        // Without the lines behind it, an entry of named values may not be whole.
        !is_taken && self.accept_line_of_table(&text, sink)
    }

    /// Reads a line of a table with separators. `None`: it is none.
    fn accept_separated(&mut self, shown: &str, sink: &mut Sink<'_>) -> Option<bool> {
        let line = self.separated.as_ref().and_then(|table| table.entry(shown));
        let is_read = matches!(line, Some(ArpLine::Row(_) | ArpLine::Incomplete));
        if let Some(table) = SeparatedTable::begin(shown).filter(|_| !is_read) {
            self.flush(sink);
            self.notes.note_neighbor_titles(shown);
            // Lines with other tabs than those between columns are read by the places of the titles.
            self.heading = Heading::read(&line::words(&expanded(shown)));
            (self.separated, self.section, self.title) = (Some(table), None, None);
            (self.unread, self.expects_heading, self.has_text) = (UnreadLines::default(), false, true);
            return Some(true);
        }
        let line = line?;
        self.flush(sink);
        if let Some(device) = self.separated.as_ref().and_then(|table| table.device(shown)) {
            self.notes.note_device(device);
        }
        let line = if self.notes.lists_others() { ArpLine::Other } else { line };
        Some(self.accept_line(line, shown, sink))
    }

    /// Takes the parts of a table with named values.
    fn accept_named(&mut self, parts: Vec<NamedPart>, sink: &mut Sink<'_>) {
        for part in parts {
            match part {
                NamedPart::Entry(line, example) => {
                    self.has_text = true;
                    let line = if self.notes.lists_others() { ArpLine::Other } else { line };
                    self.accept_line(line, &example, sink);
                }
                NamedPart::Lines(lines) => {
                    for line in lines {
                        self.accept_line_of_table(&line, sink);
                    }
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
        if self.fields.as_mut().is_some_and(|entry| entry.accept(text)) {
            return true;
        }
        self.end_fields(sink);
        if is_message(text) {
            // Messages alone are no empty table.
            self.has_text = true;
            return true;
        }
        self.fields = FieldsEntry::begin(text);
        if self.fields.is_some() {
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
            (self.section, self.heading, self.separated) = (Some(section), None, None);
            (self.has_entries, self.expects_heading) = (true, true);
            self.notes.begin_table();
            return true;
        }
        let line = line::read(&words, self.heading.as_ref());
        if matches!(line, ArpLine::NoAddress) {
            // In a section, the titles may be in any language.
            if self.section.is_some() && words.first().is_some_and(|word| ip_address(word.text).is_some()) {
                return self.accept_line(ArpLine::Incomplete, text, sink);
            }
            return self.accept_other(text, &words, sink);
        }
        if matches!(line, ArpLine::Incomplete | ArpLine::AddressOnly)
            && let Some(command) = Command::read(text)
        {
            // It names an address.
            self.notes.note_command(&command);
            return true;
        }
        if matches!(line, ArpLine::Row(_)) && line::has_keyword(&words) {
            self.notes.end_heading();
        }
        if self.notes.lists_others() {
            return self.accept_line(ArpLine::Other, text, sink);
        }
        let line = self.with_interface(line, &words);
        let line = match &self.letters {
            Some(letters) => letters.applied(line, &words),
            None => line,
        };
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
        let devices = self.notes.take_devices();
        devices.map_or(Ok(()), |devices| Err(sink.meter.error(ParseErrorKind::SeveralDevices(devices))))
    }

    /// Returns the number of lines so far that have no known meaning, if there is no entry.
    pub(super) const fn leading_lines(&self) -> u64 {
        if self.has_entries { 0 } else { self.unread.count() }
    }

    /// Returns whether the lines so far have no table, but other text.
    pub(super) const fn is_of_other_form(&self) -> bool {
        let has_heading = self.has_titles || self.separated.is_some();
        self.has_text && !self.has_entries && !has_heading && !self.notes.shows_empty_table()
    }

    /// Returns the family of addresses that a table without entries is about. Without a text, it may be both.
    pub(super) fn family(&self) -> AskedFamily {
        match self.notes.family() {
            _ if !self.has_text => AskedFamily::Both,
            // The titles are the same for both families.
            AddressFamily::Ipv4 if self.separated.is_some() => AskedFamily::Unknown,
            family => AskedFamily::One(family),
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
            ArpLine::Incomplete | ArpLine::Shortened => {
                self.begin_entry(sink);
                sink.skip_entry(&line, text);
                false
            }
            ArpLine::AddressOnly => {
                self.held = Some(text.to_owned());
                false
            }
            ArpLine::Other | ArpLine::MacOnly | ArpLine::Unreadable | ArpLine::NoAddress => {
                let line = sink.meter.line();
                sink.skip_malformed(1, line, text);
                false
            }
        }
    }

    /// Reads a line without addresses: a heading, or a line beside the table.
    fn accept_other(&mut self, text: &str, words: &[Word<'_>], sink: &Sink<'_>) -> bool {
        let is_command = Command::is_line(text);
        let title = self.title.replace(text.to_owned());
        let heading = if is_command { None } else { Heading::read_lines(title.as_deref(), words) };
        match &heading {
            Some(heading) => self.notes.note_heading(text, heading),
            None => {
                self.notes.note_beside(text, words);
                if let Some(letters) = StateLetters::read(text) {
                    self.letters = Some(letters);
                    return true;
                }
                if is_command || Command::read(text).is_some() {
                    self.letters = None;
                }
            }
        }
        if let Some(heading) = heading {
            self.has_titles |= words.iter().skip(1).any(|word| word.follows_gap);
            (self.heading, self.title, self.last_interface) = (Some(heading), Some(text.to_owned()), None);
            (self.separated, self.unread, self.expects_heading) = (None, UnreadLines::default(), false);
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
        self.unread.add(text, sink);
        false
    }

    /// Begins an entry: the lines before it that no heading followed belong to no known form.
    fn begin_entry(&mut self, sink: &mut Sink<'_>) {
        self.notes.note_answer();
        if !self.has_entries && self.unread.is_foreign_heading() {
            self.unread = UnreadLines::default();
        }
        (self.has_entries, self.expects_heading, self.title) = (true, false, None);
        self.unread.skip(sink);
    }

    /// Counts an address whose MAC address does not follow.
    fn release(&mut self, held: &str, sink: &mut Sink<'_>) {
        if self.heading.is_some() {
            self.begin_entry(sink);
            sink.skip_incomplete(held);
        } else {
            self.unread.add(held, sink);
        }
    }

    /// Takes the entries that further lines might have continued.
    fn flush(&mut self, sink: &mut Sink<'_>) {
        let parts = self.named.finish();
        self.accept_named(parts, sink);
        if let Some(row) = self.entry.take() {
            sink.push(row);
        }
        self.end_fields(sink);
        if let Some(held) = self.held.take() {
            self.release(&held, sink);
        }
    }

    fn end_fields(&mut self, sink: &mut Sink<'_>) {
        if let Some(entry) = self.fields.take() {
            let (line, text) = entry.finish();
            let line = if self.notes.lists_others() { ArpLine::Other } else { line };
            self.accept_line(line, &text, sink);
        }
    }

    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) {
        self.flush(sink);
        self.unread.skip(sink);
    }
}
