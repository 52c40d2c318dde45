//! Rings, meshes and trees, alone and as parts of networks with tiers.

use std::collections::BTreeSet;

use toposcope::topology::layout::{Arrangement, Point, arrange};

use super::fixture::{Fixture, overlaps, passages};
use super::networks::{FIREWALL, Network, SWITCH};

/// Returns the center of a shape.
fn center(arrangement: &Arrangement, shape: usize) -> Point {
    let rect = arrangement.shapes[shape];
    Point::new(rect.x + rect.width / 2.0, rect.y + rect.height / 2.0)
}

#[test]
fn ring_that_closes_at_a_core_is_a_row_in_its_order_below_the_core() {
    for (switches, devices) in [(3, 1), (4, 0), (6, 2), (6, 9), (8, 3)] {
        let network = Network::core_with_ring(switches, devices);
        let ring = &network.tiers[2][4..];
        for diagram in network.with_fewer_roles() {
            network.assert_tiers(&diagram);
            let arrangement = arrange(&diagram);
            let places: Vec<f64> = ring.iter().map(|switch| center(&arrangement, *switch).x).collect();
            let (mut sorted, mut reversed) = (places.clone(), places.clone());
            sorted.sort_by(f64::total_cmp);
            reversed.sort_by(|one, other| other.total_cmp(one));
            assert!(places == sorted || places == reversed, "{switches} switches: {places:?}");
            assert!(overlaps(&diagram, &arrangement).is_empty());
            assert!(passages(&diagram, &arrangement).is_empty());
        }
    }
}

#[test]
fn rings_that_close_at_a_pair_are_rows_below_it() {
    let network = Network::rings_at_a_pair(3, 5);
    for diagram in network.with_fewer_roles() {
        network.assert_tiers(&diagram);
    }
}

#[test]
fn lines_of_a_ring_that_further_rings_close_at_are_straight() {
    for (rings, switches, devices) in [(4, 5, 2), (5, 3, 2), (6, 3, 3), (3, 4, 0)] {
        let network = Network::ring_of_rings(rings, switches, devices);
        let arrangement = arrange(&network.fixture.diagram);
        for (line, route) in network.fixture.diagram.connections.iter().zip(&arrangement.routes) {
            if network.tiers[0].contains(&line.source) && network.tiers[0].contains(&line.target) {
                assert_eq!(route.len(), 2, "{rings} rings of {switches}: {route:?}");
            }
        }
    }
}

#[test]
fn devices_that_are_all_linked_with_each_other_are_on_a_circle_with_straight_lines() {
    for (devices, missing, leaves) in [(5, 0, 0), (6, 1, 3), (7, 4, 1), (8, 0, 2), (12, 0, 0)] {
        let mut network = Network::default();
        let mesh = network.tier(SWITCH, devices);
        let pairs = (0..devices).flat_map(|one| (one + 1..devices).map(move |other| (one, other)));
        for (one, other) in pairs.skip(missing) {
            network.fixture.connect(mesh[one], mesh[other]);
        }
        network.devices(&mesh, leaves);
        for diagram in network.with_fewer_roles() {
            let arrangement = arrange(&diagram);
            let centers: Vec<Point> = mesh.iter().map(|device| center(&arrangement, *device)).collect();
            let middle = |of: fn(&Point) -> f64| centers.iter().map(of).sum::<f64>() / devices as f64;
            let (x, y) = (middle(|point| point.x), middle(|point| point.y));
            let radii: Vec<f64> = centers.iter().map(|point| (point.x - x).hypot(point.y - y)).collect();
            assert!(radii.iter().all(|radius| (radius - radii[0]).abs() < 2.0), "{radii:?}");
            let lines = diagram.connections.iter().zip(&arrangement.routes);
            let between =
                lines.filter(|(line, _)| mesh.contains(&line.source) && mesh.contains(&line.target));
            assert!(between.map(|(_, route)| route.len()).all(|points| points == 2), "{devices} devices");
            assert!(overlaps(&diagram, &arrangement).is_empty());
        }
    }
}

#[test]
fn only_device_of_a_switch_of_a_ring_is_right_below_it() {
    let network = Network::core_with_ring(6, 1);
    let arrangement = arrange(&network.fixture.diagram);
    let ring = &network.tiers[2][4..];
    let lines = &network.fixture.diagram.connections;
    for line in lines.iter().filter(|line| ring.contains(&line.source) && !ring.contains(&line.target)) {
        if !network.tiers.iter().flatten().any(|shape| *shape == line.target) {
            let aside = center(&arrangement, line.source).x - center(&arrangement, line.target).x;
            assert!(aside.abs() < 2.0, "{aside}");
        }
    }
}

#[test]
fn known_switches_at_the_ends_of_a_tree_are_in_one_row() {
    for (branches, depth) in [(3, 2), (4, 2)] {
        let network = Network::tree(branches, depth);
        let [with_all_roles, with_half, _] = network.with_fewer_roles();
        network.assert_tiers(&with_all_roles);
        network.assert_tiers(&with_half);
    }
}

#[test]
fn many_switches_at_the_ends_of_a_tree_are_in_two_rows_next_to_each_other() {
    let network = Network::tree(3, 3);
    let diagram = &network.fixture.diagram;
    let arrangement = arrange(diagram);
    let heights = |tier: &Vec<usize>| -> BTreeSet<i64> {
        tier.iter().map(|shape| center(&arrangement, *shape).y.round() as i64).collect()
    };
    let counts: Vec<usize> = network.tiers.iter().map(|tier| heights(tier).len()).collect();
    assert_eq!(counts, [1, 1, 1, 2]);
    assert!(network.tiers.windows(2).all(|pair| heights(&pair[0]).last() < heights(&pair[1]).first()));
    assert!(overlaps(diagram, &arrangement).is_empty());
    assert!(passages(diagram, &arrangement).is_empty());
}

#[test]
fn two_switches_are_side_by_side() {
    let mut network = Network::default();
    let pair = network.tier(SWITCH, 2);
    network.fixture.connect(pair[0], pair[1]);
    let arrangement = arrange(&network.fixture.diagram);
    let [one, other] = [0, 1].map(|shape| center(&arrangement, shape));
    assert!(one.y == other.y && one.x < other.x, "{arrangement:?}");
}

#[test]
fn ring_of_rings_is_no_row() {
    let arrangement = arrange(&Fixture::ring_of_rings().diagram);
    let heights: BTreeSet<i64> = (0..21).map(|shape| center(&arrangement, shape).y.round() as i64).collect();
    assert!(heights.len() > 6, "{heights:?}");
}

#[test]
fn rings_of_a_ring_are_circles_outside_of_it() {
    let arrangement = arrange(&Fixture::ring_of_rings().diagram);
    let distances = |shapes: &[usize]| {
        let points: Vec<Point> = shapes.iter().map(|shape| center(&arrangement, *shape)).collect();
        let count = points.len() as f64;
        let middle = points.iter().fold(Point::new(0.0, 0.0), |sum, point| {
            Point::new(sum.x + point.x / count, sum.y + point.y / count)
        });
        points.iter().map(|point| (point.x - middle.x).hypot(point.y - middle.y)).collect::<Vec<f64>>()
    };
    let rings = [vec![0, 1, 2]].into_iter().chain(
        (0..3).map(|ring| [ring].into_iter().chain(3 + 6 * ring..9 + 6 * ring).collect::<Vec<usize>>()),
    );
    for ring in rings {
        let distances = distances(&ring);
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        assert!(distances.iter().all(|distance| (distance - mean).abs() < 1.0), "{ring:?}: {distances:?}");
    }
    assert!(overlaps(&Fixture::ring_of_rings().diagram, &arrangement).is_empty());
}

#[test]
fn leaf_more_moves_no_switch_of_a_ring_of_rings() {
    let mut fixture = Fixture::ring_of_rings();
    let before = arrange(&fixture.diagram);
    let leaf = fixture.shape(None);
    fixture.connect(20, leaf);
    let after = arrange(&fixture.diagram);
    let shift = |shape: usize| {
        let (one, other) = (center(&before, shape), center(&after, shape));
        (other.x - one.x, other.y - one.y)
    };
    for shape in 0..21 {
        assert_eq!(shift(shape), shift(0), "{shape}");
    }
}

#[test]
fn leaf_more_does_not_turn_a_ring_of_rings_over() {
    let mut fixture = Fixture::ring_of_rings();
    let directions = |fixture: &Fixture| {
        let arrangement = arrange(&fixture.diagram);
        let middle = (0..3).fold((0.0, 0.0), |sum, shape| {
            let center = center(&arrangement, shape);
            (sum.0 + center.x / 3.0, sum.1 + center.y / 3.0)
        });
        let directions = (0..3).map(|shape| {
            let center = center(&arrangement, shape);
            let (x, y) = (center.x - middle.0, center.y - middle.1);
            (x / x.hypot(y), y / x.hypot(y))
        });
        directions.collect::<Vec<(f64, f64)>>()
    };
    let before = directions(&fixture);
    let leaf = fixture.shape(None);
    fixture.connect(20, leaf);
    for ((x, y), (other_x, other_y)) in before.into_iter().zip(directions(&fixture)) {
        assert!(x * other_x + y * other_y > 0.7, "{x}, {y} becomes {other_x}, {other_y}");
    }
}

#[test]
fn only_unknown_device_of_a_core_with_buildings_is_above_it() {
    let mut network = Network::default();
    let core = network.tier(SWITCH, 1);
    let firewall = network.fixture.shape(Some(FIREWALL));
    network.fixture.connect(core[0], firewall);
    let distribution = network.tier(SWITCH, 4);
    network.connect_all(&core, &distribution);
    let access = network.tier(SWITCH, 12);
    for (upper, lower) in distribution.iter().zip(access.chunks(3)) {
        network.connect_all(&[*upper], lower);
    }
    network.devices(&access, 4);
    for diagram in network.with_fewer_roles() {
        network.assert_tiers(&diagram);
        let arrangement = arrange(&diagram);
        assert!(center(&arrangement, firewall).y < center(&arrangement, core[0]).y);
    }
}

#[test]
fn unknown_device_of_a_building_does_not_turn_a_campus_over() {
    let mut network = Network::campus(3);
    let distribution = network.tiers[4][0];
    let device = network.fixture.shape(None);
    network.fixture.connect(distribution, device);
    for diagram in network.with_fewer_roles() {
        network.assert_tiers(&diagram);
        let arrangement = arrange(&diagram);
        assert!(center(&arrangement, device).y > center(&arrangement, distribution).y);
    }
}
