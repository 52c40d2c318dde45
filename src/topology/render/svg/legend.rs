//! The legend of a picture.

use super::super::changes::class;
use super::super::file::File;
use super::super::legend::{Boxed, Legend, LegendSymbol, SYMBOL};
use super::super::theme::Look;
use super::super::widths::LineWidths;
use super::super::words::{confidence, number, role_class, state_class};
use super::nodes::{change_mark, mark, text};
use super::{icons, put};
use crate::topology::graph::{GraphChange, ICON};

/// Height of the symbol of a role, in pixels.
const ICON_HEIGHT: f64 = 20.0;

/// Draws the legend with its upper left corner at this place.
pub(super) fn write(
    out: &mut File,
    legend: &Legend,
    look: &Look,
    widths: &LineWidths,
    [left, top]: [f64; 2],
) {
    if legend.entries.is_empty() {
        return;
    }
    put(
        out,
        format_args!(
            "<g class=\"legend\" aria-hidden=\"true\" transform=\"translate({} {})\">\n",
            number(left),
            number(top)
        ),
    );
    for (x, y, entry) in &legend.entries {
        let symbol = draw(entry.symbol, look, widths);
        put(out, format_args!("<g transform=\"translate({} {})\">{symbol}", number(*x), number(*y)));
        text(out, "name", SYMBOL - 6.0, 16.0, &entry.text);
        out.push_str("</g>\n");
    }
    out.push_str("</g>\n");
}

fn draw(symbol: LegendSymbol, look: &Look, widths: &LineWidths) -> String {
    match symbol {
        LegendSymbol::Role(role) => {
            let class = role_class(role);
            let scale = number(ICON_HEIGHT / ICON);
            let mut drawn = format!("<g class=\"{class}\" transform=\"translate(4 2) scale({scale})\">");
            icons::draw(&mut drawn, look, role, 0.0, 0.0);
            drawn + "</g>"
        }
        LegendSymbol::Box(boxed) => {
            let (class, radius) = class_of_box(boxed);
            format!("<rect class=\"{class}\" x=\"2\" y=\"4\" width=\"24\" height=\"16\" rx=\"{radius}\"/>")
        }
        LegendSymbol::Line(certainty) => line(confidence(certainty), 2.0),
        LegendSymbol::Speed(bits) => line("confirmed", widths.line(Some(bits))),
        LegendSymbol::Bundle { is_lag } => {
            let class = if is_lag { "aggregate" } else { "parallel" };
            format!(
                "<g class=\"{class}\"><path class=\"line\" stroke-width=\"6\" d=\"M0 12H26\"/>\
                 <path class=\"core\" stroke-width=\"2\" d=\"M0 12H26\"/></g>"
            )
        }
        LegendSymbol::State(state) => {
            line(&format!("confirmed state-{} with-states", state_class(state)), 2.0)
        }
        LegendSymbol::Marked(state) => {
            let mut drawn = format!("<g class=\"node state-{}\">", state_class(state));
            mark(&mut drawn, state, 14.0, 12.0);
            drawn + "</g>"
        }
        LegendSymbol::StaleLine => line("confirmed stale", 2.0),
        LegendSymbol::ChangedLine(change) => {
            let mut drawn = format!(
                "<g class=\"confirmed{}\"><path class=\"line\" stroke-width=\"3\" d=\"M0 12H26\"/>",
                class(Some(change))
            );
            if change == GraphChange::Moved {
                drawn.push_str("<path class=\"arrow\" d=\"M26 12L14 6.5L14 17.5Z\"/>");
            }
            drawn + "</g>"
        }
        LegendSymbol::ChangedNode(change) => {
            let mut drawn = format!("<g class=\"node{}\">", class(Some(change)));
            change_mark(&mut drawn, change, 14.0, 12.0);
            drawn + "</g>"
        }
    }
}

const fn class_of_box(boxed: Boxed) -> (&'static str, u32) {
    match boxed {
        Boxed::Unscanned => ("card unscanned", 4),
        Boxed::Segment => ("card", 8),
        Boxed::Subnet => ("frame", 5),
        Boxed::ImpliedSubnet => ("frame unscanned", 5),
        Boxed::Service => ("card", 2),
        Boxed::Stale => ("card stale", 4),
    }
}

fn line(class: &str, width: f64) -> String {
    format!(
        "<g class=\"{class}\"><path class=\"line\" stroke-width=\"{}\" d=\"M0 12H26\"/></g>",
        number(width)
    )
}
