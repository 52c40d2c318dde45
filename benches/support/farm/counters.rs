//! The packets that a farm has received.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// Maximum number of foreign addresses that are kept.
const MAX_FOREIGN_ADDRESSES: usize = 1_024;

/// Counts packets, and the most of them in any one second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    all: Rate,
    subnets: HashMap<IpAddr, Rate>,
    addresses: HashMap<IpAddr, Rate>,
    /// Packets to addresses without an agent.
    pub(crate) foreign: u64,
    /// The first of these addresses.
    pub(crate) foreign_addresses: BTreeSet<IpAddr>,
}

/// The largest numbers of packets in any one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Peaks {
    pub(crate) all: usize,
    pub(crate) subnet: usize,
    pub(crate) address: usize,
}

/// The packets of the last second.
#[derive(Clone, Debug, Default)]
struct Rate {
    packets: u64,
    last: VecDeque<Instant>,
    peak: usize,
}

impl Rate {
    fn count(&mut self, now: Instant) {
        while self.last.front().is_some_and(|time| *time + SECOND <= now) {
            self.last.pop_front();
        }
        self.last.push_back(now);
        self.packets += 1;
        self.peak = self.peak.max(self.last.len());
    }
}

impl Counters {
    /// Counts a packet.
    pub(crate) fn count(&mut self, to: IpAddr, is_owned: bool, now: Instant) {
        self.all.count(now);
        self.subnets.entry(subnet_of(to)).or_default().count(now);
        self.addresses.entry(to).or_default().count(now);
        if !is_owned {
            self.foreign += 1;
            if self.foreign_addresses.len() < MAX_FOREIGN_ADDRESSES {
                self.foreign_addresses.insert(to);
            }
        }
    }

    /// Returns the number of packets.
    pub(crate) const fn packets(&self) -> u64 {
        self.all.packets
    }

    /// Returns the number of packets to an address.
    pub(crate) fn packets_to(&self, address: IpAddr) -> u64 {
        self.addresses.get(&address).map_or(0, |rate| rate.packets)
    }

    /// Returns the addresses that got packets.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.addresses.keys().copied()
    }

    /// Returns the peaks of all packets, of those to the subnet of an address, and of those to the address.
    pub(crate) fn peaks_at(&self, address: IpAddr) -> Peaks {
        let peak = |rates: &HashMap<IpAddr, Rate>, key| rates.get(&key).map_or(0, |rate| rate.peak);
        let (subnet, address) = (peak(&self.subnets, subnet_of(address)), peak(&self.addresses, address));
        Peaks { all: self.all.peak, subnet, address }
    }

    /// Returns the largest peaks of any subnet and address.
    pub(crate) fn peaks(&self) -> Peaks {
        let most = |rates: &HashMap<IpAddr, Rate>| rates.values().map(|rate| rate.peak).max().unwrap_or(0);
        Peaks { all: self.all.peak, subnet: most(&self.subnets), address: most(&self.addresses) }
    }
}

fn subnet_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) => IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & 0xFFFF_FF00)),
        IpAddr::V6(address) => {
            IpAddr::V6(std::net::Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
    }
}
