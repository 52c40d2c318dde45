//! Names of ports near the ends of lines, and speeds in the middle.

use std::collections::BTreeMap;

use super::super::file::File;
use super::super::scene::Scene;
use super::super::words::capacity;
use super::super::words::{number, sane};
use super::super::xml::escape_isolated;
use super::put;
use crate::model::LinkId;
use crate::topology::graph::{DETAIL_SIZE, Edge, Positions, diagram, port_name, shorten_to_width, width};
use crate::topology::layout::{Arrangement, Label, LineEnd, Point, Rect, Size, place_labels};

/// Largest width of a label, in pixels.
const MAX_WIDTH: u32 = 150;
/// Height of a label, in pixels.
const HEIGHT: f64 = 13.0;
/// Extent of the cells by which rectangles are found, in pixels.
const CELL: f64 = 128.0;
/// Places along a line at which its speed is tried, in percent.
const TRIED: [f64; 7] = [50.0, 42.0, 58.0, 34.0, 66.0, 26.0, 74.0];

/// Labels that found room.
pub(super) struct Placed {
    ports: Vec<(LinkId, Rect, String)>,
    speeds: Vec<(LinkId, Point, String)>,
}

impl Placed {
    /// Places names of ports first, those at devices with several links before those at leaves.
    pub(super) fn of(scene: &Scene<'_>) -> Self {
        let arrangement = arrangement(scene);
        let mut wanted: Vec<(bool, LinkId, Label, String)> = Vec::new();
        for (index, edge) in scene.graph.edges.iter().enumerate() {
            if edge.points.len() < 2 {
                continue;
            }
            let ends = [
                (edge.source, &edge.source_port, LineEnd::Source),
                (edge.target, &edge.target_port, LineEnd::Target),
            ];
            for (node, name, end) in ends {
                let Some(name) = name else { continue };
                let text = shorten_to_width(&port_name(&name.name), DETAIL_SIZE, MAX_WIDTH);
                if text.is_empty() {
                    continue;
                }
                let size = Size::new(f64::from(width(&text, DETAIL_SIZE)), HEIGHT);
                let label = Label { connection: index, end, size };
                wanted.push((scene.is_leaf(node), edge.id, label, text));
            }
        }
        wanted.sort_by_key(|(is_leaf, _, _, _)| *is_leaf);
        let labels: Vec<Label> = wanted.iter().map(|(_, _, label, _)| label.clone()).collect();
        let places = place_labels(&diagram(scene.graph, &Positions::default()), &arrangement, &labels);
        let ports: Vec<(LinkId, Rect, String)> = wanted
            .into_iter()
            .zip(places)
            .filter_map(|((_, edge, _, text), place)| Some((edge, place?, text)))
            .collect();
        let speeds = speeds(scene, &ports);
        Self { ports, speeds }
    }
}

/// Draws the labels.
pub(super) fn write(out: &mut File, placed: &Placed) {
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
    for (edge, center, text) in &placed.speeds {
        put(
            out,
            format_args!(
                "<text class=\"speed\" data-edge=\"{edge}\" x=\"{}\" y=\"{}\">{}</text>\n",
                number(center.x),
                number(center.y + 4.0),
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

fn route(edge: &Edge) -> Vec<Point> {
    edge.points.iter().map(|&[x, y]| Point::new(sane(x), sane(y))).collect()
}

/// Returns the speeds of edges where there is room. These edges are aggregation groups, and links between devices that
/// connect others.
fn speeds(scene: &Scene<'_>, ports: &[(LinkId, Rect, String)]) -> Vec<(LinkId, Point, String)> {
    let mut taken = Cells::default();
    for node in scene.graph.nodes.iter().filter(|node| !scene.is_container(node)) {
        taken.add(Rect::new(Point::new(sane(node.x), sane(node.y)), Size::new(node.width, node.height)));
    }
    for node in scene.graph.nodes.iter().filter(|node| scene.is_container(node)) {
        taken.add(Rect::new(Point::new(sane(node.x), sane(node.y)), Size::new(node.width, 40.0)));
    }
    ports.iter().for_each(|(_, place, _)| taken.add(*place));
    let mut speeds = Vec::new();
    for edge in scene.edges() {
        let is_minor = edge.members.len() < 2 && (scene.is_leaf(edge.source) || scene.is_leaf(edge.target));
        let Some(text) = capacity(edge).filter(|_| !is_minor) else { continue };
        let extent = Size::new(f64::from(width(&text, DETAIL_SIZE)) + 4.0, HEIGHT);
        let route = route(edge);
        // A short line may have room beside it only, which an aggregation group is worth.
        let shifts: &[f64] =
            if edge.members.len() > 1 { &[0.0, HEIGHT + 3.0, -HEIGHT - 3.0] } else { &[0.0] };
        let free = shifts.iter().flat_map(|shift| TRIED.map(|percent| (*shift, percent))).find_map(
            |(shift, percent)| {
                let on_line = along(&route, percent / 100.0)?;
                let center = Point::new(on_line.x, on_line.y + shift);
                let corner = Point::new(center.x - extent.width / 2.0, center.y - extent.height / 2.0);
                let place = Rect::new(corner, extent);
                taken.is_free(place).then_some((center, place))
            },
        );
        if let Some((center, place)) = free {
            taken.add(place);
            speeds.push((edge.id, center, text));
        }
    }
    speeds
}

/// Returns the point at this share of the length of a line.
fn along(route: &[Point], share: f64) -> Option<Point> {
    let pairs = || route.iter().zip(route.iter().skip(1));
    let length = |(a, b): (&Point, &Point)| ((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y)).sqrt();
    let mut rest = pairs().map(length).sum::<f64>() * share;
    for (a, b) in pairs() {
        let part = length((a, b));
        if part > 0.0 && rest <= part {
            let share = rest / part;
            return Some(Point::new(a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share));
        }
        rest -= part;
    }
    None
}

/// Rectangles by the cells of a grid that they touch.
#[derive(Default)]
struct Cells {
    by_cell: BTreeMap<(i64, i64), Vec<Rect>>,
}

impl Cells {
    /// Largest number of cells that a rectangle is noted in, in each direction.
    const MAX_CELLS: i64 = 256;

    fn add(&mut self, place: Rect) {
        for cell in Self::cells(place) {
            self.by_cell.entry(cell).or_default().push(place);
        }
    }

    fn is_free(&self, place: Rect) -> bool {
        let overlaps = |other: &Rect| {
            place.x < other.x + other.width
                && other.x < place.x + place.width
                && place.y < other.y + other.height
                && other.y < place.y + place.height
        };
        !Self::cells(place).any(|cell| self.by_cell.get(&cell).into_iter().flatten().any(overlaps))
    }

    fn cells(place: Rect) -> impl Iterator<Item = (i64, i64)> {
        let first = (cell(place.x), cell(place.y));
        let last = (
            cell(place.x + place.width).min(first.0.saturating_add(Self::MAX_CELLS)),
            cell(place.y + place.height).min(first.1.saturating_add(Self::MAX_CELLS)),
        );
        (first.0..=last.0).flat_map(move |column| (first.1..=last.1).map(move |row| (column, row)))
    }
}

fn cell(position: f64) -> i64 {
    (sane(position) / CELL).floor() as i64
}
