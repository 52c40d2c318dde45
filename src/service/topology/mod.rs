//! The endpoints of topologies.

mod drawings;
mod files;
mod graphs;
mod layouts;
mod links;
mod shares;

pub(super) use self::drawings::{DrawingSlots, Drawings};
#[cfg(feature = "openapi")]
pub(super) use self::files::TopologyFile;
pub(super) use self::files::export_topology;
pub(super) use self::graphs::{get_edge, get_graph, list_blind_spots};
pub(super) use self::layouts::{get_layout, put_layout};
pub(super) use self::links::list_links;
#[cfg(feature = "openapi")]
pub(super) use self::shares::{OpenedShare, SharedTopology};
pub(super) use self::shares::{failure_page, get_share_page, get_shared_picture, open_share};
