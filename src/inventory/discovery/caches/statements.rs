//! Statements of a neighbor cache about the MAC addresses of other devices.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::discovery::ClaimRows;
use crate::discovery::reconcile::{Identity, is_own_mac};
use crate::discovery::report::ArpRow;
use crate::inventory::Error;
use crate::inventory::discovery::claims::ClaimedTable;
use crate::inventory::discovery::records::ClaimRecord;
use crate::inventory::schema::decode;
use crate::model::{HostId, MacAddress};
use crate::store::{Key, Record, Version};

/// Maximum number of IPv6 addresses with one MAC address. A device has several of them.
const MAX_IPV6: usize = 16;

/// The statement of a neighbor cache about one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CacheStatement {
    /// A device with this MAC address has it.
    One(MacAddress),
    /// Several devices have it, in turn or at once.
    Several,
}

/// The statements of the neighbor cache of a host.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) reporter: HostId,
    by_address: HashMap<IpAddr, CacheStatement>,
}

impl Statements {
    fn read(record: &Record) -> Result<Self, Error> {
        let ClaimRecord { host_id, claimed, .. } = decode(record)?;
        Ok(Self { reporter: host_id, by_address: statements(&claimed) })
    }

    pub(super) fn of(&self, address: IpAddr) -> Option<CacheStatement> {
        self.by_address.get(&address.to_canonical()).copied()
    }
}

/// Returns the statements of a neighbor cache, by address.
///
/// A MAC address with several IPv4 addresses is ignored: it belongs to a router that answers for others (proxy ARP).
/// So is the virtual MAC address of a group of routers, which belongs to no device.
fn statements(claimed: &ClaimedTable) -> HashMap<IpAddr, CacheStatement> {
    let current = match &claimed.table {
        ClaimRows::Arp(rows) => rows.as_slice(),
        _ => &[],
    };
    let mut holders: HashMap<MacAddress, BTreeSet<IpAddr>> = HashMap::new();
    let mut found = HashMap::new();
    add(current.iter(), &mut holders, &mut found);
    // A device that is now at another address no longer has the former one.
    let is_gone = |row: &&ArpRow| !holders.contains_key(&row.mac_address);
    let former = claimed.arp_rows().skip(current.len()).filter(is_gone);
    let (mut former_holders, mut former_found) = (HashMap::new(), HashMap::new());
    add(former, &mut former_holders, &mut former_found);
    holders.extend(former_holders);
    for (address, statement) in former_found {
        found.entry(address).or_insert(statement);
    }
    let is_of_one = |address: MacAddress| {
        holders.get(&address).is_some_and(|addresses| {
            let ipv4 = addresses.iter().filter(|address| address.is_ipv4()).count();
            ipv4 < 2 && addresses.len() - ipv4 <= MAX_IPV6
        })
    };
    found.retain(|_, statement| match statement {
        CacheStatement::One(address) => !is_own_mac(*address) || is_of_one(*address),
        CacheStatement::Several => true,
    });
    for statement in found.values_mut() {
        if matches!(statement, CacheStatement::One(address) if !is_own_mac(*address)) {
            *statement = CacheStatement::Several;
        }
    }
    found
}

fn add<'r>(
    rows: impl Iterator<Item = &'r ArpRow>,
    holders: &mut HashMap<MacAddress, BTreeSet<IpAddr>>,
    found: &mut HashMap<IpAddr, CacheStatement>,
) {
    for row in rows.filter(|row| row.has_answered() && row.mac_address.octets() != [0; 6]) {
        if Identity::of_ip(row.ip_address).is_none() {
            continue;
        }
        let address = row.ip_address.to_canonical();
        holders.entry(row.mac_address).or_default().insert(address);
        let statement = found.entry(address).or_insert(CacheStatement::One(row.mac_address));
        if *statement != CacheStatement::One(row.mac_address) {
            *statement = CacheStatement::Several;
        }
    }
}

/// Maximum number of statements that are kept.
const MAX_STATEMENTS: usize = 1_000_000;

/// The statements of the neighbor caches that were read last, so that each version is decoded once.
#[derive(Debug, Default)]
pub(in crate::inventory) struct NeighborCaches(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    caches: HashMap<Key, (Version, Arc<Statements>)>,
    statements: usize,
}

impl NeighborCaches {
    /// Returns the cached statements of a claim, or `None`.
    pub(super) fn known(&self, record: &Record) -> Option<Arc<Statements>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (version, known) = kept.caches.get(&record.key)?;
        (*version == record.version).then(|| Arc::clone(known))
    }

    /// Decodes the statements of a claim, and caches them.
    pub(super) fn read(&self, record: &Record) -> Result<Arc<Statements>, Error> {
        let read = Arc::new(Statements::read(record)?);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Clearing everything avoids tracking use; caches in use return with their next report.
        if kept.statements.saturating_add(read.by_address.len()) > MAX_STATEMENTS {
            *kept = Kept::default();
        }
        kept.statements = kept.statements.saturating_add(read.by_address.len());
        if let Some((_, former)) = kept.caches.insert(record.key, (record.version, Arc::clone(&read))) {
            kept.statements = kept.statements.saturating_sub(former.by_address.len());
        }
        Ok(read)
    }
}
