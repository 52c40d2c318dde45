//! Networks with tiers: rows, whatever roles are known.

use std::collections::BTreeSet;

use toposcope::topology::layout::{
    AddressScope, Arrangement, Connection, Diagram, Label, LineEnd, Point, Rect, Size, arrange, place_labels,
};

use super::fixture::{Fixture, overlaps, passages};
use super::networks::{ACCESS_POINT, DEVICE, FIREWALL, INTERNET, Network, ROUTER, SWITCH};

impl Network {
    /// Returns the heights of each tier.
    fn heights(&self, arrangement: &Arrangement) -> Vec<BTreeSet<i64>> {
        let heights = |tier: &Vec<usize>| tier.iter().map(|shape| height(arrangement, *shape)).collect();
        self.tiers.iter().map(heights).collect()
    }

    #[track_caller]
    pub(super) fn assert_tiers(&self, diagram: &Diagram) {
        let heights = self.heights(&arrange(diagram));
        // In a wide network, every other switch of a tier is lower.
        assert!(heights.iter().all(|heights| (1..=2).contains(&heights.len())), "{heights:?}");
        assert!(
            heights.windows(2).all(|pair| pair[0].last() < pair[1].first()),
            "tiers are not below each other: {heights:?}"
        );
    }
}

/// Returns the height of a shape's center, in pixels.
fn height(arrangement: &Arrangement, shape: usize) -> i64 {
    let rect = arrangement.shapes[shape];
    (rect.y + rect.height / 2.0).round() as i64
}

#[test]
fn each_tier_has_one_height_below_the_one_above_with_any_roles() {
    for network in Network::all() {
        for diagram in network.with_fewer_roles() {
            network.assert_tiers(&diagram);
        }
    }
}

#[test]
fn tiers_have_no_overlaps_and_no_lines_through_shapes() {
    for network in Network::all() {
        let arrangement = arrange(&network.fixture.diagram);
        assert!(overlaps(&network.fixture.diagram, &arrangement).is_empty());
        assert!(passages(&network.fixture.diagram, &arrangement).is_empty());
    }
}

#[test]
fn lines_between_tiers_share_no_ends() {
    let network = Network::fabric(4, 12, 0);
    let arrangement = arrange(&network.fixture.diagram);
    let ends = |route: &Vec<Point>| {
        [route.first(), route.last()].map(|point| point.map(|point| (point.x.to_bits(), point.y.to_bits())))
    };
    let distinct: BTreeSet<_> = arrangement.routes.iter().flat_map(ends).collect();
    assert_eq!(distinct.len(), 2 * arrangement.routes.len());
}

#[test]
fn labels_of_all_lines_between_tiers_have_room() {
    for mut network in [Network::fabric(4, 12, 0), Network::pods(), Network::campus(0)] {
        for connection in &mut network.fixture.diagram.connections {
            connection.label_widths = [40.0; 2];
        }
        let diagram = &network.fixture.diagram;
        let arrangement = arrange(diagram);
        let is_vertical = |line: &usize| {
            let [source, target] = [diagram.connections[*line].source, diagram.connections[*line].target];
            height(&arrangement, source) != height(&arrangement, target)
                && [source, target].iter().all(|end| diagram.shapes[*end].rank != Some(DEVICE))
        };
        let labels: Vec<Label> = (0..diagram.connections.len())
            .filter(is_vertical)
            .flat_map(|connection| {
                let size = Size::new(40.0, 12.0);
                [LineEnd::Source, LineEnd::Target].map(|end| Label { connection, end, size })
            })
            .collect();
        let placed = place_labels(diagram, &arrangement, &labels);
        assert!(placed.iter().all(Option::is_some), "{placed:?}");
    }
}

#[test]
fn many_lines_between_tiers_have_more_room_while_devices_cover_enough_of_the_page() {
    let room = |spines, leaves| {
        let mut network = Network::fabric(spines, leaves, 0);
        for connection in &mut network.fixture.diagram.connections {
            connection.label_widths = [40.0; 2];
        }
        let arrangement = arrange(&network.fixture.diagram);
        let shapes = arrangement.shapes.iter();
        let covered: f64 = shapes.clone().map(|shape| shape.width * shape.height).sum();
        let extent = |low: fn(&Rect) -> f64, high: fn(&Rect) -> f64| {
            shapes.clone().map(high).fold(f64::MIN, f64::max)
                - shapes.clone().map(low).fold(f64::MAX, f64::min)
        };
        let page = extent(|shape| shape.x, |shape| shape.x + shape.width)
            * extent(|shape| shape.y, |shape| shape.y + shape.height);
        assert!(covered >= 0.12 * page, "{covered} of {page}");
        let [spine, leaf] = [0, 1].map(|tier| arrangement.shapes[network.tiers[tier][0]]);
        leaf.y - spine.y - spine.height
    };
    let [small, large] = [room(2, 8), room(8, 32)];
    assert!(large > small + 100.0, "{small} {large}");
}

#[test]
fn devices_are_below_their_switches() {
    let network = Network::campus(9);
    let arrangement = arrange(&network.fixture.diagram);
    for connection in &network.fixture.diagram.connections {
        if network.fixture.diagram.shapes[connection.target].rank == Some(DEVICE) {
            assert!(height(&arrangement, connection.target) > height(&arrangement, connection.source));
        }
    }
}

#[test]
fn rows_of_an_empty_page_have_every_other_shape_lower_and_cover_more_of_it() {
    let mut network = Network::campus(0);
    network.devices(&network.tiers[5].clone(), 1);
    let diagram = &network.fixture.diagram;
    let arrangement = arrange(diagram);
    let counts: Vec<usize> = network.heights(&arrangement).iter().map(BTreeSet::len).collect();
    assert_eq!(counts, [1, 1, 1, 1, 1, 2]);
    assert!(overlaps(diagram, &arrangement).is_empty());
    assert!(passages(diagram, &arrangement).is_empty());
    // Each of two neighbors in the row has room above or below the other.
    let mut access: Vec<f64> = network.tiers[5].iter().map(|shape| arrangement.shapes[*shape].x).collect();
    access.sort_by(f64::total_cmp);
    assert!(access.windows(2).any(|pair| pair[1] - pair[0] < 100.0), "{access:?}");
}

#[test]
fn lower_shapes_stand_in_no_line_to_the_tier_below() {
    for (servers, leaves) in (1..6).flat_map(|servers| (2..12).map(move |leaves| (servers, leaves))) {
        let mut network = Network::default();
        let [provider, router, firewall] = [ROUTER, ROUTER, FIREWALL].map(|rank| network.tier(rank, 1)[0]);
        let core = network.tier(SWITCH, 2);
        network.fixture.connect(provider, router);
        network.fixture.connect(router, firewall);
        network.connect_all(&[firewall], &core);
        network.fixture.connect(core[0], core[1]);
        let beside: Vec<usize> = (0..servers).map(|_| network.fixture.shape(Some(DEVICE))).collect();
        let switches = [network.fixture.shape(Some(SWITCH)), network.fixture.shape(Some(SWITCH))];
        network.connect_all(&core, &beside);
        network.connect_all(&core, &switches);
        network.devices(&switches, leaves);
        let arrangement = arrange(&network.fixture.diagram);
        assert!(passages(&network.fixture.diagram, &arrangement).is_empty());
        // A line around a shape begins obliquely, and has corners.
        let is_straight = |pair: &[Point]| pair[0].x == pair[1].x || pair[0].y == pair[1].y;
        let around =
            arrangement.routes.iter().filter(|route| route.len() > 2 && !is_straight(&route[..2])).count();
        assert_eq!(around, 0, "{servers} servers beside switches with {leaves} leaves");
    }
}

#[test]
fn data_centers_with_few_access_switches_in_a_line_are_side_by_side() {
    for centers in [3, 4] {
        let mut network = Network::default();
        let cores: Vec<Vec<usize>> = (0..centers).map(|_| network.tier(SWITCH, 2)).collect();
        for pair in &cores {
            network.fixture.connect(pair[0], pair[1]);
            let access: Vec<usize> = (0..5).map(|_| network.fixture.shape(Some(SWITCH))).collect();
            network.connect_all(pair, &access);
            network.devices(&access, 3);
        }
        for pair in cores.windows(2) {
            network.fixture.connect(pair[0][0], pair[1][0]);
            network.fixture.connect(pair[0][1], pair[1][1]);
        }
        for diagram in network.with_fewer_roles() {
            let arrangement = arrange(&diagram);
            let heights: BTreeSet<i64> =
                cores.iter().flatten().map(|core| height(&arrangement, *core)).collect();
            assert_eq!(heights.len(), 1, "{centers} centers: {heights:?}");
        }
    }
}

#[test]
fn missing_link_does_not_tear_a_fabric() {
    let mut network = Network::fabric(4, 12, 2);
    network.fixture.diagram.connections.remove(17);
    network.assert_tiers(&network.fixture.diagram.clone());
}

#[test]
fn missing_and_extra_links_do_not_tear_a_campus() {
    let mut network = Network::campus(3);
    let (core, distribution) = (network.tiers[3].clone(), network.tiers[4].clone());
    let joins = |line: &Connection, one, other| {
        (line.source, line.target) == (one, other) || (line.source, line.target) == (other, one)
    };
    let missing = |line: &Connection| {
        joins(line, core[0], distribution[1]) || joins(line, distribution[4], network.tiers[5][9])
    };
    network.fixture.diagram.connections.retain(|line| !missing(line));
    network.fixture.connect(distribution[1], distribution[2]);
    for diagram in network.with_fewer_roles() {
        network.assert_tiers(&diagram);
    }
}

#[test]
fn cable_between_two_buildings_leaves_the_tiers_as_they_are() {
    // Access switches of neighboring and of other buildings, and distribution switches.
    for (tier, one, other) in [(5, 3, 4), (5, 1, 10), (5, 0, 8), (4, 1, 2), (4, 0, 5)] {
        for workstations in [0, 3] {
            let mut network = Network::campus(workstations);
            let [one, other] = [one, other].map(|place| network.tiers[tier][place]);
            network.fixture.connect(one, other);
            for diagram in network.with_fewer_roles() {
                network.assert_tiers(&diagram);
                let arrangement = arrange(&diagram);
                assert!(passages(&diagram, &arrangement).is_empty(), "{one} {other}");
            }
        }
    }
}

#[test]
fn access_switch_below_two_buildings_leaves_the_tiers_as_they_are() {
    let mut network = Network::campus(3);
    let switch = network.fixture.shape(Some(SWITCH));
    let distribution = network.tiers[4].clone();
    network.fixture.connect(distribution[1], switch);
    network.fixture.connect(distribution[4], switch);
    network.devices(&[switch], 3);
    network.tiers[5].push(switch);
    for diagram in network.with_fewer_roles() {
        network.assert_tiers(&diagram);
    }
}

/// Two providers, two outer switches, two firewalls, two inner switches, and four access switches. Each device of a pair has a line to one
/// of the next pair, and each access switch to both inner switches.
fn pairs_one_below_another(is_with_servers: bool) -> Network {
    let mut network = Network::default();
    let providers = network.tier(ROUTER, 2);
    let outer = network.tier(SWITCH, 2);
    let firewalls = network.tier(FIREWALL, 2);
    let inner = network.tier(SWITCH, 2);
    for (upper, lower) in [(&providers, &outer), (&outer, &firewalls), (&firewalls, &inner)] {
        network.fixture.connect(lower[0], lower[1]);
        for (one, other) in upper.iter().zip(lower) {
            network.fixture.connect(*one, *other);
        }
    }
    for provider in providers {
        network.fixture.diagram.shapes[provider].addresses = AddressScope::Public;
    }
    let access = network.tier(SWITCH, 4);
    network.connect_all(&inner, &access);
    network.devices(&access, 3);
    if is_with_servers {
        let servers = network.fixture.shape(Some(SWITCH));
        network.connect_all(&firewalls, &[servers]);
        network.devices(&[servers], 4);
    }
    network
}

#[test]
fn pairs_whose_lines_run_one_to_one_are_one_below_another() {
    let network = pairs_one_below_another(false);
    for diagram in network.with_fewer_roles() {
        network.assert_tiers(&diagram);
    }
    let with_servers = pairs_one_below_another(true);
    with_servers.assert_tiers(&with_servers.fixture.diagram);
}

#[test]
fn router_of_a_chain_with_a_branch_is_on_top() {
    for (switches, branch) in [(3, 1), (4, 2), (6, 3)] {
        let mut network = Network::default();
        let router = network.tier(ROUTER, 1);
        let mut above = router[0];
        let mut chain = Vec::new();
        for _ in 0..switches {
            let switch = network.fixture.shape(Some(SWITCH));
            network.fixture.connect(above, switch);
            chain.push(switch);
            above = switch;
        }
        let beside = network.fixture.shape(Some(SWITCH));
        network.fixture.connect(chain[branch], beside);
        network.devices(&chain, 2);
        network.devices(&[beside], 3);
        let arrangement = arrange(&network.fixture.diagram);
        let heights: Vec<i64> =
            router.iter().chain(&chain).map(|shape| height(&arrangement, *shape)).collect();
        assert!(heights.windows(2).all(|pair| pair[0] < pair[1]), "{heights:?}");
    }
}

#[test]
fn router_at_an_access_switch_of_a_small_campus_is_not_on_top() {
    let mut network = Network::default();
    let core = network.tier(SWITCH, 1);
    let distribution = network.tier(SWITCH, 2);
    let access = network.tier(SWITCH, 4);
    network.connect_all(&core, &distribution);
    for (above, below) in distribution.iter().zip(access.chunks(2)) {
        network.connect_all(&[*above], below);
    }
    let router = network.fixture.shape(Some(ROUTER));
    network.fixture.connect(access[0], router);
    network.devices(&core, 6);
    network.devices(&access, 3);
    network.assert_tiers(&network.fixture.diagram);
}

#[test]
fn two_pairs_of_which_each_device_is_connected_with_all_others_are_two_tiers() {
    let mut network = Network::default();
    let provider = network.fixture.shape(Some(INTERNET));
    let routers = network.tier(ROUTER, 2);
    let switches = network.tier(SWITCH, 2);
    network.connect_all(&[provider], &routers);
    network.connect_all(&routers, &switches);
    for pair in [&routers, &switches] {
        network.fixture.connect(pair[0], pair[1]);
    }
    for router in &routers {
        let further = network.fixture.shape(Some(INTERNET));
        network.fixture.connect(*router, further);
    }
    network.devices(&switches, 5);
    network.assert_tiers(&network.fixture.diagram);
}

#[test]
fn wrong_role_does_not_change_the_tiers() {
    for (network, shape) in [(Network::fabric(4, 12, 2), 1), (Network::fabric(4, 12, 2), 9)] {
        for rank in [ROUTER, FIREWALL, DEVICE] {
            let mut diagram = network.fixture.diagram.clone();
            diagram.shapes[shape].rank = Some(rank);
            network.assert_tiers(&diagram);
        }
    }
    // A workstation that is taken for a router.
    let network = Network::campus(3);
    let mut diagram = network.fixture.diagram.clone();
    diagram.shapes.last_mut().unwrap().rank = Some(ROUTER);
    network.assert_tiers(&diagram);
}

#[test]
fn one_leaf_more_moves_no_shape_by_more_than_its_width() {
    for mut network in Network::all() {
        let before = arrange(&network.fixture.diagram);
        let switch = *network.tiers.last().unwrap().last().unwrap();
        network.devices(&[switch], 1);
        let after = arrange(&network.fixture.diagram);
        let mut moves: Vec<(f64, f64)> = before
            .shapes
            .iter()
            .zip(&after.shapes)
            .map(|(one, other)| (other.x - one.x, other.y - one.y))
            .collect();
        moves.sort_by(|one, other| one.0.total_cmp(&other.0));
        let shift = moves[moves.len() / 2].0;
        assert!(moves.iter().all(|(x, y)| (x - shift).abs() + y.abs() < 200.0), "{moves:?}");
    }
}

#[test]
fn first_device_that_is_known_turns_no_pod_upside_down() {
    for (pods, upper, lower) in [(2, 4, 10), (10, 2, 2), (3, 2, 2), (5, 2, 4)] {
        let mut network = Network::bare_pods(pods, upper, lower);
        network.assert_tiers(&network.fixture.diagram);
        let switch = *network.tiers[2].last().unwrap();
        network.devices(&[switch], 1);
        for diagram in network.with_fewer_roles() {
            network.assert_tiers(&diagram);
        }
    }
}

#[test]
fn order_of_shapes_and_connections_does_not_change_tiers() {
    for network in Network::all() {
        let diagram = &network.fixture.diagram;
        let last = diagram.shapes.len() - 1;
        let reversed = Diagram {
            shapes: diagram.shapes.iter().rev().cloned().collect(),
            connections: diagram
                .connections
                .iter()
                .rev()
                .map(|line| Connection::new(line.id, last - line.source, last - line.target))
                .collect(),
        };
        let mut arrangement = arrange(&reversed);
        arrangement.shapes.reverse();
        arrangement.routes.reverse();
        assert_eq!(arrangement, arrange(diagram));
    }
}

#[test]
fn ring_is_a_circle_that_runs_clockwise_from_the_top() {
    for devices in [0, 3] {
        let network = Network::ring(12, devices);
        for diagram in network.with_fewer_roles() {
            let arrangement = arrange(&diagram);
            assert!(overlaps(&diagram, &arrangement).is_empty());
            assert!(passages(&diagram, &arrangement).is_empty());
            let centers: Vec<(f64, f64)> = arrangement.shapes[..12]
                .iter()
                .map(|rect| (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0))
                .collect();
            let (x, y) =
                centers.iter().fold((0.0, 0.0), |sum, at| (sum.0 + at.0 / 12.0, sum.1 + at.1 / 12.0));
            assert!(centers[0].1 < y && (centers[0].0 - x).abs() < 1.0, "{centers:?}");
            assert!(centers[3].0 > x && centers[6].1 > y && centers[9].0 < x, "{centers:?}");
            let radii: Vec<f64> = centers.iter().map(|at| (at.0 - x).hypot(at.1 - y)).collect();
            assert!(radii.iter().all(|radius| (radius / radii[0] - 1.0).abs() < 0.02), "{radii:?}");
        }
    }
}

#[test]
fn chain_is_drawn_in_rows_without_waste() {
    let network = chain(40, 2);
    for diagram in network.with_fewer_roles() {
        let arrangement = arrange(&diagram);
        assert!(overlaps(&diagram, &arrangement).is_empty());
        assert!(passages(&diagram, &arrangement).is_empty());
        let nodes: f64 = arrangement.shapes.iter().map(|rect| rect.width * rect.height).sum();
        assert!(arrangement.bounds.width * arrangement.bounds.height < 12.0 * nodes);
    }
}

#[test]
fn mesh_is_not_drawn_in_tiers() {
    let fixture = Fixture::mesh(12);
    let arrangement = arrange(&fixture.diagram);
    let heights: BTreeSet<i64> =
        (0..fixture.diagram.shapes.len()).map(|shape| height(&arrangement, shape)).collect();
    assert!(heights.len() > 10, "{heights:?}");
}

#[test]
fn hub_of_a_star_is_above_its_leaves() {
    let mut network = Network::default();
    let hub = network.tier(SWITCH, 1);
    network.devices(&hub, 40);
    for diagram in network.with_fewer_roles() {
        let arrangement = arrange(&diagram);
        assert!((1..=40).all(|leaf| height(&arrangement, leaf) > height(&arrangement, 0)));
        assert!(overlaps(&diagram, &arrangement).is_empty());
    }
}

#[test]
fn router_and_firewall_of_a_star_are_above_its_hub() {
    let mut network = Network::default();
    let hub = network.tier(SWITCH, 1)[0];
    network.devices(&[hub], 12);
    let [router, firewall] = [ROUTER, FIREWALL].map(|rank| network.fixture.shape(Some(rank)));
    network.fixture.connect(hub, router);
    network.fixture.connect(hub, firewall);
    let arrangement = arrange(&network.fixture.diagram);
    assert!(height(&arrangement, router) < height(&arrangement, hub));
    assert!(height(&arrangement, firewall) < height(&arrangement, hub));
}

/// A network of one core switch with its router, its firewall and two access switches, which have devices. A server may have links to both
/// of these, and the router may have one to the firewall.
fn small_core(are_routers_connected: bool, has_server: bool) -> (Network, [usize; 6]) {
    let mut network = Network::default();
    let [core, one, other] = [(); 3].map(|()| network.fixture.shape(Some(SWITCH)));
    let [firewall, router] = [FIREWALL, ROUTER].map(|rank| network.fixture.shape(Some(rank)));
    let [server, single, monitor] = [(); 3].map(|()| network.fixture.shape(Some(DEVICE)));
    for (from, to) in [
        (core, one),
        (core, other),
        (core, firewall),
        (core, router),
        (core, monitor),
        (one, server),
        (one, single),
    ] {
        network.fixture.connect(from, to);
    }
    if are_routers_connected {
        network.fixture.connect(firewall, router);
    }
    if has_server {
        network.fixture.connect(other, server);
    }
    (network, [core, one, other, firewall, router, server])
}

#[test]
fn router_and_firewall_are_above_their_only_switch_and_access_switches_below_it() {
    for (are_routers_connected, has_server) in [(false, false), (false, true), (true, false), (true, true)] {
        let (network, [core, one, other, firewall, router, server]) =
            small_core(are_routers_connected, has_server);
        let arrangement = arrange(&network.fixture.diagram);
        let heights = [firewall, core, one, server].map(|shape| height(&arrangement, shape));
        assert!(
            heights.is_sorted_by(|upper, lower| upper < lower),
            "{are_routers_connected} {has_server}: {heights:?}"
        );
        assert!(height(&arrangement, router) < height(&arrangement, core));
        assert!(height(&arrangement, other) > height(&arrangement, core));
    }
}

#[test]
fn router_at_the_end_of_a_line_of_access_switches_is_above_all_of_them() {
    for (devices, has_public_address) in
        [([2, 3, 5], false), ([2, 5, 2], true), ([1, 1, 1], false), ([3, 9, 1], true)]
    {
        let mut network = Network::default();
        let router = network.tier(ROUTER, 1);
        let switches = [SWITCH; 3].map(|rank| network.tier(rank, 1)[0]);
        network.fixture.connect(router[0], switches[0]);
        network.fixture.connect(switches[0], switches[1]);
        network.fixture.connect(switches[1], switches[2]);
        for (switch, devices) in switches.into_iter().zip(devices) {
            network.devices(&[switch], devices);
        }
        if has_public_address {
            network.fixture.diagram.shapes[router[0]].addresses = AddressScope::Public;
        }
        network.assert_tiers(&network.fixture.diagram);
    }
}

#[test]
fn cores_with_servers_of_their_own_stay_above_their_access_switches() {
    // Two cores with a router at both, and a core with a router at one of its access switches.
    for (cores, access) in [(2, 6), (1, 20)] {
        let mut network = Network::default();
        let core = network.tier(SWITCH, cores);
        let below = network.tier(SWITCH, access);
        network.connect_all(&core, &below);
        network.devices(&below, 10);
        network.devices(&core[..1], 1);
        let router = network.fixture.shape(Some(ROUTER));
        network.connect_all(&[router], if cores == 2 { &core } else { &below[7..8] });
        network.assert_tiers(&network.fixture.diagram);
    }
}

#[test]
fn smaller_of_two_tiers_is_on_top_whatever_their_names() {
    for (upper, lower) in [(2, 3), (3, 4), (4, 6)] {
        let mut network = Network::default();
        let below = network.tier(SWITCH, lower);
        let above = network.tier(SWITCH, upper);
        network.connect_all(&above, &below);
        network.tiers.reverse();
        network.assert_tiers(&network.fixture.diagram);
    }
}

#[test]
fn core_above_distribution_switches_is_on_top_in_a_small_network() {
    for access in [2, 3, 6] {
        let mut network = Network::default();
        let rows = [2, 2, access].map(|count| network.tier(SWITCH, count));
        network.fixture.connect(rows[0][0], rows[0][1]);
        network.fixture.connect(rows[1][0], rows[1][1]);
        network.connect_all(&rows[0], &rows[1]);
        network.connect_all(&rows[1], &rows[2]);
        network.devices(&rows[2], 10);
        network.assert_tiers(&network.fixture.diagram);
    }
}

#[test]
fn routers_that_are_all_linked_with_each_other_are_above_their_switches() {
    for (routers, switches) in [(3, 4), (4, 4), (4, 5)] {
        let mut network = Network::default();
        let above = network.tier(ROUTER, routers);
        let below = network.tier(SWITCH, switches);
        for (place, one) in above.iter().enumerate() {
            above[place + 1..].iter().for_each(|other| network.fixture.connect(*one, *other));
        }
        network.connect_all(&above, &below);
        network.devices(&below, 2);
        let arrangement = arrange(&network.fixture.diagram);
        let lowest = above.iter().map(|shape| height(&arrangement, *shape)).max();
        assert!(below.iter().all(|shape| Some(height(&arrangement, *shape)) > lowest), "{routers} routers");
    }
}

#[test]
fn switch_with_the_router_is_above_its_access_point() {
    let mut network = Network::default();
    let switch = network.tier(SWITCH, 1)[0];
    let access_point = network.tier(ACCESS_POINT, 1)[0];
    let router = network.fixture.shape(Some(ROUTER));
    network.fixture.connect(switch, access_point);
    network.fixture.connect(router, switch);
    network.devices(&[switch], 3);
    network.devices(&[access_point], 5);
    let arrangement = arrange(&network.fixture.diagram);
    assert!(height(&arrangement, router) < height(&arrangement, switch));
    assert!(height(&arrangement, switch) < height(&arrangement, access_point));
}

#[test]
fn sites_of_two_hubs_are_in_one_row_even_if_some_have_a_link_to_one_hub_only() {
    for single in 1..=6 {
        let mut network = Network::default();
        let hubs = network.tier(ROUTER, 2);
        let sites = network.tier(ROUTER, 6 + single);
        for (number, site) in sites.iter().enumerate() {
            // Every other one of the first sites has both links, and all beyond them.
            let is_single = number < 2 * single && number % 2 == 0;
            let hubs = if is_single { &hubs[number / 2 % 2..][..1] } else { &hubs[..] };
            network.connect_all(hubs, &[*site]);
        }
        let switches = network.tier(SWITCH, sites.len());
        sites.iter().zip(&switches).for_each(|(site, switch)| network.fixture.connect(*site, *switch));
        network.devices(&switches, 2);
        for diagram in network.with_fewer_roles() {
            network.assert_tiers(&diagram);
        }
        // The switches of a data center, each at one hub.
        let center = [(); 2].map(|()| network.fixture.shape(Some(SWITCH)));
        network.tiers[1].extend(center);
        network.devices(&center, 3);
        for (one, other) in
            [(hubs[0], center[0]), (hubs[1], center[1]), (center[0], center[1]), (hubs[0], hubs[1])]
        {
            network.fixture.connect(one, other);
        }
        for diagram in network.with_fewer_roles() {
            network.assert_tiers(&diagram);
        }
    }
}

/// Returns a chain of switches with this many devices at each.
fn chain(switches: usize, devices: usize) -> Network {
    let mut network = Network::default();
    let chain = network.tier(SWITCH, switches);
    chain.windows(2).for_each(|pair| network.fixture.connect(pair[0], pair[1]));
    network.devices(&chain, devices);
    network
}

#[test]
fn many_routers_and_many_public_addresses_are_no_way_out() {
    let mut routers = Network::default();
    let hub = routers.tier(SWITCH, 1)[0];
    let mut servers = Network::default();
    servers.tier(SWITCH, 1);
    for number in 0..400 {
        let router = routers.fixture.shape(Some(ROUTER));
        routers.fixture.connect(hub, router);
        let server = servers.fixture.shape(None);
        servers.fixture.connect(hub, server);
        if number % 4 == 0 {
            servers.fixture.diagram.shapes[server].addresses = AddressScope::Public;
        }
    }
    for network in [routers, servers] {
        let arrangement = arrange(&network.fixture.diagram);
        assert!((1..=400).all(|leaf| height(&arrangement, leaf) > height(&arrangement, hub)));
        assert!(arrangement.bounds.width < 4.0 * arrangement.bounds.height, "{:?}", arrangement.bounds);
    }
}

#[test]
fn rings_and_chains_of_crowded_switches_have_no_overlaps_and_no_lines_through_shapes() {
    for devices in [1, 9, 12, 13] {
        // One crowded switch among others.
        let mut uneven = Network::ring(6, 2);
        let crowded = uneven.tiers[0][3];
        uneven.devices(&[crowded], devices);
        for network in [Network::ring(8, devices), chain(8, devices), uneven, chain(5, 4 * devices)] {
            let diagram = &network.fixture.diagram;
            let arrangement = arrange(diagram);
            assert!(overlaps(diagram, &arrangement).is_empty(), "{devices}");
            assert!(passages(diagram, &arrangement).is_empty(), "{devices}");
        }
    }
}

#[test]
fn chain_of_crowded_switches_is_no_strip() {
    for (switches, devices) in [(5, 3), (8, 2), (8, 9), (8, 12), (8, 48), (20, 9)] {
        let bounds = arrange(&chain(switches, devices).fixture.diagram).bounds;
        let ratio = bounds.width / bounds.height;
        assert!((0.2..5.0).contains(&ratio), "{switches} switches with {devices} devices: {ratio}");
    }
}

#[test]
fn one_leaf_more_moves_no_switch_of_a_chain_by_more_than_its_width() {
    for (switches, devices) in [(5, 0), (6, 0), (12, 2), (40, 2)] {
        let mut network = chain(switches, devices);
        let before = arrange(&network.fixture.diagram);
        network.devices(&[switches - 1], 1);
        network.fixture.diagram.connections.last_mut().unwrap().label_widths = [60.0; 2];
        let after = arrange(&network.fixture.diagram);
        let middle = |of: fn(&Point) -> f64| {
            let moves = before
                .shapes
                .iter()
                .zip(&after.shapes)
                .map(|(one, other)| of(&Point::new(other.x - one.x, other.y - one.y)));
            let moves: Vec<f64> = moves.collect();
            let extreme = |extreme: fn(f64, f64) -> f64| moves.iter().copied().reduce(extreme).unwrap();
            (extreme(f64::max) - extreme(f64::min)) / 2.0
        };
        let (x, y) = (middle(|by| by.x), middle(|by| by.y));
        assert!(x.hypot(y) <= 80.0, "{switches} switches: {x}, {y}");
    }
}

#[test]
fn router_at_the_end_of_a_chain_is_above_it_and_does_not_change_its_rows() {
    let heights = |rank: u8| {
        let mut network = chain(40, 2);
        let router = network.fixture.shape(Some(rank));
        network.fixture.connect(0, router);
        let arrangement = arrange(&network.fixture.diagram);
        let rows: Vec<i64> = (0..40).map(|switch| height(&arrangement, switch)).collect();
        assert_eq!(height(&arrangement, router) < rows[0], rank == ROUTER);
        rows.into_iter().map(|row| row - height(&arrangement, 0)).collect::<Vec<_>>()
    };
    assert_eq!(heights(ROUTER), heights(DEVICE));
}

#[test]
fn short_path_with_leaves_is_no_chain() {
    let mut network = Network::default();
    let path = network.tier(SWITCH, 3);
    path.windows(2).for_each(|pair| network.fixture.connect(pair[0], pair[1]));
    network.devices(&path[2..], 6);
    let arrangement = arrange(&network.fixture.diagram);
    assert!(height(&arrangement, path[2]) != height(&arrangement, path[0]));
}

#[test]
fn many_leaves_of_a_fabric_are_in_one_row() {
    let mut network = Network::fabric(8, 64, 0);
    for connection in &mut network.fixture.diagram.connections {
        connection.label_widths = [40.0; 2];
    }
    network.assert_tiers(&network.fixture.diagram.clone());
}

#[test]
fn cores_of_two_data_centers_are_side_by_side() {
    let mut network = Network::default();
    let cores = network.tier(SWITCH, 4);
    let access = network.tier(SWITCH, 12);
    for (center, access) in access.chunks(6).enumerate() {
        let pair = &cores[2 * center..][..2];
        network.fixture.connect(pair[0], pair[1]);
        network.connect_all(pair, access);
    }
    network.fixture.connect(cores[0], cores[2]);
    network.fixture.connect(cores[1], cores[3]);
    network.devices(&access, 3);
    for diagram in network.with_fewer_roles() {
        network.assert_tiers(&diagram);
        let arrangement = arrange(&diagram);
        assert!(passages(&diagram, &arrangement).is_empty());
    }
}

#[test]
fn labels_of_leaves_in_a_grid_are_beside_their_own_leaf() {
    let mut network = Network::default();
    let core = network.tier(SWITCH, 1);
    let access = network.tier(SWITCH, 6);
    network.connect_all(&core, &access);
    network.devices(&access, 7);
    for shape in &mut network.fixture.diagram.shapes {
        shape.label_width = 40.0;
    }
    let diagram = &network.fixture.diagram;
    let arrangement = arrange(diagram);
    for (connection, line) in diagram.connections.iter().enumerate() {
        if diagram.shapes[line.target].rank == Some(DEVICE) {
            let leaf = arrangement.shapes[line.target];
            for end in [LineEnd::Source, LineEnd::Target] {
                let label = Label { connection, end, size: Size::new(40.0, 12.0) };
                let [place] = place_labels(diagram, &arrangement, &[label]).try_into().unwrap();
                let place = place.unwrap();
                assert!(
                    leaf.y <= place.y && place.y + place.height <= leaf.y + leaf.height,
                    "{place:?}, {leaf:?}"
                );
            }
        }
    }
}
