//! Entries of named fields: `address=192.0.2.1 mac-address=00:00:5E:00:53:01 interface=ether1` of RouterOS.

use super::MAX_LINE;
use super::addresses::ip_address;
use super::interface::interface_name;
use super::letters::by_prefix;
use super::line::{ArpLine, row, state};
use super::other_tables::are_of_other_table;
use super::titles::{Meaning, meaning};
use crate::discovery::report::NeighborState;

/// An entry while its lines are read.
pub(super) struct FieldsEntry(String);

impl FieldsEntry {
    /// Begins an entry. `None`: no field of the line has an IP address.
    pub(super) fn begin(text: &str) -> Option<Self> {
        read(text).is_some().then(|| Self(text.to_owned()))
    }

    /// Takes another line. Returns `false` if the entry ends before it.
    pub(super) fn accept(&mut self, text: &str) -> bool {
        if self.0.len() >= MAX_LINE {
            return false;
        }
        // RouterOS breaks the lines of its exports anywhere behind a backslash.
        if self.0.ends_with('\\') {
            self.0.pop();
        } else if continues(text) {
            self.0.push(' ');
        } else {
            return false;
        }
        self.0.push_str(text.trim());
        true
    }

    /// Returns the entry and its text.
    pub(super) fn finish(self) -> (ArpLine, String) {
        (read(&self.0).unwrap_or(ArpLine::NoAddress), self.0)
    }
}

/// Reads the entry of a line. `None`: no field has an IP address.
pub(super) fn read(text: &str) -> Option<ArpLine> {
    let value = |wanted: Meaning| {
        let mut fields = fields(text).filter(|(name, _)| meaning(&name.to_ascii_lowercase()) == Some(wanted));
        fields.next().map(|(_, value)| value)
    };
    let ip = value(Meaning::IpAddress)?;
    ip_address(ip)?;
    // Entries of RouterOS have no fields of remarks.
    if fields(text).any(|(name, _)| are_of_other_table(&std::iter::once(name), false)) {
        return Some(ArpLine::Other);
    }
    let Some(mac) = value(Meaning::MacAddress) else { return Some(ArpLine::Incomplete) };
    let status = fields(text).find(|(name, _)| *name == "status").map(|(_, status)| status);
    let is_disabled = fields(text).any(|(name, value)| name == "disabled" && value == "yes");
    let state = match status {
        _ if is_disabled => Some(NeighborState::Unreachable),
        Some(status) => state(status),
        None if ip_address(ip)?.is_ipv4() => by_prefix(prefix(text)),
        None => None,
    };
    let interface = value(Meaning::Interface).or_else(|| value(Meaning::Device));
    Some(row(ip, mac, interface.and_then(interface_name), state))
}

/// Returns the words before the first field.
fn prefix(text: &str) -> &str {
    let name = text.find('=').and_then(|end| text.get(..end));
    name.and_then(|name| name.rsplit_once(' ')).map_or("", |(prefix, _)| prefix)
}

/// Returns whether a line has nothing but fields, as the further lines of an entry have.
fn continues(text: &str) -> bool {
    text.starts_with(' ') && field(text.trim_start()).is_some() && read(text).is_none()
}

/// Returns the names and values of the fields in a line. Quotes surround values with spaces.
fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            if let Some((name, value, behind)) = field(rest) {
                rest = behind.trim_start();
                return Some((name, value));
            }
            rest = rest.split_once(' ').map_or("", |(_, behind)| behind.trim_start());
        }
        None
    })
}

/// Splits the field that begins a text into name and value, and returns the rest.
fn field(text: &str) -> Option<(&str, &str, &str)> {
    // Nothing behind the first of these characters is looked at, so that the fields of a line are found in linear time.
    let end = text.find(['=', ' ', '"']).filter(|end| *end > 0)?;
    let (name, value) = text.split_at_checked(end)?;
    let value = value.strip_prefix('=')?;
    let (value, rest) = match value.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
        None => value.split_once(' ').unwrap_or((value, "")),
    };
    Some((name, value, rest))
}
