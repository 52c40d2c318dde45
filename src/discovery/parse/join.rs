//! The join of reports about one device, each of the output of another command.

use std::collections::HashMap;

use super::meter::MAX_INTERFACES;
use crate::discovery::report::{
    AddressFamily, IfEntryRow, MAX_ROUTES, Report, Table, TableKind, Tables, tables,
};

/// Adds the tables of a later report to a report. Their devices are the same.
///
/// # Errors
/// Returns the kind of a table that both reports have.
pub(super) fn join(report: &mut Report, later: Report) -> Result<(), TableKind> {
    for (device, mut later) in report.devices.iter_mut().zip(later.devices) {
        limit_routes(&mut device.tables);
        limit_routes(&mut later.tables);
        join_tables(&mut device.tables, later.tables)?;
    }
    Ok(())
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

fn join_tables(known: &mut Tables, mut later: Tables) -> Result<(), TableKind> {
    if let Some(entries) = &mut known.if_entries
        && let Some(later) = later.if_entries.take()
    {
        join_entries(entries, later)?;
    }
    tables!(join_each known, later);
    Ok(())
}

/// Sets a table. Two of them are joined if each has the rows of one family of addresses.
fn join_table<T>(
    known: &mut Option<Box<Table<T>>>,
    later: Option<Box<Table<T>>>,
    kind: TableKind,
) -> Result<(), TableKind> {
    let Some(mut later) = later else { return Ok(()) };
    let Some(known) = known else {
        *known = Some(later);
        return Ok(());
    };
    let has_both = known.family.zip(later.family).is_some_and(|(one, other)| one != other);
    let is_too_long = kind == TableKind::Routes && known.rows.len() + later.rows.len() > MAX_ROUTES;
    if !has_both || is_too_long {
        return Err(kind);
    }
    known.rows.append(&mut later.rows);
    known.complete &= later.complete;
    known.family = None;
    Ok(())
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
