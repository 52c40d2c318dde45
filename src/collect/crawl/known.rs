//! The devices that were read, so that each is read under one of its addresses.

use std::collections::HashMap;
use std::net::IpAddr;

use super::work::AnsweringAgent;
use crate::collect::snmp::{AgentClock, SnmpAgent, SystemIdentity};

/// Maximum number of devices with the same identity and the same own address among which their clocks distinguish.
const MAX_CLOCKS: usize = 16;

/// The devices that were read and are being read, by their system identities.
///
/// Two addresses belong to one device if its `sysName` and `sysObjectID` are the same, one is among its own addresses, and both
/// state the same `sysUpTime`, or neither states one: a device with a copied name and copied addresses does not hide another one. While a device is
/// being read, others with the same identity and `sysUpTime` wait until its own addresses are known, and those at one of these until it was read.
#[derive(Debug, Default)]
pub(super) struct DevicesRead {
    devices: HashMap<SystemIdentity, Namesakes>,
}

/// The devices of one `sysName` and `sysObjectID`.
#[derive(Debug, Default)]
struct Namesakes {
    reading: Vec<DeviceBeingRead>,
    /// The own addresses of the devices that were read, each with the clocks of those that state it.
    own_addresses: HashMap<IpAddr, Vec<Option<AgentClock>>>,
    waiting: Vec<AnsweringAgent>,
}

/// A device that is being read.
#[derive(Debug)]
struct DeviceBeingRead {
    /// The address that was asked.
    asked: IpAddr,
    clock: Option<AgentClock>,
    /// Its own addresses, once they are known.
    own_addresses: Option<Vec<IpAddr>>,
}

impl DeviceBeingRead {
    /// Returns whether an agent may be the same device.
    fn may_be(&self, answering: &AnsweringAgent) -> bool {
        let may_have = |own: &Vec<IpAddr>| own.contains(&answering.target.address);
        is_one_clock(self.clock, answering.agent.clock()) && self.own_addresses.as_ref().is_none_or(may_have)
    }
}

/// Returns whether both may be the clock of one device.
fn is_one_clock(one: Option<AgentClock>, other: Option<AgentClock>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is_of(other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// The next step for an agent that has answered.
pub(super) enum ReadingTurn {
    /// It is read now.
    Read(Box<AnsweringAgent>),
    /// It waits for a device that may be the same.
    Wait,
    /// The device was read under another address.
    IsRead,
}

/// The agents that do not wait any more.
#[derive(Debug, Default)]
pub(super) struct WaitedAgents {
    /// The agents that are read next.
    pub(super) next: Vec<AnsweringAgent>,
    /// The addresses of those that belong to a device that was read.
    pub(super) repeated: Vec<IpAddr>,
}

impl DevicesRead {
    /// Decides the next step for an agent. Agents without a name do not wait: they would all wait for each other.
    pub(super) fn turn(&mut self, answering: AnsweringAgent) -> ReadingTurn {
        let system = answering.agent.system();
        if system.name.is_none() {
            return ReadingTurn::Read(Box::new(answering));
        }
        self.devices.entry(system.clone()).or_default().turn(answering)
    }

    /// Notes the own addresses of a device that is being read under one of them. Returns the agents that do not wait any more.
    pub(super) fn note_addresses(
        &mut self,
        system: &SystemIdentity,
        asked: IpAddr,
        own_addresses: &[IpAddr],
    ) -> WaitedAgents {
        let Some(devices) = self.devices.get_mut(system) else { return WaitedAgents::default() };
        // A device that does not state the address at which it is asked may have others that it does not state, either.
        if let Some(device) = devices.reading.iter_mut().find(|device| device.asked == asked)
            && own_addresses.contains(&asked)
        {
            device.own_addresses = Some(own_addresses.to_vec());
        }
        devices.release()
    }

    /// Notes the own addresses of a device that was read. Returns the agents that do not wait any more.
    ///
    /// A device that does not state the address at which it has answered is not believed the others.
    pub(super) fn finish(&mut self, agent: &SnmpAgent, own_addresses: &[IpAddr]) -> WaitedAgents {
        let Some(devices) = self.devices.get_mut(agent.system()) else { return WaitedAgents::default() };
        let asked = agent.target().ip().to_canonical();
        devices.reading.retain(|device| device.asked != asked);
        let answered = agent.answers_from().map_or(asked, |from| from.ip().to_canonical());
        let is_believed = own_addresses.iter().any(|own| [asked, answered].contains(own));
        let stated = if is_believed { own_addresses } else { &[] };
        for address in [asked, answered].iter().chain(stated) {
            let clocks = devices.own_addresses.entry(*address).or_default();
            if clocks.len() < MAX_CLOCKS && !clocks.contains(&agent.clock()) {
                clocks.push(agent.clock());
            }
        }
        devices.release()
    }

    /// Drops the agents that wait, and returns their number.
    pub(super) fn take_waiting(&mut self) -> usize {
        self.devices.values_mut().map(|devices| std::mem::take(&mut devices.waiting).len()).sum()
    }
}

impl Namesakes {
    fn turn(&mut self, answering: AnsweringAgent) -> ReadingTurn {
        let (address, clock) = (answering.target.address, answering.agent.clock());
        let mut clocks = self.own_addresses.get(&address).into_iter().flatten();
        if clocks.any(|known| is_one_clock(*known, clock)) {
            return ReadingTurn::IsRead;
        }
        if self.reading.iter().any(|device| device.may_be(&answering)) {
            self.waiting.push(answering);
            return ReadingTurn::Wait;
        }
        self.reading.push(DeviceBeingRead { asked: address, clock, own_addresses: None });
        ReadingTurn::Read(Box::new(answering))
    }

    /// Decides the next steps of the agents that wait.
    fn release(&mut self) -> WaitedAgents {
        let mut waited = WaitedAgents::default();
        for answering in std::mem::take(&mut self.waiting) {
            let address = answering.target.address;
            match self.turn(answering) {
                ReadingTurn::Read(answering) => waited.next.push(*answering),
                ReadingTurn::IsRead => waited.repeated.push(address),
                ReadingTurn::Wait => {}
            }
        }
        waited
    }
}
