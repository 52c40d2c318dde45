//! IEEE8023-LAG-MIB, and `ifStackTable` of IF-MIB for devices without it.

use std::collections::{BTreeMap, BTreeSet};

use super::interfaces::{Interfaces, LAG_TYPE};
use super::{Accepted, VariableValue};
use crate::discovery::parse::meter::Meter;
use crate::discovery::report::{LagRow, WarningCode};

#[derive(Debug, Default)]
pub(super) struct Lag {
    /// The aggregates that members are attached to.
    attached: BTreeMap<i64, i64>,
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
        if column != 13 {
            return Accepted::Yes;
        }
        let Ok(index) = i64::try_from(index) else { return Accepted::InvalidIndex };
        let Some(aggregate) = value.integer() else { return Accepted::InvalidValue };
        // An aggregator that is attached to itself is a port that is not aggregated.
        if aggregate == 0 || aggregate == index {
            return Accepted::Yes;
        }
        if !self.attached.contains_key(&index) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        self.attached.insert(index, aggregate);
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

    pub(super) fn into_rows(self, interfaces: &Interfaces, meter: &mut Meter) -> Vec<LagRow> {
        meter.add_steps(self.attached.len() + self.stack.len());
        meter.use_rows(self.attached.len());
        let mut rows = self.attached;
        let is_lag = |index: i64| interfaces.get(index).is_some_and(|row| row.if_type == Some(LAG_TYPE));
        for (member, lag) in self.stack {
            if is_lag(lag) && !is_lag(member) {
                meter.use_rows(1);
                rows.entry(member).or_insert(lag);
            } else {
                meter.leave_out(WarningCode::NotAnAggregate, || format!("interface {lag} above {member}"));
            }
        }
        rows.into_iter().map(|(if_index, lag_id)| LagRow { if_index, lag_id }).collect()
    }
}
