//! The interfaces that are members of VLANs.

use std::collections::{BTreeMap, BTreeSet};

use super::lists::PortList;
use crate::discovery::parse::meter::Meter;
use crate::discovery::report::WarningCode;
use crate::model::Vlans;

/// The ports of a VLAN, and those of them whose frames have no tag.
#[derive(Debug)]
pub(super) struct VlanLists<'l> {
    pub(super) vlan: u16,
    pub(super) egress: PortList<'l>,
    pub(super) untagged: PortList<'l>,
}

/// The VLANs of one interface, in ascending order.
#[derive(Debug, Default)]
pub(super) struct Membership {
    pub(super) untagged: Vec<u16>,
    tagged: Vec<u16>,
}

/// The VLANs of the interfaces that are ports of a table.
#[derive(Debug)]
pub(super) struct MemberPorts {
    /// Port numbers in ascending order, each with the place of its interface.
    places: Vec<(i64, usize)>,
    /// Interface indexes with their VLANs.
    interfaces: Vec<(i64, Membership)>,
}

impl MemberPorts {
    /// Finds the interfaces behind the ports of a table.
    pub(super) fn new(numbers: &BTreeSet<i64>, index_of: impl Fn(i64) -> Option<i64>) -> Self {
        let mut members = Self { places: Vec::with_capacity(numbers.len()), interfaces: Vec::new() };
        let mut places: BTreeMap<i64, usize> = BTreeMap::new();
        for port in numbers {
            let Some(index) = index_of(*port) else { continue };
            let place = *places.entry(index).or_insert(members.interfaces.len());
            if place == members.interfaces.len() {
                members.interfaces.push((index, Membership::default()));
            }
            members.places.push((*port, place));
        }
        members
    }

    /// Returns the VLANs of the interface behind a port.
    fn get_mut(&mut self, port: i64) -> Option<&mut Membership> {
        let position = self.places.binary_search_by_key(&port, |(port, _)| *port).ok()?;
        let (_, place) = self.places.get(position)?;
        self.interfaces.get_mut(*place).map(|(_, membership)| membership)
    }
}

/// Collects the VLANs of the interfaces, and counts the ports that are none.
pub(super) fn members(
    lists: &[VlanLists<'_>],
    mut members: MemberPorts,
    meter: &mut Meter,
) -> BTreeMap<i64, Membership> {
    for VlanLists { vlan, egress, untagged } in lists {
        let (mut found, mut first_unknown) = (false, None);
        for port in egress.ports() {
            meter.add_steps(1);
            if let Some(membership) = members.get_mut(port) {
                found = true;
                membership.add(*vlan, untagged.contains(port));
                continue;
            }
            first_unknown = first_unknown.or(Some(port));
            meter.warn_of(WarningCode::VlanPortUnknown, || format!("bridge port {port} of VLAN {vlan}"));
        }
        match first_unknown {
            Some(port) if !found => meter.leave_out(WarningCode::PortWithoutInterface, || {
                format!("VLAN {vlan} of bridge port {port}")
            }),
            _ => meter.use_rows(1),
        }
    }
    let interfaces = members.interfaces.into_iter();
    interfaces.filter(|(_, membership)| !membership.is_empty()).collect()
}

impl Membership {
    const fn is_empty(&self) -> bool {
        self.untagged.is_empty() && self.tagged.is_empty()
    }

    /// Adds a VLAN that is not lower than those before. Several bridge ports may lead to one interface.
    fn add(&mut self, vlan: u16, is_untagged: bool) {
        let list = if is_untagged { &mut self.untagged } else { &mut self.tagged };
        if list.last() != Some(&vlan) {
            list.push(vlan);
        }
    }

    /// Moves a VLAN to the front of those without a tag. Returns whether the port is a member of it.
    pub(super) fn prefer(&mut self, vlan: u16, may_be_tagged: bool) -> bool {
        if let Some(position) = self.untagged.iter().position(|held| *held == vlan) {
            self.untagged.get_mut(..=position).into_iter().for_each(|held| held.rotate_right(1));
            return true;
        }
        let Some(position) = self.tagged.iter().position(|held| may_be_tagged && *held == vlan) else {
            return false;
        };
        self.tagged.remove(position);
        self.untagged.insert(0, vlan);
        true
    }

    pub(super) fn into_vlans(self) -> Vlans {
        let mut untagged = self.untagged.into_iter();
        let first = untagged.next();
        let mut other_untagged: Vec<u16> = untagged.filter(|vlan| Some(*vlan) != first).collect();
        other_untagged.sort_unstable();
        other_untagged.dedup();
        Vlans { untagged: first, tagged: self.tagged, other_untagged }
    }
}
