//! Named networks of any size, whose cables are the truth.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use super::Variables;
use super::agent::Agent;
use super::agents::Agents;
use super::device::variables;
use super::usm::{FarmEngine, FarmUser};

/// Maximum number of devices of a network.
pub(crate) const MAX_DEVICES: usize = 10_000;

/// Number of devices of an IPv4 prefix of 24 bits.
const DEVICES_OF_SUBNET: usize = 250;

/// Number of ports of a switch.
pub(crate) const PORTS: u32 = 24;

/// Number of stations of a switch.
const STATIONS: u32 = 4;

/// Number of switches below another one in a campus.
const CHILDREN: usize = 21;

/// Number of spines of a fabric.
const SPINES: usize = 4;

/// The names of the networks.
pub(crate) const NAMES: [&str; 3] = ["campus", "fabric", "ring"];

/// A network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    pub(crate) devices: Vec<Device>,
    pub(crate) cables: Vec<Cable>,
}

/// A switch.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) name: String,
    /// Its addresses, the one for management first.
    pub(crate) addresses: Vec<Ipv4Addr>,
    pub(crate) family: Family,
    /// The ports that carry a member of an aggregation group, all of one group.
    pub(crate) aggregated: Vec<u32>,
    /// The number of ports.
    pub(crate) ports: u32,
    /// The stations, each at a port without a cable.
    pub(crate) stations: Vec<Station>,
}

/// A station, by the number of the device at which it was first and its number there.
pub(crate) type Station = (usize, u32);

/// The family of a device, which decides its protocols and the form of its tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// LLDP with names of interfaces, CDP, and one forwarding database without VLANs.
    Router,
    /// LLDP with names of interfaces, and forwarding databases by VLAN.
    Managed,
    /// LLDP with numbers of ports that are no `ifIndex`, and forwarding databases by VLAN.
    Numbered,
}

/// A cable, with a device and a port at each end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cable {
    pub(crate) ends: [(usize, u32); 2],
}

/// A cable by names of devices and ports, the smaller end first.
pub(crate) type NamedCable = [(String, String); 2];

impl Network {
    /// Returns the network of a name with a number of devices, at most 10,000.
    pub(crate) fn named(name: &str, devices: usize) -> Option<Self> {
        let devices = devices.clamp(1, MAX_DEVICES);
        match name {
            "campus" => Some(Self::campus(devices)),
            "fabric" => Some(Self::fabric(devices)),
            "ring" => Some(Self::ring(devices)),
            _ => None,
        }
    }

    /// A tree of switches, in which neighbors with one parent are connected, too: two uplinks in a group at the upper layers, and
    /// one cable at the lowest one.
    fn campus(count: usize) -> Self {
        let is_leaf = |number: usize| number * CHILDREN + 1 >= count;
        let mut network = Self::default();
        for number in 0..count {
            let (name, family) = match number {
                0 => ("core", Family::Router),
                _ if !is_leaf(number) => ("distribution", Family::Router),
                _ if number % 3 == 0 => ("access", Family::Numbered),
                _ => ("access", Family::Managed),
            };
            let mut device = Device::new(format!("{name}-{number}"), number, family);
            if family == Family::Router {
                device.addresses.push(address(MAX_DEVICES + number));
            }
            network.devices.push(device);
        }
        for number in 1..count {
            let (parent, place) = ((number - 1) / CHILDREN, (number - 1) % CHILDREN);
            network.connect((parent, place as u32 + 2), (number, 1));
            let is_second = place % 2 == 1;
            if is_second && is_leaf(number) && is_leaf(number - 1) {
                network.connect((number - 1, PORTS), (number, PORTS));
            } else if is_second && !is_leaf(number) && !is_leaf(number - 1) {
                for port in [PORTS - 1, PORTS] {
                    network.connect((number - 1, port), (number, port));
                }
                for end in [number - 1, number] {
                    network.devices[end].aggregated = vec![PORTS - 1, PORTS];
                }
            }
        }
        network
    }

    /// Leaves that are all connected to each spine.
    fn fabric(count: usize) -> Self {
        let mut network = Self::default();
        let spines = SPINES.min(count.div_ceil(2));
        for number in 0..count {
            let (name, family) =
                if number < spines { ("spine", Family::Router) } else { ("leaf", Family::Managed) };
            network.devices.push(Device::new(format!("{name}-{number}"), number, family));
        }
        for spine in 0..spines {
            network.devices[spine].ports = PORTS.max((count - spines) as u32);
            for leaf in spines..count {
                network.connect((spine, (leaf - spines) as u32 + 1), (leaf, spine as u32 + 1));
            }
        }
        network
    }

    /// Switches of which each is connected to the next one.
    fn ring(count: usize) -> Self {
        let mut network = Self::default();
        for number in 0..count {
            let family = if number % 2 == 0 { Family::Managed } else { Family::Numbered };
            network.devices.push(Device::new(format!("ring-{number}"), number, family));
        }
        for number in 0..count.saturating_sub(1) {
            network.connect((number, 2), (number + 1, 1));
        }
        if count > 2 {
            network.connect((count - 1, 2), (0, 1));
        }
        network
    }

    pub(crate) fn connect(&mut self, one: (usize, u32), other: (usize, u32)) {
        self.cables.push(Cable { ends: [one, other] });
    }

    /// Moves a tenth of the stations of switches to the switch behind the next one, and returns each with the name of that.
    ///
    /// Of five switches, two lose the last of their stations: others in each of five rounds.
    pub(crate) fn move_stations(&mut self, round: usize) -> Vec<(Station, String)> {
        let is_switch = |device: &Device| device.family != Family::Router;
        let switches: Vec<usize> =
            (0..self.devices.len()).filter(|place| is_switch(&self.devices[*place])).collect();
        let mut moved = Vec::new();
        for pair in switches
            .windows(3)
            .skip(round % 5)
            .step_by(5)
            .flat_map(|three| [[three[0], three[2]], [three[1], three[2]]])
        {
            let Some(station) = self.devices[pair[0]].stations.pop() else { continue };
            self.devices[pair[1]].stations.push(station);
            moved.push((station, self.devices[pair[1]].name.clone()));
        }
        moved
    }

    /// Returns the cables by names.
    pub(crate) fn truth(&self) -> BTreeSet<NamedCable> {
        let end = |(device, port): (usize, u32)| {
            let device = &self.devices[device];
            (device.name.clone(), device.port_name(port))
        };
        self.cables.iter().map(|cable| named(cable.ends.map(end))).collect()
    }

    /// Adds an agent for each device, with a community or a user of SNMPv3.
    pub(crate) fn add_to(&self, agents: &mut Agents, community: &[u8], user: Option<&FarmUser>) {
        for (device, agent) in self.devices.iter().zip(self.agents(community, user)) {
            agents.add(device.addresses.iter().copied().map(IpAddr::V4), agent);
        }
    }

    /// Returns the variables of each device.
    pub(crate) fn variables(&self) -> impl Iterator<Item = Variables> {
        let mut cables = vec![Vec::new(); self.devices.len()];
        for Cable { ends: [one, other] } in &self.cables {
            cables[one.0].push((one.1, *other));
            cables[other.0].push((other.1, *one));
        }
        cables.into_iter().enumerate().map(|(place, cables)| variables(self, place, &cables))
    }

    /// Makes the agents of the devices.
    pub(super) fn agents(&self, community: &[u8], user: Option<&FarmUser>) -> Vec<Agent> {
        let agents = self.devices.iter().zip(self.variables()).map(|(device, variables)| {
            let agent = Agent::new(community, variables);
            match user {
                Some(user) => agent.v3(FarmEngine::new(device.name.as_bytes(), user.clone())),
                None => agent,
            }
        });
        agents.collect()
    }
}

impl Device {
    pub(crate) fn new(name: String, number: usize, family: Family) -> Self {
        let aggregated = Vec::new();
        let stations = (1..=STATIONS).map(|station| (number, station)).collect();
        Self { name, addresses: vec![address(number)], family, aggregated, ports: PORTS, stations }
    }

    /// Returns `ifName` of a port.
    pub(crate) fn port_name(&self, port: u32) -> String {
        match self.family {
            Family::Router => format!("Te1/0/{port}"),
            Family::Managed => format!("Gi1/0/{port}"),
            Family::Numbered => format!("eth{port}"),
        }
    }
}

/// Returns the cable between two ends.
pub(crate) fn named(mut ends: NamedCable) -> NamedCable {
    ends.sort();
    ends
}

/// Returns an address of 127.1.0.0/16 that is neither the first nor the last one of a prefix of 24 bits.
pub(crate) const fn address(number: usize) -> Ipv4Addr {
    let (subnet, host) = (number / DEVICES_OF_SUBNET, number % DEVICES_OF_SUBNET);
    Ipv4Addr::new(127, 1, subnet as u8, host as u8 + 1)
}
