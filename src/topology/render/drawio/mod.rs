//! Graphs as diagrams of draw.io.
//!
//! A device is a card with a stencil of draw.io's library of networks, as in the picture. Containers and folds can be opened and
//! closed. All labels are plain text (`html=0`), so that no name is interpreted as markup.

mod edges;
mod nodes;
mod stencils;

use std::fmt::Write;

use super::Picture;
use super::file::File;
use super::legend::{Boxed, Legend, LegendEntry, LegendSymbol, SYMBOL};
use super::scene::Scene;
use super::svg::{note_lines, subtitle};
use super::theme::{Look, ThemeColor};
use super::widths::LineWidths;
use super::words::number;
use super::xml::{escape, escape_isolated};
use crate::model::HostRole;
use crate::topology::graph::{Bounds, DETAIL_SIZE, shorten, width};
use crate::topology::links::{Confidence, LinkState};

/// Longest text in characters.
const MAX_TEXT: usize = 120;
/// Distance between the content and the texts above and below it, in pixels.
const MARGIN: f64 = 24.0;
/// Height of title and subtitle, in pixels.
const HEAD: f64 = 48.0;
/// Smallest width of title and legend, in pixels.
const MIN_WIDTH: f64 = 360.0;
/// Height of a line of the notes, in pixels.
const LINE: f64 = 16.0;

/// The data that the writers of nodes and edges need.
struct Diagram<'a> {
    scene: Scene<'a>,
    look: &'a Look,
    widths: LineWidths,
}

/// Writes a diagram.
pub(super) fn write(picture: &Picture<'_>, out: &mut File) {
    let scene = Scene::new(picture.graph);
    let widths = LineWidths::of(&scene);
    let diagram = Diagram { scene, look: picture.theme.look(), widths };
    let _ = writeln!(
        out,
        "<mxfile host=\"toposcope\"><diagram id=\"topology\" name=\"{}\"><mxGraphModel grid=\"0\" page=\"0\" \
         background=\"{}\"><root><mxCell id=\"0\"/><mxCell id=\"1\" parent=\"0\"/>",
        escape(&shorten(picture.title, MAX_TEXT)),
        diagram.look.color(ThemeColor::Ground),
    );
    nodes::write(out, &diagram);
    edges::write(out, &diagram);
    write_surroundings(out, picture, &diagram);
    out.push_str("</root></mxGraphModel></diagram></mxfile>\n");
}

/// Writes title, legend and notes.
fn write_surroundings(out: &mut File, picture: &Picture<'_>, diagram: &Diagram<'_>) {
    let content = diagram.scene.bounds();
    let extent = content.width.max(MIN_WIDTH);
    let title = escape_isolated(&shorten(picture.title, MAX_TEXT));
    let head = Bounds { x: content.x, y: content.y - MARGIN - HEAD, width: extent, height: 28.0 };
    write_text(out, diagram, "title", &title, &head, "fontSize=20;fontStyle=1;");
    let below = Bounds { y: head.y + head.height, height: HEAD - head.height, ..head };
    write_text(out, diagram, "subtitle", &subtitle(picture), &below, "fontSize=11;");
    let legend = Legend::of(&diagram.scene, extent);
    let top = content.y + content.height + MARGIN;
    for (number, (x, y, entry)) in legend.entries.iter().enumerate() {
        write_entry(out, diagram, number, entry, [content.x + x, top + y]);
    }
    let notes = note_lines(picture.graph, extent);
    if !notes.is_empty() {
        let place = Bounds {
            x: content.x,
            y: top + legend.height() + 8.0,
            width: extent,
            height: LINE * notes.len() as f64,
        };
        let notes: Vec<String> = notes.iter().map(|line| escape_isolated(line)).collect();
        write_text(out, diagram, "notes", &notes.join("&#10;"), &place, "fontSize=11;verticalAlign=top;");
    }
}

/// Writes a text whose characters are escaped.
fn write_text(out: &mut File, diagram: &Diagram<'_>, id: &str, text: &str, place: &Bounds, style: &str) {
    let style = format!(
        "text;html=0;align=left;verticalAlign=middle;spacing=0;{style}{}",
        font(diagram.look, ThemeColor::Text)
    );
    write_vertex(out, id, text, &style, "1", place);
}

/// Writes a symbol of the legend and its meaning.
fn write_entry(out: &mut File, diagram: &Diagram<'_>, number: usize, entry: &LegendEntry, [x, y]: [f64; 2]) {
    let id = format!("legend-{number}");
    let place = |width: f64, height: f64| Bounds {
        x: x + (26.0 - width) / 2.0,
        y: y + (24.0 - height) / 2.0,
        width,
        height,
    };
    let look = diagram.look;
    match entry.symbol {
        LegendSymbol::Role(role) => match stencils::of(role, look) {
            Some(stencil) => {
                let place = place(stencil.width * 0.8, stencil.height * 0.8);
                write_vertex(out, &id, "", &stencil.style, "1", &place);
            }
            None => {
                let style = nodes::card_style(look, role) + "rounded=1;";
                write_vertex(out, &id, "", &style, "1", &place(24.0, 16.0));
            }
        },
        LegendSymbol::Box(boxed) => {
            write_vertex(out, &id, "", &box_style(look, boxed), "1", &place(24.0, 16.0));
        }
        LegendSymbol::Marked(state) => {
            let style =
                nodes::card_style(look, HostRole::Unknown) + &nodes::state_style(look, state) + "rounded=1;";
            write_vertex(out, &id, "", &style, "1", &place(24.0, 16.0));
        }
        LegendSymbol::ChangedNode(change) => {
            let style = nodes::card_style(look, HostRole::Unknown)
                + &nodes::change_style(look, change)
                + "rounded=1;";
            write_vertex(out, &id, "", &style, "1", &place(24.0, 16.0));
        }
        LegendSymbol::Line(_)
        | LegendSymbol::Speed(_)
        | LegendSymbol::Bundle { .. }
        | LegendSymbol::State(_)
        | LegendSymbol::StaleLine
        | LegendSymbol::ChangedLine(_) => {
            write_line(out, &id, &line_style(diagram, entry.symbol), [x, x + 26.0], y + 12.0);
        }
    }
    let extent = f64::from(width(&entry.text, DETAIL_SIZE));
    let text = Bounds { x: x + SYMBOL - 6.0, y, width: extent, height: 24.0 };
    write_text(out, diagram, &format!("{id}-text"), &escape(&entry.text), &text, "fontSize=11;");
}

fn box_style(look: &Look, boxed: Boxed) -> String {
    let card = || nodes::card_style(look, HostRole::Unknown);
    let frame = || nodes::frame_style(look);
    match boxed {
        Boxed::Unscanned => card() + "rounded=1;dashed=1;opacity=60;",
        Boxed::Segment => {
            card() + "rounded=1;arcSize=50;" + &format!("fillColor={};", look.color(ThemeColor::Segment))
        }
        Boxed::Subnet => frame() + "rounded=1;",
        Boxed::ImpliedSubnet => frame() + "rounded=1;dashed=1;",
        Boxed::Service => card() + "rounded=0;",
        Boxed::Stale => card() + "rounded=1;opacity=60;",
    }
}

fn line_style(diagram: &Diagram<'_>, symbol: LegendSymbol) -> String {
    let look = diagram.look;
    let style = |certainty, state| edges::line_style(look, certainty, state);
    let confirmed = || style(Confidence::Confirmed, LinkState::Unknown);
    match symbol {
        LegendSymbol::Line(certainty) => style(certainty, LinkState::Unknown) + "strokeWidth=2;",
        LegendSymbol::State(state) => style(Confidence::Confirmed, state) + "strokeWidth=2;",
        LegendSymbol::Speed(bits) => {
            confirmed() + &format!("strokeWidth={};", number(diagram.widths.line(Some(bits))))
        }
        LegendSymbol::Bundle { is_lag: true } => confirmed() + "shape=link;width=4;",
        LegendSymbol::ChangedLine(change) => edges::changed_line_style(look, change) + "strokeWidth=2;",
        LegendSymbol::StaleLine => confirmed() + "strokeWidth=2;opacity=60;",
        _ => confirmed() + "strokeWidth=4;",
    }
}

fn write_line(out: &mut File, id: &str, style: &str, [from, to]: [f64; 2], y: f64) {
    let _ = writeln!(
        out,
        "<mxCell id=\"{id}\" style=\"{style}\" edge=\"1\" parent=\"1\"><mxGeometry relative=\"1\" as=\"geometry\"><mxPoint x=\"{}\" \
         y=\"{y}\" as=\"sourcePoint\"/><mxPoint x=\"{}\" y=\"{y}\" as=\"targetPoint\"/></mxGeometry></mxCell>",
        number(from),
        number(to),
        y = number(y),
    );
}

/// Writes a cell with an extent. The value is escaped; the place is relative to the parent.
fn write_vertex(out: &mut File, id: &str, value: &str, style: &str, parent: &str, place: &Bounds) {
    let [x, y, width, height] = [place.x, place.y, place.width, place.height].map(number);
    let _ = writeln!(
        out,
        "<mxCell id=\"{id}\" value=\"{value}\" style=\"{style}\" vertex=\"1\" parent=\"{parent}\"><mxGeometry x=\"{x}\" y=\"{y}\" \
         width=\"{width}\" height=\"{height}\" as=\"geometry\"/></mxCell>"
    );
}

/// Returns the part of a style that sets font and color of a text.
fn font(look: &Look, color: ThemeColor) -> String {
    format!("fontFamily={};fontColor={};", look.font(), look.color(color))
}
