//! The same diagram has the same arrangement, always and in any order.

use toposcope::topology::layout::{Arrangement, Connection, Diagram, arrange};

use super::fixture::Fixture;

/// Returns the bits of all coordinates.
fn bits(arrangement: &Arrangement) -> Vec<u64> {
    let shapes = arrangement.shapes.iter().flat_map(|rect| [rect.x, rect.y, rect.width, rect.height]);
    let points = arrangement.routes.iter().flatten().flat_map(|point| [point.x, point.y]);
    shapes.chain(points).map(f64::to_bits).collect()
}

#[test]
fn twenty_runs_return_the_same_bytes() {
    for fixture in Fixture::all() {
        let first = bits(&arrange(&fixture.diagram));
        for _ in 1..20 {
            assert_eq!(bits(&arrange(&fixture.diagram)), first);
        }
    }
}

#[test]
fn eight_threads_at_the_same_time_return_the_same_bytes() {
    for fixture in Fixture::all() {
        let first = bits(&arrange(&fixture.diagram));
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| bits(&arrange(&fixture.diagram)))).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), first);
            }
        });
    }
}

#[test]
fn coordinates_are_multiples_of_a_64th() {
    for fixture in Fixture::all() {
        for bits in bits(&arrange(&fixture.diagram)) {
            let steps = f64::from_bits(bits) * 64.0;
            assert_eq!(steps, steps.round());
        }
    }
}

#[test]
fn order_of_shapes_and_connections_does_not_matter() {
    for fixture in Fixture::all() {
        let count = fixture.diagram.shapes.len();
        let reversed = |index: usize| count - 1 - index;
        let mut diagram = Diagram::default();
        for shape in fixture.diagram.shapes.iter().rev() {
            let mut shape = shape.clone();
            shape.parent = shape.parent.map(reversed);
            diagram.shapes.push(shape);
        }
        for Connection { id, source, target, .. } in fixture.diagram.connections.iter().rev() {
            diagram.connections.push(Connection::new(*id, reversed(*source), reversed(*target)));
        }
        let mut arrangement = arrange(&diagram);
        arrangement.shapes.reverse();
        arrangement.routes.reverse();
        assert_eq!(arrangement, arrange(&fixture.diagram));
    }
}
