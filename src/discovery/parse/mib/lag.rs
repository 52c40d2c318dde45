//! IEEE8023-LAG-MIB, and `ifStackTable` of IF-MIB for devices without it.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::bridge::BasePorts;
use super::interfaces::{Interfaces, LAG_TYPE};
use super::{Accepted, VariableValue};
use crate::discovery::parse::meter::Meter;
use crate::discovery::report::{IfEntryRow, LagRow, WarningCode};

#[derive(Debug, Default)]
pub(super) struct Lag {
    /// The aggregates that members are attached to.
    attached: BTreeMap<i64, i64>,
    /// The aggregates that members have selected, for agents that state nothing else.
    selected: BTreeMap<i64, i64>,
    states_attached: bool,
    /// Pairs of a member and the interface above it.
    stack: BTreeSet<(i64, i64)>,
}

impl Lag {
    pub(super) fn accept(
        &mut self,
        column: u64,
        index: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let rows = match column {
            12 => &mut self.selected,
            13 => {
                self.states_attached = true;
                &mut self.attached
            }
            _ => return Accepted::Yes,
        };
        let Ok(index) = i64::try_from(index) else { return Accepted::InvalidIndex };
        let Some(aggregate) = value.integer() else { return Accepted::InvalidValue };
        // An aggregator that is attached to itself is a port that is not aggregated.
        if aggregate == 0 || aggregate == index {
            return Accepted::Yes;
        }
        if !rows.contains_key(&index) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        rows.insert(index, aggregate);
        Accepted::Yes
    }

    pub(super) fn accept_stack(
        &mut self,
        higher: u64,
        lower: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        let (Ok(higher), Ok(lower)) = (i64::try_from(higher), i64::try_from(lower)) else {
            return Accepted::InvalidIndex;
        };
        // 0 stands for no interface; a row status other than `active` for no relation.
        if higher == 0 || lower == 0 || value.integer() != Some(1) {
            return Accepted::Yes;
        }
        if !self.stack.contains(&(lower, higher)) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        self.stack.insert((lower, higher));
        Accepted::Yes
    }

    /// Returns the members of aggregates. `has_table`: the interfaces are those of the device, not ones that neighbors name.
    pub(super) fn into_rows(
        self,
        interfaces: &Interfaces,
        has_table: bool,
        base_ports: &BasePorts,
        meter: &mut Meter,
    ) -> Vec<LagRow> {
        meter.add_steps((self.attached.len() + self.selected.len() + self.stack.len()).saturating_mul(2));
        let stated = if self.states_attached {
            meter.use_rows(self.selected.len());
            self.attached
        } else {
            self.selected
        };
        let mut rows = BTreeMap::new();
        let ports = MemberPorts::new(&stated, interfaces, base_ports, meter);
        let mut members: Vec<_> = stated.into_iter().map(|row| (ports.interface(row.0), row)).collect();
        // A row of the port itself comes before one of its unit.
        members.sort_by_key(|(port, (member, _))| port != member);
        for (port, (member, aggregate)) in members {
            let example = || format!("aggregate {aggregate} of {member}");
            if has_table && !(interfaces.contains(port) && interfaces.contains(aggregate)) {
                meter.leave_out(WarningCode::AggregateUnknown, example);
            } else if let Entry::Vacant(row) = rows.entry(port) {
                meter.use_rows(1);
                row.insert(aggregate);
            } else {
                meter.leave_out(WarningCode::RowRepeated, example);
            }
        }
        let is_lag = |index: i64| interfaces.get(index).is_some_and(|row| row.if_type == Some(LAG_TYPE));
        let is_named_lag = |index: i64, member: i64| {
            interfaces.get(index).is_some_and(is_virtual_aggregate)
                && interfaces.is_ethernet(member)
                && !interfaces.get(member).is_some_and(is_virtual_aggregate)
        };
        for (member, lag) in self.stack {
            if (is_lag(lag) || is_named_lag(lag, member)) && !is_lag(member) {
                meter.use_rows(1);
                rows.entry(member).or_insert(lag);
            } else {
                meter.leave_out(WarningCode::NotAnAggregate, || format!("interface {lag} above {member}"));
            }
        }
        rows.into_iter().map(|(if_index, lag_id)| LagRow { if_index, lag_id }).collect()
    }
}

/// The types that devices give to aggregates besides their own: `ethernetCsmacd`, `propVirtual` and `propMultiplexor`.
const VIRTUAL_TYPES: [i64; 3] = [6, 53, 54];
/// The names of these aggregates without their numbers, in lower case.
const VIRTUAL_NAMES: &[&str] = &[
    // IOS, NX-OS, EOS and many others
    "po",
    "port-channel",
    // ProCurve
    "trk",
    // VRP
    "eth-trunk",
    // Comware
    "bridge-aggregation",
    "route-aggregation",
    "bagg",
    "ragg",
    // Junos
    "ae",
    // Linux and FreeBSD
    "bond",
    "lagg",
    // Aruba CX, ArubaOS-Switch and SR OS
    "lag",
    // ZXROS
    "smartgroup",
    // RGOS
    "aggregateport",
    "ag",
    // BDCOM
    "port-aggregator",
];

/// Returns whether an interface of a type of other interfaces, too, is an aggregate by its name.
fn is_virtual_aggregate(row: &IfEntryRow) -> bool {
    let is_named = |name: &String| {
        let kind = name
            .trim_end_matches(|character: char| character.is_ascii_digit() || matches!(character, ' ' | '-'));
        VIRTUAL_NAMES.contains(&kind.to_ascii_lowercase().as_str())
    };
    row.if_type.is_some_and(|kind| VIRTUAL_TYPES.contains(&kind))
        && row.if_name.iter().chain(&row.if_descr).any(is_named)
}

/// The interfaces that the numbers of members mean. By the MIB they are indexes of ports.
struct MemberPorts<'m> {
    /// The bridge ports, if the numbers are theirs.
    base_ports: Option<&'m BasePorts>,
    /// The ports of members that are units of ports, as in `xe-0/0/0.0`.
    by_unit: BTreeMap<i64, i64>,
}

impl<'m> MemberPorts<'m> {
    fn new(
        members: &BTreeMap<i64, i64>,
        interfaces: &Interfaces,
        base_ports: &'m BasePorts,
        meter: &mut Meter,
    ) -> Self {
        let of_bridge =
            |member: &i64| base_ports.get(*member).is_some_and(|index| interfaces.is_ethernet(index));
        let others: Vec<i64> =
            members.keys().copied().filter(|member| !interfaces.is_ethernet(*member)).collect();
        if others.is_empty() {
            return Self { base_ports: None, by_unit: BTreeMap::new() };
        }
        if members.keys().all(of_bridge) {
            return Self { base_ports: Some(base_ports), by_unit: BTreeMap::new() };
        }
        let names = interfaces.names(meter);
        let port = |member: i64| {
            let row = interfaces.get(member)?;
            let name = row.if_name.as_deref().or(row.if_descr.as_deref())?;
            let (port, unit) = name.rsplit_once('.')?;
            let is_unit = !unit.is_empty() && unit.bytes().all(|byte| byte.is_ascii_digit());
            names.by_name(port).filter(|index| is_unit && interfaces.is_ethernet(*index))
        };
        let by_unit = others.into_iter().filter_map(|member| Some((member, port(member)?)));
        Self { base_ports: None, by_unit: by_unit.collect() }
    }

    /// Returns the index of a member's interface.
    fn interface(&self, member: i64) -> i64 {
        let port = self.base_ports.and_then(|ports| ports.get(member));
        port.or_else(|| self.by_unit.get(&member).copied()).unwrap_or(member)
    }
}
