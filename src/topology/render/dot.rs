//! Graphs in the DOT language of Graphviz.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Picture;
use super::changes::{color, moments, of_node, signed};
use super::file::File;
use super::scene::Scene;
use super::theme::Look;
use super::tiers::{Downward, downward, tiers};
use super::words::{capacity_and_state, edge_class, has_role_color, line_style, node_class};
use super::words::{number, role, sane, state};
use super::xml::{isolated, visible};
use crate::model::{HostRole, NodeId};
use crate::topology::graph::{GraphChange, Node, NodeKind, shorten};
use crate::topology::links::{Confidence, LinkState};

/// Maximum number of levels that lines are indented by.
const MAX_INDENT: usize = 16;

/// Longest text in characters.
const MAX_TEXT: usize = 120;

/// Writes an undirected graph. Containers are clusters; lines to a container end at its frame.
///
/// `dot` arranges the graph anew, in the tiers of the picture; `neato -n` keeps the positions. Nodes and edges have the classes of
/// an SVG, which Graphviz passes on to its own.
pub(super) fn write(picture: &Picture<'_>, out: &mut File) {
    let (scene, look) = (Scene::new(picture.graph), picture.theme.look());
    let font = quoted(look.font());
    out.push_str("graph topology {\n");
    let _ = writeln!(
        out,
        "    graph [label={}, labelloc=t, charset=\"UTF-8\", compound=true, newrank=true, fontname={font}];",
        title(picture),
    );
    let _ = writeln!(out, "    node [shape=box, fontname={font}, fontsize=11];");
    let _ = writeln!(out, "    edge [fontname={font}, fontsize=9];");
    nodes(out, &scene, look, &scene.contents());
    write_tiers(out, &scene);
    for edge in downward(&scene) {
        write_edge(out, &scene, look, &edge);
    }
    out.push_str("}\n");
}

/// Returns the title, with the states that the graph shows in a line below if they are not the present one alone.
fn title(picture: &Picture<'_>) -> String {
    match moments(picture.graph) {
        Some(moments) => format!("\"{}\\n{}\"", escape(picture.title), escape(&moments)),
        None => quoted(picture.title),
    }
}

/// Writes which nodes have one rank.
fn write_tiers(out: &mut File, scene: &Scene<'_>) {
    for tier in tiers(scene).into_iter().flatten().filter(|tier| tier.len() > 1) {
        out.push_str("    {rank=same;");
        for node in tier {
            let _ = write!(out, " \"{node}\";");
        }
        out.push_str("}\n");
    }
}

fn nodes(out: &mut File, scene: &Scene<'_>, look: &Look, contents: &BTreeMap<Option<NodeId>, Vec<&Node>>) {
    let of = |parent: Option<NodeId>| contents.get(&parent).map_or(&[][..], Vec::as_slice).iter();
    let mut open = vec![of(None)];
    while let Some(level) = open.last_mut() {
        let Some(node) = level.next() else {
            open.pop();
            if !open.is_empty() {
                let _ = writeln!(out, "{}}}", indent(open.len()));
            }
            continue;
        };
        let indentation = indent(open.len());
        if scene.is_container(node) {
            let _ = writeln!(out, "{indentation}subgraph \"cluster_{}\" {{", node.id);
            let inner = indent(open.len().saturating_add(1));
            let _ = writeln!(out, "{inner}graph [label={}, style=rounded];", label(node));
            // An edge cannot end at a cluster, but at a node within.
            let _ = writeln!(out, "{inner}\"{}\" [shape=point, style=invis{}];", node.id, position(node));
            open.push(of(Some(node.id)));
        } else {
            let _ = writeln!(
                out,
                "{indentation}\"{}\" [label={}, shape={}, tooltip={}, class=\"{}\", {}{}];",
                node.id,
                label(node),
                shape(node),
                quoted(&tooltip(node)),
                node_class(node),
                style(node, look),
                position(node),
            );
        }
    }
}

/// Returns the attribute for `neato -n`, which keeps positions. The position is the middle of the node in points, with
/// y upwards.
fn position(node: &Node) -> String {
    let x = sane(node.x) + sane(node.width) / 2.0;
    let y = sane(node.y) + sane(node.height) / 2.0;
    format!(", pos=\"{},{}\"", number(x), number(-y))
}

/// Returns the spaces before a line. Deeper levels look alike, so that nesting does not make the file longer than its
/// content.
fn indent(depth: usize) -> String {
    "    ".repeat(depth.min(MAX_INDENT))
}

fn write_edge(out: &mut File, scene: &Scene<'_>, look: &Look, downward: &Downward<'_>) {
    let Downward { edge, upper, lower, ports } = downward;
    let mut attributes = Vec::new();
    for (name, ports) in ["taillabel", "headlabel"].into_iter().zip(ports) {
        attributes.extend(ports.as_ref().map(|ports| format!("{name}={}", quoted(ports))));
    }
    attributes.extend(capacity_and_state(edge).map(|capacity| format!("label={}", quoted(&capacity))));
    for (name, end) in [("ltail", *upper), ("lhead", *lower)] {
        let container = scene.node(end).filter(|node| scene.is_container(node));
        attributes.extend(container.map(|node| format!("{name}=\"cluster_{}\"", node.id)));
    }
    let style = match (edge.state, edge.confidence) {
        _ if edge.change == Some(GraphChange::Removed) => "dashed",
        _ if edge.change.is_some() => "solid",
        // Each state has a color of its own; dots stand for what is disabled, and dashes for all other problems.
        (LinkState::Disabled, _) => "dotted",
        (state, _) if line_style(state, look).is_some() => "dashed",
        (_, Confidence::Confirmed) => "solid",
        (_, Confidence::Reported | Confidence::Conflicting) => "dashed",
        (_, Confidence::Inferred) => "dotted",
    };
    attributes.push(format!("style={style}"));
    let own = line_style(edge.state, look).map_or_else(|| "black".to_owned(), |(_, color)| color.to_string());
    let color = match edge.change {
        Some(change) => color(change, look).to_string(),
        None if edge.stale => "gray60".to_owned(),
        None => own,
    };
    if edge.members.len() > 1 && edge.lag {
        // Two strands, unlike parallel links.
        attributes.push(format!("color=\"{color}:invis:{color}\""));
    } else if color != "black" {
        attributes.push(if color == "gray60" {
            format!("color={color}")
        } else {
            format!("color=\"{color}\"")
        });
    }
    if edge.members.len() > 1 {
        attributes.push(format!("penwidth={}", number(if edge.lag { 1.5 } else { 3.0 })));
    }
    if let Some(moved) = &edge.moved_from {
        attributes.push(format!("dir={}", if moved.end == *lower { "forward" } else { "back" }));
    }
    attributes.push(format!("class=\"{}\"", edge_class(edge)));
    let _ = writeln!(out, "    \"{upper}\" -- \"{lower}\" [{}];", attributes.join(", "));
}

fn tooltip(node: &Node) -> String {
    let mut tooltip = role(node.role).into_owned();
    if !matches!(node.state, LinkState::Unknown | LinkState::Up) {
        let _ = write!(tooltip, ", {}", state(node.state));
    }
    if let Some(change) = of_node(node) {
        let _ = write!(tooltip, ", {change}");
    }
    tooltip
}

fn label(node: &Node) -> String {
    match &node.detail {
        Some(detail) => format!("\"{}\\n{}\"", escape(&signed(node)), escape(detail)),
        None => quoted(&signed(node)),
    }
}

const fn shape(node: &Node) -> &'static str {
    match (node.kind, node.role) {
        (NodeKind::Segment, _) => "oval",
        (NodeKind::Group, _) => "folder",
        (NodeKind::Service, _) => "component",
        (_, HostRole::Internet) => "doublecircle",
        (_, HostRole::Router) => "circle",
        (_, HostRole::Firewall) => "octagon",
        (_, HostRole::AccessPoint) => "pentagon",
        (_, HostRole::Storage) => "cylinder",
        (_, HostRole::Hypervisor) => "box3d",
        (_, HostRole::Printer) => "note",
        _ => "box",
    }
}

/// Returns the attributes of border and ground. Devices have the color of their role, and a thick border in the color of their state.
fn style(node: &Node, look: &Look) -> String {
    let border = match (node.kind, node.stale) {
        _ if node.change == Some(GraphChange::Removed) => "dashed",
        (NodeKind::Stub, _) => "dashed",
        (_, true) => "dotted",
        _ => "solid",
    };
    let mut style = format!("style=\"{border}");
    if has_role_color(node) {
        let ground = look.role(node.role);
        let _ = write!(style, ",filled\", fillcolor=\"{ground}\", fontcolor=\"{}\"", ground.text_on());
    } else {
        style.push('"');
    }
    if let Some(change) = node.change {
        let _ = write!(style, ", color=\"{}\", penwidth=3", color(change, look));
    } else if let Some((_, color)) = line_style(node.state, look) {
        let _ = write!(style, ", color=\"{color}\", penwidth=3");
    }
    style
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escape(text))
}

/// Returns text within quotes. Labels have escape sequences of their own, and Graphviz decodes HTML entities in them.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in shorten(text, MAX_TEXT).chars().map(visible) {
        match character {
            '"' => escaped.push_str("&quot;"),
            // Decoded before the sequences that break lines are: the first backslash escapes the second one.
            '\\' => escaped.push_str("&#92;&#92;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            character => escaped.push(character),
        }
    }
    isolated(&escaped).into_owned()
}
