//! A line of a table.

use super::addresses::{ip_address, is_shortened_address, mac_address, may_be_mac_address};
use super::heading::Heading;
use super::interface::{interface_name, undeclared_interface};
use crate::discovery::report::{ArpRow, NeighborState};

/// Maximum number of words of a line that are read.
const MAX_WORDS: usize = 64;
/// Words that stand in place of a MAC address that is not known.
const UNKNOWN: &[&str] = &[
    "incomplete",
    "incmp",
    "incomp",
    "failed",
    "unresolved",
    "pending",
    "from_interface",
    "unvollständig",
    "incomplet",
    "incompleto",
];

/// The state of leases of DHCP.
const LEASE_STATES: &[&str] = &["BOUND", "bound"];
/// The column of the interface in the output of `ip -br neigh`.
const BRIEF_COLUMN: usize = 40;

/// A word of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'l> {
    pub(super) text: &'l str,
    /// The number of characters before it.
    pub(super) start: usize,
    /// Whether it begins the line or follows at least two spaces.
    pub(super) follows_gap: bool,
}

/// The places of both addresses among the words of a line, or among the columns of a heading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchors {
    pub(super) ip: usize,
    pub(super) mac: usize,
}

impl Anchors {
    pub(super) const fn is_ip_first(self) -> bool {
        self.ip < self.mac
    }

    pub(super) const fn ordered(self) -> (usize, usize) {
        if self.is_ip_first() { (self.ip, self.mac) } else { (self.mac, self.ip) }
    }
}

/// The meaning of a line.
#[derive(Debug)]
pub(super) enum ArpLine {
    Row(ArpRow),
    /// An address for which no device has answered.
    Incomplete,
    /// An address alone. Its MAC address may be on the next line.
    AddressOnly,
    /// A MAC address without an IP address.
    MacOnly,
    /// An entry whose MAC address is in an unknown notation.
    Unreadable,
    /// An entry with an address of another link layer of which bytes are missing.
    Shortened,
    /// An entry of another table, such as a lease, whose device may be away since.
    Other,
    /// The line has no address.
    NoAddress,
}

/// Splits a line, whose tabs are expanded already, into words.
pub(super) fn words(line: &str) -> Vec<Word<'_>> {
    let (mut words, mut start, mut blanks) = (Vec::new(), 0, 2);
    for part in line.split(' ') {
        if part.is_empty() {
            blanks += 1;
            start += 1;
            continue;
        }
        words.push(Word { text: part, start, follows_gap: blanks > 1 });
        if words.len() == MAX_WORDS {
            break;
        }
        start += part.chars().count() + 1;
        blanks = 1;
    }
    words
}

/// Reads a line below a heading, if there was one.
pub(super) fn read(words: &[Word<'_>], heading: Option<&Heading>) -> ArpLine {
    // `bridge fdb` prints the remote end of a tunnel, which is no neighbor of the MAC address.
    if let [mac, dev, ..] = words
        && dev.text == "dev"
        && mac_address(mac.text).is_some()
    {
        return ArpLine::MacOnly;
    }
    if heading.is_none() && is_lease(words) {
        return ArpLine::Other;
    }
    let ip = words.iter().position(|word| ip_address(word.text).is_some());
    // Sentences have addresses in brackets, too.
    let is_entry = |word: &Word<'_>| heading.is_some() || !word.text.starts_with('(');
    let mac = words.iter().position(|word| mac_address(word.text).is_some() && is_entry(word));
    let (ip, mac) = match (ip, mac) {
        (Some(ip), Some(mac)) => (ip, mac),
        (Some(ip), None) => return without_mac(words, ip, heading),
        (None, Some(mac)) => {
            let word = words.get(mac).map_or("", |word| word.text);
            let is_unknown = heading.is_some() && mac_address(word).is_some_and(|address| address.is_zero());
            return if is_unknown { ArpLine::Incomplete } else { ArpLine::MacOnly };
        }
        (None, None) => return ArpLine::NoAddress,
    };
    let others = || words.iter().enumerate().filter(|(place, _)| *place != ip && *place != mac);
    if others().any(|(_, word)| LEASE_STATES.contains(&word.text)) {
        return ArpLine::Other;
    }
    let state = others().find_map(|(_, word)| state(word.text));
    let state = state.or_else(|| heading?.state(words, Anchors { ip, mac }));
    let interface = match keyword_interface(words) {
        Some(interface) => interface,
        None => match heading {
            Some(heading) => heading.interface(words, Anchors { ip, mac }),
            None => bare_interface(words, Anchors { ip, mac }),
        },
    };
    let if_index = heading.and_then(|heading| heading.if_index(words, Anchors { ip, mac }));
    let if_index = if_index.or_else(|| value_of(words, &["index", "ifindex"])?.parse().ok());
    let word = |place: usize| words.get(place).map_or("", |word| word.text);
    match row(word(ip), word(mac), interface, state) {
        ArpLine::Row(row) => ArpLine::Row(ArpRow { if_index, ..row }),
        other => other,
    }
}

pub(super) fn row(ip: &str, mac: &str, if_name: Option<String>, state: Option<NeighborState>) -> ArpLine {
    let Some(ip_address) = ip_address(ip) else { return ArpLine::Incomplete };
    let Some(mac_address) = mac_address(mac) else { return unresolved(mac) };
    if state == Some(NeighborState::Unreachable) || mac_address.is_zero() {
        return ArpLine::Incomplete;
    }
    ArpLine::Row(ArpRow { if_name, state, ..ArpRow::new(ip_address, mac_address) })
}

/// Returns the meaning of an entry by the text in place of its MAC address.
pub(super) fn unresolved(mac: &str) -> ArpLine {
    if is_shortened_address(mac) {
        ArpLine::Shortened
    } else if may_be_mac_address(mac) {
        ArpLine::Unreadable
    } else {
        ArpLine::Incomplete
    }
}

/// Reads a line with an IP address and no MAC address.
fn without_mac(words: &[Word<'_>], ip: usize, heading: Option<&Heading>) -> ArpLine {
    if words.len() == 1 || heading.is_some_and(Heading::is_wrapped) {
        return ArpLine::AddressOnly;
    }
    let cell = || heading.and_then(|heading| heading.mac_cell(words, ip));
    let mac = behind_keyword(words, ip).map(str::to_owned).or_else(cell);
    if let Some(unread @ (ArpLine::Unreadable | ArpLine::Shortened)) = mac.as_deref().map(unresolved) {
        return unread;
    }
    // Statistics below a table have addresses as values.
    let before = ip.checked_sub(1).and_then(|before| words.get(before));
    if before.is_some_and(|before| before.text.ends_with(':')) {
        return ArpLine::NoAddress;
    }
    let is_unknown = |word: &Word<'_>| {
        let text = word.text.trim_matches(['(', ')', '<', '>', ',']);
        UNKNOWN.iter().any(|unknown| text.eq_ignore_ascii_case(unknown))
    };
    let is_ip_neigh = ip == 0 && words.get(1).is_some_and(|word| word.text == "dev");
    let is_brief = || matches!(words, [_, name] if name.start == BRIEF_COLUMN && undeclared_interface(name.text).is_some());
    let is_of_fields = value_of(words, &["ifname"]).is_some();
    if heading.is_some()
        || is_ip_neigh
        || is_of_fields
        || (ip == 0 && is_brief())
        || words.iter().any(is_unknown)
    {
        ArpLine::Incomplete
    } else {
        ArpLine::NoAddress
    }
}

/// Returns the text in place of the MAC address in a line of `ip neigh` or `arp -an`.
fn behind_keyword<'l>(words: &[Word<'l>], ip: usize) -> Option<&'l str> {
    let behind = words.get(ip..)?;
    let is_arp = |ip: &Word<'_>, at: &Word<'_>| ip.text.starts_with('(') && at.text == "at";
    let mac = match behind {
        [ip, at, mac, ..] if is_arp(ip, at) => mac,
        _ => behind.get(behind.iter().position(|word| word.text == "lladdr")? + 1)?,
    };
    Some(mac.text)
}

/// Returns whether a line is one of dnsmasq's leases: the time of their end, MAC address, IP address, and names.
fn is_lease(words: &[Word<'_>]) -> bool {
    let [end, mac, ip, ..] = words else { return false };
    let is_time = end.text == "0" || end.text.len() >= 9;
    is_time
        && end.text.bytes().all(|byte| byte.is_ascii_digit())
        && mac_address(mac.text).is_some()
        && ip_address(ip.text).is_some()
}

/// Returns the value of a word such as `ifname=port1`.
fn value_of<'l>(words: &[Word<'l>], names: &[&str]) -> Option<&'l str> {
    let fields = words.iter().filter_map(|word| word.text.split_once('='));
    fields.filter(|(name, _)| names.contains(name)).map(|(_, value)| value).next()
}

/// Returns whether a keyword precedes the MAC address of a line, as `ip neigh` and `arp -an` print it without a heading.
pub(super) fn has_keyword(words: &[Word<'_>]) -> bool {
    let mut pairs = words.iter().zip(words.iter().skip(1));
    pairs.any(|(keyword, mac)| matches!(keyword.text, "at" | "lladdr") && mac_address(mac.text).is_some())
}

/// Returns the interface of a line in which keywords name the parts, as `ip neigh` and `arp -an` print it.
///
/// `None`: the line has no such keyword.
fn keyword_interface(words: &[Word<'_>]) -> Option<Option<String>> {
    let behind = |keyword: &str| {
        let place = words.iter().position(|word| word.text == keyword)?;
        words.get(place + 1).map(|word| word.text)
    };
    if behind("lladdr").is_some() || behind("dev").is_some() {
        Some(behind("dev").and_then(interface_name))
    } else if behind("at").is_some() {
        Some(behind("on").and_then(interface_name))
    } else if let Some(name) = value_of(words, &["ifname"]) {
        Some(interface_name(name))
    } else {
        translated_interface(words)
    }
}

/// Returns the interface of a line of `arp -a` in any language: `? (192.0.2.1) auf 00:00:5e:00:53:01 [ether] auf br0`.
fn translated_interface(words: &[Word<'_>]) -> Option<Option<String>> {
    let place = words.iter().position(|word| word.text.starts_with('(') && word.text.ends_with(')'))?;
    let [ip, _, mac, kind, rest @ .., last] = words.get(place..)? else { return None };
    let is_form = ip_address(ip.text).is_some()
        && mac_address(mac.text).is_some()
        && kind.text.starts_with('[')
        && !rest.is_empty();
    is_form.then(|| interface_name(last.text))
}

/// Returns the interface of a line without heading: the name behind the addresses, or the one that begins the line.
///
/// Flags of one letter are no names. Of several names, the last one is that of an interface if it has a number; otherwise they are
/// text, such as the vendor of the network card.
fn bare_interface(words: &[Word<'_>], anchors: Anchors) -> Option<String> {
    let (first, last) = anchors.ordered();
    let behind = words.get(last + 1..).unwrap_or_default();
    let names = behind.iter().filter(|word| word.text.len() > 1);
    let mut names = names.filter_map(|word| undeclared_interface(word.text));
    if let Some(name) = names.next() {
        let Some(last) = names.next_back().filter(|last| *last != name) else { return Some(name) };
        return Some(last).filter(|last| last.contains(|character: char| character.is_ascii_digit()));
    }
    // `ip -br neigh`: IP address, interface, MAC address. Cisco ASA: interface, IP address, MAC address, age.
    let place = if (first, last) == (0, 2) && anchors.is_ip_first() { 1 } else { 0 };
    (first == 1 || place == 1)
        .then(|| words.get(place).and_then(|word| undeclared_interface(word.text)))
        .flatten()
        .filter(|name| !matches!(&**name, "Internet" | "arp"))
}

/// Reads the state of an entry, as Linux, BSD, Windows or a device's table writes it.
pub(super) fn state(name: &str) -> Option<NeighborState> {
    // Flags of the tools of Linux, and the type of VRP.
    if matches!(name, "CM" | "CMP" | "S--") {
        return Some(NeighborState::Static);
    }
    match name.to_ascii_lowercase().as_str() {
        "reachable" | "reach" => Some(NeighborState::Reachable),
        "stale" => Some(NeighborState::Stale),
        "delay" | "probe" => Some(NeighborState::Probing),
        "failed" | "incomplete" | "incmp" => Some(NeighborState::Unreachable),
        "permanent" | "perm" | "noarp" | "static" => Some(NeighborState::Static),
        _ => None,
    }
}
