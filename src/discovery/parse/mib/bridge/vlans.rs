//! The VLANs of ports: `dot1qVlanCurrentTable`, `dot1qVlanStaticTable` and `dot1qPortVlanTable`.

use std::collections::{BTreeMap, BTreeSet};

use super::lists::{ListForm, PortList, union};
use super::members::{MemberPorts, Membership, VlanLists, members};
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
    /// Whether the device numbers its VLANs itself, so that their indexes are no ids.
    has_own_numbers: bool,
    /// Whether the input may end before the last column of the lists.
    may_lack_lists: bool,
    /// Whether the input may end before the column of the databases.
    may_lack_databases: bool,
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

    /// Notes the `sysObjectID` of the device, and whether the input ends early. Follows the last variable.
    pub(super) fn prepare(
        &mut self,
        object_id: Option<&str>,
        base_ports: &BasePorts,
        interfaces: &Interfaces,
        meter: &mut Meter,
    ) {
        // `dot1qPvid` follows the lists, which follow the databases.
        self.may_lack_lists = meter.is_truncated() && self.port_vlans.is_empty();
        self.may_lack_databases = self.may_lack_lists && self.all_lists().all(<[u8]>::is_empty);
        if object_id.is_some_and(|id| id.starts_with(JUNIPER)) {
            self.has_own_numbers = !self.has_ids(self.form(base_ports, interfaces), meter);
        }
    }

    /// Returns whether the indexes of the VLANs are VLAN ids, as the MIB says.
    ///
    /// Junos numbers the VLANs of some switches itself. Then most ports are not in the list of the index that equals their VLAN
    /// id, but in that of another one. VLAN 1 shows nothing, because bridges state it without having it.
    fn has_ids(&self, form: ListForm, meter: &mut Meter) -> bool {
        let untagged = self.vlans.iter().filter_map(|(vlan, entry)| {
            let (_, untagged) = entry.lists();
            meter.add_steps(untagged.len());
            Some((i64::from(*vlan), form.read(untagged)?))
        });
        let untagged: BTreeMap<i64, PortList<'_>> = untagged.collect();
        let listed = union(untagged.values());
        meter.add_steps(listed.len() + self.port_vlans.len());
        let is_evidence =
            |(port, vlan): &(&i64, &i64)| is_vlan(**vlan) && **vlan != DEFAULT_VLAN && listed.contains(port);
        let (agreeing, others): (Vec<_>, Vec<_>) = self
            .port_vlans
            .iter()
            .filter(is_evidence)
            .partition(|(port, vlan)| untagged.get(*vlan).is_some_and(|list| list.contains(**port)));
        others.len() <= agreeing.len()
    }

    /// Returns the form of all lists.
    fn form(&self, base_ports: &BasePorts, interfaces: &Interfaces) -> ListForm {
        let is_known = |port: i64| {
            base_ports.get(port).is_some() || (base_ports.is_absent() && interfaces.contains(port))
        };
        ListForm::of(self.all_lists(), is_known)
    }

    /// Returns the VLAN of each forwarding database that has exactly one, or `None` if the VLANs have no ids.
    pub(super) fn by_fdb(&self, meter: &mut Meter) -> Option<BTreeMap<u32, Option<u16>>> {
        if self.has_own_numbers {
            return None;
        }
        meter.add_steps(self.vlans.len());
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
        if self.may_lack_databases {
            return None;
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
        let lists = if self.has_own_numbers {
            self.without_lists(meter)
        } else {
            self.lists(self.form(base_ports, interfaces), meter)
        };
        let listed = union(lists.iter().map(|lists| &lists.egress));
        let numbered: BTreeSet<i64> = self.port_vlans.keys().copied().collect();
        meter.add_steps(listed.len() + numbered.len());
        let ports = BridgePorts::new(base_ports, interfaces, &(&listed | &numbered), meter);
        // The ports that the lists name decide whether they are bits or text.
        let is_uncertain = base_ports.has_losses() && ListForm::may_be_text(self.all_lists());
        let is_interface = |index: &i64| !is_uncertain && interfaces.contains(*index);
        let of_lists = ports.of_table(&listed, meter);
        let of_lists = |port: i64| of_lists.index_of(port).filter(is_interface);
        let mut members = members(&lists, MemberPorts::new(&listed, of_lists), meter);
        let (used, unused) =
            numbered.iter().partition(|port| self.port_vlans.get(port).is_some_and(|vlan| is_vlan(*vlan)));
        let of_port_vlans = if ports.shows_indexes(&used, &unused, interfaces) {
            ports.of_indexes()
        } else {
            ports.of_table(&numbered, meter)
        };
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
    fn lists(&self, form: ListForm, meter: &mut Meter) -> Vec<VlanLists<'_>> {
        let mut lists = Vec::with_capacity(self.vlans.len());
        for (vlan, entry) in &self.vlans {
            let (egress, untagged) = entry.lists();
            meter.add_steps(egress.len() + untagged.len());
            // Without the second list, all ports would seem to send the VLAN with a tag.
            if self.may_lack_lists && !egress.is_empty() && untagged.is_empty() {
                meter.leave_out(WarningCode::RowIncomplete, || {
                    format!("VLAN {vlan} without a list of ports without a tag")
                });
                continue;
            }
            let (Some(egress), Some(untagged)) = (form.read(egress), form.read(untagged)) else { continue };
            lists.push(VlanLists { vlan: *vlan, egress, untagged });
        }
        lists
    }

    /// Counts the VLANs, whose lists are not read because their ids are not known.
    fn without_lists(&self, meter: &mut Meter) -> Vec<VlanLists<'_>> {
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
        lists: &[VlanLists<'_>],
        members: &mut BTreeMap<i64, Membership>,
        index_of: impl Fn(i64) -> Option<i64>,
        meter: &mut Meter,
    ) {
        let has_members = lists.iter().any(|lists| lists.egress.ports().next().is_some());
        let is_default = self.port_vlans.values().all(|number| *number == DEFAULT_VLAN);
        let has_untagged = lists.iter().any(|lists| lists.untagged.ports().next().is_some());
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

fn is_vlan(number: i64) -> bool {
    (1..4095).contains(&number)
}
