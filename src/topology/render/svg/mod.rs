//! Graphs as SVG.
//!
//! The picture needs no script and no other file. All styles are in one `<style>` element, whose text [`Theme::style_source`](super::Theme::style_source)
//! returns the hash of, so that a Content-Security-Policy can allow it. Elements have classes, such as `state-down`, and the
//! attributes `data-id`, `data-state`, `data-source` and `data-target`, for scripts and styles of a page.

mod edges;
mod icons;
mod labels;
mod legend;
mod nodes;
mod notes;
mod speeds;
mod style;
mod titles;

use std::fmt::{Arguments, Write};

pub(super) use self::icons::draw as draw_icon;
pub(super) use self::labels::{HEIGHT, Placed};
pub(super) use self::notes::lines as note_lines;
pub(super) use self::style::css;
use super::Picture;
use super::changes::{minutes, moments};
use super::file::File;
use super::legend::Legend;
use super::scene::Scene;
use super::widths::LineWidths;
use super::words;
use super::words::number;
use super::xml::{escape, escape_isolated};
use crate::topology::graph::{Bounds, NodeKind, shorten, width};

/// Distance between the content and the edge of the picture, in pixels.
const MARGIN: f64 = 24.0;
/// Smallest width of a picture, in pixels.
const MIN_WIDTH: f64 = 360.0;
/// Longest title in characters.
const TITLE: usize = 100;
/// Font size of the title, in pixels.
const TITLE_SIZE: u32 = 20;

/// Writes a picture.
pub(super) fn write(picture: &Picture<'_>, out: &mut File) {
    let (scene, look) = (Scene::new(picture.graph), picture.theme.look());
    let (placed, widths) = (Placed::of(&scene, 0.0), LineWidths::of(&scene));
    let content = scene.bounds();
    let title = shorten(picture.title, TITLE);
    let wanted = f64::from(width(&title, TITLE_SIZE)).max(MIN_WIDTH).max(content.width);
    let head = head_height(picture);
    let legend = Legend::of(&scene, wanted);
    let notes = notes::lines(picture.graph, wanted);
    let frame = Bounds {
        x: content.x - MARGIN,
        y: content.y - head,
        width: wanted + 2.0 * MARGIN,
        height: head + content.height + legend.height() + notes::height(&notes) + 2.0 * MARGIN,
    };
    open(out, picture, &title, &frame, &scene);
    draw_head(out, picture, &title, &frame);
    let left = content.x + (wanted - content.width) / 2.0 - content.x;
    put(out, format_args!("<g class=\"content\" transform=\"translate({} 0)\">\n", number(left)));
    let crossed_titles = nodes::containers(out, &scene, look);
    edges::write(out, &scene, &widths);
    nodes::crossed_titles(out, &crossed_titles);
    nodes::cards(out, &scene, look);
    labels::write(out, &scene, &placed);
    out.push_str("</g>\n");
    legend::write(out, &legend, look, &widths, [content.x, content.y + content.height + MARGIN]);
    notes::write(out, &notes, content.x, content.y + content.height + MARGIN + legend.height());
    out.push_str("</svg>\n");
}

fn put(out: &mut impl Write, text: Arguments<'_>) {
    // A string never fails, and a file that is full is not sent.
    let _ = out.write_fmt(text);
}

fn open(out: &mut File, picture: &Picture<'_>, title: &str, frame: &Bounds, scene: &Scene<'_>) {
    let [x, y, width, height] = [frame.x, frame.y, frame.width, frame.height].map(number);
    put(
        out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"topology\" role=\"img\" \
             aria-labelledby=\"topology-title topology-desc\" viewBox=\"{x} {y} {width} {height}\" width=\"{width}\" \
             height=\"{height}\">\n<title id=\"topology-title\">{}</title>\n<desc id=\"topology-desc\">{}</desc>\n<style>{}</style>\n",
            escape(title),
            escape(&description(picture, scene)),
            picture.theme.css(picture.scheme),
        ),
    );
    put(
        out,
        format_args!("<rect class=\"ground\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>\n"),
    );
}

/// Returns the description of the picture for people who cannot see it.
fn description(picture: &Picture<'_>, scene: &Scene<'_>) -> String {
    let count = |kind| picture.graph.nodes.iter().filter(|node| node.kind == kind).count();
    let kinds = [
        (NodeKind::Host, "host", "hosts"),
        (NodeKind::Stub, "unscanned device", "unscanned devices"),
        (NodeKind::Subnet, "subnet", "subnets"),
        (NodeKind::Area, "area", "areas"),
        (NodeKind::Service, "container", "containers"),
        (NodeKind::Segment, "shared segment", "shared segments"),
    ];
    let mut parts: Vec<String> = kinds
        .into_iter()
        .map(|(kind, one, many)| (count(kind), one, many))
        .filter(|(number, ..)| *number > 0)
        .map(counted)
        .collect();
    parts.push(counted((scene.edges().count(), "link", "links")));
    let hidden = &picture.graph.hidden;
    for (number, what) in [(hidden.leaves, "drawn in groups"), (hidden.stale, "left out as stale")] {
        if number > 0 {
            parts.push(format!("{} {what}", counted((number, "device", "devices"))));
        }
    }
    let mut text = format!("{}: {}.", words::view(picture.graph.view), parts.join(", "));
    if let Some(moments) = moments(picture.graph) {
        text.push(' ');
        text.push_str(&moments);
        text.push('.');
    }
    for note in notes::shown(picture.graph) {
        text.push(' ');
        text.push_str(&note);
        text.push('.');
    }
    text
}

fn counted((number, one, many): (usize, &str, &str)) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn head_height(picture: &Picture<'_>) -> f64 {
    let lines = if subtitle(picture).is_empty() { 0.0 } else { 20.0 };
    MARGIN + f64::from(TITLE_SIZE) + lines + MARGIN
}

/// Returns the line below the title, escaped: subtitle, view and date.
pub(super) fn subtitle(picture: &Picture<'_>) -> String {
    let mut parts = Vec::new();
    parts.extend(picture.subtitle.map(|subtitle| escape_isolated(&shorten(subtitle, TITLE))));
    parts.push(words::view(picture.graph.view).to_owned());
    parts.extend(picture.date.filter(|_| picture.graph.at.is_none()).map(minutes));
    parts.extend(moments(picture.graph));
    parts.join(" \u{b7} ")
}

fn draw_head(out: &mut File, picture: &Picture<'_>, title: &str, frame: &Bounds) {
    let (x, y) = (frame.x + MARGIN, frame.y + MARGIN + 16.0);
    put(
        out,
        format_args!(
            "<text class=\"title\" x=\"{}\" y=\"{}\">{}</text>\n<text class=\"subtitle\" x=\"{}\" y=\"{}\">{}</text>\n",
            number(x),
            number(y),
            escape_isolated(title),
            number(x),
            number(y + 20.0),
            subtitle(picture),
        ),
    );
}
