//! The prefixes of a device's own addresses, which are the subnets that it is attached to.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use super::names::{is_internal_interface, own_ip};
use crate::discovery::report::{AddressRow, IfEntryRow, Tables};
use crate::model::{Cidr, IfEntry};

/// The lengths of the prefixes that are subnets. Shorter ones come from wrong masks, and longer ones are single
/// addresses.
const LENGTHS_V4: std::ops::RangeInclusive<u8> = 8..=31;
const LENGTHS_V6: std::ops::RangeInclusive<u8> = 16..=127;

/// Number of bits by which an IPv4 address that is written as an IPv6 address is longer.
const MAPPED_BITS: u8 = 96;

/// Returns the prefixes of the addresses whose interfaces the same report describes, or that name no interface.
///
/// Addresses of interfaces that lead to containers or guests of the device are left out.
pub(crate) fn described_prefixes(tables: &Tables) -> BTreeSet<Cidr> {
    let internal = reported_interfaces(tables);
    let rows = address_rows(tables).iter().filter(|row| match row.if_index {
        Some(index) => internal.get(&index) == Some(&false),
        None => true,
    });
    rows.filter_map(prefix_of).collect()
}

/// Returns the prefixes of the addresses whose interfaces the report does not describe.
///
/// `entries` are the interfaces of the host that matches the device. Addresses of interfaces that lead to containers or guests
/// of the device are left out.
pub(crate) fn undescribed_prefixes(tables: &Tables, entries: &[IfEntry]) -> BTreeSet<Cidr> {
    let reported = reported_interfaces(tables);
    let is_undescribed = |row: &&AddressRow| row.if_index.is_some_and(|index| !reported.contains_key(&index));
    let mut rows = address_rows(tables).iter().filter(is_undescribed).peekable();
    if rows.peek().is_none() {
        return BTreeSet::new();
    }
    let internal: BTreeSet<i64> = entries
        .iter()
        .filter(|entry| is_internal(entry.if_name.as_deref(), Some(&entry.if_descr)))
        .map(|entry| entry.if_index)
        .collect();
    let is_own = |row: &&AddressRow| row.if_index.is_none_or(|index| !internal.contains(&index));
    rows.filter(is_own).filter_map(prefix_of).collect()
}

fn address_rows(tables: &Tables) -> &[AddressRow] {
    tables.addresses.as_deref().map_or(&[], |table| &table.rows)
}

/// Returns the indexes of the reported interfaces, and whether each leads to containers or guests.
fn reported_interfaces(tables: &Tables) -> HashMap<i64, bool> {
    let rows = tables.if_entries.as_deref().map_or(&[][..], |table| &table.rows).iter();
    let described = |row: &IfEntryRow| is_internal(row.if_name.as_deref(), row.if_descr.as_deref());
    rows.map(|row| (row.if_index, described(row))).collect()
}

fn is_internal(name: Option<&str>, description: Option<&str>) -> bool {
    [name, description].into_iter().flatten().any(is_internal_interface)
}

fn prefix_of(row: &AddressRow) -> Option<Cidr> {
    let length = row.prefix_length?;
    let address = own_ip(row.ip_address)?;
    let length =
        if row.ip_address.is_ipv6() && address.is_ipv4() { length.checked_sub(MAPPED_BITS)? } else { length };
    let lengths = match address {
        IpAddr::V4(_) => LENGTHS_V4,
        IpAddr::V6(_) => LENGTHS_V6,
    };
    Cidr::containing(address, length).ok().filter(|_| lengths.contains(&length))
}
