//! A ring whose devices close further rings: each of these is a circle outside of it, or an arc along it.

use super::Peeled;
use super::cycle::cycle_through;
use super::places::CirclePlaces;
use super::ring::{direction, enlarged, spacing};
use crate::topology::layout::containers::Level;
use crate::topology::layout::geometry::Point;

/// Number of devices of the inner ring.
const INNER: std::ops::RangeInclusive<usize> = 3..=24;
/// Minimum number of devices that a further ring adds. A single one at two devices is rather an access switch.
const MIN_EAR: usize = 2;
/// Largest number of devices on an outer circle. Larger ones are mostly empty.
const MAX_OUTER: usize = 60;
/// Largest number of devices of all rings.
const MAX_RINGS: usize = 400;
/// One link across the inner ring for this number of its devices, at most. More are a mesh.
const DEVICES_PER_CHORD: usize = 3;
/// The radius of the inner ring, compared with that of a circle of arcs.
const INSIDE: f64 = 0.5;

/// Places the nodes of rings and their leaves; `None` for other networks.
pub(super) fn arrange(level: &Level, peeled: &Peeled) -> Option<Vec<Point>> {
    let rings = Rings::of(level, peeled)?;
    let spacing = spacing(level, &peeled.inner);
    let lines: Vec<(usize, usize)> = rings.lines(peeled).collect();
    enlarged(level, &lines, |factor| rings.place(level, peeled, spacing * factor))
}

/// Devices of a further ring, one after another.
#[derive(Debug)]
struct Ear {
    /// The devices of the inner ring before the first and after the last one.
    ends: [usize; 2],
    nodes: Vec<usize>,
}

/// The inner ring, and the further ones. All of them close at one device of it each, or all at two.
#[derive(Debug)]
struct Rings {
    inner: Vec<usize>,
    /// For each device of the inner ring, the devices of the ring that closes there, or that leads to the next one.
    ears: Vec<Vec<usize>>,
    are_arcs: bool,
}

impl Rings {
    fn of(level: &Level, peeled: &Peeled) -> Option<Self> {
        let graph = &peeled.graph;
        let is_branch = |node: usize| graph.degree(node) > 2;
        let branches: Vec<usize> = (0..graph.len()).filter(|node| is_branch(*node)).collect();
        let is_of_rings = graph.len() <= MAX_RINGS && (0..graph.len()).all(|node| graph.degree(node) > 1);
        if !is_of_rings || !INNER.contains(&branches.len()) {
            return None;
        }
        let all = ears(peeled, &branches);
        let in_ears: usize = all.iter().map(|ear| ear.nodes.len()).sum();
        let are_ears = all.len() > 1 && all.iter().all(|ear| ear.nodes.len() >= MIN_EAR);
        if !are_ears || in_ears + branches.len() < graph.len() {
            return None;
        }
        let direct = |node: usize| graph.neighbors(node).iter().copied().filter(|other| is_branch(*other));
        let lines: usize = branches.iter().map(|node| direct(*node).count()).sum();
        let chords = (lines / 2).checked_sub(branches.len())?;
        if chords * DEVICES_PER_CHORD > branches.len() {
            return None;
        }
        let start = branches.iter().copied().find(|place| peeled.is_outward(level, *place));
        // Links beside further rings come first.
        let has_ear = |one: usize, other: usize| {
            all.iter().any(|ear| ear.ends == [one, other] || ear.ends == [other, one])
        };
        let inner =
            cycle_through(graph, start.unwrap_or(branches[0]), &branches, |one, other| !has_ear(one, other))?;
        Self::joined(inner, all)
    }

    /// Assigns the further rings to the devices of the inner one; `None` if they are of both kinds, or join others than neighbors.
    fn joined(inner: Vec<usize>, all: Vec<Ear>) -> Option<Self> {
        let are_arcs = all.first().is_some_and(|ear| ear.ends[0] != ear.ends[1]);
        let mut ears = vec![Vec::new(); inner.len()];
        for Ear { ends, mut nodes } in all {
            let place = |end: usize| inner.iter().position(|node| *node == end);
            let [first, last] = [place(ends[0])?, place(ends[1])?];
            let is_next = |one: usize, other: usize| (one + 1) % inner.len() == other;
            let at = match are_arcs {
                false if first == last => first,
                true if is_next(first, last) => first,
                true if is_next(last, first) => {
                    nodes.reverse();
                    last
                }
                _ => return None,
            };
            if !ears[at].is_empty() {
                return None;
            }
            ears[at] = nodes;
        }
        let outer: usize = ears.iter().map(|ear| ear.len() + 1).sum();
        (!are_arcs || outer <= MAX_OUTER).then_some(Self { inner, ears, are_arcs })
    }

    fn place(&self, level: &Level, peeled: &Peeled, spacing: f64) -> Vec<Point> {
        let mut places = CirclePlaces::new(level, peeled);
        if self.are_arcs {
            self.place_arcs(&mut places, spacing);
        } else {
            self.place_circles(&mut places, spacing);
        }
        places.corners
    }

    /// Returns the lines of the inner ring.
    fn lines<'a>(&'a self, peeled: &'a Peeled) -> impl Iterator<Item = (usize, usize)> + 'a {
        let next = self.inner.iter().cycle().skip(1);
        self.inner.iter().zip(next).map(|(one, other)| (peeled.inner[*one], peeled.inner[*other]))
    }

    /// Places the further rings on one circle around the inner ring, each between the two devices at which it closes.
    fn place_arcs(&self, places: &mut CirclePlaces<'_>, spacing: f64) {
        let count: usize = self.ears.iter().map(|ear| ear.len() + 1).sum();
        let radius = (spacing * count as f64 / 6.0).max(spacing * self.inner.len() as f64 / 6.0 / INSIDE);
        let mut slot = 0;
        for (node, ear) in self.inner.iter().zip(&self.ears) {
            let turn = |slot: usize| direction(slot as f64 / count as f64);
            let towards = turn(slot);
            places.put(*node, towards.times(radius * INSIDE), towards.times(-1.0));
            for (place, node) in ear.iter().enumerate() {
                let towards = turn(slot + place + 1);
                places.put(*node, towards.times(radius), towards);
            }
            slot += ear.len() + 1;
        }
    }

    /// Places each further ring on a circle of its own, which touches the inner ring at the device where it closes.
    fn place_circles(&self, places: &mut CirclePlaces<'_>, spacing: f64) {
        let inner = self.inner.len();
        let largest = self.ears.iter().map(|ear| ear.len() + 1).max().unwrap_or(1);
        let radius_of = |nodes: usize| spacing * nodes as f64 / 6.0;
        // The sine of half of the angle between two devices of the inner ring.
        let half = direction(0.5 / inner as f64).x;
        let apart = (radius_of(largest) + spacing / 2.0) / half - radius_of(largest);
        let own = radius_of(inner).max(apart);
        for (place, (node, ear)) in self.inner.iter().zip(&self.ears).enumerate() {
            let turn = place as f64 / inner as f64;
            let towards = direction(turn);
            places.put(*node, towards.times(own), towards.times(-1.0));
            let count = ear.len() + 1;
            let radius = radius_of(count);
            let center = towards.times(own + radius);
            for (place, node) in ear.iter().enumerate() {
                let towards = direction((turn + 0.5 + (place + 1) as f64 / count as f64) % 1.0);
                places.put(*node, center.plus(towards.times(radius)), towards);
            }
        }
    }
}

/// Returns the nodes between branches, each list once.
fn ears(peeled: &Peeled, branches: &[usize]) -> Vec<Ear> {
    let graph = &peeled.graph;
    let mut is_seen = vec![false; graph.len()];
    let mut ears = Vec::new();
    for start in branches {
        for first in graph.neighbors(*start) {
            let (mut before, mut at) = (*start, *first);
            let mut nodes = Vec::new();
            while graph.degree(at) == 2 && !is_seen[at] {
                is_seen[at] = true;
                nodes.push(at);
                let next = graph.neighbors(at).iter().copied().find(|next| *next != before);
                (before, at) = (at, next.unwrap_or(*start));
            }
            if !nodes.is_empty() {
                ears.push(Ear { ends: [*start, at], nodes });
            }
        }
    }
    ears
}
