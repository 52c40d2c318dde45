//! Graphs as diagrams of draw.io.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::Picture;
use super::file::File;
use super::scene::Scene;
use super::words::{capacity_and_state, line_style, problem};
use super::words::{line_width, number, sane};
use super::xml::{escape, escape_isolated};
use crate::model::HostRole;
use crate::topology::graph::{Edge, Node, NodeKind, port_names, shorten};
use crate::topology::links::Confidence;

/// Longest text in characters.
const MAX_TEXT: usize = 120;

/// Writes a diagram. Labels are plain text (`html=0`), so that no name is interpreted as markup.
pub(super) fn write(picture: &Picture<'_>, out: &mut File) {
    let scene = Scene::new(picture.graph);
    let _ = writeln!(
        out,
        "<mxfile host=\"toposcope\"><diagram id=\"topology\" name=\"{}\"><mxGraphModel grid=\"0\" page=\"0\"><root>\
         <mxCell id=\"0\"/><mxCell id=\"1\" parent=\"0\"/>",
        escape(&shorten(picture.title, MAX_TEXT))
    );
    let mut written = BTreeSet::new();
    for node in &picture.graph.nodes {
        let parent = scene.parent(node, &written);
        write_node(out, &scene, node, parent);
        written.insert(node.id);
    }
    for edge in scene.edges() {
        write_edge(out, edge);
    }
    out.push_str("</root></mxGraphModel></diagram></mxfile>\n");
}

/// Writes a node. The position of what a container contains is relative to the container.
fn write_node(out: &mut File, scene: &Scene<'_>, node: &Node, parent: Option<&Node>) {
    let (left, top) = parent.map_or((0.0, 0.0), |parent| (sane(parent.x), sane(parent.y)));
    let owner = parent.map_or_else(|| "1".to_owned(), |parent| parent.id.to_string());
    let _ = writeln!(
        out,
        "<mxCell id=\"{}\" value=\"{}\" style=\"{}\" vertex=\"1\" parent=\"{owner}\"><mxGeometry x=\"{}\" y=\"{}\" \
         width=\"{}\" height=\"{}\" as=\"geometry\"/></mxCell>",
        node.id,
        value(node),
        style(scene, node),
        number(sane(node.x) - left),
        number(sane(node.y) - top),
        number(node.width),
        number(node.height),
    );
}

fn value(node: &Node) -> String {
    let mut label = escape_isolated(&shorten(&node.label, MAX_TEXT));
    if let Some(problem) = problem(node.state) {
        let _ = write!(label, " ({problem})");
    }
    match &node.detail {
        // A character reference, because a line break in an attribute is read as a space.
        Some(detail) => format!("{label}&#10;{}", escape_isolated(&shorten(detail, MAX_TEXT))),
        None => label,
    }
}

fn style(scene: &Scene<'_>, node: &Node) -> String {
    const BASE: &str = "html=0;whiteSpace=wrap;fontSize=12;";
    let mut style = String::from(BASE);
    if scene.is_container(node) {
        style.push_str(
            "rounded=1;arcSize=4;container=1;collapsible=0;verticalAlign=top;fontStyle=1;fillColor=#F3F6F9;",
        );
    } else {
        style.push_str(shape(node));
    }
    if let Some((_, color)) = line_style(node.state) {
        let _ = write!(style, "strokeColor={color};strokeWidth=3;");
    }
    if node.kind == NodeKind::Stub {
        style.push_str("dashed=1;fontStyle=2;");
    }
    if node.stale || node.kind == NodeKind::Stub {
        style.push_str("opacity=60;");
    }
    style
}

const fn shape(node: &Node) -> &'static str {
    match (node.kind, node.role) {
        (NodeKind::Segment, _) => "rounded=1;arcSize=50;fillColor=#E3E8ED;",
        (NodeKind::Service, _) => "rounded=0;",
        (_, HostRole::Internet) => "shape=cloud;fillColor=#D6E8F5;",
        (_, HostRole::Router) => "shape=ellipse;fillColor=#0072B2;fontColor=#FFFFFF;",
        (_, HostRole::Switch) => "rounded=1;fillColor=#009E73;fontColor=#FFFFFF;",
        (_, HostRole::Firewall) => "rounded=0;fillColor=#D55E00;fontColor=#FFFFFF;",
        (_, HostRole::AccessPoint) => "shape=hexagon;perimeter=hexagonPerimeter2;size=0.1;fillColor=#56B4E9;",
        (_, HostRole::Server) => "rounded=0;fillColor=#CC79A7;",
        (_, HostRole::Hypervisor) => "shape=cube;size=6;fillColor=#E69F00;",
        (_, HostRole::Storage) => "shape=cylinder3;size=6;fillColor=#F0E442;",
        _ => "rounded=1;",
    }
}

fn write_edge(out: &mut File, edge: &Edge) {
    let dashes = match (line_style(edge.state), edge.confidence) {
        (Some((dashes, color)), _) => format!("dashed=1;dashPattern={dashes};strokeColor={color};"),
        (None, Confidence::Confirmed) => String::new(),
        (None, Confidence::Reported) => "dashed=1;dashPattern=9 4;".to_owned(),
        (None, Confidence::Inferred) => "dashed=1;dashPattern=2 4;".to_owned(),
        (None, Confidence::Conflicting) => "dashed=1;dashPattern=9 3 2 3;strokeColor=#D55E00;".to_owned(),
    };
    // Two strands stand for an aggregation group, and one thick line for parallel links.
    let strands = if edge.members.len() > 1 && edge.lag { "shape=link;width=4;" } else { "" };
    let opacity = if edge.stale { "opacity=60;" } else { "" };
    let _ = write!(
        out,
        "<mxCell id=\"{0}\" value=\"{1}\" style=\"html=0;endArrow=none;rounded=0;fontSize=10;strokeWidth={2};{strands}{dashes}{opacity}\" \
         edge=\"1\" parent=\"1\" source=\"{3}\" target=\"{4}\"><mxGeometry relative=\"1\" as=\"geometry\">",
        edge.id,
        escape(&capacity_and_state(edge).unwrap_or_default()),
        number(f64::from(line_width(edge.speed_bps)) / 4.0),
        edge.source,
        edge.target,
    );
    // An edge without a route has no points.
    let bends = edge.points.get(1..edge.points.len().saturating_sub(1)).unwrap_or(&[]);
    if !bends.is_empty() {
        out.push_str("<Array as=\"points\">");
        for [x, y] in bends {
            let _ = write!(out, "<mxPoint x=\"{}\" y=\"{}\"/>", number(*x), number(*y));
        }
        out.push_str("</Array>");
    }
    out.push_str("</mxGeometry></mxCell>\n");
    for ((end, place), ports) in [("source", "-0.8"), ("target", "0.8")].into_iter().zip(port_names(edge)) {
        let Some(ports) = ports else { continue };
        let _ = writeln!(
            out,
            "<mxCell id=\"{0}-{end}\" value=\"{1}\" style=\"edgeLabel;html=0;fontSize=9;\" vertex=\"1\" \
             connectable=\"0\" parent=\"{0}\"><mxGeometry x=\"{place}\" relative=\"1\" as=\"geometry\"/></mxCell>",
            edge.id,
            escape_isolated(&shorten(&ports, MAX_TEXT)),
        );
    }
}
