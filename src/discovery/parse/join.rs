//! The join of reports about one device, each of the output of another command.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::net::IpAddr;

use super::meter::{MAX_INTERFACES, Meter};
use crate::discovery::report::{
    AddressFamily, ArpRow, FdbRow, IfEntryRow, MAX_ROUTES, Report, RouteRow, Table, TableKind, Tables, tables,
};
use crate::model::{Cidr, MacAddress};

/// The steps in which a row is compared with those of another part of its table.
const STEPS_PER_ROW: usize = 8;

/// Adds the tables of a later report to a report. Their devices are the same.
///
/// # Errors
/// Returns the kind of a table that both reports have, and that differ in it.
pub(super) fn join(report: &mut Report, later: Report, meter: &mut Meter) -> Result<(), TableKind> {
    for (device, mut later) in report.devices.iter_mut().zip(later.devices) {
        limit_routes(&mut device.tables);
        limit_routes(&mut later.tables);
        join_tables(&mut device.tables, later.tables, meter)?;
    }
    Ok(())
}

/// Adds neighbors, of which there may be more, to the only device of a report.
///
/// # Errors
/// Fails if the device has other neighbors at the same addresses.
pub(super) fn join_neighbors(
    report: &mut Report,
    rows: Vec<ArpRow>,
    meter: &mut Meter,
) -> Result<(), TableKind> {
    let family = AddressFamily::of_all(rows.iter().map(|row| row.ip_address));
    let later = Table::truncated(rows).limited_to(family);
    let Some(device) = report.devices.first_mut() else { return Ok(()) };
    join_parts(&mut device.tables.arp, Some(later), neighbor_identity, meter).ok_or(TableKind::Arp)
}

/// Limits routes to the family that they have. Among several commands, an empty list is not known to be that of a family.
fn limit_routes(tables: &mut Tables) {
    if let Some(mut routes) = tables.routes.take() {
        let family = AddressFamily::of_all(routes.rows.iter().map(|row| row.destination.first_address()));
        routes.complete &= !routes.rows.is_empty();
        tables.routes = Some(routes.limited_to(family));
    }
}

/// Joins the tables of each kind.
macro_rules! join_each {
    ([$known:ident, $later:ident] $(
        $(#[$documentation:meta])*
        $([$($attribute:meta),*])?
        $field:ident: $kind:ident($row:ident) = $text:literal,
    )*) => {
        $(join_table(&mut $known.$field, $later.$field, TableKind::$kind)?;)*
    };
}

fn join_tables(known: &mut Tables, mut later: Tables, meter: &mut Meter) -> Result<(), TableKind> {
    if let Some(entries) = &mut known.if_entries
        && let Some(later) = later.if_entries.take()
    {
        join_entries(entries, later)?;
    }
    join_parts(&mut known.arp, later.arp.take(), neighbor_identity, meter).ok_or(TableKind::Arp)?;
    join_parts(&mut known.fdb, later.fdb.take(), forwarding_identity, meter).ok_or(TableKind::Fdb)?;
    join_parts(&mut known.routes, later.routes.take(), route_identity, meter).ok_or(TableKind::Routes)?;
    if known.routes.as_ref().is_some_and(|routes| routes.rows.len() > MAX_ROUTES) {
        return Err(TableKind::Routes);
    }
    tables!(join_each known, later);
    Ok(())
}

/// Sets a table that only one of the reports has.
fn join_table<T>(
    known: &mut Option<Box<Table<T>>>,
    later: Option<Box<Table<T>>>,
    kind: TableKind,
) -> Result<(), TableKind> {
    match (&known, later) {
        (_, None) => {}
        (None, later) => *known = later,
        (Some(_), Some(_)) => return Err(kind),
    }
    Ok(())
}

/// Joins two parts of a table, and counts the rows that both have. `None`: they contradict each other.
///
/// `identity` returns the key of a row, and the values by which two parts contradict each other: rows with one key are those of one
/// part, or the same in both.
fn join_parts<T, K: Eq + Hash, V: Eq + Hash>(
    known: &mut Option<Box<Table<T>>>,
    later: Option<Box<Table<T>>>,
    identity: impl Fn(&T) -> (K, V),
    meter: &mut Meter,
) -> Option<()> {
    let Some(later) = later else { return Some(()) };
    let Some(known) = known else {
        *known = Some(later);
        return Some(());
    };
    meter.add_steps((known.rows.len() + later.rows.len()).saturating_mul(STEPS_PER_ROW));
    let mut values: HashMap<K, HashSet<V>> = HashMap::new();
    for (key, value) in known.rows.iter().map(&identity) {
        values.entry(key).or_default().insert(value);
    }
    let mut repeated = 0;
    for row in later.rows {
        let (key, value) = identity(&row);
        match values.get(&key) {
            None => known.rows.push(row),
            Some(values) if values.contains(&value) => repeated += 1,
            Some(_) => return None,
        }
    }
    meter.repeat_rows(repeated);
    known.complete &= later.complete;
    known.family = known.family.filter(|family| later.family == Some(*family));
    Some(())
}

/// An IP address on an interface. A MAC address is a part of it where the interface is needed and not known.
type NeighborKey = (IpAddr, Option<i64>, Option<String>, Option<MacAddress>);
/// A destination with its metric.
type RouteKey = (Cidr, Option<i64>);
/// The next router and the interface of a route.
type RouteWay = (Option<IpAddr>, Option<String>);

/// Returns the address on an interface, and the MAC address. Without its interface, a link-local address may be that of several
/// neighbors.
fn neighbor_identity(row: &ArpRow) -> (NeighborKey, MacAddress) {
    let has_interface = row.if_index.is_some() || row.if_name.is_some();
    let is_link_local = matches!(row.ip_address, IpAddr::V6(ip) if ip.is_unicast_link_local());
    let mac = (is_link_local && !has_interface).then_some(row.mac_address);
    ((row.ip_address, row.if_index, row.if_name.clone(), mac), row.mac_address)
}

/// Returns the MAC address in a VLAN, and the port.
fn forwarding_identity(row: &FdbRow) -> ((MacAddress, Option<u16>), Option<String>) {
    ((row.mac_address, row.vlan), row.if_name.clone())
}

/// Returns the destination with the metric, and the way to it.
fn route_identity(row: &RouteRow) -> (RouteKey, RouteWay) {
    ((row.destination, row.metric), (row.next_hop, row.if_name.clone()))
}

/// Joins the interfaces with the VLANs of the ports of bridges. One of the tables has no indexes.
fn join_entries(known: &mut Table<IfEntryRow>, mut later: Box<Table<IfEntryRow>>) -> Result<(), TableKind> {
    let has_indexes = |table: &Table<IfEntryRow>| table.rows.iter().any(|row| row.if_index != 0);
    match (has_indexes(known), has_indexes(&later)) {
        (true, true) => return Err(TableKind::IfEntries),
        (false, false) if !known.rows.is_empty() && !later.rows.is_empty() => {
            return Err(TableKind::IfEntries);
        }
        (false, true) => std::mem::swap(known, &mut later),
        (_, false) => {}
    }
    let places = known.rows.iter().enumerate();
    let places = places.filter_map(|(place, row)| Some((row.if_name.clone()?, place)));
    let places: HashMap<String, usize> = places.collect();
    for port in later.rows {
        let place = port.if_name.as_ref().and_then(|name| places.get(name)).copied();
        if let Some(row) = place.and_then(|place| known.rows.get_mut(place)) {
            // Only another list of the ports of bridges, at a place before, has VLANs of one.
            if row.vlans.as_ref().is_some_and(|vlans| port.vlans.as_ref() != Some(vlans)) {
                return Err(TableKind::IfEntries);
            }
            row.vlans = port.vlans;
        } else if known.rows.len() < MAX_INTERFACES {
            known.rows.push(port);
        } else {
            return Err(TableKind::IfEntries);
        }
    }
    Ok(())
}
