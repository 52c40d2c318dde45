//! The facts about a table that the lines beside it show: commands, devices, totals and titles.

use super::beside::{Command, is_about_ipv6, is_empty_total, is_refusal};
use super::heading::{Heading, is_forwarding_heading};
use super::line::Word;
use super::other_tables::{is_about_leases, is_other_heading};
use crate::discovery::parse::prompt::are_of_one_host;
use crate::discovery::report::AddressFamily;
use crate::printable::printable;

/// The characters of a device's name that are shown in an error.
const MAX_NAME: usize = 40;

/// The facts about a table that the lines beside it show so far.
#[derive(Default)]
pub(super) struct TableNotes {
    /// The name in the prompt of the last command, or in a cell, as long as no entry follows.
    asked: Option<String>,
    /// The name of the device of the first entry.
    answered: Option<String>,
    /// The names of two devices that have entries.
    devices: Option<String>,
    /// Whether a command or a total shows that the table is empty if there are no entries.
    is_empty: bool,
    /// Whether a total states that there are entries.
    has_total: bool,
    /// Whether the last command, or a caption behind it, is that of another table with addresses, such as leases.
    asks_others: bool,
    /// Whether the last heading is that of another table with addresses.
    heads_others: bool,
    /// Whether the last command prints something else than the whole table.
    asks_other: bool,
    /// Whether the last command that prints the table, or a line behind it, names IPv6.
    names_ipv6: bool,
}

impl TableNotes {
    /// Notes what a line beside a table shows about it.
    pub(super) fn note_beside(&mut self, text: &str, words: &[Word<'_>]) {
        if is_refusal(text) {
            self.is_empty = false;
            return;
        }
        if let Some(command) = Command::read(text) {
            self.note_command(&command);
            return;
        }
        if let Some(command) = Command::read_echoed(text) {
            self.note_question(&command);
        }
        // An export of RouterOS names each menu on a line of its own.
        if text.trim_start().starts_with('/') {
            self.begin_table();
        }
        self.asks_others |= is_about_leases(text);
        self.heads_others |= is_forwarding_heading(words);
        self.names_ipv6 |= is_about_ipv6(text);
        if let Some(is_empty) = is_empty_total(text) {
            self.is_empty |= is_empty && !self.asks_other;
            self.has_total |= !is_empty;
        }
    }

    /// Notes what a heading names.
    pub(super) fn note_heading(&mut self, text: &str, heading: &Heading) {
        self.heads_others = is_other_heading(text, heading);
        self.names_ipv6 |= is_about_ipv6(text);
    }

    /// Notes a line of titles that are those of neighbors.
    pub(super) fn note_neighbor_titles(&mut self, text: &str) {
        self.begin_table();
        self.names_ipv6 |= is_about_ipv6(text);
    }

    /// Notes that a table of neighbors may begin.
    pub(super) const fn begin_table(&mut self) {
        (self.asks_others, self.heads_others) = (false, false);
    }

    /// Notes that the entries that follow are not below the last heading.
    pub(super) const fn end_heading(&mut self) {
        self.heads_others = false;
    }

    pub(super) fn note_command(&mut self, command: &Command<'_>) {
        self.asked = command.device.map(str::to_owned);
        self.note_question(command);
        if !self.asks_other {
            (self.is_empty, self.names_ipv6) = (true, is_about_ipv6(command.text));
        }
    }

    /// Notes which table a command prints.
    fn note_question(&mut self, command: &Command<'_>) {
        (self.asks_others, self.heads_others) = (command.prints_other_table(), false);
        self.asks_other = !command.prints_table();
    }

    /// Notes the device that the next entry names.
    pub(super) fn note_device(&mut self, device: String) {
        self.asked = Some(device);
    }

    /// Notes that the last command printed an entry.
    pub(super) fn note_answer(&mut self) {
        let Some(device) = self.asked.take() else { return };
        match &self.answered {
            None => self.answered = Some(device),
            Some(known) if are_of_one_host(known, &device) => {
                // Another domain shows another device as soon as one is known.
                if known.len() < device.len() {
                    self.answered = Some(device);
                }
            }
            Some(known) => {
                let [known, device] = [known, &device].map(|name| printable(name, MAX_NAME));
                self.devices = Some(format!("there are entries of `{known}` and `{device}`"));
            }
        }
    }

    /// Takes the note about two devices that have entries.
    pub(super) fn take_devices(&mut self) -> Option<String> {
        self.devices.take()
    }

    /// Returns whether the entries that follow are those of another table.
    pub(super) const fn lists_others(&self) -> bool {
        self.asks_others || self.heads_others
    }

    /// Returns whether a table without entries is known to be empty.
    pub(super) const fn shows_empty_table(&self) -> bool {
        self.is_empty && !self.has_total
    }

    /// Returns the family of addresses that a table without entries is about.
    pub(super) const fn family(&self) -> AddressFamily {
        if self.names_ipv6 { AddressFamily::Ipv6 } else { AddressFamily::Ipv4 }
    }
}
