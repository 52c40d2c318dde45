//! Nodes: frames of containers, and cards of all others.

use std::fmt::Write;

use super::super::changes::of_node;
use super::super::file::File;
use super::super::scene::Scene;
use super::super::theme::Look;
use super::super::words::number;
use super::super::words::{node_class, problem, role, role_count};
use super::super::xml::escape_isolated;
use super::titles::TitleLines;
use super::{icons, put};
use crate::topology::graph::{
    DETAIL_SIZE, FoldedPart, GraphChange, ICON, LABEL_SIZE, Node, NodeKind, PADDING, RoleCount, card_detail,
    card_label, content_width, shorten, title_label, width,
};
use crate::topology::links::LinkState;

/// Longest text in a tooltip, in characters.
const TOOLTIP: usize = 300;

/// Draws the frames of containers, the outer before the inner ones. Returns their titles that lines run through, which are drawn above
/// the lines.
pub(super) fn containers(out: &mut File, scene: &Scene<'_>, look: &Look) -> String {
    let lines = TitleLines::of(scene);
    let mut crossed = String::new();
    out.push_str("<g class=\"containers\">\n");
    for node in scene.graph.nodes.iter().filter(|node| scene.is_container(node)) {
        open(out, node, "container");
        rect(out, "frame", node, 0.0, 8);
        if matches!(node.kind, NodeKind::Subnet | NodeKind::Area) {
            let place = lines.place(node, node.x + 2.0 * PADDING, heading_width(node));
            if place.is_crossed {
                put(&mut crossed, format_args!("<g data-node=\"{}\">", node.id));
                heading(&mut crossed, node, place.left, 21.0);
                crossed.push_str("</g>");
            } else {
                heading(out, node, place.left, 21.0);
            }
        } else {
            icons::draw(out, look, node.role, node.x + PADDING, node.y + PADDING);
            heading(out, node, node.x + PADDING + ICON + PADDING, 25.0);
        }
        if let Some(change) = node.change {
            change_mark(out, change, node.x, node.y);
        }
        out.push_str("</g>\n");
    }
    out.push_str("</g>\n");
    crossed
}

/// Draws titles of containers above the lines that run through them.
pub(super) fn crossed_titles(out: &mut File, titles: &str) {
    if !titles.is_empty() {
        // The pointer reaches the containers below.
        put(out, format_args!("<g class=\"titles\" pointer-events=\"none\">{titles}</g>\n"));
    }
}

/// Draws the title of a container.
fn heading(out: &mut impl Write, node: &Node, x: f64, baseline: f64) {
    text(out, "label heading", x, node.y + baseline, &title_label(&node.label));
    if let Some(detail) = &node.detail {
        text(out, "detail", x + detail_offset(node), node.y + baseline, &card_label(detail, DETAIL_SIZE));
    }
}

/// Returns the distance of the detail of a container from the beginning of its title.
fn detail_offset(node: &Node) -> f64 {
    // Bold text is a little wider.
    f64::from(width(&title_label(&node.label), LABEL_SIZE)) * 1.06 + 10.0
}

fn heading_width(node: &Node) -> f64 {
    let detail = node
        .detail
        .as_ref()
        .map_or(-10.0, |detail| f64::from(width(&card_label(detail, DETAIL_SIZE), DETAIL_SIZE)));
    detail_offset(node) + detail
}

/// Draws the nodes that contain nothing.
pub(super) fn cards(out: &mut File, scene: &Scene<'_>, look: &Look) {
    out.push_str("<g class=\"nodes\">\n");
    for node in scene.graph.nodes.iter().filter(|node| !scene.is_container(node)) {
        open(out, node, "node");
        match node.kind {
            NodeKind::Segment => segment(out, node),
            NodeKind::Service => service(out, node),
            NodeKind::Host | NodeKind::Stub | NodeKind::Subnet | NodeKind::Area | NodeKind::Group => {
                card(out, node, look);
            }
        }
        mark(out, node.state, node.x + node.width, node.y);
        if let Some(change) = node.change {
            change_mark(out, change, node.x, node.y);
        }
        out.push_str("</g>\n");
    }
    out.push_str("</g>\n");
}

fn open(out: &mut File, node: &Node, class: &str) {
    let implied = if node.implied && !node.stale { " implied" } else { "" };
    put(
        out,
        format_args!(
            "<g class=\"{class} {}{implied}\" data-id=\"{}\" data-state=\"{}\" data-role=\"{}\"",
            node_class(node),
            node.id,
            node.state,
            node.role,
        ),
    );
    if let Some(vlan) = node.vlan {
        put(out, format_args!(" data-vlan=\"{vlan}\""));
    }
    put(out, format_args!("><title>{}</title>", tooltip(node)));
}

/// Returns the tooltip, escaped.
fn tooltip(node: &Node) -> String {
    let mut parts = vec![escape_isolated(&shorten(&node.label, TOOLTIP))];
    parts.extend(node.detail.as_deref().map(|detail| escape_isolated(&shorten(detail, TOOLTIP))));
    match node.kind {
        NodeKind::Host => parts.push(role(node.role).into_owned()),
        NodeKind::Stub => parts.push("Not scanned".to_owned()),
        NodeKind::Segment => parts.push("Shared segment".to_owned()),
        NodeKind::Subnet if node.implied => parts.push("Subnet implied by addresses and masks".to_owned()),
        NodeKind::Subnet => parts.push("Subnet".to_owned()),
        NodeKind::Area if node.collapsed == 0 => parts.push("Devices with this in common".to_owned()),
        NodeKind::Area => parts.push("Part of the network".to_owned()),
        NodeKind::Group => parts.push("Folded devices".to_owned()),
        NodeKind::Service => parts.push("Container".to_owned()),
    }
    parts.extend(of_node(node).map(|change| escape_isolated(&change)));
    if !node.folded.is_empty() {
        parts.push(counts(&node.folded));
    }
    let by_place =
        |part: &FoldedPart| escape_isolated(&format!("{}: {}", part.place(), counts(&part.folded)));
    parts.extend(node.parts.iter().map(by_place));
    let made =
        [&node.vendor, &node.model].into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
    parts.extend(
        Some(made).filter(|made| !made.is_empty()).map(|made| escape_isolated(&shorten(&made, TOOLTIP))),
    );
    parts.extend(node.location.as_deref().map(|location| escape_isolated(&shorten(location, TOOLTIP))));
    parts.extend(node.vlan.map(|vlan| format!("VLAN {vlan}")));
    parts.extend(problem(node.state).map(str::to_owned));
    if node.stale {
        parts.push("Not seen recently".to_owned());
    }
    parts.join(" \u{b7} ")
}

fn counts(roles: &[RoleCount]) -> String {
    roles.iter().copied().map(role_count).collect::<Vec<_>>().join(", ")
}

fn card(out: &mut File, node: &Node, look: &Look) {
    if node.collapsed > 0 {
        // A second card behind the first one shows that there are several.
        rect(out, "card", node, 3.0, 6);
        rect(out, "card", node, -3.0, 6);
    } else {
        rect(out, "card", node, 0.0, 6);
    }
    // A card that is wider than its content has room for lines; the content is in its middle.
    let left = node.x + (node.width - content_width(node)).max(0.0) / 2.0 + PADDING;
    icons::draw(out, look, node.role, left, node.y + (node.height - ICON) / 2.0);
    let x = left + ICON + PADDING;
    let middle = node.y + node.height / 2.0;
    let label = card_label(&node.label, LABEL_SIZE);
    if let Some(detail) = card_detail(node) {
        text(out, "label", x, middle - 2.0, &label);
        text(out, "detail", x, middle + 12.0, &detail);
    } else {
        text(out, "label", x, middle + 4.5, &label);
    }
}

/// Draws the mark of a state on the upper right corner of a node. It is a cross in a circle if the node is down, and a
/// bar in a triangle if some of its links are.
pub(super) fn mark(out: &mut impl Write, state: LinkState, x: f64, y: f64) {
    let (badge, sign) = match state {
        LinkState::Down => ("m-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0z", "m-2.5-2.5l5 5m0-5l-5 5"),
        LinkState::Disabled => ("m-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0z", "m-3 0h6"),
        LinkState::Degraded => ("m0-7l7 12h-14z", "m0-3v4m0 2v.1"),
        LinkState::Unknown | LinkState::Up | LinkState::Dormant | LinkState::Testing => return,
    };
    let (x, y) = (number(x), number(y));
    put(
        out,
        format_args!(
            "<path class=\"mark\" d=\"M{x} {y}{badge}\"/><path class=\"sign\" d=\"M{x} {y}{sign}\"/>"
        ),
    );
}

/// Width of the mark of a change, in pixels.
pub(super) const MARK: f64 = 14.0;

/// Draws the mark of a change on the upper left corner of a node: plus, minus or an arrow in a rounded square.
pub(super) fn change_mark(out: &mut impl Write, change: GraphChange, x: f64, y: f64) {
    let sign = match change {
        GraphChange::Added => "m-4 0h8m-4-4v8",
        GraphChange::Removed => "m-4 0h8",
        GraphChange::Moved => "m-4 0h8m-3.5-3.5l3.5 3.5l-3.5 3.5",
    };
    let [left, top, side, x, y] = [x - MARK / 2.0, y - MARK / 2.0, MARK, x, y].map(number);
    put(
        out,
        format_args!(
            "<rect class=\"change\" x=\"{left}\" y=\"{top}\" width=\"{side}\" height=\"{side}\" rx=\"3\"/><path \
             class=\"sign\" d=\"M{x} {y}{sign}\"/>"
        ),
    );
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

pub(super) fn text(out: &mut impl Write, class: &str, x: f64, y: f64, text: &str) {
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
