//! Names of ports near the ends of lines, and speeds in the middle.

use std::collections::BTreeMap;

use super::super::changes::{class, sign};
use super::super::file::File;
use super::super::scene::Scene;
use super::super::words::{number, sane};
use super::super::xml::escape_isolated;
use super::nodes::{MARK, change_mark};
use super::put;
use super::speeds::speeds;
use crate::model::LinkId;
use crate::topology::graph::{DETAIL_SIZE, Edge, GraphChange, Positions, diagram, port_labels, width};
use crate::topology::layout::{Arrangement, Label, LabelRoom, LineEnd, Point, Rect, Size};

/// Height of a label, in pixels.
pub(in crate::topology::render) const HEIGHT: f64 = 13.0;

/// Labels that found room.
pub(in crate::topology::render) struct Placed {
    pub(in crate::topology::render) ports: Vec<(LinkId, Rect, String)>,
    pub(in crate::topology::render) speeds: Vec<(LinkId, Rect, String)>,
}

impl Placed {
    /// Places names of ports first, those at devices with several links before those at leaves. Each of them takes at least this
    /// width.
    pub(in crate::topology::render) fn of(scene: &Scene<'_>, least: f64) -> Self {
        let arrangement = arrangement(scene);
        let mut room = LabelRoom::new(&diagram(scene.graph, &Positions::default()), &arrangement);
        let mut wanted: Vec<(bool, LinkId, Label, String)> = Vec::new();
        for (index, edge) in scene.graph.edges.iter().enumerate() {
            crate::fair_threads::yield_turn();
            let ends = [(edge.source, LineEnd::Source), (edge.target, LineEnd::Target)];
            for ((node, end), text) in ends.into_iter().zip(port_labels(edge)) {
                let Some(text) = text else { continue };
                let extent = size(&text);
                let extent = Size::new(extent.width.max(least), extent.height);
                let label = Label { connection: index, end, size: extent };
                wanted.push((scene.is_leaf(node), edge.id, label, text));
            }
        }
        wanted.sort_by_key(|(is_leaf, ..)| *is_leaf);
        let place =
            |(_, edge, label, text): (bool, LinkId, Label, String)| Some((edge, room.at_end(&label)?, text));
        let ports = wanted.into_iter().filter_map(place).collect();
        Self { ports, speeds: speeds(scene, &mut room) }
    }
}

/// Returns the extent of a label.
pub(super) fn size(text: &str) -> Size {
    Size::new(f64::from(width(text, DETAIL_SIZE)), HEIGHT)
}

/// Draws the labels.
pub(super) fn write(out: &mut File, scene: &Scene<'_>, placed: &Placed) {
    let edges: BTreeMap<LinkId, &Edge> = scene.edges().map(|edge| (edge.id, edge)).collect();
    out.push_str("<g class=\"labels\">\n");
    for (id, place, text) in &placed.ports {
        write_port(out, *id, edges.get(id).copied(), (place, text));
    }
    for (edge, place, text) in &placed.speeds {
        match edges.get(edge).and_then(|edge| edge.change) {
            Some(change) => write_change(out, *edge, change, (place, text)),
            None => {
                let middle = place.x + place.width / 2.0;
                write_speed(out, &format!("class=\"speed\" data-edge=\"{edge}\""), [middle, place.y], text);
            }
        }
    }
    out.push_str("</g>\n");
}

/// Writes the name of a port. Beside its line, it keeps its distance in fonts of all widths.
fn write_port(out: &mut File, id: LinkId, edge: Option<&Edge>, (place, text): (&Rect, &str)) {
    let is_turned = (place.height - HEIGHT).abs() > 0.01;
    let ends_at_line = !is_turned && edge.is_some_and(|edge| ends_at_line(edge, place));
    let (x, y) = if is_turned {
        (number(place.x + 10.0), number(place.y + place.height))
    } else if ends_at_line {
        (number(place.x + place.width), number(place.y + 10.0))
    } else {
        (number(place.x), number(place.y + 10.0))
    };
    let turn = if is_turned { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let anchor = if ends_at_line { " text-anchor=\"end\"" } else { "" };
    put(
        out,
        format_args!(
            "<text class=\"port\" data-edge=\"{id}\" x=\"{x}\" y=\"{y}\"{anchor}{turn}>{}</text>\n",
            escape_isolated(text)
        ),
    );
}

/// Returns whether the corner of a line that is nearest to a label beside it is on the right of the label.
fn ends_at_line(edge: &Edge, place: &Rect) -> bool {
    let distances = |distance: fn(f64, &Rect) -> f64| {
        // Places are rounded.
        let all = edge.points.iter().map(move |[x, _]| distance(sane(*x), place));
        all.filter(|distance| *distance > -1.0).fold(f64::INFINITY, f64::min)
    };
    distances(|x, place| x - (place.x + place.width)) < distances(|x, place| place.x - x)
}

/// Draws the text on a line that has changed: its first character, the sign, is a mark.
fn write_change(out: &mut File, edge: LinkId, change: GraphChange, (place, text): (&Rect, &str)) {
    put(out, format_args!("<g class=\"changed{}\" data-edge=\"{edge}\">", class(Some(change))));
    change_mark(out, change, place.x + MARK / 2.0, place.y + place.height / 2.0);
    let rest = text.trim_start_matches(sign(change)).trim_start();
    if !rest.is_empty() {
        let middle = place.x + (place.width + MARK) / 2.0;
        write_speed(out, "class=\"speed\"", [middle, place.y], rest);
    }
    out.push_str("</g>\n");
}

/// Writes a text on a line with these attributes.
fn write_speed(out: &mut File, attributes: &str, [middle, top]: [f64; 2], text: &str) {
    put(
        out,
        format_args!(
            "<text {attributes} x=\"{}\" y=\"{}\">{}</text>\n",
            number(middle),
            number(top + HEIGHT / 2.0 + 4.0),
            escape_isolated(text)
        ),
    );
}

/// Returns the positions in the graph as an arrangement.
fn arrangement(scene: &Scene<'_>) -> Arrangement {
    let place = |x: f64, y: f64, width: f64, height: f64| {
        Rect::new(Point::new(sane(x), sane(y)), Size::new(sane(width), sane(height)))
    };
    let bounds = scene.bounds();
    Arrangement {
        shapes: scene.graph.nodes.iter().map(|node| place(node.x, node.y, node.width, node.height)).collect(),
        routes: scene.graph.edges.iter().map(route).collect(),
        bounds: place(bounds.x, bounds.y, bounds.width, bounds.height),
    }
}

/// Returns the corners of a line. It has none if it is not drawn.
fn route(edge: &Edge) -> Vec<Point> {
    let corners = edge.points.iter().map(|&[x, y]| Point::new(sane(x), sane(y)));
    if edge.points.len() > 1 { corners.collect() } else { Vec::new() }
}
