//! The addresses of a crawl.

use std::collections::{HashSet, VecDeque};
use std::net::IpAddr;

use super::options::CrawlOptions;
use crate::collect::gate::Gate;

/// Maximum number of addresses beyond the limit that are counted.
const MAX_BEYOND: usize = 65_536;

/// An address with its distance from the seeds.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrawlTarget {
    pub(super) address: IpAddr,
    pub(super) depth: u32,
}

/// The addresses that are to be asked, and those that were found before.
#[derive(Debug, Default)]
pub(super) struct CrawlTargets {
    /// The addresses that were ever found.
    found: HashSet<IpAddr>,
    /// The addresses beyond the limit.
    beyond: HashSet<IpAddr>,
    /// The addresses that are to be asked.
    waiting: VecDeque<CrawlTarget>,
}

impl CrawlTargets {
    /// Adds an address that was not found before, may be asked, and is within the limits. Returns whether it is a further one that the
    /// limit of their number leaves out.
    pub(super) fn add(&mut self, target: CrawlTarget, gate: &Gate, options: &CrawlOptions) -> bool {
        let target = CrawlTarget { address: target.address.to_canonical(), ..target };
        let is_wanted = target.depth <= options.depth
            && !self.found.contains(&target.address)
            && !options.skipped_addresses.contains(&target.address)
            && gate.allows(target.address);
        if !is_wanted {
            return false;
        }
        if self.found.len() >= options.targets {
            return self.beyond.len() < MAX_BEYOND && self.beyond.insert(target.address);
        }
        self.found.insert(target.address);
        self.waiting.push_back(target);
        false
    }

    /// Takes the next address to ask.
    pub(super) fn next(&mut self) -> Option<CrawlTarget> {
        self.waiting.pop_front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Drops the addresses that are to be asked, and returns their number.
    pub(super) fn take_rest(&mut self) -> usize {
        std::mem::take(&mut self.waiting).len()
    }
}
