//! The changes of nodes and edges since an earlier state, in signs, words and colors.

use std::fmt::Write;

use super::theme::{Look, Rgb, ThemeColor};
use crate::invariant::Invariant;
use crate::model::Timestamp;
use crate::topology::graph::{ChangeCounts, Edge, Graph, GraphChange, Node, port_name, shorten};

/// Longest name of a place in a text, in characters.
const NAME: usize = 60;

/// The changes in the order of the legend.
pub(super) const ALL: [GraphChange; 3] = [GraphChange::Added, GraphChange::Removed, GraphChange::Moved];

/// Returns the sign that can be told from the others without colors.
pub(super) const fn sign(change: GraphChange) -> &'static str {
    match change {
        GraphChange::Added => "+",
        GraphChange::Removed => "\u{2212}",
        GraphChange::Moved => "\u{2192}",
    }
}

/// Returns the word for legends.
pub(super) const fn word(change: GraphChange) -> &'static str {
    match change {
        GraphChange::Added => "Added",
        GraphChange::Removed => "Removed",
        GraphChange::Moved => "Moved",
    }
}

/// Returns the end of a list of classes; empty without a change.
pub(super) const fn class(change: Option<GraphChange>) -> &'static str {
    match change {
        None => "",
        Some(GraphChange::Added) => " change-added",
        Some(GraphChange::Removed) => " change-removed",
        Some(GraphChange::Moved) => " change-moved",
    }
}

/// Returns the color in files without a dark variant.
pub(super) fn color(change: GraphChange, look: &Look) -> Rgb {
    look.color(match change {
        GraphChange::Added => ThemeColor::Added,
        GraphChange::Removed => ThemeColor::Removed,
        GraphChange::Moved => ThemeColor::Moved,
    })
}

/// Returns the label of a node, with the sign before it if the node has changed.
pub(super) fn signed(node: &Node) -> String {
    match node.change {
        Some(change) => format!("{} {}", sign(change), node.label),
        None => node.label.clone(),
    }
}

/// Returns what has become of a node, in words.
pub(super) fn of_node(node: &Node) -> Option<String> {
    let change = word(node.change?).to_lowercase();
    Some(match &node.moved_from {
        Some(from) => format!("{change} from {}", shorten(from, NAME)),
        None => change,
    })
}

/// Returns what has become of an edge, in words.
pub(super) fn of_edge(edge: &Edge) -> Option<String> {
    let change = word(edge.change?).to_lowercase();
    Some(match former_place(edge) {
        Some(from) => format!("{change} from {from}"),
        None => change,
    })
}

/// Returns the sign of an edge and what has become of it, in words.
pub(super) fn signed_words(edge: &Edge) -> Option<String> {
    Some(format!("{} {}", sign(edge.change?), of_edge(edge)?))
}

/// Returns the text on the line of an edge that has changed: its sign, its capacity, and where it was.
pub(super) fn on_line(edge: &Edge, capacity: Option<String>) -> Option<String> {
    let mut text = sign(edge.change?).to_owned();
    if let Some(capacity) = capacity {
        let _ = write!(text, " {capacity}");
    }
    if let Some(from) = former_place(edge) {
        let _ = write!(text, " from {from}");
    }
    Some(text)
}

/// Returns the device and the port from which an end of an edge has moved.
pub(super) fn former_place(edge: &Edge) -> Option<String> {
    let from = edge.moved_from.as_ref()?;
    let port = from.port.as_ref().map(|port| port_name(&port.name)).filter(|port| !port.is_empty());
    // At the same device, the port alone is another one.
    let device = Some(shorten(&from.label, NAME)).filter(|_| from.end != from.node || port.is_none());
    let place: Vec<String> = device.into_iter().chain(port.map(|port| shorten(&port, NAME))).collect();
    Some(place.join(" "))
}

/// Returns which states a graph shows, in words; `None` for the present state alone.
pub(super) fn moments(graph: &Graph) -> Option<String> {
    let at = graph.at.map(|at| format!("as of {}", minutes(at)));
    let Some(comparison) = &graph.comparison else { return at };
    let since = comparison.with.map(|time| format!(" since {}", minutes(time))).unwrap_or_default();
    let until = graph.at.map(|at| format!(" until {}", minutes(at))).unwrap_or_default();
    let nodes = counts(comparison.nodes, "node", "nodes");
    let edges = counts(comparison.edges, "link", "links");
    let parts: Vec<String> = nodes.into_iter().chain(edges).collect();
    let parts = if parts.is_empty() { "none".to_owned() } else { parts.join(", ") };
    Some(format!("Changes{since}{until}: {parts}"))
}

fn counts(counts: ChangeCounts, one: &str, several: &str) -> Vec<String> {
    let by_change = [(counts.added, "added"), (counts.removed, "removed"), (counts.moved, "moved")];
    let counted = by_change.into_iter().filter(|(count, _)| *count > 0);
    counted
        .map(|(count, change)| format!("{count} {} {change}", if count == 1 { one } else { several }))
        .collect()
}

/// Returns a time without its seconds.
pub(super) fn minutes(time: Timestamp) -> String {
    let time = time.to_string();
    format!("{} UTC", time.get(..16).asserted_or_default().replace('T', " "))
}
