//! Simple undirected graphs.

use crate::invariant::Invariant;
use std::collections::VecDeque;

/// A graph without parallel edges and loops; its nodes are numbers from zero.
#[derive(Clone, Debug, Default)]
pub(in crate::topology) struct SimpleGraph {
    neighbors: Vec<Vec<usize>>,
    edges: Vec<(usize, usize)>,
}

impl SimpleGraph {
    pub(in crate::topology) fn new(count: usize, links: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut edges: Vec<(usize, usize)> = links
            .into_iter()
            .map(|(one, other)| (one.min(other), one.max(other)))
            .filter(|(one, other)| one != other && *other < count)
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let mut neighbors = vec![Vec::new(); count];
        for (one, other) in &edges {
            neighbors[*one].push(*other);
            neighbors[*other].push(*one);
        }
        Self { neighbors, edges }
    }

    /// Returns the graph without some of its edges, the smaller node first and sorted.
    pub(in crate::topology) fn without(&self, edges: &[(usize, usize)]) -> Self {
        debug_assert!(edges.is_sorted(), "the edges are sorted");
        let others = self.edges.iter().copied().filter(|edge| edges.binary_search(edge).is_err());
        Self::new(self.len(), others)
    }

    pub(in crate::topology) fn len(&self) -> usize {
        self.neighbors.len()
    }

    pub(in crate::topology) fn edges(&self) -> &[(usize, usize)] {
        &self.edges
    }

    pub(in crate::topology) fn neighbors(&self, node: usize) -> &[usize] {
        &self.neighbors[node]
    }

    pub(in crate::topology) fn degree(&self, node: usize) -> usize {
        self.neighbors(node).len()
    }

    /// Returns the nodes of each connected component, in order of their smallest nodes.
    pub(in crate::topology) fn components(&self) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.len()];
        let mut components = Vec::new();
        for start in 0..self.len() {
            if seen[start] {
                continue;
            }
            seen[start] = true;
            let mut component = vec![start];
            let mut waiting = VecDeque::from([start]);
            while let Some(node) = waiting.pop_front() {
                for neighbor in self.neighbors(node) {
                    if !seen[*neighbor] {
                        seen[*neighbor] = true;
                        component.push(*neighbor);
                        waiting.push_back(*neighbor);
                    }
                }
            }
            component.sort_unstable();
            components.push(component);
        }
        components
    }

    /// Returns the graph of some nodes, in ascending order, numbered by their position in the list.
    ///
    /// Its cost does not grow with the rest of the graph, which may have as many parts as nodes.
    pub(in crate::topology) fn part(&self, nodes: &[usize]) -> Self {
        debug_assert!(nodes.is_sorted(), "the nodes are in ascending order");
        let links = nodes.iter().enumerate().flat_map(|(number, node)| {
            let neighbors = self.neighbors(*node).iter();
            neighbors.filter_map(move |neighbor| Some((number, nodes.binary_search(neighbor).ok()?)))
        });
        Self::new(nodes.len(), links)
    }

    /// Returns the number of edges from the nearest source to each node. `None` for a node without a way from any
    /// source.
    pub(in crate::topology) fn hops(&self, sources: &[usize]) -> Vec<Option<usize>> {
        let mut hops = vec![None; self.len()];
        let mut waiting = VecDeque::new();
        for source in sources {
            hops[*source] = Some(0);
            waiting.push_back(*source);
        }
        while let Some(node) = waiting.pop_front() {
            let next = hops[node].asserted().map_or(0, |hops| hops + 1);
            for neighbor in self.neighbors(node) {
                if hops[*neighbor].is_none() {
                    hops[*neighbor] = Some(next);
                    waiting.push_back(*neighbor);
                }
            }
        }
        hops
    }

    /// Returns the number of neighbors of each node in what remains without leaves, the leaves of the rest, and so on. 0 for the nodes
    /// that do not remain.
    pub(in crate::topology) fn degrees_in_cycles(&self) -> Vec<usize> {
        let mut degrees: Vec<usize> = (0..self.len()).map(|node| self.degree(node)).collect();
        let mut hanging: Vec<usize> = (0..self.len()).filter(|node| degrees[*node] == 1).collect();
        while let Some(node) = hanging.pop() {
            degrees[node] = 0;
            for other in self.neighbors(node) {
                degrees[*other] = degrees[*other].saturating_sub(1);
                if degrees[*other] == 1 {
                    hanging.push(*other);
                }
            }
        }
        degrees
    }
}
