//! The results of the tasks of a crawl: the next work, and events.

use std::net::IpAddr;

use super::event::{CrawlEvent, CrawlFailure, CrawlFailureReason, CrawledDevice};
use super::known::{ReadingTurn, WaitedAgents};
use super::neighbors::{self, FoundNeighbors};
use super::targets::CrawlTarget;
use super::work::{AnsweringAgent, CrawlStep, EarlyAddresses, FoundAgent, ReadDevice, lock};
use super::{Crawl, subnets};
use crate::discovery::Report;
use crate::discovery::report::{AddressRow, Table};
use crate::model::Timestamp;

impl Crawl {
    /// Takes the result of a task. Returns an event, unless it is of no interest to the caller.
    pub(super) fn take(&mut self, step: CrawlStep) -> Option<CrawlEvent> {
        match step {
            CrawlStep::Asked(target, Err(error)) => {
                self.asking -= 1;
                Some(self.failed(target.address, CrawlFailureReason::NotAnswered(error)))
            }
            CrawlStep::Asked(target, Ok(found)) => {
                self.asking -= 1;
                self.progress.answered += 1;
                let FoundAgent { agent, secret } = *found;
                if agent.answers_from().is_none() {
                    self.gate.learn_host(target.address);
                }
                if let Some(memory) = &mut self.memory {
                    memory.note_answer(target.address, secret, Timestamp::now());
                }
                self.begin_reading(AnsweringAgent { agent, target })
            }
            CrawlStep::Read(device) => {
                self.reading -= 1;
                Some(self.finish_reading(*device))
            }
        }
    }

    /// Reads an agent, unless it is skipped, or one of a device that was read, or of one that is being read.
    fn begin_reading(&mut self, answering: AnsweringAgent) -> Option<CrawlEvent> {
        let address = answering.target.address;
        let system = answering.agent.system();
        let is_skipped = system
            .object_id
            .as_ref()
            .is_some_and(|id| self.options.skipped_object_ids.iter().any(|skipped| id.is_within(skipped)));
        if is_skipped {
            return Some(CrawlEvent::Skipped(address));
        }
        match self.read.turn(answering) {
            ReadingTurn::Read(answering) => self.answered.push_back(*answering),
            ReadingTurn::Wait => {}
            ReadingTurn::IsRead => return Some(CrawlEvent::Repeated(address)),
        }
        None
    }

    /// Counts an address of which there is no report.
    fn failed(&mut self, address: IpAddr, reason: CrawlFailureReason) -> CrawlEvent {
        self.progress.failed += 1;
        self.gate.counters().count_failure(&reason);
        CrawlEvent::Failed(CrawlFailure { address, reason })
    }

    /// Goes on with the agents that do not wait any more.
    fn end_waiting(&mut self, waited: WaitedAgents) {
        let WaitedAgents { next, repeated } = waited;
        self.answered.extend(next);
        self.events.extend(repeated.into_iter().map(CrawlEvent::Repeated));
    }

    /// Takes the addresses of a device whose other tables are still being read.
    pub(super) fn take_early(&mut self, early: EarlyAddresses) {
        let EarlyAddresses { mut found, system, target, is_v3 } = early;
        self.learn(&mut found, is_v3);
        let waited = self.read.note_addresses(&system, target.address, &found.own_addresses);
        self.end_waiting(waited);
        self.add_neighbors(found.neighbors, target.depth);
    }

    /// Learns the own addresses and the subnets of a device, before any neighbor of it is asked. Own addresses that are never asked are
    /// dropped.
    fn learn(&self, found: &mut FoundNeighbors, is_v3: bool) {
        found.own_addresses.retain(|address| self.gate.lists(*address));
        if is_v3 {
            lock(&self.worked).secure(&found.own_addresses);
        }
        for subnet in subnets::of_device(&self.gate, &found.subnets) {
            self.gate.learn_subnet(subnet);
        }
    }

    /// Adds the neighbors of a device at a distance from the seeds.
    fn add_neighbors(&mut self, neighbors: Vec<IpAddr>, depth: u32) {
        for address in neighbors {
            self.add_target(CrawlTarget { address, depth: depth + 1 });
        }
    }

    fn finish_reading(&mut self, device: ReadDevice) -> CrawlEvent {
        let ReadDevice { answering, report, truncated, next_hops, state, is_unchanged, budget } = device;
        drop(budget);
        let AnsweringAgent { agent, target } = answering;
        let mut report = match report {
            Ok(report) => report,
            Err(error) => {
                let waited = self.read.finish(&agent, &[]);
                self.end_waiting(waited);
                return self.failed(target.address, CrawlFailureReason::NotReported(error));
            }
        };
        // The addresses that the device itself states decide whether it is another one.
        let mut found = FoundNeighbors::of(&report);
        add_address(&mut report, target.address);
        if let Some(state) = state.as_ref().filter(|_| is_unchanged) {
            (found.neighbors, found.links) = (state.neighbors.clone(), state.links);
        }
        if let Some(memory) = &mut self.memory {
            memory.note_state(target.address, state);
        }
        self.learn(&mut found, agent.is_v3());
        let waited = self.read.finish(&agent, &found.own_addresses);
        self.end_waiting(waited);
        if let Some(sweeps) = self.sweeps.as_mut().filter(|_| target.depth < self.options.depth) {
            found.subnets.iter().for_each(|subnet| sweeps.add(&self.gate, *subnet, target.depth + 1));
        }
        found.neighbors.extend(next_hops);
        if self.options.follows_arp {
            found.neighbors.extend(neighbors::cached(&report));
        }
        self.add_neighbors(found.neighbors, target.depth);
        self.progress.devices += 1;
        self.progress.unchanged += usize::from(is_unchanged);
        self.progress.links += found.links;
        let truncated: Vec<_> = truncated.into_iter().filter_map(CrawledDevice::truncation).collect();
        let counters = self.gate.counters();
        counters.devices.increment();
        counters.unchanged.add(u64::from(is_unchanged));
        truncated.iter().for_each(|(_, reason)| counters.count_truncation(*reason));
        CrawlEvent::Device(Box::new(CrawledDevice {
            address: target.address,
            answers_from: agent.answers_from().map(|from| from.ip()),
            depth: target.depth,
            report,
            truncated,
        }))
    }
}

/// Adds the address that has answered. A device need not state it: it may be translated, or one of another routing table.
fn add_address(report: &mut Report, address: IpAddr) {
    for device in &mut report.devices {
        let table = device.tables.addresses.get_or_insert_with(|| Table::truncated(Vec::new()));
        if !table.rows.iter().any(|row| row.ip_address.to_canonical() == address) {
            table.rows.push(AddressRow::new(address));
        }
    }
}
