//! Sweeps of the subnets that a crawl finds.

use std::collections::{HashSet, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use ipnet::{IpNet, Ipv4Net};

use super::targets::CrawlTarget;
use crate::collect::allow_list::is_edge;
use crate::collect::gate::Gate;
use crate::collect::sweep::{MAX_ADDRESSES, Probes, Sweep};

/// Maximum number of subnets that count of a device.
const MAX_SUBNETS: usize = 1_024;

/// Maximum number of these with longer prefixes than [`USUAL_LENGTH`], because each takes two of few addresses.
const MAX_NARROW_SUBNETS: usize = 64;

/// The length of the prefixes of usual subnets.
const USUAL_LENGTH: u8 = 24;

/// Returns the subnets whose first and last address get no packets, of those that a device states with its own addresses: each once, the
/// larger ones first.
///
/// The allow-list must have the address, and a host must be able to have it. The number is limited, because one device could
/// otherwise keep many addresses of others from being asked.
pub(super) fn of_device(gate: &Gate, stated: &[Ipv4Net]) -> Vec<Ipv4Net> {
    let is_usable = |net: &&Ipv4Net| gate.lists(net.addr().into()) && !is_edge(**net, net.addr());
    let mut subnets: Vec<Ipv4Net> = stated.iter().filter(is_usable).map(Ipv4Net::trunc).collect();
    subnets.sort_unstable_by_key(|net| (net.prefix_len(), *net));
    subnets.dedup();
    let wide = subnets.partition_point(|net| net.prefix_len() <= USUAL_LENGTH);
    // A prefix of 31 or 32 bits has no first and last address.
    let narrow = subnets.partition_point(|net| net.prefix_len() < 31) - wide;
    subnets.truncate((wide + narrow.min(MAX_NARROW_SUBNETS)).min(MAX_SUBNETS));
    subnets
}

/// The sweeps of a crawl, one after the other, with at most 65,536 addresses in all.
#[derive(Debug)]
pub(super) struct SubnetSweeps {
    probes: Arc<dyn Probes>,
    known: HashSet<Ipv4Net>,
    waiting: VecDeque<(Ipv4Net, u32)>,
    current: Option<(Sweep, u32)>,
    room: usize,
}

impl SubnetSweeps {
    pub(super) fn new(probes: impl Probes) -> Self {
        let (known, waiting) = (HashSet::new(), VecDeque::new());
        Self { probes: Arc::new(probes), known, waiting, current: None, room: MAX_ADDRESSES }
    }

    /// Adds a subnet of a device, unless it was found before or is too large for the addresses that are left. Addresses that the
    /// allow-list lacks take none of these.
    pub(super) fn add(&mut self, gate: &Gate, subnet: Ipv4Net, depth: u32) {
        let subnet = subnet.trunc();
        let size = |net: Ipv4Net| 1_usize.checked_shl(u32::from(32 - net.prefix_len())).unwrap_or(usize::MAX);
        // A prefix of 32 bits is the device itself.
        if subnet.prefix_len() == 32 || size(subnet) > MAX_ADDRESSES {
            return;
        }
        let addresses: usize = gate.parts_of(subnet).into_iter().map(size).sum();
        if (1..=self.room).contains(&addresses) && self.known.insert(subnet) {
            self.room -= addresses;
            self.waiting.push_back((subnet, depth));
        }
    }

    /// Returns the next address that is in use; `None`: there is nothing to sweep at present.
    pub(super) fn poll(&mut self, gate: &Gate, context: &mut Context<'_>) -> Poll<Option<CrawlTarget>> {
        loop {
            if let Some((sweep, depth)) = &mut self.current {
                match Pin::new(sweep).poll_next(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(live)) => {
                        let (address, depth) = (live.address, *depth);
                        return Poll::Ready(Some(CrawlTarget { address, depth }));
                    }
                    Poll::Ready(None) => self.current = None,
                }
            }
            let Some((subnet, depth)) = self.waiting.pop_front() else { return Poll::Ready(None) };
            // Subnets outside of the allow-list are left out without a word, like neighbors.
            let sweep = Sweep::begin_with(gate, [IpNet::V4(subnet)], Arc::clone(&self.probes));
            self.current = sweep.ok().map(|sweep| (sweep, depth));
        }
    }

    /// Returns the reason why no echo requests are sent.
    pub(super) fn without_echo(&self) -> Option<std::io::ErrorKind> {
        self.probes.without_echo()
    }
}
