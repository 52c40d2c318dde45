//! Names of ports as engineers write them.

use std::fmt::Write;

use super::arrange::size::{DETAIL_SIZE, shorten_to_width, sort_key};
use super::shape::Edge;

/// Largest width of the names of ports at one end of a line, in pixels.
const MAX_WIDTH: u32 = 150;

/// Beginnings of port names, and what engineers write instead.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("TwentyFiveGigabitEthernet", "Twe"),
    ("TwentyFiveGigE", "Twe"),
    ("HundredGigabitEthernet", "Hu"),
    ("HundredGigE", "Hu"),
    ("FortyGigabitEthernet", "Fo"),
    ("FortyGigE", "Fo"),
    ("Ten-GigabitEthernet", "XGE"),
    ("TenGigabitEthernet", "Te"),
    ("TenGigE", "Te"),
    ("GigabitEthernet", "Gi"),
    ("GigaEthernet", "Gi"),
    ("FastEthernet", "Fa"),
    ("Ethernet", "Eth"),
    ("Port-channel", "Po"),
    ("Bridge-Aggregation", "BAGG"),
];

/// Returns the name of a port with the usual abbreviation of its kind.
pub(in crate::topology) fn port_name(name: &str) -> String {
    let name = name.trim();
    let short = ABBREVIATIONS.iter().find_map(|(long, short)| {
        let rest = name.strip_prefix(long)?.trim_start();
        rest.starts_with(|first: char| first.is_ascii_digit()).then(|| format!("{short}{rest}"))
    });
    short.unwrap_or_else(|| name.to_owned())
}

/// Returns the ports at the source and at the target of an edge, as pictures show them beside the line.
///
/// Of a bundle, the number of links takes the place of a port: there it has room also at the end of a line whose beginning is
/// that of others, too.
pub(in crate::topology) fn port_labels(edge: &Edge) -> [Option<String>; 2] {
    if edge.bundled > 1 {
        return [Some(format!("{} links", edge.bundled)), None];
    }
    port_names(edge)
        .map(|names| Some(shorten_to_width(&names?, DETAIL_SIZE, MAX_WIDTH)).filter(|text| !text.is_empty()))
}

/// Returns the names of the ports at the source and at the target of an edge. Where an edge with several members has no
/// port of its own, these are the ports of all members, such as `Eth1–8`; a question mark stands for those that are not known.
pub(in crate::topology) fn port_names(edge: &Edge) -> [Option<String>; 2] {
    let ports = [&edge.source_port, &edge.target_port];
    let of_members = [
        edge.members.iter().filter_map(|member| member.source_port.as_ref()).collect::<Vec<_>>(),
        edge.members.iter().filter_map(|member| member.target_port.as_ref()).collect(),
    ];
    let mut ends = ports.into_iter().zip(of_members);
    [(); 2].map(|()| {
        let (port, members) = ends.next()?;
        let own = port.as_ref().map(|port| port_name(&port.name));
        own.or_else(|| {
            let list = Some(port_list(members.iter().map(|port| port.name.as_str())));
            let list = list.filter(|list| !list.is_empty())?;
            Some(if members.len() < edge.members.len() { list + ", ?" } else { list })
        })
    })
}

/// Returns the names of several ports as a list in which consecutive numbers are a range.
pub(super) fn port_list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<(String, String)> =
        names.map(port_name).filter(|name| !name.is_empty()).map(|name| (sort_key(&name), name)).collect();
    names.sort_unstable();
    names.dedup();
    let mut list = String::new();
    let mut names = names.iter().map(|(_, name)| numbered(name)).peekable();
    let mut before = None;
    while let Some((prefix, number)) = names.next() {
        let mut last = number;
        while let Some(next) = last.and_then(|last| last.checked_add(1))
            && names.next_if_eq(&(prefix, Some(next))).is_some()
        {
            last = Some(next);
        }
        let comma = if list.is_empty() { "" } else { ", " };
        let shown = if before == Some(prefix) { "" } else { prefix };
        let _ = write!(list, "{comma}{shown}");
        let _ = number.map(|number| write!(list, "{number}"));
        let _ = last.filter(|_| last > number).map(|last| write!(list, "\u{2013}{last}"));
        before = Some(prefix);
    }
    list
}

/// Splits a name into what comes before its last number, and this number. A number that would be written differently
/// belongs to the name.
pub(super) fn numbered(name: &str) -> (&str, Option<u32>) {
    let prefix = name.trim_end_matches(|last: char| last.is_ascii_digit());
    let digits = name.get(prefix.len()..).unwrap_or_default();
    match digits.parse() {
        Ok(number) if digits == "0" || !digits.starts_with('0') => (prefix, Some(number)),
        _ => (name, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_list(names: &[&str], expected: &str) {
        assert_eq!(port_list(names.iter().copied()), expected);
    }

    #[test]
    fn consecutive_ports_are_a_range() {
        assert_list(&["Ethernet1", "Ethernet3", "Ethernet2"], "Eth1\u{2013}3");
        assert_list(&["Gi1/0/9", "Gi1/0/10"], "Gi1/0/9\u{2013}10");
        assert_list(&["eth0", "eth1", "eth4"], "eth0\u{2013}1, 4");
    }

    #[test]
    fn other_ports_are_listed() {
        assert_list(&["Gi1/0/1", "Gi2/0/1"], "Gi1/0/1, Gi2/0/1");
        assert_list(&["wan", "lan", "lan"], "lan, wan");
        assert_list(&["p01", "p02", "p4294967295", "99999999999"], "99999999999, p01, p02, p4294967295");
        assert_list(&["", " "], "");
    }
}
