//! Edges: lines whose width stands for the speed, and whose dashes stand for the confidence.

use super::super::changes::of_edge;
use super::super::file::File;
use super::super::scene::Scene;
use super::super::widths::LineWidths;
use super::super::words::{blocked, capacity, confidence, edge_class, problem, vlans};
use super::super::words::{list_vlans, number};
use super::super::xml::escape_isolated;
use super::{minutes, put};
use crate::topology::graph::{Edge, port_names, shorten};
use crate::topology::links::{LinkState, PortRef};

/// Longest port name in a tooltip, in characters.
const PORT: usize = 100;

/// Draws the lines.
pub(super) fn write(out: &mut File, scene: &Scene<'_>, widths: &LineWidths) {
    // If no state is known, unknown states need no style of their own.
    let states = if scene.edges().any(|edge| edge.state != LinkState::Unknown) { " with-states" } else { "" };
    put(out, format_args!("<g class=\"edges{states}\">\n"));
    for edge in scene.edges() {
        let Some(path) = path(edge) else { continue };
        put(
            out,
            format_args!(
                "<g class=\"edge {}\" data-id=\"{}\" data-state=\"{}\" data-source=\"{}\" data-target=\"{}\"",
                edge_class(edge),
                edge.id,
                edge.state,
                edge.source,
                edge.target,
            ),
        );
        if let Some(speed) = edge.speed_bps {
            put(out, format_args!(" data-speed=\"{speed}\""));
        }
        if let Some(vlans) = &edge.vlans {
            put(out, format_args!(" data-vlans=\"{}\"", list_vlans(vlans)));
        }
        put(out, format_args!("><title>{}</title>", tooltip(edge, scene)));
        let is_group = edge.members.len() > 1;
        let line = if is_group { widths.group(edge.speed_bps) } else { widths.line(edge.speed_bps) };
        let width = line + if edge.change.is_some() { 1.0 } else { 0.0 };
        put(out, format_args!("<path class=\"line\" stroke-width=\"{}\" d=\"{path}\"/>", number(width)));
        if is_group {
            // Two strands stand for an aggregation group, and broken ones for parallel links.
            let core = (width / 3.0).max(0.75);
            put(out, format_args!("<path class=\"core\" stroke-width=\"{}\" d=\"{path}\"/>", number(core)));
        }
        if let Some(arrow) = arrow(edge) {
            put(out, format_args!("<path class=\"arrow\" d=\"{arrow}\"/>"));
        }
        out.push_str("</g>\n");
    }
    out.push_str("</g>\n");
}

/// Returns the head of an arrow at the end of an edge that has moved.
fn arrow(edge: &Edge) -> Option<String> {
    /// Length and half the width of the head, in pixels.
    const SIZE: (f64, f64) = (13.0, 5.5);
    let moved = edge.moved_from.as_ref()?;
    let (first, second, last, before) = match edge.points.as_slice() {
        [first, second, .., before, last] => (first, second, last, before),
        [first, last] => (first, last, last, first),
        [first, middle, last] => (first, middle, last, middle),
        _ => return None,
    };
    let (tip, from) = if moved.end == edge.target { (last, before) } else { (first, second) };
    let (along_x, along_y) = (tip[0] - from[0], tip[1] - from[1]);
    let length = along_x.hypot(along_y);
    if !length.is_finite() || length < 1.0 {
        return None;
    }
    let (along_x, along_y) = (along_x / length, along_y / length);
    let (back_x, back_y) = (tip[0] - along_x * SIZE.0, tip[1] - along_y * SIZE.0);
    let (side_x, side_y) = (along_y * SIZE.1, -along_x * SIZE.1);
    let [x, y, one_x, one_y, other_x, other_y] =
        [tip[0], tip[1], back_x + side_x, back_y + side_y, back_x - side_x, back_y - side_y].map(number);
    Some(format!("M{x} {y}L{one_x} {one_y}L{other_x} {other_y}Z"))
}

fn path(edge: &Edge) -> Option<String> {
    let mut path = String::new();
    for (index, [x, y]) in edge.points.iter().enumerate() {
        let command = if index == 0 { "M" } else { "L" };
        put(&mut path, format_args!("{command}{} {}", number(*x), number(*y)));
    }
    (edge.points.len() > 1).then_some(path)
}

/// Returns the tooltip, escaped.
fn tooltip(edge: &Edge, scene: &Scene<'_>) -> String {
    let escaped = |text: &str| escape_isolated(&shorten(text, PORT));
    let end = |id, ports: Option<String>| {
        let label = scene.node(id).map_or_else(String::new, |node| escaped(&node.label));
        match ports {
            Some(ports) => format!("{label} {}", escaped(&ports)),
            None => label,
        }
    };
    let [source_port, target_port] = [&edge.source_port, &edge.target_port];
    let full = |port: &PortRef| port.name.clone();
    let [of_source, of_target] = port_names(edge);
    let mut text = format!(
        "{} \u{2013} {}",
        end(edge.source, source_port.as_ref().map(full).or(of_source)),
        end(edge.target, target_port.as_ref().map(full).or(of_target))
    );
    if let Some(capacity) = capacity(edge) {
        put(&mut text, format_args!(" \u{b7} {capacity}"));
    }
    put(&mut text, format_args!(" \u{b7} {}", confidence(edge.confidence)));
    if let Some(problem) = problem(edge.state) {
        put(&mut text, format_args!(" \u{b7} {problem}"));
    }
    if let Some(since) = edge.since {
        put(&mut text, format_args!(" since {}", minutes(since)));
    }
    if let Some(vlans) = vlans(edge) {
        put(&mut text, format_args!(" \u{b7} {vlans}"));
    }
    if let Some(blocked) = blocked(edge) {
        put(&mut text, format_args!(" \u{b7} {blocked}"));
    }
    if let Some(change) = of_edge(edge) {
        put(&mut text, format_args!(" \u{b7} {}", escaped(&change)));
    }
    if edge.stale {
        text.push_str(" \u{b7} not seen recently");
    }
    text
}
