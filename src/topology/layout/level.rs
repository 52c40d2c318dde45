use super::geometry::Size;
use super::network::Network;

/// The smallest distance between shapes.
pub(super) const GAP: f64 = 28.0;
/// The vertical distance between a node and what is below it in a hierarchy.
pub(super) const LAYER_GAP: f64 = 72.0;
/// The most work that is allowed for a shape, in comparisons of two lines.
pub(super) const BUDGET_A_SHAPE: usize = 100_000;

/// Shapes with the same parent, and the connections between them or what they contain.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) sizes: Vec<Size>,
    pub(super) label_widths: Vec<f64>,
    pub(super) ranks: Vec<Option<u8>>,
    pub(super) network: Network,
    /// The work allowed to improve the drawing, in comparisons of two lines.
    pub(super) budget: usize,
}

impl Level {
    /// Returns the level of some of the nodes.
    pub(super) fn part(&self, nodes: &[usize]) -> Self {
        Self {
            sizes: nodes.iter().map(|node| self.sizes[*node]).collect(),
            label_widths: nodes.iter().map(|node| self.label_widths[*node]).collect(),
            ranks: nodes.iter().map(|node| self.ranks[*node]).collect(),
            network: self.network.part(nodes),
            budget: self.budget / self.network.len().max(1) * nodes.len(),
        }
    }

    /// Returns whether there is time for several attempts.
    pub(super) fn is_small_part(&self) -> bool {
        self.budget >= BUDGET_A_SHAPE * self.network.len()
    }
}
