//! The endpoints of topologies.

mod addresses;
mod drawings;
mod files;
mod graphs;
mod layouts;
mod pages;
mod questions;
mod shares;

pub(in crate::service) use self::addresses::{list_addresses, release_addresses, reserve_addresses};
pub(in crate::service) use self::drawings::{DrawingSlots, Drawings};
#[cfg(feature = "openapi")]
pub(in crate::service) use self::files::TopologyFile;
pub(in crate::service) use self::files::export_topology;
pub(in crate::service) use self::graphs::{get_edge, get_graph, list_blind_spots};
pub(in crate::service) use self::layouts::list_links;
pub(in crate::service) use self::layouts::{get_layout, tidy_layout, update_layout};
pub(in crate::service) use self::pages::{failure_page, get_network_page};
pub(in crate::service) use self::questions::{find_paths, get_fragile, get_impact, get_vlans, locate};
#[cfg(feature = "openapi")]
pub(in crate::service) use self::shares::{OpenedShare, SharedTopology};
pub(in crate::service) use self::shares::{get_share_page, get_shared_picture, open_share};
