//! The VLANs of ports: `dot1qVlanCurrentTable`, `dot1qVlanStaticTable` and `dot1qPortVlanTable`.

use std::collections::{BTreeMap, BTreeSet};

use super::lists::{ListForm, PortList, union};
use super::ports::{BasePorts, BridgePorts};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::mib::interfaces::Interfaces;
use crate::discovery::parse::mib::{Accepted, VariableValue};
use crate::discovery::report::WarningCode;
use crate::model::Vlans;

/// The default of `dot1qPvid`.
const DEFAULT_VLAN: i64 = 1;

/// The beginning of the `sysObjectID` of devices with Junos.
const JUNIPER: &str = "1.3.6.1.4.1.2636.";

/// The VLANs of a bridge.
#[derive(Debug, Default)]
pub(super) struct VlanTables {
    vlans: BTreeMap<u16, Vlan>,
    /// The VLANs of frames that come without a tag, by port: `dot1qPvid`.
    port_vlans: BTreeMap<i64, i64>,
    /// Whether the device may number its VLANs itself.
    may_have_own_numbers: bool,
}

/// The forwarding database and the lists of ports of a VLAN.
#[derive(Debug, Default)]
struct Vlan {
    fdb_id: Option<u32>,
    egress: Vec<u8>,
    untagged: Vec<u8>,
    static_egress: Vec<u8>,
    static_untagged: Vec<u8>,
}

impl Vlan {
    /// Returns the egress list and the list of the ports without a tag: the current ones, or else the configured ones.
    fn lists(&self) -> (&[u8], &[u8]) {
        if self.egress.is_empty() {
            (&self.static_egress, &self.static_untagged)
        } else {
            (&self.egress, &self.untagged)
        }
    }
}

/// The VLANs of one interface, in ascending order.
#[derive(Debug, Default)]
struct Membership {
    untagged: Vec<u16>,
    tagged: Vec<u16>,
}

/// The column of a VLAN's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VlanColumn {
    FdbId,
    Egress,
    Untagged,
    StaticEgress,
    StaticUntagged,
}

impl VlanTables {
    pub(super) fn is_empty(&self) -> bool {
        self.vlans.is_empty() && self.port_vlans.is_empty()
    }

    pub(super) fn accept(
        &mut self,
        column: VlanColumn,
        vlan: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let Some(vlan) = u16::try_from(vlan).ok().filter(|vlan| is_vlan(i64::from(*vlan))) else {
            return Accepted::InvalidIndex;
        };
        meter.add_steps(1);
        if !self.vlans.contains_key(&vlan) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        let vlan = self.vlans.entry(vlan).or_default();
        let place = match column {
            VlanColumn::FdbId => {
                let fdb_id = value.integer().and_then(|fdb_id| fdb_id.try_into().ok());
                return Accepted::store(&mut vlan.fdb_id, fdb_id);
            }
            VlanColumn::Egress => &mut vlan.egress,
            VlanColumn::Untagged => &mut vlan.untagged,
            VlanColumn::StaticEgress => &mut vlan.static_egress,
            VlanColumn::StaticUntagged => &mut vlan.static_untagged,
        };
        let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
        *place = bytes.to_vec();
        Accepted::Yes
    }

    /// Stores `dot1qPvid` of a port.
    pub(super) fn accept_port(
        &mut self,
        port: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        super::insert(&mut self.port_vlans, port, value.integer(), meter)
    }

    /// Notes the `sysObjectID` of the device.
    pub(super) fn note_device(&mut self, object_id: Option<&str>) {
        self.may_have_own_numbers = object_id.is_some_and(|id| id.starts_with(JUNIPER));
    }

    /// Returns whether the indexes of the VLANs are VLAN ids, as the MIB says.
    ///
    /// Junos numbers the VLANs of some switches itself. Then no VLAN of a port, which is an id, is among the indexes. VLAN 1
    /// shows nothing, because bridges state it without having it.
    fn has_ids(&self, meter: &mut Meter) -> bool {
        if !self.may_have_own_numbers {
            return true;
        }
        meter.add_steps(self.port_vlans.len());
        let mut numbers = self.port_vlans.values().filter(|number| is_vlan(**number));
        let is_index = |number: &i64| u16::try_from(*number).is_ok_and(|vlan| self.vlans.contains_key(&vlan));
        let is_default = self.port_vlans.values().all(|number| *number == DEFAULT_VLAN || !is_vlan(*number));
        self.vlans.is_empty() || is_default || numbers.any(is_index)
    }

    /// Returns the VLAN of each forwarding database that has exactly one, or `None` if the VLANs have no ids.
    pub(super) fn by_fdb(&self, meter: &mut Meter) -> Option<BTreeMap<u32, Option<u16>>> {
        if !self.has_ids(meter) {
            return None;
        }
        let mut vlans = BTreeMap::new();
        for (vlan, entry) in &self.vlans {
            if let Some(fdb_id) = entry.fdb_id {
                vlans.entry(fdb_id).and_modify(|held| *held = None).or_insert(Some(*vlan));
            }
        }
        Some(vlans)
    }

    /// Returns the VLAN of a database. Devices that do not map databases to VLANs number them alike.
    pub(super) fn of_fdb(&self, fdb_id: u32, by_fdb: &BTreeMap<u32, Option<u16>>) -> Option<u16> {
        if let Some(vlan) = by_fdb.get(&fdb_id) {
            return *vlan;
        }
        let same = u16::try_from(fdb_id).ok().filter(|vlan| is_vlan(i64::from(*vlan)))?;
        (by_fdb.is_empty() || self.vlans.contains_key(&same)).then_some(same)
    }

    /// Returns the VLANs of each interface.
    pub(super) fn by_interface(
        &self,
        base_ports: &BasePorts,
        interfaces: &Interfaces,
        meter: &mut Meter,
    ) -> BTreeMap<i64, Vlans> {
        let is_known = |port: i64| {
            base_ports.get(port).is_some() || (base_ports.is_absent() && interfaces.contains(port))
        };
        let form = ListForm::of(self.all_lists(), is_known);
        let lists = if self.has_ids(meter) { self.lists(form, meter) } else { self.without_lists(meter) };
        let listed = union(lists.iter().map(|(_, egress, _)| egress));
        let numbered: BTreeSet<i64> = self.port_vlans.keys().copied().collect();
        meter.add_steps(listed.len() + numbered.len());
        let ports = BridgePorts::new(base_ports, interfaces, &(&listed | &numbered), meter);
        // The ports that the lists name decide whether they are bits or text.
        let is_uncertain = base_ports.has_losses() && ListForm::may_be_text(self.all_lists());
        let is_interface = |index: &i64| !is_uncertain && interfaces.contains(*index);
        let of_lists = ports.of_table(&listed, meter);
        let of_lists = |port: i64| of_lists.index_of(port).filter(is_interface);
        let mut members = members(&lists, Members::new(&listed, of_lists), meter);
        let of_port_vlans = ports.of_table(&numbered, meter);
        let of_port_vlans = |port: i64| of_port_vlans.index_of(port).filter(is_interface);
        self.add_port_vlans(&lists, &mut members, of_port_vlans, meter);
        members.into_iter().map(|(index, membership)| (index, membership.into_vlans())).collect()
    }

    fn all_lists(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let lists = self.vlans.values().map(|vlan| {
            [&vlan.egress, &vlan.untagged, &vlan.static_egress, &vlan.static_untagged].map(Vec::as_slice)
        });
        lists.flatten()
    }

    /// Returns the VLANs with their egress lists and their lists of ports without a tag.
    fn lists(&self, form: ListForm, meter: &mut Meter) -> Vec<(u16, PortList<'_>, PortList<'_>)> {
        let mut lists = Vec::with_capacity(self.vlans.len());
        for (vlan, entry) in &self.vlans {
            let (egress, untagged) = entry.lists();
            meter.add_steps(egress.len() + untagged.len());
            let (Some(egress), Some(untagged)) = (form.read(egress), form.read(untagged)) else { continue };
            lists.push((*vlan, egress, untagged));
        }
        lists
    }

    /// Counts the VLANs, whose lists are not read because their ids are not known.
    fn without_lists(&self, meter: &mut Meter) -> Vec<(u16, PortList<'_>, PortList<'_>)> {
        for index in self.vlans.keys() {
            meter.leave_out(WarningCode::ValueInvalid, || {
                format!("VLAN with the index {index}, which is no VLAN id of a port")
            });
        }
        Vec::new()
    }

    /// Determines by `dot1qPvid` which VLAN takes the frames without a tag.
    ///
    /// It is believed only for a port that sends frames of the VLAN without a tag: many devices keep the VLAN that was
    /// configured before. It is believed as well where the device sends no lists, or lists without any port that has
    /// no tag, unless it is 1 for all ports: bridges that know no VLANs say so.
    fn add_port_vlans(
        &self,
        lists: &[(u16, PortList<'_>, PortList<'_>)],
        members: &mut BTreeMap<i64, Membership>,
        index_of: impl Fn(i64) -> Option<i64>,
        meter: &mut Meter,
    ) {
        let has_members = lists.iter().any(|(_, egress, _)| egress.ports().next().is_some());
        let is_default = self.port_vlans.values().all(|number| *number == DEFAULT_VLAN);
        let has_untagged = lists.iter().any(|(_, _, untagged)| untagged.ports().next().is_some());
        for (port, number) in &self.port_vlans {
            meter.add_steps(1);
            let Some(index) = index_of(*port) else {
                meter.leave_out(WarningCode::PortWithoutInterface, || {
                    format!("VLAN {number} of bridge port {port}")
                });
                continue;
            };
            let vlan = u16::try_from(*number).ok().filter(|_| is_vlan(*number));
            let used = vlan.is_some_and(|vlan| {
                if !has_members {
                    if is_default {
                        return false;
                    }
                    members.entry(index).or_default().untagged.insert(0, vlan);
                    return true;
                }
                members.get_mut(&index).is_some_and(|held| held.prefer(vlan, !has_untagged))
            });
            if used {
                meter.use_rows(1);
            } else {
                meter.leave_out(WarningCode::PortVlanNotUntagged, || {
                    format!("VLAN {number} of bridge port {port}")
                });
            }
        }
    }
}

/// The VLANs of the interfaces that are ports of a table.
#[derive(Debug)]
struct Members {
    /// Port numbers in ascending order, each with the place of its interface.
    places: Vec<(i64, usize)>,
    /// Interface indexes with their VLANs.
    interfaces: Vec<(i64, Membership)>,
}

impl Members {
    /// Finds the interfaces behind the ports of a table.
    fn new(numbers: &BTreeSet<i64>, index_of: impl Fn(i64) -> Option<i64>) -> Self {
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
fn members(
    lists: &[(u16, PortList<'_>, PortList<'_>)],
    mut members: Members,
    meter: &mut Meter,
) -> BTreeMap<i64, Membership> {
    for (vlan, egress, untagged) in lists {
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
    fn prefer(&mut self, vlan: u16, may_be_tagged: bool) -> bool {
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

    fn into_vlans(self) -> Vlans {
        let mut untagged = self.untagged.into_iter();
        let first = untagged.next();
        let mut other_untagged: Vec<u16> = untagged.filter(|vlan| Some(*vlan) != first).collect();
        other_untagged.sort_unstable();
        other_untagged.dedup();
        Vlans { untagged: first, tagged: self.tagged, other_untagged }
    }
}

fn is_vlan(number: i64) -> bool {
    (1..4095).contains(&number)
}
