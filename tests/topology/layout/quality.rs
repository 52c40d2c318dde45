//! Every arrangement has no overlaps, containers around their content, and lines around shapes.

use toposcope::model::NodeId;
use toposcope::topology::layout::{Diagram, Point, Rect, Shape, Size, arrange};

use super::fixture::{Fixture, escapes, overlaps, passages};

#[test]
fn shapes_do_not_overlap() {
    for fixture in Fixture::all() {
        let arrangement = arrange(&fixture.diagram);
        assert!(overlaps(&fixture.diagram, &arrangement).is_empty());
    }
}

#[test]
fn containers_contain_their_shapes() {
    let fixture = Fixture::nested(9);
    let arrangement = arrange(&fixture.diagram);
    assert!(escapes(&fixture.diagram, &arrangement).is_empty());
}

#[test]
fn content_of_a_container_is_below_its_title() {
    let fixture = Fixture::nested(5);
    let arrangement = arrange(&fixture.diagram);
    for (index, shape) in fixture.diagram.shapes.iter().enumerate() {
        if let Some(parent) = shape.parent {
            let title = arrangement.shapes[parent].y + fixture.diagram.shapes[parent].header;
            assert!(arrangement.shapes[index].y >= title);
        }
    }
}

#[test]
fn lines_avoid_foreign_shapes() {
    for fixture in Fixture::all() {
        let arrangement = arrange(&fixture.diagram);
        assert!(passages(&fixture.diagram, &arrangement).is_empty());
    }
}

#[test]
fn lines_begin_and_end_at_borders() {
    let on_border = |point: &Point, rect: &Rect| {
        let near = |one: f64, other: f64| (one - other).abs() < 0.05;
        let within = |value: f64, low: f64, length: f64| value > low - 0.05 && value < low + length + 0.05;
        let vertical = near(point.x, rect.x) || near(point.x, rect.x + rect.width);
        let horizontal = near(point.y, rect.y) || near(point.y, rect.y + rect.height);
        (vertical && within(point.y, rect.y, rect.height))
            || (horizontal && within(point.x, rect.x, rect.width))
    };
    for fixture in Fixture::all() {
        let arrangement = arrange(&fixture.diagram);
        for (connection, route) in fixture.diagram.connections.iter().zip(&arrangement.routes) {
            assert!(on_border(route.first().unwrap(), &arrangement.shapes[connection.source]));
            assert!(on_border(route.last().unwrap(), &arrangement.shapes[connection.target]));
        }
    }
}

#[test]
fn parallel_lines_are_apart() {
    let mut fixture = Fixture::default();
    let (one, other) = (fixture.shape(None), fixture.shape(None));
    for _ in 0..3 {
        fixture.connect(one, other);
    }
    let arrangement = arrange(&fixture.diagram);
    let [first, second, third] = [0, 1, 2].map(|line| arrangement.routes[line].first().copied().unwrap());
    assert!(first != second && second != third && first != third);
}

#[test]
fn higher_ranks_are_above_lower_ones() {
    let fixture = Fixture::campus(6, 10);
    let arrangement = arrange(&fixture.diagram);
    for connection in &fixture.diagram.connections {
        let [source, target] = [connection.source, connection.target].map(|end| &fixture.diagram.shapes[end]);
        if source.rank < target.rank {
            assert!(arrangement.shapes[connection.source].y < arrangement.shapes[connection.target].y);
        }
    }
}

#[test]
fn leaves_shared_by_two_hubs_are_below_both_and_lines_avoid_them() {
    let mut fixture = Fixture::default();
    let hubs = [fixture.shape(None), fixture.shape(None)];
    for _ in 0..60 {
        let leaf = fixture.shape(None);
        fixture.connect(hubs[0], leaf);
        fixture.connect(hubs[1], leaf);
    }
    let arrangement = arrange(&fixture.diagram);
    for hub in hubs.map(|hub| arrangement.shapes[hub]) {
        assert!(arrangement.shapes[2..].iter().all(|leaf| leaf.y > hub.y + hub.height));
    }
    assert!(passages(&fixture.diagram, &arrangement).is_empty());
}

#[test]
fn router_and_firewall_are_above_the_core_switches_they_are_connected_to() {
    let mut fixture = Fixture::campus(3, 5);
    for shape in &mut fixture.diagram.shapes {
        shape.rank = shape.rank.map(|rank| rank + 2);
    }
    let (carrier, firewall) = (fixture.shape(Some(0)), fixture.shape(Some(1)));
    for core in [0, 1] {
        fixture.connect(carrier, core);
        fixture.connect(core, firewall);
    }
    let arrangement = arrange(&fixture.diagram);
    assert!(arrangement.shapes[carrier].y < arrangement.shapes[0].y);
    assert!(arrangement.shapes[firewall].y < arrangement.shapes[1].y);
}

#[test]
fn proportions_are_between_one_to_two_and_five_to_two() {
    for fixture in Fixture::all() {
        let Rect { width, height, .. } = arrange(&fixture.diagram).bounds;
        assert!((0.5..=2.5).contains(&(width / height)), "{width} : {height}");
    }
}

#[test]
fn bounds_enclose_shapes_and_lines() {
    for fixture in Fixture::all() {
        let arrangement = arrange(&fixture.diagram);
        let Rect { x, y, width, height, .. } = arrangement.bounds;
        let inside = |px: f64, py: f64| px >= x && py >= y && px <= x + width && py <= y + height;
        for rect in &arrangement.shapes {
            assert!(inside(rect.x, rect.y) && inside(rect.x + rect.width, rect.y + rect.height));
        }
        assert!(arrangement.routes.iter().flatten().all(|point| inside(point.x, point.y)));
    }
}

#[test]
fn unconnected_shapes_are_sorted_by_order() {
    let mut diagram = Diagram::default();
    for index in 0..9_u32 {
        let mut shape = Shape::new(NodeId::from_u128(index.into()), Size::new(60.0, 40.0));
        shape.order = 8 - index;
        diagram.shapes.push(shape);
    }
    let arrangement = arrange(&diagram);
    let places: Vec<(f64, f64)> = arrangement.shapes.iter().rev().map(|rect| (rect.y, rect.x)).collect();
    assert!(places.is_sorted());
}

#[test]
fn labels_of_ports_make_lines_to_leaves_longer() {
    let mut fixture = Fixture::campus(1, 12);
    for shape in &mut fixture.diagram.shapes {
        shape.label_width = 60.0;
    }
    let arrangement = arrange(&fixture.diagram);
    for (connection, route) in fixture.diagram.connections.iter().zip(&arrangement.routes) {
        if let [.., Point { x: from, .. }, Point { x: to, .. }] = route.as_slice()
            && fixture.diagram.shapes[connection.target].rank == Some(2)
        {
            assert!((from - to).abs() >= 60.0);
        }
    }
}

#[test]
fn empty_diagram_has_empty_bounds() {
    let arrangement = arrange(&Diagram::default());
    assert!(arrangement.shapes.is_empty() && arrangement.routes.is_empty());
    assert_eq!(arrangement.bounds, Rect::default());
}
