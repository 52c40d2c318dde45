//! Graphs in the DOT language of Graphviz.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Picture;
use super::file::File;
use super::scene::Scene;
use super::words::{capacity_and_state, line_style, role, state, state_class};
use super::words::{number, sane};
use super::xml::{isolated, visible};
use crate::model::{HostRole, NodeId};
use crate::topology::graph::{Edge, Node, NodeKind, port_names, shorten};
use crate::topology::links::{Confidence, LinkState};

/// Maximum number of levels that lines are indented by.
const MAX_INDENT: usize = 16;

/// Longest text in characters.
const MAX_TEXT: usize = 120;

/// Writes an undirected graph. Containers are clusters; lines to a container end at its frame.
///
/// `dot` arranges the graph anew; `neato -n` keeps the positions.
pub(super) fn write(picture: &Picture<'_>, out: &mut File) {
    let scene = Scene::new(picture.graph);
    out.push_str("graph topology {\n");
    let _ = writeln!(
        out,
        "    graph [label={}, labelloc=t, charset=\"UTF-8\", compound=true, fontname=\"Helvetica\"];",
        quoted(picture.title)
    );
    out.push_str("    node [shape=box, style=rounded, fontname=\"Helvetica\", fontsize=11];\n");
    out.push_str("    edge [fontname=\"Helvetica\", fontsize=9];\n");
    nodes(out, &scene, &scene.contents());
    for edge in scene.edges() {
        write_edge(out, &scene, edge);
    }
    out.push_str("}\n");
}

fn nodes(out: &mut File, scene: &Scene<'_>, contents: &BTreeMap<Option<NodeId>, Vec<&Node>>) {
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
                "{indentation}\"{}\" [label={}, shape={}, style=\"{}\", tooltip={}, class=\"state-{}\"{}{}];",
                node.id,
                label(node),
                shape(node),
                style(node),
                quoted(&tooltip(node)),
                state_class(node.state),
                line_style(node.state).map_or_else(String::new, |(_, color)| format!(", color=\"{color}\"")),
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

fn write_edge(out: &mut File, scene: &Scene<'_>, edge: &Edge) {
    let mut attributes = Vec::new();
    for (name, ports) in ["taillabel", "headlabel"].into_iter().zip(port_names(edge)) {
        attributes.extend(ports.map(|ports| format!("{name}={}", quoted(&ports))));
    }
    attributes.extend(capacity_and_state(edge).map(|capacity| format!("label={}", quoted(&capacity))));
    for (name, end) in [("ltail", edge.source), ("lhead", edge.target)] {
        let container = scene.node(end).filter(|node| scene.is_container(node));
        attributes.extend(container.map(|node| format!("{name}=\"cluster_{}\"", node.id)));
    }
    let style = match (edge.state, edge.confidence) {
        // Each state has a color of its own; dots stand for what is disabled, and dashes for all other problems.
        (LinkState::Disabled, _) => "dotted",
        (state, _) if line_style(state).is_some() => "dashed",
        (_, Confidence::Confirmed) => "solid",
        (_, Confidence::Reported | Confidence::Conflicting) => "dashed",
        (_, Confidence::Inferred) => "dotted",
    };
    attributes.push(format!("style={style}"));
    let own = line_style(edge.state).map_or("black", |(_, color)| color);
    let color = if edge.stale { "gray60" } else { own };
    if edge.members.len() > 1 && edge.lag {
        // Two strands, unlike parallel links.
        attributes.push(format!("color=\"{color}:invis:{color}\""));
    } else if color != "black" {
        attributes.push(if edge.stale { format!("color={color}") } else { format!("color=\"{color}\"") });
    }
    if edge.members.len() > 1 {
        attributes.push(format!("penwidth={}", number(if edge.lag { 1.5 } else { 3.0 })));
    }
    let kind = match edge.members.len() {
        0 | 1 => "",
        _ if edge.lag => " lag",
        _ => " parallel",
    };
    attributes.push(format!("class=\"state-{}{kind}\"", state_class(edge.state)));
    let _ = writeln!(out, "    \"{}\" -- \"{}\" [{}];", edge.source, edge.target, attributes.join(", "));
}

fn tooltip(node: &Node) -> String {
    match node.state {
        LinkState::Unknown | LinkState::Up => role(node.role).into_owned(),
        problem => format!("{}, {}", role(node.role), state(problem)),
    }
}

fn label(node: &Node) -> String {
    match &node.detail {
        Some(detail) => format!("\"{}\\n{}\"", escape(&node.label), escape(detail)),
        None => quoted(&node.label),
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

fn style(node: &Node) -> &'static str {
    match (node.kind, node.stale) {
        (NodeKind::Stub, _) => "dashed",
        (_, true) => "dotted",
        _ => "solid",
    }
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
