//! Networks with known tiers.

use toposcope::topology::layout::{AddressScope, Diagram};

use super::fixture::Fixture;

pub(super) const INTERNET: u8 = 0;
pub(super) const ROUTER: u8 = 1;
pub(super) const FIREWALL: u8 = 2;
pub(super) const SWITCH: u8 = 3;
pub(super) const ACCESS_POINT: u8 = 4;
pub(super) const DEVICE: u8 = 5;

/// A network and its tiers from top to bottom. Devices at the lowest tier are not among them.
#[derive(Default)]
pub(super) struct Network {
    pub(super) fixture: Fixture,
    pub(super) tiers: Vec<Vec<usize>>,
}

impl Network {
    pub(super) fn tier(&mut self, rank: u8, count: usize) -> Vec<usize> {
        let shapes: Vec<usize> = (0..count).map(|_| self.fixture.shape(Some(rank))).collect();
        self.tiers.push(shapes.clone());
        shapes
    }

    pub(super) fn connect_all(&mut self, upper: &[usize], lower: &[usize]) {
        for (one, other) in upper.iter().flat_map(|one| lower.iter().map(move |other| (*one, *other))) {
            self.fixture.connect(one, other);
        }
    }

    pub(super) fn devices(&mut self, switches: &[usize], each: usize) {
        for switch in switches {
            for _ in 0..each {
                let device = self.fixture.shape(Some(DEVICE));
                self.fixture.connect(*switch, device);
            }
        }
    }

    /// Spines above leaves above servers.
    pub(super) fn fabric(spines: usize, leaves: usize, servers: usize) -> Self {
        let mut network = Self::default();
        let spines = network.tier(SWITCH, spines);
        let leaves = network.tier(SWITCH, leaves);
        network.connect_all(&spines, &leaves);
        network.devices(&leaves, servers);
        network
    }

    /// Two carriers, firewalls, a core, and three buildings of two distribution and four access switches each.
    pub(super) fn campus(workstations: usize) -> Self {
        let mut network = Self::default();
        let carriers = network.tier(ROUTER, 2);
        let edge = network.tier(ROUTER, 2);
        let firewalls = network.tier(FIREWALL, 2);
        let core = network.tier(SWITCH, 2);
        let (mut distribution, mut access) = (Vec::new(), Vec::new());
        network.fixture.connect(carriers[0], edge[0]);
        network.fixture.connect(carriers[1], edge[1]);
        network.connect_all(&edge, &firewalls);
        network.fixture.connect(firewalls[0], firewalls[1]);
        network.connect_all(&firewalls, &core);
        network.fixture.connect(core[0], core[1]);
        for _ in 0..3 {
            let pair = [SWITCH; 2].map(|rank| network.fixture.shape(Some(rank)));
            network.fixture.connect(pair[0], pair[1]);
            network.connect_all(&core, &pair);
            let below: Vec<usize> = (0..4).map(|_| network.fixture.shape(Some(SWITCH))).collect();
            network.connect_all(&pair, &below);
            network.devices(&below, workstations);
            distribution.extend(pair);
            access.extend(below);
        }
        network.tiers.extend([distribution, access]);
        for carrier in carriers {
            network.fixture.diagram.shapes[carrier].addresses = AddressScope::Public;
        }
        network
    }

    /// A provider without an address, and sites of a router, a switch and access switches.
    pub(super) fn wide_area(sites: usize) -> Self {
        let mut network = Self::default();
        let provider = network.tier(DEVICE, 1);
        network.fixture.diagram.shapes[provider[0]].addresses = AddressScope::Missing;
        network.fixture.diagram.shapes[provider[0]].rank = None;
        let routers = network.tier(ROUTER, sites);
        network.connect_all(&provider, &routers);
        let switches = network.tier(SWITCH, sites);
        let mut access = Vec::new();
        for (router, switch) in routers.iter().zip(&switches) {
            network.fixture.connect(*router, *switch);
            let below: Vec<usize> = (0..2).map(|_| network.fixture.shape(Some(SWITCH))).collect();
            network.connect_all(&[*switch], &below);
            network.devices(&below, 2);
            access.extend(below);
        }
        network.tiers.push(access);
        network
    }

    /// A fabric of four pods. Each core switch is connected to one of the two aggregation switches of each pod.
    pub(super) fn pods() -> Self {
        let mut network = Self::default();
        let core = network.tier(SWITCH, 4);
        let aggregation = network.tier(SWITCH, 8);
        let edge = network.tier(SWITCH, 8);
        for (aggregation, edge) in aggregation.chunks(2).zip(edge.chunks(2)) {
            network.connect_all(&core[..2], &aggregation[..1]);
            network.connect_all(&core[2..], &aggregation[1..]);
            network.connect_all(aggregation, edge);
        }
        network.devices(&edge, 2);
        network
    }

    /// Pods without end devices, below spines that are connected to all of their upper switches.
    pub(super) fn bare_pods(pods: usize, upper: usize, lower: usize) -> Self {
        let mut network = Self::default();
        let spines = network.tier(SWITCH, 2 * upper);
        let uppers = network.tier(SWITCH, pods * upper);
        let lowers = network.tier(SWITCH, pods * lower);
        network.connect_all(&spines, &uppers);
        for (uppers, lowers) in uppers.chunks(upper).zip(lowers.chunks(lower)) {
            network.connect_all(uppers, lowers);
        }
        network
    }

    /// A ring of switches, each of which closes a further ring with end devices.
    pub(super) fn ring_of_rings(rings: usize, switches: usize, devices: usize) -> Self {
        let mut network = Self::ring(rings, 0);
        for hub in network.tiers[0].clone() {
            let ring: Vec<usize> = (0..switches).map(|_| network.fixture.shape(Some(SWITCH))).collect();
            ring.windows(2).for_each(|pair| network.fixture.connect(pair[0], pair[1]));
            network.fixture.connect(hub, ring[0]);
            network.fixture.connect(ring[switches - 1], hub);
            network.devices(&ring, devices);
        }
        network
    }

    /// A core of two switches with a router, below it a ring that closes at both, a fabric and a building.
    pub(super) fn core_with_ring(switches: usize, devices: usize) -> Self {
        let mut network = Self::default();
        let router = network.tier(ROUTER, 1);
        let core = network.tier(SWITCH, 2);
        network.connect_all(&router, &core);
        network.fixture.connect(core[0], core[1]);
        let upper = network.tier(SWITCH, 4);
        let lower = network.tier(SWITCH, 8);
        network.connect_all(&core, &upper);
        for (upper, lower) in upper.chunks(2).zip(lower.chunks(4)) {
            network.connect_all(upper, lower);
        }
        let ring: Vec<usize> = (0..switches).map(|_| network.fixture.shape(Some(SWITCH))).collect();
        ring.windows(2).for_each(|pair| network.fixture.connect(pair[0], pair[1]));
        network.fixture.connect(core[0], ring[0]);
        network.fixture.connect(ring[switches - 1], core[1]);
        network.devices(&lower, 3);
        network.devices(&ring, devices);
        network.tiers[2].extend(ring);
        network
    }

    /// A core of two switches, and rings that close at both.
    pub(super) fn rings_at_a_pair(rings: usize, switches: usize) -> Self {
        let mut network = Self::default();
        let core = network.tier(SWITCH, 2);
        network.fixture.connect(core[0], core[1]);
        let all = network.tier(SWITCH, rings * switches);
        for ring in all.chunks(switches) {
            ring.windows(2).for_each(|pair| network.fixture.connect(pair[0], pair[1]));
            network.fixture.connect(core[0], ring[0]);
            network.fixture.connect(ring[switches - 1], core[1]);
        }
        network.devices(&all, 2);
        network
    }

    /// A tree of switches: each has this many below it.
    pub(super) fn tree(branches: usize, depth: usize) -> Self {
        let mut network = Self::default();
        let mut row = network.tier(SWITCH, 1);
        for _ in 0..depth {
            let lower = network.tier(SWITCH, row.len() * branches);
            for (upper, lower) in row.iter().zip(lower.chunks(branches)) {
                network.connect_all(&[*upper], lower);
            }
            row = lower;
        }
        network
    }

    /// A ring of switches with this many devices at each.
    pub(super) fn ring(switches: usize, devices: usize) -> Self {
        let mut network = Self::default();
        let ring = network.tier(SWITCH, switches);
        for place in 0..switches {
            network.fixture.connect(ring[place], ring[(place + 1) % switches]);
        }
        network.devices(&ring, devices);
        network
    }

    pub(super) fn all() -> Vec<Self> {
        vec![
            Self::fabric(2, 4, 3),
            Self::fabric(4, 12, 0),
            Self::fabric(3, 2, 9),
            Self::campus(3),
            Self::campus(0),
            Self::wide_area(4),
            Self::pods(),
        ]
    }

    /// The network with all roles, with every other one, and without roles.
    pub(super) fn with_fewer_roles(&self) -> [Diagram; 3] {
        [1, 2, usize::MAX].map(|step| {
            let mut diagram = self.fixture.diagram.clone();
            for (index, shape) in diagram.shapes.iter_mut().enumerate() {
                shape.rank = shape.rank.filter(|_| step != usize::MAX && index % step == 0);
            }
            diagram
        })
    }
}
