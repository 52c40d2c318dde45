//! The memory of a picture: its last layout.
//!
//! The layout of the whole picture of a view is kept in the store: it is renewed when shapes or connections have changed.
//! Nodes with a place keep it, and new nodes are placed beside them. Other pictures of the view, such as filtered ones, take
//! their places from it.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::fair_threads::yield_turn;
use crate::inventory::KeptLayout;
use crate::model::NodeId;
use crate::topology::graph::{Folding, Graph};
use crate::topology::layout::{self, Arrangement, Diagram, Rect};

/// The largest number of nodes whose places are kept: they take about a megabyte.
const MAX_NODES: usize = 20_000;

/// The number of nodes that may come and go before all are placed anew. In a large network, half of the nodes may.
const MIN_CHANGES: usize = 20;

/// Returns whether a layout of the diagram may be kept.
pub(super) fn may_be_kept(diagram: &Diagram) -> bool {
    (1..=MAX_NODES).contains(&diagram.shapes.len())
}

/// Returns the former positions of nodes in a kept layout.
pub(super) fn former_positions(kept: &KeptLayout) -> BTreeMap<NodeId, [f64; 2]> {
    kept.nodes.iter().map(|&(id, [x, y, ..])| (id, [x, y])).collect()
}

/// Returns the folds of the kept layout.
///
/// The number of devices decides only when everything is placed anew, so that one host more or less does not change how the
/// others are drawn.
pub(super) fn folding(kept: Option<&KeptLayout>) -> Folding {
    let nodes = |kept: &KeptLayout| kept.nodes.iter().map(|(id, _)| *id).collect();
    kept.map_or(Folding::AsNeeded, |kept| Folding::AsBefore(nodes(kept)))
}

/// Builds the whole picture with the folds of the kept layout, or anew if too many nodes are new or gone. Returns the kept
/// layout if it is of use.
pub(super) fn build_whole(
    kept: Option<&KeptLayout>,
    build: impl Fn(Folding) -> Graph,
) -> (Graph, Option<&KeptLayout>) {
    let graph = build(folding(kept));
    let is_outdated = |kept: &&KeptLayout| {
        let present = graph.nodes.iter().map(|node| node.id).collect();
        changes(&present, kept) > MIN_CHANGES.max(kept.placed / 2)
    };
    match kept {
        Some(kept) if is_outdated(&kept) => (build(Folding::AsNeeded), None),
        _ => (graph, kept),
    }
}

/// Returns the arrangement of a diagram whose layout is kept; `None` if another one is kept.
pub(super) fn arrangement(diagram: &Diagram, kept: &KeptLayout, content: &str) -> Option<Arrangement> {
    if kept.content != content {
        return None;
    }
    let places: BTreeMap<NodeId, [f64; 4]> = kept.nodes.iter().copied().collect();
    let place = |id: &NodeId| places.get(id).map(|&[x, y, width, height]| Rect { x, y, width, height });
    let places: Option<Vec<Rect>> = diagram.shapes.iter().map(|shape| place(&shape.id)).collect();
    Some(layout::route_between(diagram, &places?))
}

/// Places the shapes of a diagram anew, or beside those that have a place in the kept layout.
pub(super) fn renewed(diagram: &Diagram, kept: Option<&KeptLayout>, content: String) -> KeptLayout {
    let present: BTreeSet<NodeId> = diagram.shapes.iter().map(|shape| shape.id).collect();
    let places = layout::place(diagram);
    let shapes = diagram.shapes.iter().zip(places);
    KeptLayout {
        content,
        placed: kept.map_or(diagram.shapes.len(), |kept| kept.placed),
        changed: kept.map_or(0, |kept| changes(&present, kept)),
        nodes: shapes.map(|(shape, at)| (shape.id, [at.x, at.y, at.width, at.height])).collect(),
    }
}

/// Returns how many nodes have come and gone since all of them were placed.
fn changes(present: &BTreeSet<NodeId>, kept: &KeptLayout) -> usize {
    let staying = kept.nodes.iter().filter(|(id, _)| present.contains(id)).count();
    let (gone, new) = (kept.nodes.len().saturating_sub(staying), present.len().saturating_sub(staying));
    kept.changed.saturating_add(gone).saturating_add(new)
}

/// Returns a digest of everything that a layout depends on, but for the former one.
pub(super) fn content_of(diagram: &Diagram) -> String {
    let mut digest = Sha256::new();
    for shape in &diagram.shapes {
        yield_turn();
        digest.update(shape.id.as_bytes());
        let parent = shape.parent.and_then(|parent| diagram.shapes.get(parent));
        digest.update(parent.map_or(NodeId::nil(), |parent| parent.id).as_bytes());
        let pin = shape.pin.map_or([f64::NAN; 2], |pin| [pin.x, pin.y]);
        let lengths = [shape.size.width, shape.size.height, shape.header, shape.label_width];
        lengths.into_iter().chain(pin).for_each(|length| digest.update(length.to_bits().to_be_bytes()));
        digest.update(shape.order.to_be_bytes());
        digest.update(shape.devices.to_be_bytes());
        digest.update([shape.rank.map_or(u8::MAX, |rank| rank), shape.addresses as u8]);
    }
    for connection in &diagram.connections {
        yield_turn();
        digest.update(connection.id.as_bytes());
        for end in [connection.source, connection.target] {
            let shape = diagram.shapes.get(end);
            digest.update(shape.map_or(NodeId::nil(), |shape| shape.id).as_bytes());
        }
        connection.label_widths.iter().for_each(|width| digest.update(width.to_bits().to_be_bytes()));
    }
    digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
