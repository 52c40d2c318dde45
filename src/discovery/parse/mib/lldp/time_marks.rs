//! Rows of a neighbor with several time marks, which a row gets anew when it changes.

use std::collections::BTreeMap;

use super::LldpMib;
use super::neighbor::{LldpIndex, LldpNeighbor, LldpNeighbors, LocalPortIndex};
use crate::discovery::parse::meter::Meter;

impl LldpNeighbors {
    /// Joins the rows of a neighbor whose time mark changed while the table was read: one row has its id, and the others
    /// have further columns.
    pub(super) fn join_times(&mut self, meter: &mut Meter) {
        meter.add_steps(self.rows.len());
        let mut places: BTreeMap<(LldpMib, LocalPortIndex, u64, u64), Vec<LldpIndex>> = BTreeMap::new();
        for index in self.rows.keys().filter(|index| matches!(index.port, LocalPortIndex::Number(_))) {
            places.entry((index.mib, index.port, index.destination, index.number)).or_default().push(*index);
        }
        for indexes in places.into_values().filter(|indexes| indexes.len() > 1) {
            let has_id = |index: &LldpIndex| self.rows.get(index).is_some_and(|row| row.chassis_id.is_some());
            let (with_id, others): (Vec<_>, Vec<_>) = indexes.into_iter().partition(has_id);
            let [only] = with_id.as_slice() else { continue };
            for other in others.iter().filter_map(|index| self.rows.remove(index)).collect::<Vec<_>>() {
                if let Some(row) = self.rows.get_mut(only) {
                    row.complete(other);
                    meter.use_rows(1);
                }
            }
        }
    }
}

impl LldpNeighbor {
    /// Takes the columns that are missing from another row of the neighbor.
    fn complete(&mut self, other: Self) {
        self.chassis_subtype = self.chassis_subtype.or(other.chassis_subtype);
        self.port_subtype = self.port_subtype.or(other.port_subtype);
        self.port_id = self.port_id.take().or(other.port_id);
        self.port_desc = self.port_desc.take().or(other.port_desc);
        self.sys_name = self.sys_name.take().or(other.sys_name);
        self.sys_desc = self.sys_desc.take().or(other.sys_desc);
        self.port_vlan = self.port_vlan.or(other.port_vlan);
        if self.capabilities.is_empty() {
            self.capabilities = other.capabilities;
        }
        if self.aggregation.aggregate().is_none() {
            self.aggregation = other.aggregation;
        }
    }
}
