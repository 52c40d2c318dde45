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
/// being read, others with the same identity wait.
#[derive(Debug, Default)]
pub(super) struct DevicesRead {
    devices: HashMap<SystemIdentity, Namesakes>,
}

/// The devices of one `sysName` and `sysObjectID`.
#[derive(Debug, Default)]
struct Namesakes {
    is_reading: bool,
    /// The own addresses of the devices, each with the clocks of those that state it.
    own_addresses: HashMap<IpAddr, Vec<Option<AgentClock>>>,
    waiting: Vec<AnsweringAgent>,
}

/// The next step for an agent that has answered.
pub(super) enum ReadingTurn {
    /// It is read now.
    Read(Box<AnsweringAgent>),
    /// It waits until a device with the same identity was read.
    Wait,
    /// The device was read under another address.
    IsRead,
}

/// The agents that have waited until a device was read.
#[derive(Debug, Default)]
pub(super) struct WaitedAgents {
    /// The agent that is read next.
    pub(super) next: Option<AnsweringAgent>,
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

    /// Notes the own addresses of a device that was read. Returns the agents that do not wait any more.
    ///
    /// A device that does not state the address at which it has answered is not believed the others.
    pub(super) fn finish(&mut self, agent: &SnmpAgent, own_addresses: &[IpAddr]) -> WaitedAgents {
        let mut waited = WaitedAgents::default();
        let Some(devices) = self.devices.get_mut(agent.system()) else { return waited };
        devices.is_reading = false;
        let asked = agent.target().ip().to_canonical();
        let answered = agent.answers_from().map_or(asked, |from| from.ip().to_canonical());
        let is_believed = own_addresses.iter().any(|own| [asked, answered].contains(own));
        let stated = if is_believed { own_addresses } else { &[] };
        for address in [asked, answered].iter().chain(stated) {
            let clocks = devices.own_addresses.entry(*address).or_default();
            if clocks.len() < MAX_CLOCKS && !clocks.contains(&agent.clock()) {
                clocks.push(agent.clock());
            }
        }
        while let Some(answering) = devices.waiting.pop() {
            let address = answering.target.address;
            match devices.turn(answering) {
                ReadingTurn::Read(answering) => {
                    waited.next = Some(*answering);
                    break;
                }
                ReadingTurn::IsRead => waited.repeated.push(address),
                ReadingTurn::Wait => {}
            }
        }
        waited
    }

    /// Drops the agents that wait, and returns their number.
    pub(super) fn take_waiting(&mut self) -> usize {
        self.devices.values_mut().map(|devices| std::mem::take(&mut devices.waiting).len()).sum()
    }
}

impl Namesakes {
    fn turn(&mut self, answering: AnsweringAgent) -> ReadingTurn {
        let clock = answering.agent.clock();
        let clocks = self.own_addresses.get(&answering.target.address);
        let is_same = |known: &Option<AgentClock>| match (known, clock) {
            (Some(known), Some(clock)) => known.is_of(clock),
            (known, clock) => known.is_none() && clock.is_none(),
        };
        if clocks.is_some_and(|clocks| clocks.iter().any(is_same)) {
            return ReadingTurn::IsRead;
        }
        if self.is_reading {
            self.waiting.push(answering);
            return ReadingTurn::Wait;
        }
        self.is_reading = true;
        ReadingTurn::Read(Box::new(answering))
    }
}
