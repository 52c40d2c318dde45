use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use tokio::time::Instant;

/// The time in which packets are counted. It is longer than a second, so that a socket that delays packets by some
/// milliseconds does not make more of them fall into one second.
const WINDOW: Duration = Duration::from_millis(1_020);

/// Number of windows above which those are removed that count nothing.
const MIN_PRUNED_WINDOWS: usize = 1_024;

/// The number of packets that may be sent in any one second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pace {
    /// To one address. The default is 20.
    pub device: u32,
    /// To the addresses of an IPv4 prefix of 24 bits or an IPv6 prefix of 64 bits. The default is 100.
    pub subnet: u32,
    /// To all addresses. The default is 2,000.
    pub all: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { device: 20, subnet: 100, all: 2_000 }
    }
}

impl Pace {
    /// Creates a pace. Zero counts as one packet a second.
    #[must_use]
    pub const fn new(device: u32, subnet: u32, all: u32) -> Self {
        Self { device, subnet, all }
    }
}

/// Counts the packets of the last second.
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Pace,
    all: PacketWindow,
    subnets: Windows,
    devices: Windows,
}

impl Pacer {
    pub(super) fn new(pace: Pace) -> Self {
        Self { pace, all: PacketWindow::default(), subnets: Windows::default(), devices: Windows::default() }
    }

    /// Counts a packet that is sent now, or returns the earliest time at which it can be.
    pub(super) fn admit(&mut self, address: IpAddr, now: Instant) -> Result<(), Instant> {
        let address = address.to_canonical();
        let Pace { device, subnet, all } = self.pace;
        self.all.prune(now);
        let windows = [
            (self.devices.of(address, now), device),
            (self.subnets.of(subnet_of(address), now), subnet),
            (&mut self.all, all),
        ];
        let full = windows.iter().filter_map(|(window, limit)| window.opens_at(*limit)).max();
        if let Some(time) = full {
            return Err(time);
        }
        for (window, _) in windows {
            window.sent.push_back(now);
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Windows {
    windows: HashMap<IpAddr, PacketWindow>,
    /// The number of windows after the last removal.
    kept: usize,
}

impl Windows {
    fn of(&mut self, key: IpAddr, now: Instant) -> &mut PacketWindow {
        if self.windows.len() > MIN_PRUNED_WINDOWS.max(self.kept * 2) {
            self.windows.retain(|_, window| {
                window.prune(now);
                !window.sent.is_empty()
            });
            self.kept = self.windows.len();
        }
        let window = self.windows.entry(key).or_default();
        window.prune(now);
        window
    }
}

/// The times of the packets of the last second.
#[derive(Debug, Default)]
struct PacketWindow {
    sent: VecDeque<Instant>,
}

impl PacketWindow {
    fn prune(&mut self, now: Instant) {
        while self.sent.front().is_some_and(|sent| *sent + WINDOW <= now) {
            self.sent.pop_front();
        }
    }

    /// Returns when the next packet may be sent, or `None` if it may be now. The window must be pruned.
    fn opens_at(&self, limit: u32) -> Option<Instant> {
        let limit = usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
        let before = self.sent.len().checked_sub(limit)?;
        self.sent.get(before).map(|sent| *sent + WINDOW)
    }
}

fn subnet_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) => IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & 0xFFFF_FF00)),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
    }
}
