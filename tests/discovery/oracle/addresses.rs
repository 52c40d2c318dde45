//! Addresses of the devices, and neighbor caches.

use std::net::IpAddr;

use serde_json::Value;

use super::recording::{Recording, Variables};
use super::tally::Tally;

const IP: &str = "1.3.6.1.2.1.4";
const IPV6_MIB: &str = "1.3.6.1.2.1.55";

pub(crate) fn compare(recording: &Recording, variables: &Variables<'_>, tally: &mut Tally) {
    for expected in recording.rows("ipv4") {
        compare_address("IPv4", recording, variables, expected, tally);
    }
    for expected in recording.rows("ipv6") {
        compare_address("IPv6", recording, variables, expected, tally);
    }
    for expected in recording.rows("arp") {
        compare_neighbor("ARP", recording, variables, expected, tally);
    }
    for expected in recording.rows("nd") {
        compare_neighbor("ND", recording, variables, expected, tally);
    }
}

fn compare_address(
    kind: &'static str,
    recording: &Recording,
    variables: &Variables<'_>,
    expected: &Value,
    tally: &mut Tally,
) {
    let address: IpAddr = expected[0].as_str().unwrap().parse().unwrap();
    let rows = || recording.device().tables.addresses.iter().flat_map(|table| &table.rows);
    let mut same = rows().filter(|row| row.ip_address == address);
    // A link-local address may be that of several interfaces.
    let found = same.clone().find(|row| row.if_index == expected[2].as_i64()).or_else(|| same.next());
    let example = || format!("{}: {expected}, we {found:?}", recording.name);
    let Some(row) = found else {
        if !has_address(variables, address) {
            tally.theirs(kind, "no variable of IP-MIB or IPV6-MIB has the address", example);
        } else if address.is_unspecified() || address.is_multicast() {
            tally.theirs(kind, "unspecified or multicast", example);
        } else {
            tally.ours(kind, "missing", example);
        }
        return;
    };
    tally.agree(kind);
    let wanted = expected[1].as_u64();
    if row.prefix_length.map(u64::from) == wanted {
        tally.agree("prefix length");
    } else if wanted == Some(0) {
        tally.theirs("prefix length", "the poller has none", example);
    } else if row.prefix_length.is_none() && !has_prefix(variables, address) {
        tally.theirs("prefix length", "the recording has none", example);
    } else {
        tally.ours("prefix length", "another length", example);
    }
    let wanted = expected[2].as_i64().filter(|index| *index > 0);
    if row.if_index == wanted {
        tally.agree("IP ifIndex");
    } else if wanted.is_some() {
        tally.ours("IP ifIndex", "another interface", example);
    }
}

/// Returns an address as arcs of an index.
fn arcs(address: IpAddr) -> String {
    let octets = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    octets.iter().map(u8::to_string).collect::<Vec<_>>().join(".")
}

/// Returns whether a table of addresses has an address in an index or in the column of the address.
fn has_address(variables: &Variables<'_>, address: IpAddr) -> bool {
    let arcs = arcs(address);
    let tables = [format!("{IP}.20"), format!("{IP}.34")];
    let mut all = tables.iter().flat_map(|table| variables.below(table));
    // The index of IPV6-MIB ends with the address. The poller takes a length before it for a byte of the address.
    let mut ipv6 = variables.below(&format!("{IPV6_MIB}.1.8")).into_iter();
    all.any(|(oid, value)| oid.contains(&arcs) || value == address.to_string().as_bytes())
        || ipv6.any(|(oid, _)| oid.ends_with(&arcs))
}

/// Returns whether the recording states a prefix of an address: a mask, a row of `ipAddressPrefixTable`, or a length.
/// A length of 0 is none; the poller takes the class of the address in its place.
fn has_prefix(variables: &Variables<'_>, address: IpAddr) -> bool {
    let arcs = arcs(address);
    let columns = [format!("{IP}.20.1.3"), format!("{IPV6_MIB}.1.8.1.2")];
    let mut all = columns.iter().flat_map(|column| variables.below(column));
    if all.any(|(oid, value)| oid.contains(&arcs) && !matches!(value.as_slice(), b"0.0.0.0" | b"0")) {
        return true;
    }
    let prefixes = variables.below(&format!("{IP}.34.1.5"));
    prefixes.iter().any(|(oid, value)| oid.contains(&arcs) && value.len() > 10)
}

fn compare_neighbor(
    kind: &'static str,
    recording: &Recording,
    variables: &Variables<'_>,
    expected: &Value,
    tally: &mut Tally,
) {
    let address: IpAddr = expected[1].as_str().unwrap().parse().unwrap();
    let rows = recording.device().tables.arp.iter().flat_map(|table| &table.rows);
    let found: Vec<_> = rows.into_iter().filter(|row| row.ip_address == address).collect();
    let example = || format!("{}: {expected}, we {found:?}", recording.name);
    let wanted = expected[0].as_str().unwrap_or_default();
    let is_same =
        |mac: &toposcope::model::MacAddress| mac.to_string().replace(':', "").eq_ignore_ascii_case(wanted);
    let arcs = arcs(address);
    let tables = [format!("{IP}.22"), format!("{IP}.35"), format!("{IPV6_MIB}.1.12")];
    if wanted.is_empty() || found.iter().any(|row| is_same(&row.mac_address)) {
        tally.agree(kind);
    } else if !tables.iter().flat_map(|table| variables.below(table)).any(|(oid, _)| oid.contains(&arcs)) {
        tally.theirs(kind, "no variable of IP-MIB or IPV6-MIB has the address", example);
    } else {
        tally.ours(kind, if found.is_empty() { "missing" } else { "another MAC address" }, example);
    }
}
