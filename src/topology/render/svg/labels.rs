//! Names of ports near the ends of lines, and speeds in the middle.

use std::collections::BTreeMap;

use super::super::changes::class;
use super::super::file::File;
use super::super::scene::Scene;
use super::super::words::{number, sane};
use super::super::xml::escape_isolated;
use super::put;
use super::speeds::speeds;
use crate::model::LinkId;
use crate::topology::graph::{DETAIL_SIZE, Edge, Positions, diagram, port_labels, width};
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
    let changed = scene.edges().filter(|edge| edge.change.is_some());
    let changed: BTreeMap<LinkId, &str> = changed.map(|edge| (edge.id, class(edge.change))).collect();
    out.push_str("<g class=\"labels\">\n");
    for (edge, place, text) in &placed.ports {
        let is_turned = (place.height - HEIGHT).abs() > 0.01;
        let (x, y) = if is_turned {
            (number(place.x + 10.0), number(place.y + place.height))
        } else {
            (number(place.x), number(place.y + 10.0))
        };
        let turn = if is_turned { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        put(
            out,
            format_args!(
                "<text class=\"port\" data-edge=\"{edge}\" x=\"{x}\" y=\"{y}\"{turn}>{}</text>\n",
                escape_isolated(text)
            ),
        );
    }
    for (edge, place, text) in &placed.speeds {
        put(
            out,
            format_args!(
                "<text class=\"speed{}\" data-edge=\"{edge}\" x=\"{}\" y=\"{}\">{}</text>\n",
                changed.get(edge).copied().unwrap_or_default(),
                number(place.x + place.width / 2.0),
                number(place.y + place.height / 2.0 + 4.0),
                escape_isolated(text)
            ),
        );
    }
    out.push_str("</g>\n");
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
