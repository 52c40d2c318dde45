//! Devices, containers and folds in draw.io.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Diagram, MAX_TEXT, font, stencils, write_vertex};
use crate::model::HostRole;
use crate::topology::graph::{
    Bounds, DETAIL_SIZE, FoldedDevice, GraphChange, HEADER_HEIGHT, ICON, LABEL_SIZE, Node, NodeKind, PADDING,
    card_label, shorten, width,
};
use crate::topology::links::LinkState;
use crate::topology::render::changes;
use crate::topology::render::file::File;
use crate::topology::render::theme::{Look, ThemeColor};
use crate::topology::render::words::{has_icon, line_style, number, problem, sane};
use crate::topology::render::xml::escape_isolated;

/// Number of devices beside each other in an open fold.
const COLUMNS: usize = 4;
/// Height of a device in an open fold, in pixels.
const ROW: f64 = 40.0;
/// Distance between devices in an open fold, in pixels.
const GAP: f64 = 8.0;

/// Writes all nodes, each container before its contents.
pub(super) fn write(out: &mut File, diagram: &Diagram<'_>) {
    let mut written = BTreeSet::new();
    for node in &diagram.scene.graph.nodes {
        let parent = diagram.scene.parent(node, &written);
        let (left, top) = parent.map_or((0.0, 0.0), |parent| (sane(parent.x), sane(parent.y)));
        let owner = parent.map_or_else(|| "1".to_owned(), |parent| parent.id.to_string());
        // The positions of a container's contents are relative to the container.
        let place = Bounds {
            x: sane(node.x) - left,
            y: sane(node.y) - top,
            width: sane(node.width),
            height: sane(node.height),
        };
        if diagram.scene.is_container(node) {
            write_vertex(
                out,
                &node.id.to_string(),
                &label(node, place.width),
                &container_style(diagram.look, node),
                &owner,
                &place,
            );
        } else if node.devices.is_empty() {
            write_card(out, diagram, node, &owner, &place);
        } else {
            write_fold(out, diagram, node, &owner, &place);
        }
        written.insert(node.id);
    }
}

fn write_card(out: &mut File, diagram: &Diagram<'_>, node: &Node, owner: &str, place: &Bounds) {
    let look = diagram.look;
    let id = node.id.to_string();
    let mut style = card_style(look, node.role);
    let _ = write!(style, "collapsible=0;{}", outline(look, node));
    style.push_str(&mark_style(look, node));
    if node.kind == NodeKind::Stub {
        style.push_str("dashed=1;fontStyle=2;");
    }
    if node.stale || node.kind == NodeKind::Stub {
        style.push_str("opacity=60;");
    }
    let stencil = if has_icon(node) { stencils::of(node.role, look) } else { None };
    if stencil.is_some() {
        let _ = write!(style, "align=left;spacingLeft={};", number(ICON + PADDING + 4.0));
    }
    let room = if stencil.is_some() { place.width - ICON - 2.0 * PADDING } else { place.width };
    write_vertex(out, &id, &label(node, room), &style, owner, place);
    if let Some(stencil) = stencil {
        write_icon(out, &id, &stencil, place.height);
    }
}

/// Writes the stencil of a card. It is a part of the card, with which it moves.
fn write_icon(out: &mut File, card: &str, stencil: &stencils::Stencil, height: f64) {
    let place = Bounds {
        x: PADDING + (ICON - stencil.width) / 2.0,
        y: (height - stencil.height) / 2.0,
        width: stencil.width,
        height: stencil.height,
    };
    let style = format!("{}part=1;connectable=0;movable=0;resizable=0;deletable=0;", stencil.style);
    write_vertex(out, &format!("{card}-icon"), "", &style, card, &place);
}

/// Writes a fold: a container that is closed at first, with the devices in it.
fn write_fold(out: &mut File, diagram: &Diagram<'_>, node: &Node, owner: &str, place: &Bounds) {
    let look = diagram.look;
    let texts = node.devices.iter().map(|device| {
        let detail = device.detail.as_deref().unwrap_or_default();
        width(&card_label(&device.label, LABEL_SIZE), LABEL_SIZE)
            .max(width(&card_label(detail, DETAIL_SIZE), DETAIL_SIZE))
    });
    let column = f64::from(texts.max().unwrap_or(0)) + ICON + 4.0 * PADDING;
    let columns = COLUMNS.min(node.devices.len());
    let rows = node.devices.len().div_ceil(COLUMNS);
    // The label is above the devices.
    let open_width = (GAP + (column + GAP) * columns as f64).max(place.width);
    let open = [open_width, place.height + GAP + (ROW + GAP) * rows as f64];
    // A name of a style replaces the styles before it.
    let mut style = String::from("swimlane;") + &frame_style(look);
    let _ = write!(
        style,
        "rounded=1;startSize={};collapsible=1;swimlaneFillColor={};fontStyle=0;",
        number(place.height),
        look.color(ThemeColor::Frame)
    );
    style.push_str(&mark_style(look, node));
    if node.stale {
        style.push_str("opacity=60;");
    }
    let [x, y, width, height, open_width, open_height] =
        [place.x, place.y, place.width, place.height, open[0], open[1]].map(number);
    let _ = writeln!(
        out,
        "<mxCell id=\"{}\" value=\"{}\" style=\"{style}\" vertex=\"1\" collapsed=\"1\" parent=\"{owner}\"><mxGeometry x=\"{x}\" y=\"{y}\" \
         width=\"{width}\" height=\"{height}\" as=\"geometry\"><mxRectangle x=\"{x}\" y=\"{y}\" width=\"{open_width}\" \
         height=\"{open_height}\" as=\"alternateBounds\"/></mxGeometry></mxCell>",
        node.id,
        label(node, place.width),
    );
    let group = node.id.to_string();
    for (number, device) in node.devices.iter().enumerate() {
        let (row, place_in_row) = (number / COLUMNS, number % COLUMNS);
        let place = Bounds {
            x: GAP + (column + GAP) * place_in_row as f64,
            y: place.height + GAP + (ROW + GAP) * row as f64,
            width: column,
            height: ROW,
        };
        write_device(out, look, (&group, number), device, &place);
    }
}

fn write_device(
    out: &mut File,
    look: &Look,
    (group, number): (&str, usize),
    device: &FoldedDevice,
    place: &Bounds,
) {
    // A graph may have the device elsewhere too, for which its own id is reserved.
    let id = format!("{group}-{number}");
    let mut style = card_style(look, device.role) + "rounded=1;collapsible=0;";
    let stencil = stencils::of(device.role, look);
    if stencil.is_some() {
        let _ = write!(style, "align=left;spacingLeft={};", self::number(ICON + PADDING + 4.0));
    }
    let label = lines(&device.label, device.detail.as_deref());
    write_vertex(out, &id, &label, &style, group, place);
    if let Some(stencil) = stencil {
        write_icon(out, &id, &stencil, place.height);
    }
}

/// Returns the text of a node, escaped, with its state if a reader has to know it and there is room for it. Its border
/// has the color of the state in any case.
fn label(node: &Node, room: f64) -> String {
    let text = shorten(&changes::signed(node), MAX_TEXT);
    let with_state = problem(node.state).map(|problem| format!("{text} ({})", problem.to_lowercase()));
    let with_state = with_state.filter(|text| f64::from(width(text, LABEL_SIZE)) <= room);
    lines(&with_state.unwrap_or(text), node.detail.as_deref())
}

fn lines(label: &str, detail: Option<&str>) -> String {
    let text = escape_isolated(&shorten(label, MAX_TEXT));
    match detail {
        // A character reference, because a line break in an attribute is read as a space.
        Some(detail) => format!("{text}&#10;{}", escape_isolated(&shorten(detail, MAX_TEXT))),
        None => text,
    }
}

fn outline(look: &Look, node: &Node) -> String {
    match node.kind {
        NodeKind::Segment => format!("rounded=1;arcSize=50;fillColor={};", look.color(ThemeColor::Segment)),
        NodeKind::Service => "rounded=0;".to_owned(),
        _ => "rounded=1;".to_owned(),
    }
}

/// Returns the style of a card. A role without a stencil has its color as border.
pub(super) fn card_style(look: &Look, role: HostRole) -> String {
    let border = if stencils::of(role, look).is_some() || role == HostRole::Unknown {
        look.color(ThemeColor::CardBorder)
    } else {
        look.role(role)
    };
    format!(
        "html=0;whiteSpace=wrap;fontSize=12;fillColor={};strokeColor={border};{}",
        look.color(ThemeColor::Card),
        font(look, ThemeColor::Text)
    )
}

/// Returns the style of a container's ground and border.
pub(super) fn frame_style(look: &Look) -> String {
    format!(
        "html=0;whiteSpace=wrap;fontSize=12;fillColor={};strokeColor={};{}",
        look.color(ThemeColor::Frame),
        look.color(ThemeColor::FrameBorder),
        font(look, ThemeColor::Text)
    )
}

fn container_style(look: &Look, node: &Node) -> String {
    // A name of a style replaces the styles before it.
    let mut style = String::from("swimlane;") + &frame_style(look);
    let _ = write!(
        style,
        "rounded=1;arcSize=4;startSize={};collapsible=1;fontStyle=1;swimlaneFillColor={};",
        number(HEADER_HEIGHT),
        look.color(ThemeColor::Frame)
    );
    if node.implied {
        style.push_str("dashed=1;");
    }
    if node.stale {
        style.push_str("opacity=60;");
    }
    style + &mark_style(look, node)
}

/// Returns the thick border of a change, or else of a state that a reader has to know.
fn mark_style(look: &Look, node: &Node) -> String {
    node.change.map_or_else(|| state_style(look, node.state), |change| change_style(look, change))
}

/// Returns the thick border of what has changed.
pub(super) fn change_style(look: &Look, change: GraphChange) -> String {
    let dashes = if change == GraphChange::Removed { "dashed=1;" } else { "" };
    format!("strokeColor={};strokeWidth=3;{dashes}", changes::color(change, look))
}

/// Returns the thick border of a state that a reader has to know.
pub(super) fn state_style(look: &Look, state: LinkState) -> String {
    line_style(state, look)
        .map_or_else(String::new, |(_, color)| format!("strokeColor={color};strokeWidth=3;"))
}
