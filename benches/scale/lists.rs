//! Pages of whole lists: orders, directions, offsets, and subsets of the networks.

use std::error::Error;

use toposcope::inventory::HostQuery;
use toposcope::model::{HostOrderField, OrderDirection};

use crate::child::Finding;
use crate::family::Family;
use crate::ground::{Ground, Spread};
use crate::page::{measure_parts, told};
use crate::scattered;

pub(crate) fn measure(ground: &Ground) -> Result<Vec<Finding>, Box<dyn Error>> {
    let (family, orders) = match ground.spread {
        Spread::Ten => (Family::Lists, HostOrderField::ALL),
        // Times, text, and a value that is the same throughout a network.
        Spread::Thousand => (
            Family::ManyNetworks,
            &[HostOrderField::CreatedAt, HostOrderField::Name, HostOrderField::NetworkId][..],
        ),
    };
    let mut findings = Vec::new();
    for reader in &ground.readers {
        for order in orders {
            for direction in [OrderDirection::Ascending, OrderDirection::Descending] {
                let mut query = HostQuery::default();
                query.order_by = Some(*order);
                query.order_direction = direction;
                findings.extend(measure_parts(ground, reader, family, &told(&query), &query)?);
            }
        }
    }
    findings.extend(scattered::measure(ground, family)?);
    Ok(findings)
}
