//! The last entry of a table, whose interface the next line may continue, and which may name that of further entries.

use super::MAX_LINE;
use super::beside::is_beside_table;
use super::heading::Heading;
use super::line::{self, ArpLine, Word};
use crate::discovery::report::ArpRow;

/// The words of a line that has the rest of an entry.
const MAX_RESTS: usize = 3;

/// The last entry of a table.
#[derive(Default)]
pub(super) struct OpenEntry {
    /// The entry, as long as a line may continue it.
    row: Option<ArpRow>,
    interface: Option<String>,
}

impl OpenEntry {
    /// Forgets the interface, which is one of another table.
    pub(super) fn forget_interface(&mut self) {
        self.interface = None;
    }

    /// Adds the rest of the name of its interface. Returns `false` if the line has another meaning.
    pub(super) fn accept(&mut self, text: &str, heading: Option<&Heading>) -> bool {
        let Some(name) = self.row.as_mut().and_then(|row| row.if_name.as_mut()) else { return false };
        let words = line::words(text);
        let heading = heading.filter(|_| !words.is_empty() && words.len() <= MAX_RESTS);
        let is_other = is_beside_table(text) || !matches!(line::read(&words, None), ArpLine::NoAddress);
        let rest = heading.and_then(|heading| heading.rest_of_interface(&words)).filter(|_| !is_other);
        let Some(rest) = rest.filter(|_| name.len() < MAX_LINE) else { return false };
        name.push_str(rest);
        self.interface = Some(name.clone());
        true
    }

    /// Ends the entry and returns it.
    pub(super) fn take(&mut self) -> Option<ArpRow> {
        self.row.take()
    }

    /// Keeps an entry that the next line may continue, because the name of its interface fills the column. Returns any other.
    pub(super) fn hold(&mut self, row: ArpRow, heading: Option<&Heading>) -> Option<ArpRow> {
        let is_full = |heading: &Heading| row.if_name.as_deref().is_some_and(|name| heading.is_full(name));
        if !heading.is_some_and(is_full) {
            return Some(row);
        }
        self.row = Some(row);
        None
    }

    /// Gives an entry the interface of the entry before if the table has it there alone.
    pub(super) fn with_interface(
        &mut self,
        line: ArpLine,
        words: &[Word<'_>],
        heading: Option<&Heading>,
    ) -> ArpLine {
        let ArpLine::Row(mut row) = line else { return line };
        if row.if_name.is_none() && heading.is_some_and(|heading| heading.continues_interface(words)) {
            row.if_name.clone_from(&self.interface);
        }
        self.interface.clone_from(&row.if_name);
        ArpLine::Row(row)
    }
}
