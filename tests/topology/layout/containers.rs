//! Networks with tiers whose devices are in containers: locations, tags, and opened boxes of an overview.

use toposcope::topology::layout::{Arrangement, Diagram, arrange};

use super::fixture::{Fixture, escapes, overlaps, passages};
use super::networks::{DEVICE, FIREWALL, Network, ROUTER, SWITCH};

impl Network {
    /// Puts shapes into a new container.
    fn contain(&mut self, shapes: &[usize]) -> usize {
        let container = self.fixture.shape(None);
        self.fixture.diagram.shapes[container].header = 32.0;
        for shape in shapes {
            self.fixture.diagram.shapes[*shape].parent = Some(container);
        }
        container
    }

    /// A fabric with all spines in one container, and each leaf with its servers in another.
    fn racks(leaves: usize, servers: usize) -> (Self, usize, Vec<usize>) {
        let mut network = Self::fabric(4, leaves, servers);
        let (spines, switches) = (network.tiers[0].clone(), network.tiers[1].clone());
        let room = network.contain(&spines);
        let racks = switches.iter().map(|switch| {
            let lines = network.fixture.diagram.connections.iter();
            let servers = lines.filter(|line| line.source == *switch).map(|line| line.target);
            let rack: Vec<usize> = [*switch].into_iter().chain(servers).collect();
            network.contain(&rack)
        });
        let racks = racks.collect();
        (network, room, racks)
    }
}

fn top(arrangement: &Arrangement, shape: usize) -> i64 {
    arrangement.shapes[shape].y.round() as i64
}

fn bottom(arrangement: &Arrangement, shape: usize) -> i64 {
    let rect = arrangement.shapes[shape];
    (rect.y + rect.height).round() as i64
}

#[track_caller]
fn assert_clean(diagram: &Diagram, arrangement: &Arrangement) {
    assert!(overlaps(diagram, arrangement).is_empty());
    assert!(escapes(diagram, arrangement).is_empty());
    assert!(passages(diagram, arrangement).is_empty());
}

#[test]
fn lines_of_routers_end_at_the_upper_edges_of_their_subnets() {
    for (subnets, hosts) in [(2, 4), (3, 16), (4, 9)] {
        let mut network = Network::default();
        let router = network.tier(ROUTER, 1);
        let firewall = network.tier(FIREWALL, 1);
        let core = network.tier(SWITCH, 2);
        network.connect_all(&router, &firewall);
        network.connect_all(&firewall, &core);
        for _ in 0..subnets {
            let hosts: Vec<usize> = (0..hosts).map(|_| network.fixture.shape(Some(DEVICE))).collect();
            let subnet = network.contain(&hosts);
            network.connect_all(&core, &[subnet]);
        }
        let diagram = &network.fixture.diagram;
        network.assert_tiers(diagram);
        let arrangement = arrange(diagram);
        assert_clean(diagram, &arrangement);
        let to_subnets = diagram.connections.iter().zip(&arrangement.routes).skip(3);
        for (line, route) in to_subnets {
            let end = route.last().unwrap().y.round() as i64;
            assert_eq!(end, top(&arrangement, line.target), "{subnets} subnets: {route:?}");
        }
    }
}

#[test]
fn containers_are_in_the_tiers_of_their_devices() {
    let (network, room, racks) = Network::racks(12, 3);
    for diagram in network.with_fewer_roles() {
        let arrangement = arrange(&diagram);
        assert_clean(&diagram, &arrangement);
        let first = top(&arrangement, racks[0]);
        assert!(first > bottom(&arrangement, room));
        assert!(racks.iter().all(|rack| top(&arrangement, *rack) == first), "racks are one row");
        for (line, route) in diagram.connections.iter().zip(&arrangement.routes) {
            if network.tiers[0].contains(&line.source) {
                assert!(route.windows(2).all(|pair| pair[0].y <= pair[1].y), "{route:?}");
            }
        }
    }
}

#[test]
fn devices_of_one_tier_without_lines_between_them_are_a_row_of_their_container() {
    let (network, ..) = Network::racks(8, 2);
    let arrangement = arrange(&network.fixture.diagram);
    let spines = &network.tiers[0];
    assert!(spines.iter().all(|spine| top(&arrangement, *spine) == top(&arrangement, spines[0])));
}

#[test]
fn opened_core_is_a_row_above_the_closed_boxes() {
    let mut network = Network::default();
    let core = network.tier(SWITCH, 2);
    network.fixture.connect(core[0], core[1]);
    let boxes = network.tier(SWITCH, 8);
    network.connect_all(&core, &boxes);
    for of in &boxes {
        network.fixture.diagram.shapes[*of].devices = 37;
    }
    let opened = network.contain(&core);
    let arrangement = arrange(&network.fixture.diagram);
    assert_clean(&network.fixture.diagram, &arrangement);
    assert_eq!(top(&arrangement, core[0]), top(&arrangement, core[1]));
    assert!(boxes.iter().all(|of| top(&arrangement, *of) > bottom(&arrangement, opened)));
}

#[test]
fn opened_box_is_beside_the_closed_ones_below_the_core() {
    for closed in [2, 7] {
        let mut network = Network::default();
        let core = network.tier(SWITCH, 1)[0];
        let boxes = network.tier(SWITCH, closed);
        network.connect_all(&[core], &boxes);
        for of in &boxes {
            network.fixture.diagram.shapes[*of].devices = 37;
        }
        let pair = network.tier(SWITCH, 2);
        network.connect_all(&[core], &pair);
        let access = network.tier(SWITCH, 5);
        network.connect_all(&pair, &access);
        network.devices(&access, 6);
        let inside: Vec<usize> = (pair[0]..network.fixture.diagram.shapes.len()).collect();
        let opened = network.contain(&inside);
        let diagram = &network.fixture.diagram;
        let arrangement = arrange(diagram);
        assert_clean(diagram, &arrangement);
        let highest = boxes.iter().map(|of| top(&arrangement, *of)).min();
        assert_eq!(highest, Some(top(&arrangement, opened)));
        assert!(highest > Some(bottom(&arrangement, core)));
        let lowest = boxes.iter().map(|of| bottom(&arrangement, *of)).max();
        assert!(lowest < highest.map(|top| top + 60 * closed as i64), "boxes are near each other");
        assert!(top(&arrangement, pair[0]) < top(&arrangement, access[0]));
    }
}

#[test]
fn connected_data_centers_are_side_by_side() {
    let network = stretched(3);
    let mut contained = stretched(3);
    let centers: Vec<usize> = (0..3)
        .map(|center| {
            let size = network.fixture.diagram.shapes.len() / 3;
            let shapes: Vec<usize> = (center * size..(center + 1) * size).collect();
            contained.contain(&shapes)
        })
        .collect();
    let arrangement = arrange(&contained.fixture.diagram);
    assert!(overlaps(&contained.fixture.diagram, &arrangement).is_empty());
    assert!(escapes(&contained.fixture.diagram, &arrangement).is_empty());
    assert!(centers.iter().all(|center| top(&arrangement, *center) == top(&arrangement, centers[0])));
    // The same without containers.
    for diagram in network.with_fewer_roles() {
        let arrangement = arrange(&diagram);
        let cores = network.tiers.iter().step_by(2).flatten();
        let heights: Vec<i64> = cores.map(|core| top(&arrangement, *core)).collect();
        assert!(heights.iter().all(|height| *height == heights[0]), "{heights:?}");
    }
}

/// Returns data centers of two cores, which are linked with those of the next one, and of access switches with servers.
fn stretched(centers: usize) -> Network {
    let mut network = Network::default();
    for _ in 0..centers {
        let cores = network.tier(SWITCH, 2);
        network.fixture.connect(cores[0], cores[1]);
        let access = network.tier(SWITCH, 10);
        network.connect_all(&cores, &access);
        network.devices(&access, 3);
    }
    for center in 1..centers {
        for side in 0..2 {
            let [one, other] = [center - 1, center].map(|center| network.tiers[2 * center][side]);
            network.fixture.connect(one, other);
        }
    }
    network
}

#[test]
fn containers_in_a_ring_and_containers_of_a_mesh_have_no_overlaps() {
    for count in [2, 3, 6, 9] {
        let mut network = Network::ring(3 * count, 2);
        let switches = network.tiers[0].clone();
        let containers: Vec<usize> = switches.chunks(3).map(|chunk| network.contain(chunk)).collect();
        let diagram = &network.fixture.diagram;
        let arrangement = arrange(diagram);
        assert!(overlaps(diagram, &arrangement).is_empty(), "{count}");
        assert!(escapes(diagram, &arrangement).is_empty(), "{count}");
        assert_eq!(containers.len(), count);
    }
    let mut mesh = Network { fixture: Fixture::mesh(12), tiers: Vec::new() };
    mesh.contain(&[0, 1, 2, 3]);
    mesh.contain(&[4, 5, 6]);
    let arrangement = arrange(&mesh.fixture.diagram);
    assert!(overlaps(&mesh.fixture.diagram, &arrangement).is_empty());
    assert!(escapes(&mesh.fixture.diagram, &arrangement).is_empty());
}

#[test]
fn unknown_device_that_is_alone_without_leaves_is_above_the_core() {
    let mut network = Network::default();
    let cores: Vec<usize> = (0..2).map(|_| network.fixture.shape(None)).collect();
    network.fixture.connect(cores[0], cores[1]);
    let (router, access) = (network.fixture.shape(None), network.tier(SWITCH, 6));
    network.connect_all(&cores, &[router]);
    network.connect_all(&cores, &access);
    network.devices(&access, 3);
    let arrangement = arrange(&network.fixture.diagram);
    assert!(bottom(&arrangement, router) < top(&arrangement, cores[0]));
    // A switch without known devices is one of the access switches.
    network.fixture.diagram.shapes[router].rank = Some(SWITCH);
    let arrangement = arrange(&network.fixture.diagram);
    assert!(top(&arrangement, router) > bottom(&arrangement, cores[0]));
}
