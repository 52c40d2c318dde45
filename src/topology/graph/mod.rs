//! The content of a view: nodes, edges and containers.
//!
//! [`HostSummary::of`] summarizes hosts, [`build()`] selects what the view shows, and [`lay_out`] places it.
//! [`compare()`] draws what differs between two states, and [`blind_spots()`] ranks what to scan next.

mod areas;
mod arrange;
mod blind_spots;
mod build;
mod compare;
mod context;
mod devices;
mod draft;
mod fold;
mod input;
mod link_facts;
mod overview;
mod port_name;
mod redact;
mod role;
mod shape;
mod summary;
mod unplaced;
mod views;

pub(in crate::topology) use self::arrange::diagram;
pub(in crate::topology) use self::arrange::size::{
    DETAIL_SIZE, HEADER_HEIGHT, ICON, LABEL_SIZE, PADDING, card_detail, card_label, content_width,
    title_label,
};
pub(in crate::topology) use self::arrange::size::{shorten, width};
#[cfg(feature = "service")]
pub(in crate::topology) use self::arrange::surface::SCREEN;
pub use self::arrange::{Positions, lay_out};
#[cfg(feature = "service")]
pub(in crate::topology) use self::arrange::{apply, diagram_with_ports};
pub use self::blind_spots::{BlindSpot, BlindSpotReason, blind_spots};
pub use self::build::build;
pub use self::compare::compare;
#[cfg(feature = "service")]
pub(in crate::topology) use self::devices::network_host;
pub(in crate::topology) use self::devices::{NetworkNode, NetworkNodes, network_nodes};
#[cfg(feature = "service")]
pub(in crate::topology) use self::input::Folding;
pub use self::input::{Detail, DetailError, GraphInput, GraphOptions, GroupBy, GroupByError};
#[cfg(feature = "service")]
pub(in crate::topology) use self::link_facts::left_behind;
pub(in crate::topology) use self::port_name::{port_labels, port_name, port_names};
pub use self::redact::{Redactor, SensitiveValues};
pub use self::role::{RoleReason, RoleSource};
pub(in crate::topology) use self::role::{role_count, role_name};
pub(in crate::topology) use self::shape::FoldedDevice;
pub use self::shape::{
    Bounds, ChangeCounts, Edge, EdgeKind, FoldedPart, FormerEnd, Graph, GraphChange, GraphChangeError,
    GraphComparison, Hidden, Node, NodeKind, RoleCount, UnplacedHost, Warning,
};
pub(in crate::topology) use self::summary::is_reachable;
pub use self::summary::{HostSummary, InterfaceSummary, ServiceSummary};
