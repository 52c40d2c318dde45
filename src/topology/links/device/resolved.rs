//! The MAC addresses that a device knows of other IP addresses.

use crate::discovery::reconcile::{Identity, Ports, is_own_mac};
use crate::discovery::report::{ArpRow, NeighborState};
use crate::discovery::{Claim, ClaimRows};
use crate::model::MacAddress;
use crate::topology::links::key::Key;
use crate::topology::links::missing::Missing;

/// A row of a neighbor cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::topology::links) struct Resolved {
    pub(in crate::topology::links) ip: Key,
    pub(in crate::topology::links) mac_address: MacAddress,
    /// The place of the port behind which the address is.
    pub(in crate::topology::links) port: Option<u32>,
}

/// Returns the rows of a neighbor cache, sorted, each pair of addresses once. Addresses that several devices may have
/// are left out.
pub(super) fn resolved(rows: &[ArpRow], ports: &Ports) -> Vec<Resolved> {
    let read = |row: &ArpRow| {
        let is_known = row.state != Some(NeighborState::Unreachable) && is_own_mac(row.mac_address);
        let ip = Identity::of_ip(row.ip_address).filter(|_| is_known)?;
        let port = ports.local(row.if_index, row.if_name.as_deref());
        Some(Resolved {
            ip: Key::of_identity(&ip),
            mac_address: row.mac_address,
            port: port.and_then(|place| u32::try_from(place).ok()),
        })
    };
    let mut rows: Vec<Resolved> = rows.iter().filter_map(read).collect();
    rows.sort_unstable();
    rows.dedup_by_key(|row| (row.ip, row.mac_address));
    rows
}

/// Returns the rows that a neighbor cache no longer has, sorted.
pub(super) fn formerly_resolved(claims: &[Claim], ports: &Ports) -> Box<[(Resolved, Missing)]> {
    let mut former = Vec::new();
    for group in claims.iter().flat_map(|claim| &claim.missing) {
        if let ClaimRows::Arp(rows) = &group.rows {
            let missing = Missing::of(group);
            former.extend(resolved(rows, ports).into_iter().map(|row| (row, missing)));
        }
    }
    former.sort_unstable();
    former.dedup_by_key(|(row, _)| (row.ip, row.mac_address));
    former.into_boxed_slice()
}
