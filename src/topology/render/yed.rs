//! Shapes, places and labels of yEd in GraphML.

use std::fmt::Write;

use super::changes;
use super::file::File;
use super::scene::Scene;
use super::theme::{Look, ThemeColor};
use super::widths::LineWidths;
use super::words::{capacity_and_state, has_role_color, line_style, number, problem, sane};
use super::xml::escape;
use crate::model::HostRole;
use crate::topology::graph::{Edge, GraphChange, Node, NodeKind, port_names, shorten};
use crate::topology::links::{Confidence, LinkState};

/// Longest text in characters.
const MAX_TEXT: usize = 120;

/// The declarations of the keys that yEd reads.
pub(super) const KEYS: &str = "<key id=\"node_graphics\" for=\"node\" yfiles.type=\"nodegraphics\"/>\n\
    <key id=\"edge_graphics\" for=\"edge\" yfiles.type=\"edgegraphics\"/>\n";

/// Writes shape, place and label of a node. Containers are written first, so that they are behind their content.
pub(super) fn write_node(out: &mut File, scene: &Scene<'_>, look: &Look, node: &Node) {
    let is_container = scene.is_container(node);
    let ground = if is_container {
        look.color(ThemeColor::Frame)
    } else if node.kind == NodeKind::Segment {
        look.color(ThemeColor::Segment)
    } else if has_role_color(node) {
        look.role(node.role)
    } else {
        look.color(ThemeColor::Card)
    };
    let (border, width) = match (node.change, line_style(node.state, look)) {
        (Some(change), _) => (changes::color(change, look), "3"),
        (None, Some((_, color))) => (color, "3"),
        (None, None) if is_container => (look.color(ThemeColor::FrameBorder), "1"),
        (None, None) => (look.color(ThemeColor::CardBorder), "1"),
    };
    let line = match (node.kind, node.stale || node.implied) {
        _ if node.change == Some(GraphChange::Removed) => "dashed",
        (NodeKind::Stub, _) => "dashed",
        (_, true) => "dotted",
        _ => "line",
    };
    let text =
        if has_role_color(node) && !is_container { ground.text_on() } else { look.color(ThemeColor::Text) };
    let place = if is_container { "t" } else { "c" };
    let _ = write!(
        out,
        "<data key=\"node_graphics\"><y:ShapeNode><y:Geometry height=\"{}\" width=\"{}\" x=\"{}\" y=\"{}\"/><y:Fill color=\"{}\" \
         transparent=\"false\"/><y:BorderStyle color=\"{}\" type=\"{line}\" width=\"{width}\"/><y:NodeLabel alignment=\"center\" \
         autoSizePolicy=\"content\" fontFamily=\"{}\" fontSize=\"12\" fontStyle=\"plain\" modelName=\"internal\" \
         modelPosition=\"{place}\" textColor=\"{}\" visible=\"true\">{}</y:NodeLabel><y:Shape type=\"{}\"/></y:ShapeNode></data>",
        number(sane(node.height).max(1.0)),
        number(sane(node.width).max(1.0)),
        number(node.x),
        number(node.y),
        ground,
        border,
        look.font(),
        text,
        label(node),
        shape(node, is_container),
    );
}

/// Returns name, state and detail, a line each. The characters are escaped.
fn label(node: &Node) -> String {
    let mut label = escape(&shorten(&changes::signed(node), MAX_TEXT));
    if let Some(problem) = problem(node.state) {
        let _ = write!(label, " ({problem})");
    }
    match &node.detail {
        Some(detail) => format!("{label}\n{}", escape(&shorten(detail, MAX_TEXT))),
        None => label,
    }
}

const fn shape(node: &Node, is_container: bool) -> &'static str {
    match (node.kind, node.role) {
        _ if is_container => "roundrectangle",
        (NodeKind::Segment, _) | (_, HostRole::Router | HostRole::Internet) => "ellipse",
        (NodeKind::Service, _) => "rectangle",
        (_, HostRole::Firewall) => "octagon",
        (_, HostRole::AccessPoint) => "hexagon",
        (_, HostRole::Hypervisor) => "rectangle3d",
        _ => "roundrectangle",
    }
}

/// Writes route and labels of an edge.
pub(super) fn write_edge(out: &mut File, scene: &Scene<'_>, look: &Look, widths: &LineWidths, edge: &Edge) {
    let (line, color) = match (line_style(edge.state, look), edge.confidence) {
        _ if edge.change == Some(GraphChange::Removed) => {
            ("dashed", changes::color(GraphChange::Removed, look))
        }
        _ if edge.change == Some(GraphChange::Added) => ("line", changes::color(GraphChange::Added, look)),
        _ if edge.change == Some(GraphChange::Moved) => ("line", changes::color(GraphChange::Moved, look)),
        (Some((_, color)), _) if edge.state == LinkState::Disabled => ("dotted", color),
        (Some((_, color)), _) => ("dashed", color),
        (None, Confidence::Confirmed) => ("line", look.color(ThemeColor::Line)),
        (None, Confidence::Reported) => ("dashed", look.color(ThemeColor::Line)),
        (None, Confidence::Inferred) => ("dotted", look.color(ThemeColor::Line)),
        (None, Confidence::Conflicting) => ("dashed_dotted", look.color(ThemeColor::Conflicting)),
    };
    let [source, target] =
        [(edge.source, edge.points.first()), (edge.target, edge.points.last())].map(|(end, point)| {
            let node = scene.node(end).zip(point);
            // Ends are relative to the middle of their node.
            node.map_or([0.0; 2], |(node, [x, y])| {
                [
                    sane(*x) - sane(node.x) - sane(node.width) / 2.0,
                    sane(*y) - sane(node.y) - sane(node.height) / 2.0,
                ]
            })
        });
    let _ = write!(
        out,
        "<data key=\"edge_graphics\"><y:PolyLineEdge><y:Path sx=\"{}\" sy=\"{}\" tx=\"{}\" ty=\"{}\">",
        number(source[0]),
        number(source[1]),
        number(target[0]),
        number(target[1]),
    );
    for [x, y] in edge.points.get(1..edge.points.len().saturating_sub(1)).unwrap_or(&[]) {
        let _ = write!(out, "<y:Point x=\"{}\" y=\"{}\"/>", number(*x), number(*y));
    }
    let moved_end = edge.moved_from.as_ref().map(|moved| moved.end);
    let _ = write!(
        out,
        "</y:Path><y:LineStyle color=\"{}\" type=\"{line}\" width=\"{}\"/><y:Arrows source=\"{}\" target=\"{}\"/>",
        color,
        number(widths.line(edge.speed_bps)),
        if moved_end == Some(edge.source) { "standard" } else { "none" },
        if moved_end == Some(edge.target) { "standard" } else { "none" },
    );
    let [source_port, target_port] = port_names(edge);
    let labels = [
        ("six_pos", "shead", source_port),
        ("three_center", "center", capacity_and_state(edge)),
        ("six_pos", "thead", target_port),
    ];
    for (model, place, text) in labels {
        let Some(text) = text else { continue };
        let _ = write!(
            out,
            "<y:EdgeLabel alignment=\"center\" fontFamily=\"{}\" fontSize=\"10\" fontStyle=\"plain\" modelName=\"{model}\" \
             modelPosition=\"{place}\" textColor=\"{}\" visible=\"true\">{}</y:EdgeLabel>",
            look.font(),
            look.color(ThemeColor::Muted),
            escape(&shorten(&text, MAX_TEXT)),
        );
    }
    out.push_str("<y:BendStyle smoothed=\"false\"/></y:PolyLineEdge></data>");
}
