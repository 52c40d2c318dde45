//! Entries whose values have names in place of a heading: `Link-layer : 00e0-fc12-3456   State : REACH`.

use std::net::IpAddr;

use super::addresses::ip_address;
use super::interface::interface_name;
use super::line::{ArpLine, Word, row, state, words};
use super::other_tables::are_of_other_table;
use super::titles::{Meaning, meaning};
use crate::discovery::report::ArpRow;

/// The most lines of an entry.
const MAX_LINES: usize = 32;

/// An entry while its lines are read.
pub(super) struct Properties {
    ip: IpAddr,
    /// The name of the IP address.
    title: String,
    /// `None`: no line has named a MAC address; empty: there is none.
    mac: Option<String>,
    if_name: Option<String>,
    /// The value of `Device`, which is the interface if no other one is named.
    device: Option<String>,
    if_index: Option<i64>,
    state: Option<String>,
    /// The other names, which may show that the entry is one of another table.
    names: Vec<String>,
    lines: Vec<String>,
}

impl Properties {
    /// Begins an entry. `None`: no value of the line has the name of an IP address.
    pub(super) fn begin(text: &str) -> Option<Self> {
        // Most lines have no such name.
        if !text.contains(": ") {
            return None;
        }
        let words = words(text);
        let mut properties = properties(&words).into_iter();
        let (ip, title) = properties.find_map(|property| Some((property.ip()?, property.name)))?;
        let (mac, if_name, device, if_index, state) = (None, None, None, None, None);
        let (names, lines) = (Vec::new(), Vec::new());
        let mut entry = Self { ip, title, mac, if_name, device, if_index, state, names, lines };
        entry.take(&words, text);
        Some(entry)
    }

    /// Takes another line. Returns `false` if the entry ends before it.
    pub(super) fn accept(&mut self, text: &str) -> bool {
        let words = words(text);
        let properties = properties(&words);
        let is_other = properties.iter().any(|property| property.ip().is_some());
        if properties.is_empty() || is_other || self.lines.len() == MAX_LINES {
            return false;
        }
        self.take(&words, text);
        true
    }

    /// Returns whether a line has named a MAC address.
    pub(super) const fn has_mac(&self) -> bool {
        self.mac.is_some()
    }

    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// Returns the bytes of its lines.
    pub(super) fn length(&self) -> usize {
        self.lines.iter().map(String::len).sum()
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines
    }

    fn take(&mut self, words: &[Word<'_>], text: &str) {
        self.lines.push(text.to_owned());
        for Property { name, value } in properties(words) {
            match meaning(&name) {
                Some(Meaning::MacAddress) => self.mac = Some(value),
                Some(Meaning::Interface | Meaning::Port) => {
                    self.if_name = self.if_name.take().or_else(|| interface_name(&value));
                }
                Some(Meaning::Device) => self.device = self.device.take().or_else(|| interface_name(&value)),
                Some(Meaning::IfIndex) => self.if_index = value.parse().ok(),
                _ if name == "state" => self.state = Some(value),
                _ => self.names.push(name),
            }
        }
    }

    /// Returns the entry and its first line.
    pub(super) fn into_entry(self) -> (ArpLine, String) {
        let Self { ip, mac, if_name, device, if_index, state: name, names, lines, .. } = self;
        let if_name = if_name.or(device);
        let has_interface = if_name.is_some() || if_index.is_some();
        let is_other = are_of_other_table(&names.iter().map(String::as_str), has_interface);
        let example = lines.into_iter().next().unwrap_or_default();
        if is_other {
            return (ArpLine::Other, example);
        }
        let mac = mac.unwrap_or_default();
        let line = match row(&ip.to_string(), &mac, if_name, name.as_deref().and_then(state)) {
            ArpLine::Row(row) => ArpLine::Row(ArpRow { if_index, ..row }),
            other => other,
        };
        (line, example)
    }
}

/// A value with its name, in lower case.
struct Property {
    name: String,
    value: String,
}

impl Property {
    /// Returns the IP address that the property gives the entry.
    fn ip(&self) -> Option<IpAddr> {
        ip_address(&self.value).filter(|_| meaning(&self.name) == Some(Meaning::IpAddress))
    }
}

/// Returns the values of a line that have names. A colon separates them, and a gap precedes each name.
fn properties(words: &[Word<'_>]) -> Vec<Property> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (place, word) in words.iter().enumerate() {
        if !word.text.ends_with(':') || word.text.matches(':').count() > 1 {
            continue;
        }
        let end = if word.text == ":" { place } else { place + 1 };
        let begin = places.last().map_or(0, |(_, colon)| colon + 1);
        let name = words.get(begin..end).unwrap_or_default();
        if let Some(gap) = name.iter().rposition(|word| word.follows_gap) {
            places.push((begin + gap, place));
        }
    }
    let ends = places.iter().skip(1).map(|(name, _)| *name).chain([words.len()]);
    let properties = places.iter().zip(ends).map(|((name, colon), end)| {
        let text = |range: std::ops::Range<usize>| {
            let words: Vec<&str> =
                words.get(range).unwrap_or_default().iter().map(|word| word.text).collect();
            words.join(" ")
        };
        let name = text(*name..*colon + 1).trim_end_matches([':', ' ']).to_lowercase();
        Property { name, value: text(*colon + 1..end) }
    });
    properties.collect()
}
