//! Networks in which devices have named faults.
//!
//! Each device with a fault is between a core, a neighbor that reports it, and one that reports nothing of it.

use std::collections::BTreeSet;
use std::net::IpAddr;

use async_snmp::{AuthProtocol, PrivProtocol};
use toposcope::collect::snmp::SnmpValue;

use super::Variables;
use super::agent::Agent;
use super::agents::Agents;
use super::device::{LLDP, MIB};
use super::fault::Fault;
use super::network::{Cable, Device, Family, Network};
use super::usm::{FarmEngine, FarmUser};

/// Number of devices of a group: the one with the fault, and two neighbors.
const GROUP_SIZE: usize = 3;

/// Number of ports of these neighbors.
const NEIGHBOR_PORTS: u32 = 6;

/// The user of devices with SNMPv3, with the passwords for authentication and privacy.
pub(crate) const USER: [&str; 3] = ["reader", "the authentication", "the private key"];

/// A fault with a name.
#[derive(Clone, Copy)]
pub(crate) struct NamedFault {
    pub(crate) name: &'static str,
    pub(super) family: Family,
    /// Whether the device reports its neighbors in spite of the fault, so that one of these need not report it.
    pub(super) reports: bool,
    /// Whether it speaks SNMPv3 alone.
    pub(super) has_user: bool,
    pub(super) apply: fn(&mut Group<'_>),
}

/// A network of devices with faults.
pub(crate) struct FaultyNetwork {
    pub(crate) network: Network,
    agents: Vec<Agent>,
    /// The addresses of the devices that speak SNMPv3 alone.
    pub(crate) users: BTreeSet<IpAddr>,
}

/// A device with a fault, and its neighbors.
pub(super) struct Group<'g> {
    pub(super) network: &'g Network,
    pub(super) agents: &'g mut [Agent],
    /// The place of the device.
    pub(super) place: usize,
}

/// A neighbor's view of the device: the neighbor, its port, and the port of the device.
#[derive(Clone, Copy)]
pub(super) struct Sight {
    pub(super) from: usize,
    pub(super) port: u32,
    pub(super) own_port: u32,
}

impl FaultyNetwork {
    /// Makes a network with a group for each fault.
    pub(crate) fn new(faults: &[NamedFault], community: &[u8]) -> Self {
        let mut network = Network::default();
        let mut core = Device::new("core".into(), 0, Family::Managed);
        core.ports = (faults.len() * GROUP_SIZE) as u32;
        network.devices.push(core);
        for fault in faults {
            let faulty = network.devices.len();
            for (name, family) in
                [("faulty", fault.family), ("near", Family::Router), ("far", Family::Managed)]
            {
                let number = network.devices.len();
                let mut device = Device::new(format!("{name}-{number}"), number, family);
                if number != faulty {
                    device.ports = NEIGHBOR_PORTS;
                }
                network.devices.push(device);
                network.connect((0, number as u32), (number, 1));
            }
            network.connect((faulty, 2), (faulty + 1, 2));
            network.connect((faulty, 3), (faulty + 2, 3));
        }
        let mut agents = network.agents(community, None);
        let mut users = BTreeSet::new();
        for (number, fault) in faults.iter().enumerate() {
            let place = number * GROUP_SIZE + 1;
            let mut group = Group { network: &network, agents: &mut agents, place };
            if fault.has_user {
                group.add_user();
                users.insert(network.devices[place].addresses[0].into());
            }
            (fault.apply)(&mut group);
            if fault.reports {
                group.agents[place + 2].forget(&[&LLDP[..], &[4, 1, 1]].concat(), 3);
            }
        }
        Self { network, agents, users }
    }

    pub(super) fn add_to(&self, agents: &mut Agents) {
        for (device, agent) in self.network.devices.iter().zip(&self.agents) {
            agents.add(device.addresses.iter().copied().map(IpAddr::V4), agent.clone());
        }
    }
}

impl Agent {
    /// Removes the rows of a table of neighbors that are of a port.
    fn forget(&mut self, table: &[u32], port: u32) {
        self.variables.retain(|id, _| !(id.starts_with(table) && id.get(table.len() + 2) == Some(&port)));
    }

    /// Removes the variables below an object, and returns them.
    pub(crate) fn take_below(&mut self, root: &[u32]) -> Variables {
        let variables = std::mem::take(&mut self.variables);
        let (below, others) = variables.into_iter().partition(|(id, _)| id.starts_with(root));
        self.variables = others;
        below
    }

    /// Replaces each variable below an object by others, of which only the rest of the identifier is given.
    pub(super) fn replace(
        &mut self,
        root: &[u32],
        change: impl Fn(&[u32], &SnmpValue) -> Vec<(Vec<u32>, SnmpValue)>,
    ) {
        for (id, value) in self.take_below(root) {
            let new = change(&id[root.len()..], &value);
            self.variables.extend(new.into_iter().map(|(rest, value)| ([root, &rest].concat(), value)));
        }
    }

    /// Changes the identifiers below an object.
    pub(super) fn rename(&mut self, root: &[u32], change: impl Fn(&[u32]) -> Vec<u32>) {
        self.replace(root, |rest, value| vec![(change(rest), value.clone())]);
    }

    pub(super) fn remove(&mut self, root: &[u32]) {
        self.variables.retain(|id, _| !id.starts_with(root));
    }

    pub(super) fn set(&mut self, parts: &[&[u32]], value: SnmpValue) {
        self.variables.insert(parts.concat(), value);
    }
}

impl Group<'_> {
    pub(super) fn own(&mut self) -> &mut Agent {
        &mut self.agents[self.place]
    }

    pub(super) fn device(&self) -> &Device {
        &self.network.devices[self.place]
    }

    pub(super) fn add(&mut self, fault: Fault) {
        self.own().faults.push(fault);
    }

    /// Makes the device one that speaks SNMPv3 alone.
    fn add_user(&mut self) {
        let [name, authentication, privacy] = USER;
        let user = FarmUser::new(
            name,
            Some((AuthProtocol::Sha256, authentication)),
            Some((PrivProtocol::Aes128, privacy)),
        );
        let engine = FarmEngine::new(self.device().name.as_bytes(), user);
        let agent = std::mem::take(self.own());
        *self.own() = agent.v3(engine);
    }

    /// Returns how the neighbors see the device.
    pub(super) fn sights(&self) -> Vec<Sight> {
        let sight = |Cable { ends: [one, other] }: &Cable| match (one, other) {
            ((place, own_port), (from, port)) if *place == self.place => Some((*from, *port, *own_port)),
            ((from, port), (place, own_port)) if *place == self.place => Some((*from, *port, *own_port)),
            _ => None,
        };
        let sights = self.network.cables.iter().filter_map(sight);
        sights.map(|(from, port, own_port)| Sight { from, port, own_port }).collect()
    }

    /// Sets a column of the rows of LLDP in which neighbors see the device, by its port.
    pub(super) fn announce(&mut self, column: u32, value: impl Fn(u32) -> SnmpValue) {
        for Sight { from, port, own_port } in self.sights() {
            let id = [&LLDP[..], &[4, 1, 1, column, 0, port, port]].concat();
            self.agents[from].variables.insert(id, value(own_port));
        }
    }

    /// Sets a scalar or a column of the device's own ports in LLDP.
    pub(super) fn announce_own(&mut self, column: u32, value: impl Fn(u32) -> SnmpValue) {
        for port in 1..=self.device().ports {
            let value = value(port);
            self.own().set(&[&LLDP, &[3, 7, 1, column, port]], value);
        }
    }

    /// Replaces the management address by which neighbors see the device.
    pub(super) fn announce_address(&mut self, address: Option<[u8; 4]>) {
        for Sight { from, port, .. } in self.sights() {
            let agent = &mut self.agents[from];
            agent.forget(&[&LLDP[..], &[4, 2, 1]].concat(), port);
            if let Some(address) = address {
                let index = [&[0, port, port, 1, 4], &address.map(u32::from)[..]].concat();
                agent.set(&[&LLDP, &[4, 2, 1, 3], &index], SnmpValue::Integer(2));
            }
        }
    }

    /// Replaces a column of the interfaces.
    pub(super) fn interfaces(&mut self, column: u32, value: impl Fn(u32) -> SnmpValue) {
        self.own().replace(&[&MIB[..], &[2, 2, 1, column]].concat(), |index, _| {
            vec![(index.to_vec(), value(index[0]))]
        });
    }
}
