//! Two hubs that share most nodes as neighbors.

use toposcope::topology::layout::{Arrangement, Point, arrange};

use super::fixture::{Fixture, overlaps, passages};

/// Two connected hubs that share neighbors, some of which have leaves.
fn two_hubs(shared: usize, with_leaves: usize, leaves: usize) -> Fixture {
    let mut fixture = Fixture::default();
    let hubs = [fixture.shape(None), fixture.shape(None)];
    fixture.connect(hubs[0], hubs[1]);
    for place in 0..shared {
        let node = fixture.shape(None);
        hubs.iter().for_each(|hub| fixture.connect(*hub, node));
        for _ in (0..leaves).filter(|_| place < with_leaves) {
            let leaf = fixture.shape(None);
            fixture.connect(node, leaf);
        }
    }
    fixture
}

/// Counts the pairs of lines that cross.
fn crossings(arrangement: &Arrangement) -> usize {
    let side = |a: Point, b: Point, c: Point| (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    let cross = |one: &[Point], other: &[Point]| {
        let apart = |line: &[Point], ends: &[Point]| {
            side(line[0], line[1], ends[0]) * side(line[0], line[1], ends[1]) < 0.0
        };
        apart(one, other) && apart(other, one)
    };
    let routes = &arrangement.routes;
    let pairs = (0..routes.len()).flat_map(|one| (one + 1..routes.len()).map(move |other| (one, other)));
    let do_cross = |(one, other): &(usize, usize)| {
        routes[*one].windows(2).any(|one| routes[*other].windows(2).any(|other| cross(one, other)))
    };
    pairs.filter(do_cross).count()
}

#[test]
fn lines_of_neighbors_that_two_hubs_share_do_not_cross() {
    for (shared, with_leaves) in [(5, 0), (8, 2), (12, 3), (17, 0), (22, 0)] {
        let Fixture { diagram } = two_hubs(shared, with_leaves, 1);
        let arrangement = arrange(&diagram);
        assert_eq!(crossings(&arrangement), 0, "{shared} shared, {with_leaves} with a leaf");
        assert!(overlaps(&diagram, &arrangement).is_empty());
        assert!(passages(&diagram, &arrangement).is_empty());
        let ratio = arrangement.bounds.width / arrangement.bounds.height;
        assert!((0.5..=3.0).contains(&ratio), "{shared} shared, {with_leaves} with a leaf: {ratio}");
    }
}

#[test]
fn neighbors_that_two_hubs_share_are_in_a_row_below_them_where_ports_are_known() {
    let Fixture { mut diagram } = two_hubs(8, 0, 0);
    for connection in &mut diagram.connections {
        connection.label_widths = [30.0; 2];
    }
    let arrangement = arrange(&diagram);
    let middle = |shape: usize| arrangement.shapes[shape].y + arrangement.shapes[shape].height / 2.0;
    assert!((2..10).all(|shape| middle(shape) == middle(2)));
    assert!(middle(0) == middle(1) && middle(0) < middle(2));
}

#[test]
fn hubs_with_wide_parts_or_known_roles_stand_above_their_neighbors() {
    let mut router = two_hubs(8, 0, 0).diagram;
    router.shapes[0].rank = Some(1);
    router.shapes[1].rank = Some(1);
    for diagram in [two_hubs(15, 3, 4).diagram, two_hubs(12, 3, 3).diagram, router] {
        let arrangement = arrange(&diagram);
        let middle = |shape: usize| arrangement.shapes[shape].x + arrangement.shapes[shape].width / 2.0;
        let neighbors = (2..diagram.shapes.len()).map(middle);
        let (least, greatest) =
            neighbors.fold((f64::MAX, f64::MIN), |(least, greatest), x| (least.min(x), greatest.max(x)));
        assert!(least < middle(0).min(middle(1)) && middle(0).max(middle(1)) < greatest);
    }
}
