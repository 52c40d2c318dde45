//! All agents of a farm, by address.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::net::{IpAddr, SocketAddr};

use tokio::time::Instant;

use super::agent::Agent;
use super::counters::Counters;
use super::line::Line;

/// The agents, and the answers that are on their way.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    agents: Vec<Agent>,
    /// The place of the agent of each address.
    places: HashMap<IpAddr, usize>,
    pub(crate) counters: Counters,
    pub(crate) line: Line,
    answers: BinaryHeap<Reverse<Answer>>,
    number: u64,
    /// The time since which `sysUpTime` of all agents runs.
    began: Option<Instant>,
}

/// An answer that is on its way.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Answer {
    pub(crate) due: Instant,
    number: u64,
    pub(crate) from: IpAddr,
    pub(crate) to: SocketAddr,
    pub(crate) bytes: Vec<u8>,
}

impl Agents {
    /// Adds an agent with its addresses.
    pub(crate) fn add(&mut self, addresses: impl IntoIterator<Item = IpAddr>, agent: Agent) {
        self.places.extend(addresses.into_iter().map(|address| (address, self.agents.len())));
        self.agents.push(agent);
    }

    /// Lets `sysUpTime` of all agents run from now on.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.began = Some(now);
    }

    /// Returns the agent of an address.
    pub(crate) fn agent(&mut self, address: IpAddr) -> Option<&mut Agent> {
        self.agents.get_mut(*self.places.get(&address)?)
    }

    /// Takes a packet to an address. The answers become due later.
    pub(crate) fn take(&mut self, from: SocketAddr, to: IpAddr, datagram: &[u8], now: Instant) {
        let place = self.places.get(&to).copied();
        self.counters.count(to, place.is_some(), now);
        let Some(agent) = place.and_then(|place| self.agents.get_mut(place)) else { return };
        if self.line.loses() {
            return;
        }
        if let Some(began) = self.began {
            agent.run(now - began);
        }
        for answer in agent.answer(datagram, now) {
            for delay in self.line.arrivals() {
                self.answers.push(Reverse(Answer {
                    due: now + answer.delay + delay,
                    number: self.number,
                    from: answer.from.unwrap_or(to),
                    to: from,
                    bytes: answer.bytes.clone(),
                }));
                self.number += 1;
            }
        }
    }

    /// Returns when the next answer is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.answers.peek().map(|Reverse(answer)| answer.due)
    }

    /// Takes the next answer if it is due.
    pub(crate) fn due(&mut self, now: Instant) -> Option<Answer> {
        self.next_due().filter(|due| *due <= now)?;
        self.answers.pop().map(|Reverse(answer)| answer)
    }
}
