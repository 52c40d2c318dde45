//! Pins, and positions from an earlier arrangement.

use toposcope::topology::layout::{Arrangement, Point, arrange};

use super::fixture::{Fixture, corner, escapes, overlaps};

/// Returns the median distance by which shapes moved that are in both arrangements.
fn median_move(before: &Arrangement, after: &Arrangement) -> f64 {
    let mut moves: Vec<f64> = before
        .shapes
        .iter()
        .zip(&after.shapes)
        .map(|(before, after)| ((before.x - after.x).powi(2) + (before.y - after.y).powi(2)).sqrt())
        .collect();
    moves.sort_by(f64::total_cmp);
    moves[moves.len() / 2]
}

#[test]
fn pinned_shapes_stay_at_their_pins() {
    for mut fixture in Fixture::all() {
        let pins = [(3, Point::new(500.25, -300.5)), (5, Point::new(-70.0, 4_000.0))];
        for (shape, pin) in pins {
            fixture.diagram.shapes[shape].pin = Some(pin);
        }
        let arrangement = arrange(&fixture.diagram);
        for (shape, pin) in pins {
            // Containers grow around shapes that are pinned outside of them.
            if !fixture.diagram.shapes.iter().any(|inner| inner.parent == Some(shape)) {
                assert_eq!(corner(&arrangement.shapes[shape]), pin);
            }
        }
        assert!(overlaps(&fixture.diagram, &arrangement).is_empty());
        assert!(escapes(&fixture.diagram, &arrangement).is_empty());
    }
}

#[test]
fn shapes_in_the_way_of_a_pin_give_way() {
    let mut fixture = Fixture::mesh(12);
    let arrangement = arrange(&fixture.diagram);
    fixture.remember(&arrangement);
    let taken = corner(&arrangement.shapes[7]);
    fixture.diagram.shapes[2].pin = Some(taken);
    let after = arrange(&fixture.diagram);
    assert_eq!(corner(&after.shapes[2]), taken);
    assert_ne!(corner(&after.shapes[7]), taken);
    assert!(overlaps(&fixture.diagram, &after).is_empty());
}

#[test]
fn pin_is_stronger_than_former_position() {
    let mut fixture = Fixture::campus(3, 3);
    let arrangement = arrange(&fixture.diagram);
    fixture.remember(&arrangement);
    fixture.diagram.shapes[4].pin = Some(Point::new(-2_000.0, 1_500.0));
    let after = arrange(&fixture.diagram);
    assert_eq!(corner(&after.shapes[4]), Point::new(-2_000.0, 1_500.0));
}

#[test]
fn content_moves_with_its_pinned_container() {
    let mut fixture = Fixture::nested(3);
    let container = fixture.diagram.shapes.iter().position(|shape| shape.header > 0.0).unwrap();
    fixture.diagram.shapes[container].pin = Some(Point::new(9_000.0, 9_000.0));
    let arrangement = arrange(&fixture.diagram);
    assert_eq!(corner(&arrangement.shapes[container]), Point::new(9_000.0, 9_000.0));
    assert!(escapes(&fixture.diagram, &arrangement).is_empty());
}

#[test]
fn unchanged_diagram_keeps_its_positions() {
    for mut fixture in Fixture::all() {
        let before = arrange(&fixture.diagram);
        fixture.remember(&before);
        assert_eq!(arrange(&fixture.diagram).shapes, before.shapes);
    }
}

#[test]
fn added_shape_moves_others_by_a_median_of_less_than_one_width() {
    for mut fixture in Fixture::all() {
        let before = arrange(&fixture.diagram);
        fixture.remember(&before);
        let new = fixture.shape(Some(2));
        fixture.connect(3, new);
        let after = arrange(&fixture.diagram);
        assert!(median_move(&before, &after) < 80.0);
        assert!(overlaps(&fixture.diagram, &after).is_empty());
    }
}

#[test]
fn added_leaf_is_placed_near_its_hub() {
    let mut fixture = Fixture::campus(12, 14);
    let before = arrange(&fixture.diagram);
    fixture.remember(&before);
    let new = fixture.shape(Some(2));
    fixture.connect(2, new);
    let after = arrange(&fixture.diagram);
    let (hub, leaf) = (after.shapes[2], after.shapes[new]);
    assert!((hub.x - leaf.x).abs() + (hub.y - leaf.y).abs() < 1_000.0);
}

#[test]
fn shape_added_to_a_container_is_inside_it() {
    let mut fixture = Fixture::nested(6);
    let before = arrange(&fixture.diagram);
    fixture.remember(&before);
    let container = fixture.diagram.shapes.iter().rposition(|shape| shape.header > 0.0).unwrap();
    fixture.inside(container);
    let after = arrange(&fixture.diagram);
    assert!(escapes(&fixture.diagram, &after).is_empty());
    assert!(overlaps(&fixture.diagram, &after).is_empty());
    assert!(median_move(&before, &after) < 80.0);
}

#[test]
fn removed_shape_moves_no_other() {
    let mut fixture = Fixture::mesh(20);
    let before = arrange(&fixture.diagram);
    fixture.remember(&before);
    let last = fixture.diagram.shapes.len() - 1;
    fixture.diagram.shapes.pop();
    fixture.diagram.connections.retain(|connection| connection.source != last && connection.target != last);
    let after = arrange(&fixture.diagram);
    assert_eq!(after.shapes, before.shapes[..last]);
}

#[test]
fn shapes_with_the_same_pin_stay_there() {
    let mut fixture = Fixture::mesh(8);
    fixture.diagram.shapes[1].pin = Some(Point::new(10.0, 10.0));
    fixture.diagram.shapes[2].pin = Some(Point::new(10.0, 10.0));
    let arrangement = arrange(&fixture.diagram);
    assert_eq!(corner(&arrangement.shapes[1]), Point::new(10.0, 10.0));
    assert_eq!(corner(&arrangement.shapes[2]), Point::new(10.0, 10.0));
}
