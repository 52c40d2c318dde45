//! Links in draw.io: lines with labels that stay apart.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Diagram, MAX_TEXT, font};
use crate::model::{LinkId, NodeId};
use crate::topology::graph::{Edge, GraphChange, shorten};
use crate::topology::layout::Rect;
use crate::topology::links::{Confidence, LinkState};
use crate::topology::render::changes;
use crate::topology::render::file::File;
use crate::topology::render::svg::{HEIGHT, Placed};
use crate::topology::render::theme::{Look, ThemeColor};
use crate::topology::render::words::{self, number, sane};
use crate::topology::render::xml::escape_isolated;

/// Least width of a label, in pixels. The middles of labels that do not overlap are then as far from each other.
const MIN_LABEL_WIDTH: f64 = HEIGHT;

/// A label, and the rectangle that it has room in.
type Labels<'a> = BTreeMap<LinkId, Vec<(&'a Rect, &'a str, bool)>>;

/// Writes the lines, each with its labels. Labels are where the picture has them, and follow their line when it is moved.
pub(super) fn write(out: &mut File, diagram: &Diagram<'_>) {
    let placed = Placed::of(&diagram.scene, MIN_LABEL_WIDTH);
    let mut labels: Labels<'_> = BTreeMap::new();
    for (all, is_port) in [(&placed.ports, true), (&placed.speeds, false)] {
        for (edge, place, text) in all {
            labels.entry(*edge).or_default().push((place, text, is_port));
        }
    }
    for edge in diagram.scene.edges() {
        write_edge(out, diagram, edge);
        for (number, label) in labels.get(&edge.id).into_iter().flatten().enumerate() {
            write_label(out, diagram, edge, number, label);
        }
    }
}

fn write_edge(out: &mut File, diagram: &Diagram<'_>, edge: &Edge) {
    let look = diagram.look;
    let mut style = match edge.change {
        Some(change) => changed_line_style(look, change),
        None => line_style(look, edge.confidence, edge.state),
    };
    if let Some(moved) = &edge.moved_from {
        let end = if moved.end == edge.target { "endArrow=block;" } else { "startArrow=block;" };
        style.push_str(end);
    }
    let is_group = edge.members.len() > 1;
    let is_thick = is_group && !edge.lag;
    let line =
        if is_thick { diagram.widths.group(edge.speed_bps) } else { diagram.widths.line(edge.speed_bps) };
    let _ = write!(style, "rounded=0;strokeWidth={};", number(line));
    if is_group && edge.lag {
        // Two strands stand for an aggregation group, and one thick line for parallel links.
        style.push_str("shape=link;width=4;");
    }
    if edge.stale {
        style.push_str("opacity=60;");
    }
    for (name, end, point) in
        [("exit", edge.source, edge.points.first()), ("entry", edge.target, edge.points.last())]
    {
        if let Some([x, y]) = point.and_then(|point| within(diagram, end, *point)) {
            let _ = write!(style, "{name}X={x};{name}Y={y};{name}Dx=0;{name}Dy=0;{name}Perimeter=0;");
        }
    }
    let _ = write!(
        out,
        "<mxCell id=\"{}\" style=\"{style}\" edge=\"1\" parent=\"1\" source=\"{}\" target=\"{}\"><mxGeometry relative=\"1\" \
         as=\"geometry\">",
        edge.id, edge.source, edge.target,
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
}

/// Returns a point on the border of a node as shares of the node's extent, with four decimals.
fn within(diagram: &Diagram<'_>, node: NodeId, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
    let node = diagram.scene.node(node)?;
    let share = |value: f64, start: f64, extent: f64| {
        let share = (sane(value) - sane(start)) / sane(extent);
        share.is_finite().then(|| (share.clamp(0.0, 1.0) * 10_000.0).round() / 10_000.0)
    };
    Some([share(x, node.x, node.width)?, share(y, node.y, node.height)?])
}

/// Returns the dashes and the color of a line that has changed.
pub(super) fn changed_line_style(look: &Look, change: GraphChange) -> String {
    let dashes = if change == GraphChange::Removed { "dashed=1;fixDash=1;dashPattern=8 5;" } else { "" };
    format!("html=0;endArrow=none;{dashes}strokeColor={};", changes::color(change, look))
}

/// Returns the dashes and the color of a line.
pub(super) fn line_style(look: &Look, confidence: Confidence, state: LinkState) -> String {
    let dashes = match (words::line_style(state, look), confidence) {
        (Some((dashes, color)), _) => format!("dashed=1;fixDash=1;dashPattern={dashes};strokeColor={color};"),
        (None, Confidence::Confirmed) => format!("strokeColor={};", look.color(ThemeColor::Line)),
        (None, Confidence::Reported) => {
            format!("dashed=1;fixDash=1;dashPattern=9 4;strokeColor={};", look.color(ThemeColor::Line))
        }
        (None, Confidence::Inferred) => {
            format!("dashed=1;fixDash=1;dashPattern=2 4;strokeColor={};", look.color(ThemeColor::Line))
        }
        (None, Confidence::Conflicting) => {
            format!(
                "dashed=1;fixDash=1;dashPattern=9 3 2 3;strokeColor={};",
                look.color(ThemeColor::Conflicting)
            )
        }
    };
    format!("html=0;endArrow=none;{dashes}")
}

fn write_label(
    out: &mut File,
    diagram: &Diagram<'_>,
    edge: &Edge,
    index: usize,
    (place, text, is_port): &(&Rect, &str, bool),
) {
    let look = diagram.look;
    let middle = [place.x + place.width / 2.0, place.y + place.height / 2.0];
    let (share, [x, y]) = nearest(&edge.points, middle);
    let is_turned = *is_port && (place.height - HEIGHT).abs() > 0.01;
    let mut style = format!(
        "edgeLabel;html=0;align=center;verticalAlign=middle;resizable=0;points=[];spacing=0;fontSize=11;{}",
        font(look, ThemeColor::Muted)
    );
    if is_turned {
        style.push_str("horizontal=0;");
    }
    if !is_port {
        let _ = write!(style, "fontStyle=1;labelBackgroundColor={};", look.color(ThemeColor::Ground));
    }
    let _ = writeln!(
        out,
        "<mxCell id=\"{0}-label-{index}\" value=\"{1}\" style=\"{style}\" vertex=\"1\" connectable=\"0\" parent=\"{0}\"><mxGeometry \
         x=\"{share}\" relative=\"1\" as=\"geometry\"><mxPoint x=\"{2}\" y=\"{3}\" as=\"offset\"/></mxGeometry></mxCell>",
        edge.id,
        escape_isolated(&shorten(text, MAX_TEXT)),
        number(middle[0] - x),
        number(middle[1] - y),
    );
}

/// Returns the point of a line that is nearest to a place, in the coordinates of draw.io. These are a number from -1 at
/// the source to 1 at the target, which it converts to a distance in whole pixels.
fn nearest(points: &[[f64; 2]], [x, y]: [f64; 2]) -> (f64, [f64; 2]) {
    let parts = || {
        points.windows(2).filter_map(|pair| match pair {
            [[from_x, from_y], [to_x, to_y]] => {
                let (from, along) = (
                    [sane(*from_x), sane(*from_y)],
                    [sane(*to_x) - sane(*from_x), sane(*to_y) - sane(*from_y)],
                );
                Some((from, along, length(along)))
            }
            _ => None,
        })
    };
    let whole: f64 = parts().map(|(.., part)| part).sum();
    let mut best = (f64::INFINITY, 0.0);
    let mut passed = 0.0;
    for ([from_x, from_y], [along_x, along_y], part) in parts() {
        let dot = (x - from_x) * along_x + (y - from_y) * along_y;
        let share = if part > 0.0 { (dot / (part * part)).clamp(0.0, 1.0) } else { 0.0 };
        let away = length([x - from_x - along_x * share, y - from_y - along_y * share]);
        if away < best.0 {
            best = (away, passed + part * share);
        }
        passed += part;
    }
    let share = if whole > 0.0 { best.1 / whole * 2.0 - 1.0 } else { 0.0 };
    let share = (share * 10_000.0).round() / 10_000.0;
    let mut rest = ((share / 2.0 + 0.5) * whole).round();
    let mut reached = points.first().map_or([0.0; 2], |[x, y]| [sane(*x), sane(*y)]);
    for ([from_x, from_y], [along_x, along_y], part) in parts() {
        let step = if part > 0.0 { (rest / part).min(1.0) } else { 0.0 };
        reached = [from_x + along_x * step, from_y + along_y * step];
        if rest <= part {
            break;
        }
        rest -= part;
    }
    (share, reached)
}

fn length([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}
