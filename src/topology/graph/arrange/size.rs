//! The extents of nodes.

use std::collections::BTreeSet;

use super::text::{shorten_to_width, width};
use crate::model::NodeId;
use crate::topology::graph::shape::{Node, NodeKind};

/// Height of a node with an icon, in pixels.
pub(in crate::topology) const CARD_HEIGHT: f64 = 40.0;
/// Height of the title of a container, in pixels.
pub(in crate::topology) const HEADER_HEIGHT: f64 = 32.0;
/// Extent of an icon, in pixels.
pub(in crate::topology) const ICON: f64 = 28.0;
/// Distance between a border and what is within, in pixels.
pub(in crate::topology) const PADDING: f64 = 6.0;
/// Font size of labels, in pixels.
pub(in crate::topology) const LABEL_SIZE: u32 = 13;
/// Font size of details and ports, in pixels.
pub(in crate::topology) const DETAIL_SIZE: u32 = 11;

/// Largest width of a label, in pixels.
const MAX_LABEL: u32 = 190;
/// Largest width of the title of a container, in pixels.
const MAX_TITLE: u32 = 300;

/// Sets the extent of each node, so that label and detail fit.
pub(in crate::topology::graph) fn measure(nodes: &mut [Node]) {
    let containers: BTreeSet<NodeId> = nodes.iter().filter_map(|node| node.parent_id).collect();
    for node in nodes {
        (node.width, node.height) = extent(node, containers.contains(&node.id));
    }
}

fn extent(node: &Node, is_container: bool) -> (f64, f64) {
    let detail = node.detail.as_deref().unwrap_or("");
    let icon = PADDING + ICON + PADDING;
    match node.kind {
        NodeKind::Subnet => (title_width(&node.label, detail) + 4.0 * PADDING, HEADER_HEIGHT),
        NodeKind::Segment => (label_width(&node.label, DETAIL_SIZE) + 4.0 * PADDING, 22.0),
        NodeKind::Group => (icon + label_width(&node.label, LABEL_SIZE) + 2.0 * PADDING, CARD_HEIGHT),
        NodeKind::Service => (label_width(&node.label, LABEL_SIZE) + 4.0 * PADDING, 28.0),
        NodeKind::Host if is_container => {
            (icon + title_width(&node.label, detail) + 2.0 * PADDING, CARD_HEIGHT)
        }
        NodeKind::Host | NodeKind::Stub => {
            let text = label_width(&node.label, LABEL_SIZE).max(label_width(detail, DETAIL_SIZE));
            (icon + text + 2.0 * PADDING, CARD_HEIGHT)
        }
    }
}

/// Returns the label as it is drawn on a card.
pub(in crate::topology) fn card_label(text: &str, size: u32) -> String {
    shorten_to_width(text, size, MAX_LABEL)
}

/// Returns the label as it is drawn in the title of a container.
pub(in crate::topology) fn title_label(text: &str) -> String {
    shorten_to_width(text, LABEL_SIZE, MAX_TITLE)
}

fn label_width(text: &str, size: u32) -> f64 {
    f64::from(width(text, size).min(MAX_LABEL))
}

fn title_width(label: &str, detail: &str) -> f64 {
    let gap = if detail.is_empty() { 0.0 } else { 10.0 };
    f64::from(width(label, LABEL_SIZE).min(MAX_TITLE)) + gap + label_width(detail, DETAIL_SIZE)
}
