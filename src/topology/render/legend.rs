//! The legend of exactly the symbols that the picture uses.

use std::collections::BTreeSet;

use super::changes;
use super::scene::Scene;
use super::words::{has_icon, role, speed, state};
use crate::model::{HostRole, TopologyView};
use crate::topology::graph::{DETAIL_SIZE, Edge, GraphChange, NodeKind, width};
use crate::topology::links::{Confidence, LinkState};

/// Height of a row, in pixels.
const ROW: f64 = 24.0;
/// Width of a symbol and the space behind it, in pixels.
pub(super) const SYMBOL: f64 = 36.0;
/// Distance between entries, in pixels.
const GAP: f64 = 20.0;
/// Largest number of speeds in the legend.
const SPEEDS: usize = 6;
/// Largest number of roles of host applications in the legend.
const MAX_OTHER_ROLES: usize = 8;

/// The entries of a legend, and the places of their upper left corners within it.
pub(super) struct Legend {
    pub(super) entries: Vec<(f64, f64, LegendEntry)>,
    rows: f64,
}

/// A symbol and its meaning.
pub(super) struct LegendEntry {
    pub(super) symbol: LegendSymbol,
    pub(super) text: String,
}

/// A symbol that the legend explains.
#[derive(Clone, Copy)]
pub(super) enum LegendSymbol {
    /// The icon of a role.
    Role(HostRole),
    /// A card or a frame.
    Box(Boxed),
    /// A line with a certainty.
    Line(Confidence),
    /// A line whose width stands for a speed, in bits per second.
    Speed(u64),
    /// Several links in one line: an aggregation group, or parallel links.
    Bundle { is_lag: bool },
    /// A line with a state.
    State(LinkState),
    /// The mark of a device with a state.
    Marked(LinkState),
    /// A line that was not seen recently.
    StaleLine,
    /// A line that has changed.
    ChangedLine(GraphChange),
    /// The mark of a node that has changed.
    ChangedNode(GraphChange),
}

/// A kind of node that is drawn as a rectangle.
#[derive(Clone, Copy)]
pub(super) enum Boxed {
    Unscanned,
    Segment,
    Subnet,
    ImpliedSubnet,
    Service,
    Stale,
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
}

fn entries_of(scene: &Scene<'_>) -> Vec<LegendEntry> {
    let entry = |symbol, text: &str| LegendEntry { symbol, text: text.to_owned() };
    let mut entries = roles_of(scene);
    entries.extend(boxes(scene).into_iter().map(|(used, text)| entry(LegendSymbol::Box(used), text)));
    if scene.graph.view == TopologyView::L2 {
        let mut states = line_states(scene);
        let used: BTreeSet<Confidence> = scene.edges().map(|edge| edge.confidence).collect();
        // One symbol has both meanings.
        let is_plain = |edge: &Edge| edge.confidence == Confidence::Confirmed && edge.state == LinkState::Up;
        let is_plain_up = scene.edges().any(is_plain) && states.remove(&LinkState::Up);
        let text = |used| match used {
            Confidence::Confirmed if is_plain_up => "Up, both ends agree",
            _ => confidence_text(used),
        };
        entries.extend(used.into_iter().rev().map(|used| entry(LegendSymbol::Line(used), text(used))));
        entries.extend(speeds(scene));
        let bundles = || scene.edges().filter(|edge| edge.members.len() > 1);
        if bundles().any(|edge| edge.lag) {
            entries.push(entry(LegendSymbol::Bundle { is_lag: true }, "Link aggregation"));
        }
        if bundles().any(|edge| !edge.lag) {
            entries.push(entry(LegendSymbol::Bundle { is_lag: false }, "Parallel links"));
        }
        entries.extend(states.into_iter().map(|used| entry(LegendSymbol::State(used), state(used))));
        if scene.edges().any(|edge| edge.stale) {
            entries.push(entry(LegendSymbol::StaleLine, "Link not seen recently"));
        }
    }
    entries.extend(node_states(scene));
    entries.extend(changes_of(scene));
    entries
}

/// Returns the roles of the picture. Those of host applications have one symbol, and may be many.
fn roles_of(scene: &Scene<'_>) -> Vec<LegendEntry> {
    let entry = |used, text: String| LegendEntry { symbol: LegendSymbol::Role(used), text };
    let (other, known): (Vec<HostRole>, Vec<HostRole>) =
        roles(scene).into_iter().partition(|role| matches!(role, HostRole::Other(_)));
    let known = known.into_iter().map(|used| entry(used, role(used).into_owned()));
    let other = match other.as_slice() {
        [one, .., _] if other.len() > MAX_OTHER_ROLES => {
            vec![entry(*one, format!("{} other roles", other.len()))]
        }
        few => few.iter().map(|used| entry(*used, role(*used).into_owned())).collect(),
    };
    known.chain(other).collect()
}

/// Returns the roles whose icons the picture shows.
fn roles(scene: &Scene<'_>) -> BTreeSet<HostRole> {
    let nodes = scene.graph.nodes.iter();
    nodes.filter(|node| has_icon(node)).map(|node| node.role).collect()
}

fn boxes(scene: &Scene<'_>) -> Vec<(Boxed, &'static str)> {
    let nodes = || scene.graph.nodes.iter();
    let has = |kind| nodes().any(|node| node.kind == kind);
    let has_frame = |kind| nodes().any(|node| node.kind == kind && scene.is_container(node));
    let all = [
        (has(NodeKind::Stub), Boxed::Unscanned, "Not scanned"),
        (has(NodeKind::Segment), Boxed::Segment, "Segment with several devices"),
        (has_frame(NodeKind::Subnet), Boxed::Subnet, "Subnet"),
        (nodes().any(|node| node.implied), Boxed::ImpliedSubnet, "Subnet implied by addresses and masks"),
        (has(NodeKind::Service), Boxed::Service, "Container"),
        (nodes().any(|node| node.stale), Boxed::Stale, "Not seen recently"),
    ];
    all.into_iter().filter(|(is_used, ..)| *is_used).map(|(_, used, text)| (used, text)).collect()
}

/// Returns the states of lines, if any is known.
fn line_states(scene: &Scene<'_>) -> BTreeSet<LinkState> {
    let states: BTreeSet<LinkState> = scene.edges().map(|edge| edge.state).collect();
    let is_known = states.iter().any(|state| *state != LinkState::Unknown);
    if is_known { states } else { BTreeSet::new() }
}

/// Returns what has become of nodes and lines.
fn changes_of(scene: &Scene<'_>) -> Vec<LegendEntry> {
    let nodes: BTreeSet<GraphChange> = scene.graph.nodes.iter().filter_map(|node| node.change).collect();
    let lines: BTreeSet<GraphChange> = scene.edges().filter_map(|edge| edge.change).collect();
    let entry = |symbol, what: &str, used| {
        let text = format!("{} {what} ({})", changes::word(used), changes::sign(used));
        LegendEntry { symbol, text }
    };
    let of_nodes = changes::ALL.into_iter().filter(|used| nodes.contains(used));
    let of_nodes = of_nodes.map(|used| entry(LegendSymbol::ChangedNode(used), "node", used));
    let of_lines = changes::ALL.into_iter().filter(|used| lines.contains(used));
    of_nodes.chain(of_lines.map(|used| entry(LegendSymbol::ChangedLine(used), "link", used))).collect()
}

/// Returns the marks of nodes, which every view has.
fn node_states(scene: &Scene<'_>) -> Vec<LegendEntry> {
    let of_nodes: BTreeSet<LinkState> = scene.graph.nodes.iter().map(|node| node.state).collect();
    let marked = [
        (LinkState::Degraded, "Device that has lost a link"),
        (LinkState::Down, "Device without a link that is up"),
        (LinkState::Disabled, "Device whose links are disabled"),
    ];
    let nodes = marked.into_iter().filter(|(used, _)| of_nodes.contains(used));
    nodes
        .map(|(used, text)| LegendEntry { symbol: LegendSymbol::Marked(used), text: text.to_owned() })
        .collect()
}

const fn confidence_text(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Confirmed => "Both ends agree",
        Confidence::Reported => "Reported by one end",
        Confidence::Inferred => "Inferred from forwarding tables",
        Confidence::Conflicting => "Contradictory reports",
    }
}

/// Returns the speeds that occur, the fastest first.
fn speeds(scene: &Scene<'_>) -> Vec<LegendEntry> {
    let single = scene.edges().filter(|edge| edge.members.len() < 2).filter_map(|edge| edge.speed_bps);
    let occurring: BTreeSet<u64> = single.filter(|speed| *speed > 0).collect();
    if occurring.len() < 2 {
        return Vec::new();
    }
    let entry = |bits| LegendEntry { symbol: LegendSymbol::Speed(bits), text: speed(bits) };
    occurring.into_iter().rev().take(SPEEDS).map(entry).collect()
}
