//! The addresses that a bridge learned on its ports.

use std::collections::{BTreeMap, BTreeSet};

use super::ports::Port;
use super::tables::Tables;
use crate::discovery::reconcile::{Ports, is_own_mac};
use crate::discovery::report::{FdbRow, FdbStatus};
use crate::discovery::{Claim, ClaimRows};
use crate::model::MacAddress;
use crate::topology::links::missing::Missing;
use crate::topology::links::port_key::place_of;

/// Returns the numbers that the bridge gives to ports, sorted.
pub(super) fn bridge_ports(ports: &Ports, tables: &Tables<'_>) -> Box<[(i64, u32)]> {
    let by_fdb = tables.fdb.iter().filter_map(|row| Some((row.bridge_port?, port_of(ports, row)?)));
    let by_stp = tables.stp.iter().filter_map(|row| {
        let place = ports.local(Some(row.if_index?), None)?;
        Some((row.bridge_port, u32::try_from(place).ok()?))
    });
    let numbers: BTreeMap<i64, u32> = by_fdb.chain(by_stp).collect();
    numbers.into_iter().collect()
}

/// Returns the port that a row names by its index, or else by its name.
fn port_of(ports: &Ports, row: &FdbRow) -> Option<u32> {
    ports.local(row.if_index, row.if_name.as_deref()).and_then(|place| u32::try_from(place).ok())
}

/// An address that a device no longer has learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::topology::links) struct Lost {
    pub(in crate::topology::links) address: MacAddress,
    /// The place of the only port that learned the address last.
    pub(in crate::topology::links) place: u32,
    pub(in crate::topology::links) missing: Missing,
}

/// The parts of a device that tell on which port a row was learned.
pub(super) struct Learning<'d> {
    pub(super) by_value: &'d Ports,
    pub(super) bridge_ports: &'d [(i64, u32)],
    pub(super) ports: &'d [Port],
    /// The device's own addresses.
    pub(super) own: &'d BTreeSet<MacAddress>,
}

impl Learning<'_> {
    /// Returns the addresses that were learned on one port only. They belong to other devices.
    ///
    /// Members of an aggregate count as the aggregate.
    pub(super) fn learned(&self, rows: &[FdbRow]) -> Box<[(MacAddress, u32)]> {
        let mut found: BTreeMap<MacAddress, Option<u32>> = BTreeMap::new();
        let is_learned = |row: &&FdbRow| matches!(row.status, None | Some(FdbStatus::Learned));
        for row in rows.iter().filter(is_learned) {
            if !is_own_mac(row.mac_address) || self.own.contains(&row.mac_address) {
                continue;
            }
            let Some(place) = self.place(row) else { continue };
            let known = found.entry(row.mac_address).or_insert(Some(place));
            *known = known.filter(|known| *known == place);
        }
        found.into_iter().filter_map(|(address, place)| Some((address, place?))).collect()
    }

    /// Returns the addresses that were learned once. Of several times, the latest counts.
    pub(super) fn lost(&self, claims: &[Claim], learned: &[(MacAddress, u32)]) -> Box<[Lost]> {
        let mut lost: BTreeMap<MacAddress, Lost> = BTreeMap::new();
        for group in claims.iter().flat_map(|claim| &claim.missing) {
            let ClaimRows::Fdb(rows) = &group.rows else { continue };
            let missing = Missing::of(group);
            for (address, place) in self.learned(rows) {
                lost.entry(address).or_insert(Lost { address, place, missing });
            }
        }
        lost.retain(|address, _| learned.binary_search_by_key(address, |(learned, _)| *learned).is_err());
        lost.into_values().collect()
    }

    fn place(&self, row: &FdbRow) -> Option<u32> {
        let place = port_of(self.by_value, row).or_else(|| place_of(self.bridge_ports, row.bridge_port?))?;
        let port = usize::try_from(place).ok().and_then(|place| self.ports.get(place));
        Some(port.and_then(|port| port.lag).unwrap_or(place))
    }
}
