//! Diagrams with faults: no panic, and coordinates within bounds.

use fastrand::Rng;
use toposcope::model::NodeId;
use toposcope::topology::layout::{Arrangement, Diagram, Label, LineEnd, Point, Size, arrange, place_labels};

use super::fixture::{Fixture, overlaps};

const NUMBERS: [f64; 12] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN_POSITIVE,
    -1.0,
    -0.0,
    0.0,
    0.3,
    1e6,
    -1e9,
    77.7,
];

fn assert_usable(diagram: &Diagram, arrangement: &Arrangement) {
    assert_eq!(arrangement.shapes.len(), diagram.shapes.len());
    assert_eq!(arrangement.routes.len(), diagram.connections.len());
    let bounded = |value: f64| value.is_finite() && value.abs() <= 1e6;
    for rect in &arrangement.shapes {
        assert!(bounded(rect.x) && bounded(rect.y), "{rect:?}");
        assert!(bounded(rect.x + rect.width) && bounded(rect.y + rect.height), "{rect:?}");
        assert!(rect.width >= 0.0 && rect.height >= 0.0, "{rect:?}");
    }
    assert!(arrangement.routes.iter().flatten().all(|point| bounded(point.x) && bounded(point.y)));
}

fn mutate(diagram: &mut Diagram, random: &mut Rng) {
    let count = diagram.shapes.len();
    let number = |random: &mut Rng| NUMBERS[random.usize(..NUMBERS.len())];
    let index = |random: &mut Rng| if random.u8(..8) == 0 { usize::MAX } else { random.usize(..count + 2) };
    for _ in 0..random.usize(1..12) {
        let shape = &mut diagram.shapes[random.usize(..count)];
        match random.u8(..9) {
            0 => shape.parent = Some(index(random)),
            1 => shape.size = Size::new(number(random), number(random)),
            2 => shape.header = number(random),
            3 => shape.pin = Some(Point::new(number(random), number(random))),
            4 => shape.former = Some(Point::new(number(random), number(random))),
            5 => shape.id = NodeId::from_u128(7),
            6 => shape.rank = Some(random.u8(..)),
            7 => shape.label_width = number(random),
            _ => {
                let connections = diagram.connections.len();
                let connection = &mut diagram.connections[random.usize(..connections)];
                (connection.source, connection.target) = (index(random), index(random));
            }
        }
    }
}

#[test]
fn mutated_diagrams_are_arranged_without_panic() {
    let mut random = Rng::with_seed(20);
    for round in 0..200 {
        let mut fixture = match round % 4 {
            0 => Fixture::campus(2, 6),
            1 => Fixture::mesh(8),
            2 => Fixture::nested(3),
            _ => Fixture::campus(6, 0),
        };
        if round % 8 >= 4 {
            let arrangement = arrange(&fixture.diagram);
            fixture.remember(&arrangement);
        }
        mutate(&mut fixture.diagram, &mut random);
        let arrangement = arrange(&fixture.diagram);
        assert_usable(&fixture.diagram, &arrangement);
        let labels = [LineEnd::Source, LineEnd::Target].map(|end| Label {
            connection: random.usize(..20),
            end,
            size: Size::new(30.0, 10.0),
        });
        assert_eq!(place_labels(&fixture.diagram, &arrangement, &labels).len(), 2);
        assert_eq!(arrange(&fixture.diagram), arrangement);
    }
}

#[test]
fn containers_in_a_circle_are_opened() {
    let mut fixture = Fixture::default();
    for index in 0..6_usize {
        let shape = fixture.shape(None);
        fixture.diagram.shapes[shape].parent = Some((index + 1) % 3 + index / 3 * 3);
    }
    fixture.diagram.shapes[5].parent = Some(5);
    assert_usable(&fixture.diagram, &arrange(&fixture.diagram));
}

#[test]
fn deeply_nested_containers_are_arranged() {
    let mut fixture = Fixture::default();
    let mut inner = fixture.shape(None);
    for _ in 0..2_000 {
        inner = fixture.inside(inner);
    }
    assert_usable(&fixture.diagram, &arrange(&fixture.diagram));
}

#[test]
fn shapes_at_one_former_place_are_separated() {
    let mut fixture = Fixture::mesh(60);
    for shape in &mut fixture.diagram.shapes {
        shape.former = Some(Point::new(5.0, 5.0));
    }
    let arrangement = arrange(&fixture.diagram);
    assert_usable(&fixture.diagram, &arrangement);
    assert!(overlaps(&fixture.diagram, &arrangement).is_empty());
}

#[test]
fn loop_has_a_line_and_missing_end_has_none() {
    let mut fixture = Fixture::default();
    let shape = fixture.shape(None);
    fixture.connect(shape, shape);
    fixture.connect(shape, 17);
    let arrangement = arrange(&fixture.diagram);
    assert_eq!(arrangement.routes[0].len(), 4);
    assert!(arrangement.routes[1].is_empty());
}

#[test]
fn long_chain_and_complete_graph_are_arranged() {
    let mut chain = Fixture::default();
    let shapes: Vec<usize> = (0..120).map(|_| chain.shape(None)).collect();
    for pair in shapes.windows(2) {
        chain.connect(pair[0], pair[1]);
    }
    let mut complete = Fixture::default();
    let shapes: Vec<usize> = (0..14).map(|_| complete.shape(Some(1))).collect();
    for one in &shapes {
        for other in shapes.iter().filter(|other| *other > one) {
            complete.connect(*one, *other);
        }
    }
    for fixture in [chain, complete] {
        let arrangement = arrange(&fixture.diagram);
        assert_usable(&fixture.diagram, &arrangement);
        assert!(overlaps(&fixture.diagram, &arrangement).is_empty());
    }
}
