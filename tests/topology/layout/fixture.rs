//! Diagrams to arrange, and questions about arrangements.

use toposcope::model::{LinkId, NodeId};
use toposcope::topology::layout::{Arrangement, Connection, Diagram, Point, Rect, Shape, Size};

/// A diagram under construction.
#[derive(Default)]
pub(super) struct Fixture {
    pub(super) diagram: Diagram,
}

impl Fixture {
    pub(super) fn shape(&mut self, rank: Option<u8>) -> usize {
        let index = self.diagram.shapes.len();
        let width = 80.0 + (index * 13 % 60) as f64;
        let mut shape = Shape::new(NodeId::from_u128(index as u128 + 1), Size::new(width, 40.0));
        shape.rank = rank;
        self.diagram.shapes.push(shape);
        index
    }

    pub(super) fn inside(&mut self, container: usize) -> usize {
        let index = self.shape(None);
        self.diagram.shapes[index].parent = Some(container);
        index
    }

    pub(super) fn connect(&mut self, source: usize, target: usize) {
        let id = LinkId::from_u128(self.diagram.connections.len() as u128 + 1);
        self.diagram.connections.push(Connection::new(id, source, target));
    }

    /// Two core switches, below them access switches, and below each of these some hosts.
    pub(super) fn campus(switches: usize, hosts: usize) -> Self {
        let mut fixture = Self::default();
        let cores = [fixture.shape(Some(0)), fixture.shape(Some(0))];
        fixture.connect(cores[0], cores[1]);
        for _ in 0..switches {
            let switch = fixture.shape(Some(1));
            fixture.connect(cores[0], switch);
            fixture.connect(cores[1], switch);
            for _ in 0..hosts {
                let host = fixture.shape(Some(2));
                fixture.connect(switch, host);
            }
        }
        fixture
    }

    /// A ring of sites with some chords, each with up to two leaves.
    pub(super) fn mesh(sites: usize) -> Self {
        let mut fixture = Self::default();
        let ring: Vec<usize> = (0..sites).map(|_| fixture.shape(None)).collect();
        for site in 0..sites {
            fixture.connect(ring[site], ring[(site + 1) % sites]);
            if site % 4 == 0 {
                fixture.connect(ring[site], ring[(site + sites / 3) % sites]);
            }
            for _ in 0..site % 3 {
                let leaf = fixture.shape(None);
                fixture.connect(ring[site], leaf);
            }
        }
        fixture
    }

    /// A ring of three nodes, each of which closes a ring of six more.
    pub(super) fn ring_of_rings() -> Self {
        let mut fixture = Self::default();
        let inner: Vec<usize> = (0..3).map(|_| fixture.shape(None)).collect();
        for place in 0..3 {
            fixture.connect(inner[place], inner[(place + 1) % 3]);
            let ring: Vec<usize> = (0..6).map(|_| fixture.shape(None)).collect();
            ring.windows(2).for_each(|pair| fixture.connect(pair[0], pair[1]));
            fixture.connect(inner[place], ring[0]);
            fixture.connect(ring[5], inner[place]);
        }
        fixture
    }

    /// Routers between subnets, which contain hosts; some hosts contain guests.
    pub(super) fn nested(subnets: usize) -> Self {
        let mut fixture = Self::default();
        let routers: Vec<usize> = (0..subnets.div_ceil(3)).map(|_| fixture.shape(Some(0))).collect();
        for subnet in 0..subnets {
            let container = fixture.shape(None);
            fixture.diagram.shapes[container].header = 20.0;
            fixture.connect(routers[subnet % routers.len()], container);
            fixture.connect(routers[(subnet * 2 + 1) % routers.len()], container);
            let hosts: Vec<usize> = (0..2 + subnet % 5).map(|_| fixture.inside(container)).collect();
            let guests = [fixture.inside(hosts[0]), fixture.inside(hosts[0])];
            fixture.connect(guests[0], guests[1]);
            fixture.connect(hosts[1], routers[0]);
        }
        fixture
    }

    /// A campus, a mesh and nested containers.
    pub(super) fn all() -> Vec<Self> {
        vec![Self::campus(3, 3), Self::campus(8, 9), Self::mesh(12), Self::nested(5)]
    }

    /// Uses the positions of an arrangement as the previous ones.
    pub(super) fn remember(&mut self, arrangement: &Arrangement) {
        for (shape, rect) in self.diagram.shapes.iter_mut().zip(&arrangement.shapes) {
            shape.former = Some(Point::new(rect.x, rect.y));
        }
    }
}

pub(super) fn corner(rect: &Rect) -> Point {
    Point::new(rect.x, rect.y)
}

pub(super) fn overlap(one: &Rect, other: &Rect) -> bool {
    one.x < other.x + other.width
        && other.x < one.x + one.width
        && one.y < other.y + other.height
        && other.y < one.y + one.height
}

fn encloses(diagram: &Diagram, outer: usize, inner: usize) -> bool {
    let mut at = Some(inner);
    // Chains of parents may be circular.
    for _ in 0..diagram.shapes.len() {
        at = at.and_then(|shape| diagram.shapes.get(shape)).and_then(|shape| shape.parent);
        if at == Some(outer) {
            return true;
        }
    }
    false
}

/// Returns the pairs of shapes that overlap though neither contains the other.
pub(super) fn overlaps(diagram: &Diagram, arrangement: &Arrangement) -> Vec<(usize, usize)> {
    let count = arrangement.shapes.len();
    let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
    pairs
        .filter(|(one, other)| overlap(&arrangement.shapes[*one], &arrangement.shapes[*other]))
        .filter(|(one, other)| !encloses(diagram, *one, *other) && !encloses(diagram, *other, *one))
        .collect()
}

/// Returns the shapes that are not within their containers.
pub(super) fn escapes(diagram: &Diagram, arrangement: &Arrangement) -> Vec<usize> {
    let inside = |inner: &Rect, outer: &Rect| {
        inner.x >= outer.x
            && inner.y >= outer.y
            && inner.x + inner.width <= outer.x + outer.width
            && inner.y + inner.height <= outer.y + outer.height
    };
    let parent = |shape: usize| diagram.shapes[shape].parent;
    (0..arrangement.shapes.len())
        .filter(|shape| {
            parent(*shape)
                .is_some_and(|parent| !inside(&arrangement.shapes[*shape], &arrangement.shapes[parent]))
        })
        .collect()
}

/// Returns the connections that run through foreign shapes. A shape is foreign if it neither contains an end of the
/// connection nor is in one.
pub(super) fn passages(diagram: &Diagram, arrangement: &Arrangement) -> Vec<(usize, usize)> {
    let mut passages = Vec::new();
    for (index, connection) in diagram.connections.iter().enumerate() {
        for (shape, rect) in arrangement.shapes.iter().enumerate() {
            let foreign = [connection.source, connection.target].iter().all(|end| {
                *end != shape && !encloses(diagram, shape, *end) && !encloses(diagram, *end, shape)
            });
            if foreign && arrangement.routes[index].windows(2).any(|pair| enters(rect, pair[0], pair[1])) {
                passages.push((index, shape));
            }
        }
    }
    passages
}

fn enters(rect: &Rect, from: Point, to: Point) -> bool {
    let axes = [(from.x, to.x, rect.x, rect.width), (from.y, to.y, rect.y, rect.height)];
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (start, end, low, length) in axes {
        if start == end {
            if start <= low || start >= low + length {
                return false;
            }
        } else {
            let (one, other) = ((low - start) / (end - start), (low + length - start) / (end - start));
            enter = enter.max(one.min(other));
            leave = leave.min(one.max(other));
        }
    }
    enter < leave
}
