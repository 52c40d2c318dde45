use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::collect::snmp::{ObjectId, WalkLimits};

/// The UDP port of SNMP agents.
const SNMP_PORT: u16 = 161;

/// The limits of a crawl. The gate has the limits of addresses and pace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CrawlOptions {
    /// The number of neighbors between a seed and the last devices that are read. The default is 32.
    pub depth: u32,
    /// The number of devices that are read. The default is 10,000.
    pub devices: usize,
    /// The number of addresses that are asked. The default is 65,536.
    pub targets: usize,
    /// The number of devices that are read at the same time, and of addresses that are asked. The default is 128.
    pub workers: usize,
    /// Whether addresses in the ARP caches and IPv6 neighbor caches of devices are asked, too. The default is `false`.
    pub follows_arp: bool,
    /// Whether the next hops of the routes in reports are asked, too. The default is `false`.
    pub follows_next_hops: bool,
    /// The addresses that are not asked.
    pub skipped_addresses: BTreeSet<IpAddr>,
    /// The `sysObjectID`s of devices that are not read, each with all identifiers below it.
    pub skipped_object_ids: Vec<ObjectId>,
    /// The limits of each device.
    pub walk: WalkLimits,
    /// The bytes of memory that the tables of all devices take that are read at the same time. Beyond it, only one device is
    /// read on, and the others wait. The default is 256 MiB; their reports take about as much.
    pub table_bytes: usize,
    /// The UDP port that is asked. The default is 161.
    pub port: u16,
}

impl Default for CrawlOptions {
    fn default() -> Self {
        Self {
            depth: 32,
            devices: 10_000,
            targets: 65_536,
            workers: 128,
            follows_arp: false,
            follows_next_hops: false,
            skipped_addresses: BTreeSet::new(),
            skipped_object_ids: Vec::new(),
            walk: WalkLimits::default(),
            table_bytes: 256 << 20,
            port: SNMP_PORT,
        }
    }
}

/// The reason why a crawl does not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlError {
    /// There is no address to begin with.
    #[error("a crawl requires an address to begin with, within the limits")]
    NoSeed,
    /// The allow-list does not have a seed.
    #[error("the allow-list does not have the address {0}")]
    SeedNotAllowed(IpAddr),
}
