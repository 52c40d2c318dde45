//! Filtered and grouped pages.

use std::error::Error;

use toposcope::inventory::HostQuery;
use toposcope::model::{HostId, HostOrderField, OrderDirection};

use crate::finding::{Family, Finding};
use crate::loaded::LoadedInventory;
use crate::page::{describe, measure_parts};
use crate::reader::Reader;

/// Maximum number of ids in a request.
const IDS: usize = 1_000;

pub(crate) fn measure(loaded: &LoadedInventory) -> Result<Vec<Finding>, Box<dyn Error>> {
    let mut findings = measure_tags(loaded)?;
    findings.extend(measure_picked(loaded)?);
    findings.extend(measure_groups(loaded)?);
    Ok(findings)
}

fn measure_tags(loaded: &LoadedInventory) -> Result<Vec<Finding>, Box<dyn Error>> {
    let tags = &loaded.tags;
    let filters = [
        (Family::OtherTags, "5 hosts", vec![tags.rare]),
        (Family::OtherTags, "a hundredth", vec![tags.hundredth]),
        (Family::TenthTag, "a tenth", vec![tags.tenth]),
        (Family::OtherTags, "half", vec![tags.half]),
        (Family::OtherTags, "everywhere", vec![tags.everywhere]),
        (Family::OtherTags, "5 hosts or a tenth", vec![tags.rare, tags.tenth]),
        (Family::OtherTags, "a tenth or another tenth", vec![tags.tenth, tags.other_tenth]),
    ];
    let mut findings = Vec::new();
    for (family, which, tag_ids) in filters {
        let mut query = ordered(HostOrderField::Name, OrderDirection::Ascending);
        query.tag_ids = Some(tag_ids);
        for reader in readers(loaded) {
            let label = format!("tag on {which}, {}", describe(&query));
            findings.extend(measure_parts(loaded, reader, family, &label, &query)?);
        }
    }
    Ok(findings)
}

/// Measures hosts selected by id, and hosts of one network selected by id.
fn measure_picked(loaded: &LoadedInventory) -> Result<Vec<Finding>, Box<dyn Error>> {
    let step = (loaded.parts.len() / IDS).max(1);
    let ids: Vec<HostId> = loaded.parts.iter().step_by(step).take(IDS).map(|parts| parts.host).collect();
    let mut of_ids = ordered(HostOrderField::Name, OrderDirection::Ascending);
    of_ids.ids = Some(ids);
    let mut of_network = ordered(HostOrderField::Name, OrderDirection::Ascending);
    of_network.network_id = loaded.parts.first().map(|parts| parts.network);
    let owner = &loaded.readers[0];
    let label = format!("1,000 ids, {}", describe(&of_ids));
    let mut findings = measure_parts(loaded, owner, Family::Ids, &label, &of_ids)?;
    let label = format!("network_id, {}", describe(&of_network));
    findings.extend(measure_parts(loaded, owner, Family::Lists, &label, &of_network)?);
    Ok(findings)
}

/// Measures groups that are whole networks, parts of all networks, and single hosts.
fn measure_groups(loaded: &LoadedInventory) -> Result<Vec<Finding>, Box<dyn Error>> {
    use HostOrderField::{CreatedAt, Hostname, InterfaceIp, Name, NetworkId, UpdatedAt, VirtualizedBy};
    use OrderDirection::{Ascending, Descending};
    let orders = [
        (NetworkId, Name, Ascending),
        (NetworkId, CreatedAt, Descending),
        (VirtualizedBy, Name, Ascending),
        (VirtualizedBy, UpdatedAt, Descending),
        (Hostname, Name, Ascending),
        (InterfaceIp, CreatedAt, Descending),
    ];
    let mut findings = Vec::new();
    for (group, order, direction) in orders {
        let mut query = ordered(order, direction);
        query.group_by = Some(group);
        for reader in readers(loaded) {
            findings.extend(measure_parts(loaded, reader, Family::Groups, &describe(&query), &query)?);
        }
    }
    Ok(findings)
}

/// Returns a reader of the whole organization, and a reader of some networks.
fn readers(loaded: &LoadedInventory) -> [&Reader; 2] {
    [&loaded.readers[0], &loaded.readers[2]]
}

fn ordered(order: HostOrderField, direction: OrderDirection) -> HostQuery {
    let mut query = HostQuery::default();
    query.order_by = Some(order);
    query.order_direction = direction;
    query
}
