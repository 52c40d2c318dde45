//! ENTITY-MIB: manufacturer, model and serial number of the chassis.

use std::collections::BTreeMap;

use super::{Accepted, VariableValue};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::{Device, WarningCode};

/// `entPhysicalClass` of a chassis.
const CHASSIS: i64 = 3;
/// `entPhysicalClass` of a stack of chassis.
const STACK: i64 = 11;
/// `entPhysicalClass` of components that describe no device: power supplies, fans, sensors and ports.
const PARTS: [i64; 4] = [6, 7, 8, 10];
/// `entPhysicalClass` of other components, and of unknown ones.
const UNCLEAR: [i64; 2] = [1, 2];
/// The greatest depth of components within components.
const MAX_DEPTH: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Entity {
    rows: BTreeMap<u64, Physical>,
}

#[derive(Debug, Default)]
struct Physical {
    contained_in: Option<i64>,
    class: Option<i64>,
    serial_number: Option<String>,
    manufacturer: Option<String>,
    model: Option<String>,
}

impl Entity {
    pub(super) fn accept(
        &mut self,
        column: u64,
        index: u64,
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        if !matches!(column, 4 | 5 | 11..=13) {
            return Accepted::Yes;
        }
        meter.add_steps(1);
        if !self.rows.contains_key(&index) && !meter.admit_row() {
            return Accepted::TooMany;
        }
        let row = self.rows.entry(index).or_default();
        let place = match column {
            4 => return Accepted::store(&mut row.contained_in, value.integer()),
            5 => return Accepted::store(&mut row.class, value.integer()),
            11 => &mut row.serial_number,
            12 => &mut row.manufacturer,
            _ => &mut row.model,
        };
        let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
        *place = text::trimmed(bytes);
        Accepted::Yes
    }

    /// Sets the manufacturer, the model and the serial number of a device.
    ///
    /// They describe the first chassis, or else the first stack, or else the outermost component. Components without a
    /// serial number or a model are skipped.
    pub(super) fn describe(&self, device: &mut Device, meter: &mut Meter) {
        meter.add_steps(self.rows.len() * 4);
        let first = |class: i64| self.described().find(|(_, row)| row.class == Some(class));
        let found = first(CHASSIS).or_else(|| first(STACK)).or_else(|| self.outermost());
        // Controllers within a chassis have the names of their drivers as serial numbers, which many devices share.
        let has_chassis = self.rows.values().any(|row| row.class == Some(CHASSIS));
        let is_part = |class: i64| PARTS.contains(&class) || (has_chassis && UNCLEAR.contains(&class));
        let found = found.filter(|(_, row)| row.class.is_none_or(|class| !is_part(class)));
        let Some((_, row)) = found else {
            for index in self.rows.keys() {
                meter.leave_out(WarningCode::RowIncomplete, || format!("component {index} of ENTITY-MIB"));
            }
            return;
        };
        // The choice compares all components.
        meter.use_rows(self.rows.len());
        device.serial_number.clone_from(&row.serial_number);
        device.manufacturer.clone_from(&row.manufacturer);
        device.model.clone_from(&row.model);
    }

    /// Returns the components that have a serial number or a model.
    fn described(&self) -> impl Iterator<Item = (u64, &Physical)> {
        let rows = self.rows.iter().map(|(index, row)| (*index, row));
        rows.filter(|(_, row)| row.serial_number.is_some() || row.model.is_some())
    }

    /// Returns the component that contains the others, as far as the columns that were read show it.
    ///
    /// Without them it is the only component, or the one with index 1, which agents give to the outermost one.
    fn outermost(&self) -> Option<(u64, &Physical)> {
        let mut described = self.described();
        let first = described.next()?;
        if described.next().is_none() {
            return Some(first);
        }
        let is_structured = self.rows.values().any(|row| row.class.is_some() || row.contained_in.is_some());
        if !is_structured {
            return Some(first).filter(|(index, _)| *index == 1);
        }
        if let Some(root) = self.described().find(|(_, row)| row.contained_in == Some(0)) {
            return Some(root);
        }
        let mut outermost = self.described().filter(|(_, row)| !self.is_inside_described(row));
        let first = outermost.next()?;
        outermost.all(|(_, row)| row.serial_number == first.1.serial_number).then_some(first)
    }

    /// Returns whether a component is inside another one that has a serial number or a model.
    fn is_inside_described(&self, row: &Physical) -> bool {
        let mut row = row;
        for _ in 0..MAX_DEPTH {
            let container = row.contained_in.and_then(|index| u64::try_from(index).ok());
            let Some(outer) = container.and_then(|index| self.rows.get(&index)) else { return false };
            if outer.serial_number.is_some() || outer.model.is_some() {
                return true;
            }
            row = outer;
        }
        // A circle, or a depth that no device has.
        true
    }
}
