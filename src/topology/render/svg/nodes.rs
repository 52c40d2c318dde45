//! Nodes: frames of containers, and cards of all others.

use super::super::file::File;
use super::super::scene::Scene;
use super::super::words::number;
use super::super::words::{node_kind, role, role_class};
use super::super::xml::escape_isolated;
use super::{icons, put};
use crate::topology::graph::{
    DETAIL_SIZE, ICON, LABEL_SIZE, Node, NodeKind, PADDING, card_label, content_width, shorten, title_label,
    width,
};

/// Longest text in a tooltip, in characters.
const TOOLTIP: usize = 300;

/// Draws the frames of containers, the outer before the inner ones.
pub(super) fn containers(out: &mut File, scene: &Scene<'_>) {
    out.push_str("<g class=\"containers\">\n");
    for node in scene.graph.nodes.iter().filter(|node| scene.is_container(node)) {
        open(out, node, "container");
        rect(out, "frame", node, 0.0, 8);
        let mut x = node.x + 2.0 * PADDING;
        if node.kind != NodeKind::Subnet {
            icons::draw(out, node.role, node.x + PADDING, node.y + PADDING);
            x = node.x + PADDING + ICON + PADDING;
        }
        let label = title_label(&node.label);
        let baseline = if node.kind == NodeKind::Subnet { 21.0 } else { 25.0 };
        text(out, "label heading", x, node.y + baseline, &label);
        if let Some(detail) = &node.detail {
            // Bold text is a little wider.
            let gap = f64::from(width(&label, LABEL_SIZE)) * 1.06 + 10.0;
            text(out, "detail", x + gap, node.y + baseline, &card_label(detail, DETAIL_SIZE));
        }
        out.push_str("</g>\n");
    }
    out.push_str("</g>\n");
}

/// Draws the nodes that contain nothing.
pub(super) fn cards(out: &mut File, scene: &Scene<'_>) {
    out.push_str("<g class=\"nodes\">\n");
    for node in scene.graph.nodes.iter().filter(|node| !scene.is_container(node)) {
        open(out, node, "node");
        match node.kind {
            NodeKind::Segment => segment(out, node),
            NodeKind::Service => service(out, node),
            NodeKind::Host | NodeKind::Stub | NodeKind::Subnet | NodeKind::Group => card(out, node),
        }
        out.push_str("</g>\n");
    }
    out.push_str("</g>\n");
}

fn open(out: &mut File, node: &Node, class: &str) {
    let stale = if node.stale { " stale" } else { "" };
    put(
        out,
        format_args!(
            "<g class=\"{class} {} {}{stale}\" data-id=\"{}\"><title>{}</title>",
            node_kind(node.kind),
            role_class(node.role),
            node.id,
            tooltip(node)
        ),
    );
}

/// Returns the tooltip, escaped.
fn tooltip(node: &Node) -> String {
    let mut parts = vec![escape_isolated(&shorten(&node.label, TOOLTIP))];
    parts.extend(node.detail.as_deref().map(|detail| escape_isolated(&shorten(detail, TOOLTIP))));
    match node.kind {
        NodeKind::Host => parts.push(role(node.role).to_owned()),
        NodeKind::Stub => parts.push("Not scanned".to_owned()),
        NodeKind::Segment => parts.push("Shared segment".to_owned()),
        NodeKind::Subnet => parts.push("Subnet".to_owned()),
        NodeKind::Group => parts.push("Folded devices".to_owned()),
        NodeKind::Service => parts.push("Container".to_owned()),
    }
    if node.stale {
        parts.push("Not seen recently".to_owned());
    }
    parts.join(" \u{b7} ")
}

fn card(out: &mut File, node: &Node) {
    if node.kind == NodeKind::Group {
        // A second card behind the first one shows that there are several.
        rect(out, "card", node, 3.0, 6);
        rect(out, "card", node, -3.0, 6);
    } else {
        rect(out, "card", node, 0.0, 6);
    }
    // A card that is wider than its content has room for lines; the content is in its middle.
    let left = node.x + (node.width - content_width(node)).max(0.0) / 2.0 + PADDING;
    icons::draw(out, node.role, left, node.y + (node.height - ICON) / 2.0);
    let x = left + ICON + PADDING;
    let middle = node.y + node.height / 2.0;
    let label = card_label(&node.label, LABEL_SIZE);
    if let Some(detail) = &node.detail {
        text(out, "label", x, middle - 2.0, &label);
        text(out, "detail", x, middle + 12.0, &card_label(detail, DETAIL_SIZE));
    } else {
        text(out, "label", x, middle + 4.5, &label);
    }
}

fn segment(out: &mut File, node: &Node) {
    rect(out, "card", node, 0.0, 11);
    text(
        out,
        "label",
        node.x + 2.0 * PADDING,
        node.y + node.height / 2.0 + 4.0,
        &card_label(&node.label, DETAIL_SIZE),
    );
}

fn service(out: &mut File, node: &Node) {
    rect(out, "card", node, 0.0, 3);
    text(
        out,
        "label",
        node.x + 2.0 * PADDING,
        node.y + node.height / 2.0 + 4.5,
        &card_label(&node.label, LABEL_SIZE),
    );
}

/// Draws the outline of a node. An offset moves it to the lower right and makes it smaller.
fn rect(out: &mut File, class: &str, node: &Node, offset: f64, radius: u32) {
    let (shift, less) = (offset.max(0.0), offset.abs());
    put(
        out,
        format_args!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{radius}\"/>",
            number(node.x + shift),
            number(node.y + shift),
            number((node.width - less).max(0.0)),
            number((node.height - less).max(0.0)),
        ),
    );
}

pub(super) fn text(out: &mut File, class: &str, x: f64, y: f64, text: &str) {
    put(
        out,
        format_args!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>",
            number(x),
            number(y),
            escape_isolated(text)
        ),
    );
}
