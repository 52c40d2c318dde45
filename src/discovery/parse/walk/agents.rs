//! The agents in the commands of a recording.

use std::net::IpAddr;

use crate::discovery::parse::mib::Mib;

/// The agents that answered. They are one device if one address of it is known to have the other.
#[derive(Default)]
pub(super) struct Agents {
    /// The agent of the last command, as long as no variable follows.
    pub(super) asked: Option<IpAddr>,
    /// The first agent of each family that answered, as a device may have an address of both; and others that have named its
    /// address.
    known: Vec<IpAddr>,
    /// The agent that answers, if it is another one than the first.
    other: Option<OtherAgent>,
    /// The addresses of two devices.
    conflict: Option<String>,
}

/// An agent at another address of the same family as the first one.
struct OtherAgent {
    address: IpAddr,
    first: IpAddr,
    /// Whether the device was known to have the address of the first agent before this one answered.
    knew_first: bool,
}

impl Agents {
    /// Notes that a variable follows the last command.
    pub(super) fn answer(&mut self, mib: &Mib) {
        let Some(address) = self.asked.take() else { return };
        if self.other.as_ref().is_some_and(|other| other.address == address) {
            return;
        }
        self.compare(mib);
        if self.known.contains(&address) {
            return;
        }
        match self.known.iter().find(|first| first.is_ipv4() == address.is_ipv4()) {
            None => self.known.push(address),
            // The answers of the first agent name this address.
            Some(_) if mib.has_address(address) => {}
            Some(first) => {
                self.other = Some(OtherAgent { address, first: *first, knew_first: mib.has_address(*first) });
            }
        }
    }

    /// Compares the agent that has answered with the first one: it must have named the address of that.
    fn compare(&mut self, mib: &Mib) {
        let Some(OtherAgent { address, first, knew_first }) = self.other.take() else { return };
        if knew_first || !mib.has_address(first) {
            self.conflict.get_or_insert_with(|| format!("there are commands for {first} and {address}"));
        } else {
            self.known.push(address);
        }
    }

    /// Fails if two devices have answered.
    pub(super) fn finish(mut self, mib: &Mib) -> Result<(), String> {
        self.compare(mib);
        self.conflict.map_or(Ok(()), Err)
    }
}
