//! Pages of whole lists: orders, directions, offsets, and subsets of the networks.

use std::error::Error;

use toposcope::inventory::HostQuery;
use toposcope::model::{HostOrderField, OrderDirection};

use crate::finding::{Family, Finding};
use crate::loaded::{LoadedInventory, Spread};
use crate::page::{describe, measure_parts};
use crate::scattered;

pub(crate) fn measure(loaded: &LoadedInventory) -> Result<Vec<Finding>, Box<dyn Error>> {
    let (family, orders) = match loaded.spread {
        Spread::Ten | Spread::TenWithoutTerms => (Family::Lists, HostOrderField::ALL),
        // Times, text, and a value that is the same throughout a network.
        Spread::Thousand => (
            Family::ManyNetworks,
            &[HostOrderField::CreatedAt, HostOrderField::Name, HostOrderField::NetworkId][..],
        ),
    };
    let mut findings = Vec::new();
    for reader in &loaded.readers {
        for order in orders {
            for direction in [OrderDirection::Ascending, OrderDirection::Descending] {
                let mut query = HostQuery::default();
                query.order_by = Some(*order);
                query.order_direction = direction;
                findings.extend(measure_parts(loaded, reader, family, &describe(&query), &query)?);
            }
        }
    }
    findings.extend(scattered::measure(loaded, family)?);
    Ok(findings)
}
