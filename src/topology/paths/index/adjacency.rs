//! The neighbors of each node.

use super::parts::{PathLink, PathStep};
#[cfg(feature = "service")]
use super::renumber::{NONE, Renumbering};

/// The steps from each node, one list after the other.
#[derive(Debug, Default)]
pub(super) struct Adjacency {
    /// Where the steps of each node begin; one more than there are nodes.
    first: Vec<u32>,
    /// The steps from each node, by neighbor and link.
    steps: Vec<PathStep>,
}

impl Adjacency {
    pub(super) fn of(nodes: usize, links: &[PathLink]) -> Self {
        let mut first = vec![0_u32; nodes + 1];
        for link in links {
            first[link.source as usize + 1] += 1;
            first[link.target as usize + 1] += 1;
        }
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let mut steps = vec![PathStep { node: 0, link: 0 }; links.len() * 2];
        for (link, number) in links.iter().zip(0..) {
            for (from, step) in steps_of(link, number) {
                let place = &mut next[from as usize];
                steps[*place as usize] = step;
                *place += 1;
            }
        }
        for node in 0..nodes {
            steps[first[node] as usize..first[node + 1] as usize].sort_unstable();
        }
        Self { first, steps }
    }

    /// Returns the neighbors of a node, by node and link.
    pub(super) fn steps(&self, node: u32) -> &[PathStep] {
        let node = node as usize;
        &self.steps[self.first[node] as usize..self.first[node + 1] as usize]
    }

    /// Returns the number of bytes that the steps take.
    pub(super) const fn bytes(&self) -> usize {
        self.steps.capacity() * size_of::<PathStep>()
    }

    /// Gives nodes and links other numbers, and adds the steps of some links. Numbers keep their order.
    #[cfg(feature = "service")]
    pub(super) fn renumber(&mut self, nodes: &Renumbering, links: &Renumbering, added: &[(u32, PathStep)]) {
        let count = nodes.to_old.len();
        let mut first = Vec::with_capacity(count + 1);
        let mut steps = Vec::with_capacity(self.steps.len() + added.len());
        let mut added = added.iter().peekable();
        first.push(0);
        for (node, old) in (0_u32..).zip(&nodes.to_old) {
            let start = steps.len();
            if *old != NONE {
                steps.extend(self.steps(*old).iter().filter_map(|step| {
                    let (node, link) = (nodes.to_new[step.node as usize], links.to_new[step.link as usize]);
                    (node != NONE && link != NONE).then_some(PathStep { node, link })
                }));
            }
            let kept = steps.len();
            while let Some((_, step)) = added.next_if(|(from, _)| *from == node) {
                steps.push(*step);
            }
            if steps.len() > kept {
                steps[start..].sort_unstable();
            }
            first.push(u32::try_from(steps.len()).unwrap_or(NONE));
        }
        (self.first, self.steps) = (first, steps);
    }
}

/// Returns the steps over a link, each with the node that it begins at.
pub(super) const fn steps_of(link: &PathLink, number: u32) -> [(u32, PathStep); 2] {
    [
        (link.source, PathStep { node: link.target, link: number }),
        (link.target, PathStep { node: link.source, link: number }),
    ]
}
