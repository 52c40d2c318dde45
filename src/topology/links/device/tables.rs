//! The rows of a host's claims, by kind.
//!
//! They have addresses that a bridge learned on its ports, and MAC addresses that a device knows of other IP addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;

use super::ports::SwitchPort;
use super::routes::RoutingTable;
use crate::discovery::reconcile::{Identity, SwitchPorts, is_own_mac};
use crate::discovery::report::{
    ArpRow, FdbRow, FdbStatus, LagRow, LldpRow, NeighborState, StpRow, TableKind,
};
use crate::discovery::{Claim, ClaimRows};
use crate::model::{MacAddress, Timestamp};
use crate::topology::links::key::{IdentityKey, place_of};
use crate::topology::links::missing::Missing;

/// The tables that ports and learned addresses follow from.
#[derive(Default)]
pub(super) struct Tables<'c> {
    pub(super) lldp: &'c [LldpRow],
    pub(super) lag: &'c [LagRow],
    pub(super) fdb: &'c [FdbRow],
    pub(super) arp: &'c [ArpRow],
    pub(super) stp: &'c [StpRow],
    pub(super) routes: Option<RoutingTable>,
    pub(super) learned_at: Option<Timestamp>,
    pub(super) resolved_at: Option<Timestamp>,
    pub(super) truncated: Vec<TableKind>,
}

impl<'c> Tables<'c> {
    pub(super) fn of(claims: &'c [Claim]) -> Self {
        let mut tables = Self::default();
        for claim in claims {
            match &claim.rows {
                ClaimRows::Lldp(rows) => tables.lldp = rows,
                ClaimRows::Lag(rows) => tables.lag = rows,
                ClaimRows::Stp(rows) => tables.stp = rows,
                ClaimRows::Fdb(rows) => {
                    tables.fdb = rows;
                    tables.learned_at = Some(claim.observed_at);
                }
                ClaimRows::Arp(rows) => {
                    tables.arp = rows;
                    tables.resolved_at = Some(claim.observed_at);
                    // An incomplete neighbor cache is no reason for a warning, because no link depends on it alone.
                    continue;
                }
                ClaimRows::Cdp(_) => {}
                ClaimRows::Routes(rows) => {
                    tables.routes = Some(RoutingTable::of(rows, claim.complete).limited_to(claim.family));
                    continue;
                }
                ClaimRows::IfEntries(_) | ClaimRows::Addresses(_) | ClaimRows::Ports(_) => continue,
            }
            if !claim.complete {
                tables.truncated.push(claim.rows.kind());
            }
        }
        tables.truncated.sort_unstable();
        tables
    }
}

/// Returns the numbers that the bridge gives to ports, sorted.
pub(super) fn bridge_ports(ports: &SwitchPorts, tables: &Tables<'_>) -> Box<[(i64, u32)]> {
    let by_fdb = tables.fdb.iter().filter_map(|row| Some((row.bridge_port?, port_of(ports, row)?)));
    let by_stp = tables.stp.iter().filter_map(|row| {
        let place = ports.cabled(ports.local(Some(row.if_index?), None)?);
        Some((row.bridge_port, u32::try_from(place).ok()?))
    });
    let numbers: BTreeMap<i64, u32> = by_fdb.chain(by_stp).collect();
    numbers.into_iter().collect()
}

/// Returns the port that a row names by its index, or else by its name.
fn port_of(ports: &SwitchPorts, row: &FdbRow) -> Option<u32> {
    let place = ports.local(row.if_index, row.if_name.as_deref())?;
    u32::try_from(ports.cabled(place)).ok()
}

/// An address that a device no longer has learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::topology::links) struct Lost {
    pub(in crate::topology::links) address: MacAddress,
    /// The place of the only port that learned the address last.
    pub(in crate::topology::links) place: u32,
    pub(in crate::topology::links) missing: Missing,
}

/// An address that a port of a bridge learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::topology::links) struct LearnedAddress {
    pub(in crate::topology::links) address: MacAddress,
    /// The place of the port.
    pub(in crate::topology::links) place: u32,
    /// The VLAN in which the port learned the address; `None` when unknown, or for several VLANs.
    pub(in crate::topology::links) vlan: Option<NonZeroU16>,
}

/// The addresses of other devices in a forwarding database.
pub(super) struct LearnedRows {
    /// Those that one port learned, sorted.
    pub(super) on_one_port: Box<[LearnedAddress]>,
    /// The others, once for each port, sorted.
    pub(super) on_several_ports: Box<[LearnedAddress]>,
}

/// The parts of a device that determine on which port a row was learned.
pub(super) struct Learning<'d> {
    pub(super) by_value: &'d SwitchPorts,
    pub(super) bridge_ports: &'d [(i64, u32)],
    pub(super) ports: &'d [SwitchPort],
    /// The device's own addresses.
    pub(super) own: &'d BTreeSet<MacAddress>,
}

impl Learning<'_> {
    /// Returns the addresses of other devices, by the number of ports that learned them.
    ///
    /// Members of an aggregate count as the aggregate. Addresses that are learned through a tunnel are not behind a cable.
    pub(super) fn learned(&self, rows: &[FdbRow]) -> LearnedRows {
        let is_learned = |row: &&FdbRow| matches!(row.status, None | Some(FdbStatus::Learned));
        let read = |row: &FdbRow| {
            let address = row.mac_address;
            let is_other = is_own_mac(address) && !self.own.contains(&address);
            let place = self.place(row).filter(|place| is_other && !self.is_tunnel(*place))?;
            Some(LearnedAddress { address, place, vlan: row.vlan.and_then(NonZeroU16::new) })
        };
        let mut found: Vec<LearnedAddress> = rows.iter().filter(is_learned).filter_map(read).collect();
        found.sort_unstable();
        let (mut on_one_port, mut on_several_ports) = (Vec::new(), Vec::new());
        for rows in found.chunk_by(|one, other| one.address == other.address) {
            match rows {
                [first, .., last] if first.place != last.place => on_several_ports.extend(by_port(rows)),
                _ => on_one_port.extend(by_port(rows)),
            }
        }
        LearnedRows {
            on_one_port: on_one_port.into_boxed_slice(),
            on_several_ports: on_several_ports.into_boxed_slice(),
        }
    }

    /// Returns the addresses that were learned once. Of several times, the latest counts.
    pub(super) fn lost(&self, claims: &[Claim], learned: &[LearnedAddress]) -> Box<[Lost]> {
        let mut lost: BTreeMap<MacAddress, Lost> = BTreeMap::new();
        for group in claims.iter().flat_map(|claim| &claim.missing) {
            let ClaimRows::Fdb(rows) = &group.rows else { continue };
            let missing = Missing::of(group);
            for LearnedAddress { address, place, .. } in self.learned(rows).on_one_port {
                lost.entry(address).or_insert(Lost { address, place, missing });
            }
        }
        lost.retain(|address, _| learned.binary_search_by_key(address, |learned| learned.address).is_err());
        lost.into_values().collect()
    }

    fn is_tunnel(&self, place: u32) -> bool {
        usize::try_from(place).ok().and_then(|place| self.ports.get(place)).is_some_and(|port| port.is_tunnel)
    }

    fn place(&self, row: &FdbRow) -> Option<u32> {
        let place = port_of(self.by_value, row).or_else(|| place_of(self.bridge_ports, row.bridge_port?))?;
        let port = usize::try_from(place).ok().and_then(|place| self.ports.get(place));
        Some(port.and_then(|port| port.lag).unwrap_or(place))
    }
}

/// Returns the ports of sorted rows with one address, each once.
fn by_port(rows: &[LearnedAddress]) -> impl Iterator<Item = LearnedAddress> {
    rows.chunk_by(|one, other| one.place == other.place).filter_map(|rows| {
        let (first, last) = (rows.first()?, rows.last()?);
        Some(LearnedAddress { vlan: first.vlan.filter(|_| first.vlan == last.vlan), ..*first })
    })
}

/// A row of a neighbor cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::topology::links) struct Resolved {
    pub(in crate::topology::links) ip: IdentityKey,
    pub(in crate::topology::links) mac_address: MacAddress,
    /// The place of the port behind which the address is.
    pub(in crate::topology::links) port: Option<u32>,
}

/// Returns the rows of a neighbor cache, sorted, each pair of addresses once. Addresses that several devices may have
/// are left out.
pub(super) fn resolved(rows: &[ArpRow], ports: &SwitchPorts) -> Vec<Resolved> {
    let read = |row: &ArpRow| {
        let is_known = row.state != Some(NeighborState::Unreachable) && is_own_mac(row.mac_address);
        let ip = Identity::of_ip(row.ip_address).filter(|_| is_known)?;
        let port = ports.local(row.if_index, row.if_name.as_deref()).map(|place| ports.cabled(place));
        Some(Resolved {
            ip: IdentityKey::of_identity(&ip),
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
pub(super) fn formerly_resolved(claims: &[Claim], ports: &SwitchPorts) -> Box<[(Resolved, Missing)]> {
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
