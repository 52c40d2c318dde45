//! A spatial index that counts the conflicts of a node: crossings of its lines with others, and nodes that they run
//! through.

use super::super::containers::{GAP, Level};
use super::super::geometry::{Point, Rect, Size, segments_cross};
use super::super::space::CellGrid;
use crate::fair_threads::yield_turn;

/// The distance that lines should keep from foreign nodes.
const CLEARANCE: f64 = 8.0;

/// The conflicts of a drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Conflicts {
    /// Pairs of lines that cross.
    pub(super) crossings: usize,
    /// Lines through foreign nodes.
    pub(super) passages: usize,
}

/// The cost of conflicts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub(super) crossing: f64,
    /// The cost of a line through a foreign node.
    pub(super) passage: f64,
    /// The cost of two nodes that overlap, or nearly so.
    pub(super) overlap: f64,
}

/// A line, with its place.
#[derive(Clone, Copy, Debug)]
struct Line {
    number: usize,
    /// The nodes at its ends.
    nodes: (usize, usize),
    from: Point,
    to: Point,
}

/// The nodes and lines of a drawing, by place.
#[derive(Debug)]
pub(super) struct ConflictIndex<'a> {
    level: &'a Level,
    points: Vec<Point>,
    /// The lines at each node.
    incident: Vec<Vec<usize>>,
    cells: CellGrid,
    lines: Vec<Vec<Line>>,
    /// Nodes with the distance that lines should keep from them.
    nodes: Vec<Vec<(usize, Rect)>>,
    /// The last search that found each line, and each node.
    seen_lines: Vec<u32>,
    seen_nodes: Vec<u32>,
    question: u32,
    /// Number of lines and nodes that were checked.
    work: usize,
}

impl<'a> ConflictIndex<'a> {
    pub(super) fn new(level: &'a Level, points: Vec<Point>, cell: f64) -> Self {
        let network = &level.network;
        let bounds = Rect::around(points.iter().copied()).unwrap_or_default();
        let cells = CellGrid::new(bounds.grown(cell), Size::new(cell, cell));
        let mut incident = vec![Vec::new(); network.len()];
        for (line, (one, other)) in network.edges().iter().enumerate() {
            yield_turn();
            incident[*one].push(line);
            incident[*other].push(line);
        }
        let mut index = Self {
            level,
            points,
            incident,
            cells,
            lines: vec![Vec::new(); cells.count()],
            nodes: vec![Vec::new(); cells.count()],
            seen_lines: vec![0; network.edges().len()],
            seen_nodes: vec![0; network.len()],
            question: 0,
            work: 0,
        };
        for line in 0..network.edges().len() {
            yield_turn();
            index.insert_line(line);
        }
        for node in 0..network.len() {
            yield_turn();
            index.insert_node(node);
        }
        index
    }

    pub(super) fn points(&self) -> &[Point] {
        &self.points
    }

    pub(super) fn into_points(self) -> Vec<Point> {
        self.points
    }

    /// Returns how many lines and nodes have been checked since the last call.
    pub(super) const fn take_work(&mut self) -> usize {
        let work = self.work;
        self.work = 0;
        work
    }

    /// Returns all conflicts of the drawing.
    pub(super) fn total(&mut self) -> Conflicts {
        let each = |crossing, passage| Costs { crossing, passage, overlap: 0.0 };
        let (mut crossings, mut passages) = (0.0, 0.0);
        for line in 0..self.level.network.edges().len() {
            yield_turn();
            let Line { nodes, from, to, .. } = self.line(line);
            let ends = [(nodes.0, from), (nodes.1, to)];
            crossings += self.along(ends, each(0.5, 0.0), f64::INFINITY);
            passages += self.along(ends, each(0.0, 1.0), f64::INFINITY);
        }
        Conflicts { crossings: crossings as usize, passages: passages as usize }
    }

    /// Returns the cost of the conflicts of a node at a place. Once it reaches the limit, further conflicts are left
    /// out.
    pub(super) fn cost(&mut self, node: usize, place: Point, costs: Costs, limit: f64) -> f64 {
        let level = self.level;
        let mut cost = self.around(node, place, costs);
        for neighbor in level.network.neighbors(node) {
            if cost >= limit {
                break;
            }
            cost += self.along([(node, place), (*neighbor, self.points[*neighbor])], costs, limit - cost);
        }
        cost
    }

    /// Calls a function with each node that conflicts with this one or its lines. A node may be visited repeatedly.
    pub(super) fn opponents(&self, node: usize, mut visit: impl FnMut(usize)) {
        let area = self.area(node);
        for line in self.cells.within(area).flat_map(|cell| &self.lines[cell]) {
            if area.clip(line.from, line.to).is_some() {
                visit(line.nodes.0);
                visit(line.nodes.1);
            }
        }
        let from = self.points[node];
        for neighbor in self.level.network.neighbors(node) {
            let to = self.points[*neighbor];
            for cell in self.cells.along(from, to) {
                for line in &self.lines[cell] {
                    if segments_cross((from, to), (line.from, line.to)) {
                        visit(line.nodes.0);
                        visit(line.nodes.1);
                    }
                }
                for (other, area) in &self.nodes[cell] {
                    if area.clip(from, to).is_some() {
                        visit(*other);
                    }
                }
            }
        }
    }

    /// Moves a node with its lines.
    pub(super) fn place(&mut self, node: usize, place: Point) {
        let lines = self.incident[node].to_vec();
        for number in &lines {
            let Line { from, to, .. } = self.line(*number);
            remove(&mut self.lines, self.cells.along(from, to), |line| line.number == *number);
        }
        let area = self.area(node);
        remove(&mut self.nodes, self.cells.within(area), |(other, _)| *other == node);
        self.points[node] = place;
        self.insert_node(node);
        for line in lines {
            self.insert_line(line);
        }
    }

    fn insert_line(&mut self, number: usize) {
        let line = self.line(number);
        for cell in self.cells.along(line.from, line.to) {
            self.lines[cell].push(line);
        }
    }

    fn insert_node(&mut self, node: usize) {
        let area = self.area(node);
        for cell in self.cells.within(area) {
            self.nodes[cell].push((node, area));
        }
    }

    fn line(&self, number: usize) -> Line {
        let nodes = self.level.network.edges()[number];
        Line { number, nodes, from: self.points[nodes.0], to: self.points[nodes.1] }
    }

    /// Returns the rectangle of a node with the distance that lines should keep from it.
    fn area(&self, node: usize) -> Rect {
        Rect::centered(self.points[node], self.level.sizes[node]).grown(CLEARANCE)
    }

    /// Returns the cost of a node's overlaps at a place. Includes the cost of foreign lines through the node.
    fn around(&mut self, node: usize, place: Point, costs: Costs) -> f64 {
        let clear = Rect::centered(place, self.level.sizes[node]).grown(CLEARANCE);
        let apart = clear.grown(GAP - 2.0 * CLEARANCE);
        self.question += 1;
        let (mut overlaps, mut passages) = (0_usize, 0_usize);
        for cell in self.cells.within(apart) {
            let nodes = &self.nodes[cell];
            self.work += nodes.len();
            for (other, area) in nodes {
                if area.overlaps(apart) && *other != node && self.seen_nodes[*other] != self.question {
                    self.seen_nodes[*other] = self.question;
                    overlaps += 1;
                }
            }
        }
        for cell in self.cells.within(clear) {
            let lines = &self.lines[cell];
            self.work += lines.len();
            for line in lines {
                if line.nodes.0 != node
                    && line.nodes.1 != node
                    && clear.clip(line.from, line.to).is_some()
                    && self.seen_lines[line.number] != self.question
                {
                    self.seen_lines[line.number] = self.question;
                    passages += 1;
                }
            }
        }
        costs.overlap * overlaps as f64 + costs.passage * passages as f64
    }

    /// Returns the cost of the conflicts of a line. Once it reaches the limit, further conflicts are left out.
    ///
    /// Lines at its first node do not count.
    fn along(
        &mut self,
        [(node, from), (neighbor, to)]: [(usize, Point); 2],
        costs: Costs,
        limit: f64,
    ) -> f64 {
        self.question += 1;
        let mut cost = 0.0;
        for cell in self.cells.along(from, to) {
            let (lines, nodes) = (&self.lines[cell], &self.nodes[cell]);
            self.work += lines.len() + nodes.len();
            for line in lines {
                if segments_cross((from, to), (line.from, line.to))
                    && line.nodes.0 != node
                    && line.nodes.1 != node
                    && self.seen_lines[line.number] != self.question
                {
                    self.seen_lines[line.number] = self.question;
                    cost += costs.crossing;
                }
            }
            for (other, area) in nodes {
                if *other != node
                    && *other != neighbor
                    && area.clip(from, to).is_some()
                    && self.seen_nodes[*other] != self.question
                {
                    self.seen_nodes[*other] = self.question;
                    cost += costs.passage;
                }
            }
            if cost >= limit {
                break;
            }
        }
        cost
    }
}

fn remove<T: Clone>(
    contents: &mut [Vec<T>],
    cells: impl Iterator<Item = usize>,
    is_meant: impl Fn(&T) -> bool,
) {
    for cell in cells {
        if let Some(place) = contents[cell].iter().position(&is_meant) {
            contents[cell].swap_remove(place);
        }
    }
}
