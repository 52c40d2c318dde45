//! Variables that were read from a device, without a file between.

use super::meter::Meter;
use super::mib::{Mib, VariableValue};
use super::{ParseError, ParseOptions, check_identity, finish, walk};
use crate::discovery::report::{Report, TableKind, WarningCode};

/// The bytes that the line of a variable has at least in a file, for the work that the input justifies.
const MIN_LINE: usize = 16;

/// Collects the variables of one device, and makes them the report that a file with the same variables gives.
#[derive(Debug)]
pub(crate) struct VariableReader<'o> {
    options: &'o ParseOptions,
    mib: Mib,
    meter: Meter,
}

impl<'o> VariableReader<'o> {
    pub(crate) fn new(options: &'o ParseOptions) -> Self {
        Self { options, mib: Mib::default(), meter: Meter::new(options) }
    }

    /// Takes a variable. `None` stands for a value that no table reads, such as one that is out of range.
    pub(crate) fn accept(&mut self, id: &[u64], value: Option<&VariableValue<'_>>) -> Result<(), ParseError> {
        let length = value.map_or(0, VariableValue::length);
        self.meter.add_bytes(MIN_LINE + id.len() * 2 + length);
        if !Mib::covers(id) {
            self.mib.pass_over(id, &self.meter);
            return Ok(());
        }
        self.meter.add_steps(length.saturating_mul(2) + id.len());
        match value {
            Some(value) => self.mib.accept(id, false, value, &mut self.meter),
            None => self.meter.warn(WarningCode::ValueInvalid),
        }
        walk::check(&self.mib, &self.meter)
    }

    /// Takes a variable of BRIDGE-MIB that was read in the context of a VLAN.
    pub(crate) fn accept_of_vlan(
        &mut self,
        vlan: u16,
        id: &[u64],
        value: &VariableValue<'_>,
    ) -> Result<(), ParseError> {
        let length = value.length();
        self.meter.add_bytes(MIN_LINE + id.len() * 2 + length);
        self.meter.add_steps(length.saturating_mul(2) + id.len());
        self.mib.accept_of_vlan(vlan, id, value, &mut self.meter);
        walk::check(&self.mib, &self.meter)
    }

    /// Notes that a table lacks rows.
    pub(crate) fn lose(&mut self, kind: TableKind) {
        self.mib.note_loss_of(kind);
    }

    /// Notes that the table of bridge ports lacks rows. Numbers that are not among the others lead to no interface then.
    pub(crate) fn lose_base_ports(&mut self) {
        self.mib.note_loss_of_base_ports();
    }

    /// Makes the report.
    pub(crate) fn into_report(mut self, reporter: &str) -> Result<Report, ParseError> {
        let complete = self.options.complete && !self.meter.is_truncated();
        let mut device = self.mib.into_device(complete, &mut self.meter);
        self.meter.check()?;
        check_identity(&mut device, self.options, &self.meter)?;
        let mut report = Report::of_device(reporter, self.options.observed_at, device);
        finish(&mut report, &mut self.meter);
        Ok(report)
    }
}
