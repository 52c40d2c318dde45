//! The legend: what the picture uses, and nothing else.

use std::collections::BTreeSet;

use super::super::file::File;
use super::super::scene::Scene;
use super::super::words::{confidence, role, role_class, state, state_class};
use super::super::words::{line_width, number, speed};
use super::icons::{self, used};
use super::nodes::{mark, text};
use super::put;
use crate::model::{HostRole, TopologyView};
use crate::topology::graph::{DETAIL_SIZE, ICON, NodeKind, width};
use crate::topology::links::{Confidence, LinkState};

/// Height of a row, in pixels.
const ROW: f64 = 24.0;
/// Width of a symbol and the space behind it, in pixels.
const SYMBOL: f64 = 36.0;
/// Height of the symbol of a role, in pixels.
const ICON_HEIGHT: f64 = 20.0;
/// Distance between entries, in pixels.
const GAP: f64 = 20.0;
/// Largest number of speeds in the legend.
const SPEEDS: usize = 4;
/// Largest number of roles of host applications in the legend. They have one symbol, and may be many.
const OTHER_ROLES: usize = 8;

/// The entries of a legend and their places.
pub(super) struct Legend {
    entries: Vec<(f64, f64, Entry)>,
    rows: f64,
}

struct Entry {
    symbol: String,
    text: String,
}

impl Legend {
    /// Arranges the legend in rows of this width.
    pub(super) fn of(scene: &Scene<'_>, limit: f64) -> Self {
        let (mut x, mut y) = (0.0, 0.0);
        let mut entries = Vec::new();
        for entry in entries_of(scene) {
            let extent = SYMBOL + f64::from(width(&entry.text, DETAIL_SIZE));
            if x > 0.0 && x + extent > limit {
                (x, y) = (0.0, y + ROW);
            }
            entries.push((x, y, entry));
            x += extent + GAP;
        }
        let rows = if entries.is_empty() { 0.0 } else { y + ROW };
        Self { entries, rows }
    }

    pub(super) const fn height(&self) -> f64 {
        self.rows
    }

    /// Draws the legend with its upper left corner at this place.
    pub(super) fn write(&self, out: &mut File, left: f64, top: f64) {
        if self.entries.is_empty() {
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
        for (x, y, entry) in &self.entries {
            put(
                out,
                format_args!("<g transform=\"translate({} {})\">{}", number(*x), number(*y), entry.symbol),
            );
            text(out, "name", SYMBOL - 6.0, 16.0, &entry.text);
            out.push_str("</g>\n");
        }
        out.push_str("</g>\n");
    }
}

fn entries_of(scene: &Scene<'_>) -> Vec<Entry> {
    let (other, known): (Vec<HostRole>, Vec<HostRole>) =
        used(scene).into_iter().partition(|role| matches!(role, HostRole::Other(_)));
    let mut entries: Vec<Entry> =
        known.into_iter().map(|used| of_role(used, role(used).into_owned())).collect();
    match other.as_slice() {
        [one, .., _] if other.len() > OTHER_ROLES => {
            entries.push(of_role(*one, format!("{} other roles", other.len())));
        }
        few => entries.extend(few.iter().map(|used| of_role(*used, role(*used).into_owned()))),
    }
    let has = |kind| scene.graph.nodes.iter().any(|node| node.kind == kind);
    if has(NodeKind::Stub) {
        entries.push(boxed("card unscanned", 4, "Not scanned"));
    }
    if has(NodeKind::Segment) {
        entries.push(boxed("card", 8, "Segment with several devices"));
    }
    if has(NodeKind::Subnet) {
        entries.push(boxed("frame", 5, "Subnet"));
    }
    if scene.graph.nodes.iter().any(|node| node.implied) {
        entries.push(boxed("frame unscanned", 5, "Subnet implied by addresses and masks"));
    }
    if has(NodeKind::Service) {
        entries.push(boxed("card", 2, "Container"));
    }
    if scene.graph.nodes.iter().any(|node| node.stale) {
        entries.push(boxed("card stale", 4, "Not seen recently"));
    }
    if scene.graph.view == TopologyView::L2 {
        let used: BTreeSet<Confidence> = scene.edges().map(|edge| edge.confidence).collect();
        entries.extend(used.into_iter().rev().map(|used| line(confidence(used), 2.0, confidence_text(used))));
        entries.extend(speeds(scene));
        let bundles = || scene.edges().filter(|edge| edge.members.len() > 1);
        if bundles().any(|edge| edge.lag) {
            entries.push(bundle("aggregate", "Link aggregation"));
        }
        if bundles().any(|edge| !edge.lag) {
            entries.push(bundle("parallel", "Parallel links"));
        }
        entries.extend(states(scene));
        if scene.edges().any(|edge| edge.stale) {
            entries.push(line("confirmed stale", 2.0, "Link not seen recently"));
        }
    }
    entries
}

fn of_role(used: HostRole, text: String) -> Entry {
    let class = role_class(used);
    let scale = number(ICON_HEIGHT / ICON);
    let mut symbol = format!("<g class=\"{class}\" transform=\"translate(4 2) scale({scale})\">");
    icons::draw(&mut symbol, used, 0.0, 0.0);
    symbol.push_str("</g>");
    Entry { symbol, text }
}

/// Returns the states of lines and of nodes, if any is known.
fn states(scene: &Scene<'_>) -> Vec<Entry> {
    let of_lines: BTreeSet<LinkState> = scene.edges().map(|edge| edge.state).collect();
    let of_nodes: BTreeSet<LinkState> = scene.graph.nodes.iter().map(|node| node.state).collect();
    let is_known = of_lines.iter().any(|state| *state != LinkState::Unknown);
    let lines = of_lines.into_iter().filter(|_| is_known).map(|used| {
        let symbol = format!(
            "<g class=\"confirmed state-{} with-states\"><path class=\"line\" stroke-width=\"2\" d=\"M0 12H26\"/></g>",
            state_class(used)
        );
        Entry { symbol, text: state(used).to_owned() }
    });
    let marked = [
        (LinkState::Degraded, "Device that has lost a link"),
        (LinkState::Down, "Device without a link that is up"),
        (LinkState::Disabled, "Device whose links are disabled"),
    ];
    let nodes = marked.into_iter().filter(|(used, _)| of_nodes.contains(used)).map(|(used, text)| {
        let mut symbol = format!("<g class=\"node state-{}\">", state_class(used));
        mark(&mut symbol, used, 14.0, 12.0);
        symbol.push_str("</g>");
        Entry { symbol, text: text.to_owned() }
    });
    lines.chain(nodes).collect()
}

const fn confidence_text(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Confirmed => "Both ends agree",
        Confidence::Reported => "Reported by one end",
        Confidence::Inferred => "Inferred from forwarding tables",
        Confidence::Conflicting => "Contradictory reports",
    }
}

fn boxed(class: &str, radius: u32, text: &str) -> Entry {
    let symbol =
        format!("<rect class=\"{class}\" x=\"2\" y=\"4\" width=\"24\" height=\"16\" rx=\"{radius}\"/>");
    Entry { symbol, text: text.to_owned() }
}

fn line(class: &str, width: f64, text: &str) -> Entry {
    let symbol = format!(
        "<g class=\"{class}\"><path class=\"line\" stroke-width=\"{}\" d=\"M0 12H26\"/></g>",
        number(width)
    );
    Entry { symbol, text: text.to_owned() }
}

fn bundle(class: &str, text: &str) -> Entry {
    let symbol = format!(
        "<g class=\"{class}\"><path class=\"line\" stroke-width=\"6\" d=\"M0 12H26\"/>\
         <path class=\"core\" stroke-width=\"2\" d=\"M0 12H26\"/></g>"
    );
    Entry { symbol, text: text.to_owned() }
}

/// Returns lines of the widths that occur, the fastest first.
fn speeds(scene: &Scene<'_>) -> Vec<Entry> {
    let single = scene.edges().filter(|edge| edge.members.len() < 2).filter_map(|edge| edge.speed_bps);
    let occurring: BTreeSet<u64> = single.filter(|speed| *speed > 0).collect();
    if occurring.len() < 2 {
        return Vec::new();
    }
    let entry = |bits| line("confirmed", f64::from(line_width(Some(bits))) / 4.0, &speed(bits));
    occurring.into_iter().rev().take(SPEEDS).map(entry).collect()
}
