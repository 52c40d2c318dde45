//! The devices that were read, so that each is read under one of its addresses.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use super::AnsweringAgent;
use crate::collect::snmp::SystemIdentity;

/// The devices that were read and are being read, by their system identities.
///
/// Two addresses belong to one device if its `sysName` and `sysObjectID` are the same and one is among its own addresses. While
/// a device is being read, others with the same identity wait.
#[derive(Debug, Default)]
pub(super) struct DevicesRead {
    devices: HashMap<SystemIdentity, Namesakes>,
}

/// The devices of one `sysName` and `sysObjectID`.
#[derive(Debug, Default)]
struct Namesakes {
    is_reading: bool,
    own_addresses: HashSet<IpAddr>,
    waiting: Vec<AnsweringAgent>,
}

/// The next step for an agent that has answered.
pub(super) enum ReadingTurn {
    /// It is read now.
    Read(AnsweringAgent),
    /// It waits until a device with the same identity was read.
    Wait,
    /// The device was read under another address.
    IsRead,
}

impl DevicesRead {
    /// Decides the next step for an agent. Agents without a name do not wait: they would all wait for each other.
    pub(super) fn turn(&mut self, answering: AnsweringAgent) -> ReadingTurn {
        let system = answering.agent.system();
        if system.name.is_none() {
            return ReadingTurn::Read(answering);
        }
        self.devices.entry(system.clone()).or_default().turn(answering)
    }

    /// Notes the own addresses of a device that was read. Returns the agent that is read next.
    pub(super) fn finish(
        &mut self,
        system: &SystemIdentity,
        address: IpAddr,
        own_addresses: &[IpAddr],
    ) -> Option<AnsweringAgent> {
        let devices = self.devices.get_mut(system)?;
        devices.is_reading = false;
        devices.own_addresses.insert(address);
        devices.own_addresses.extend(own_addresses);
        while let Some(answering) = devices.waiting.pop() {
            if let ReadingTurn::Read(answering) = devices.turn(answering) {
                return Some(answering);
            }
        }
        None
    }
}

impl Namesakes {
    fn turn(&mut self, answering: AnsweringAgent) -> ReadingTurn {
        if self.own_addresses.contains(&answering.target.address) {
            return ReadingTurn::IsRead;
        }
        if self.is_reading {
            self.waiting.push(answering);
            return ReadingTurn::Wait;
        }
        self.is_reading = true;
        ReadingTurn::Read(answering)
    }
}
