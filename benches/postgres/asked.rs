//! The pages that are measured.

use toposcope::store::{Direction, LinkFilter, Name, Order, Query, Start};
use uuid::Uuid;

use crate::record::HOST;

/// The relation of the hosts with a tag.
pub(crate) const TAG: Name = Name::new("tag");

/// Number of hosts of a page.
pub(crate) const PAGE: usize = 50;
const ORDERS: [&str; 6] = ["created_at", "updated_at", "name", "hostname", "network_id", "interface_ip"];

/// A page to be measured.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) part: String,
    pub(crate) query: Query,
    pub(crate) offset: usize,
    pub(crate) is_descending: bool,
}

/// Returns the pages of an inventory with this number of hosts on ten networks.
pub(crate) fn pages(size: usize, networks: &[Uuid]) -> Vec<Asked> {
    let middle = size.saturating_sub(PAGE) / 2;
    let mut pages = Vec::new();
    for order in ORDERS {
        for is_descending in [false, true] {
            for offset in [0, middle, 2 * middle] {
                pages.push(asked(&[order], is_descending, offset, &[], false));
            }
        }
    }
    for offset in [0, middle / 4, middle / 2] {
        pages.push(asked(&["name"], false, offset, &networks[..3], false));
        pages.push(asked(&["name"], true, offset, &networks[3..4], false));
    }
    for offset in [0, middle / 10] {
        pages.push(asked(&["name"], false, offset, &[], true));
    }
    for offset in [0, middle] {
        pages.push(asked(&["network_id", "name"], false, offset, &[], false));
    }
    pages
}

fn asked(
    orders: &[&'static str],
    is_descending: bool,
    offset: usize,
    networks: &[Uuid],
    has_tag: bool,
) -> Asked {
    let direction = if is_descending { Direction::Descending } else { Direction::Ascending };
    let mut query = Query::new(HOST);
    query.order = orders.iter().map(|order| Order::new(Name::new(order), direction)).collect();
    query.start = Start::Offset(offset as u64);
    query.limit = Some(PAGE);
    query.networks = if networks.is_empty() { None } else { Some(networks.to_vec()) };
    query.links = if has_tag { vec![LinkFilter::new(TAG, [Uuid::max()])] } else { Vec::new() };
    let mut part = format!("{} from {offset}", orders.join(", "));
    if is_descending {
        part += ", descending";
    }
    if !networks.is_empty() {
        part += &format!(", {} of 10 networks", networks.len());
    }
    if has_tag {
        part += ", with a tag of a tenth";
    }
    Asked { part, query, offset, is_descending }
}
