//! ENTITY-MIB: manufacturer, model and serial number of the chassis.

use std::collections::BTreeMap;

use super::{Accepted, Value};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::Device;

/// `entPhysicalClass` of a chassis.
const CHASSIS: i64 = 3;
/// `entPhysicalClass` of a stack of chassis.
const STACK: i64 = 11;

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
        value: &Value<'_>,
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
    pub(super) fn describe(&self, device: &mut Device) {
        let is_described = |row: &&Physical| row.serial_number.is_some() || row.model.is_some();
        let first = |class: i64| self.rows.values().filter(is_described).find(|row| row.class == Some(class));
        let outermost = || self.rows.values().filter(is_described).find(|row| row.contained_in == Some(0));
        let Some(row) = first(CHASSIS).or_else(|| first(STACK)).or_else(outermost) else { return };
        device.serial_number.clone_from(&row.serial_number);
        device.manufacturer.clone_from(&row.manufacturer);
        device.model.clone_from(&row.model);
    }
}
