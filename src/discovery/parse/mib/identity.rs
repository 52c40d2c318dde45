//! Recognition of input that comes from more than one device.

use std::collections::BTreeMap;

use super::VariableValue;
use super::interfaces::Interfaces;
use crate::discovery::parse::text;
use crate::printable::printable;

/// The characters of a value that are shown.
const MAX_VALUE: usize = 40;

/// The scalars that a device does not change from one walk to the next.
const SCALARS: &[(&str, &[u64])] = &[
    ("sysDescr.0", &[1, 3, 6, 1, 2, 1, 1, 1, 0]),
    ("sysObjectID.0", &[1, 3, 6, 1, 2, 1, 1, 2, 0]),
    ("sysName.0", &[1, 3, 6, 1, 2, 1, 1, 5, 0]),
    ("lldpLocChassisId.0", &[1, 0, 8802, 1, 1, 2, 1, 3, 2, 0]),
    ("lldpLocSysName.0", &[1, 0, 8802, 1, 1, 2, 1, 3, 3, 0]),
    ("cdpGlobalDeviceId.0", &[1, 3, 6, 1, 4, 1, 9, 9, 23, 1, 3, 4, 0]),
];

/// Compares variables that are given more than once.
#[derive(Debug, Default)]
pub(super) struct SameDevice {
    scalars: BTreeMap<&'static str, String>,
    conflict: Option<String>,
}

impl SameDevice {
    /// Compares a variable with its earlier value, before it is stored.
    pub(super) fn check(&mut self, oid: &[u64], value: &VariableValue<'_>, interfaces: &Interfaces) {
        if self.conflict.is_some() {
            return;
        }
        match oid {
            [.., 0] => self.check_scalar(oid, value),
            [1, 3, 6, 1, 2, 1, 2, 2, 1, column @ (2 | 6), index] => {
                self.check_interface(*column, *index, value, interfaces);
            }
            _ => {}
        }
    }

    fn check_scalar(&mut self, oid: &[u64], value: &VariableValue<'_>) {
        let Some((name, _)) = SCALARS.iter().find(|(_, scalar)| *scalar == oid) else { return };
        let text = match value {
            VariableValue::Bytes(bytes) => text::text(bytes).trim().to_owned(),
            VariableValue::Oid(arcs) => super::dotted(arcs),
            VariableValue::Integer(_) => return,
        };
        match self.scalars.get(name) {
            // Names differ in case where one agent changes it.
            Some(held) if !held.eq_ignore_ascii_case(&text) => {
                self.conflict = Some(described(name, held, &text));
            }
            Some(_) => {}
            None => drop(self.scalars.insert(name, text)),
        }
    }

    fn check_interface(
        &mut self,
        column: u64,
        index: u64,
        value: &VariableValue<'_>,
        interfaces: &Interfaces,
    ) {
        let Some(bytes) = value.bytes() else { return };
        let Some(row) = i64::try_from(index).ok().and_then(|index| interfaces.get(index)) else { return };
        let (name, held, new) = if column == 2 {
            let held = row.if_descr.as_deref().and_then(|held| text::trimmed(held.as_bytes()));
            ("ifDescr", held, text::trimmed(bytes))
        } else {
            let text = |address: crate::model::MacAddress| address.to_string();
            ("ifPhysAddress", row.mac_address.map(text), text::mac(bytes).map(text))
        };
        if let (Some(held), Some(new)) = (held, new)
            && held != new
        {
            self.conflict = Some(described(&format!("{name}.{index}"), &held, &new));
        }
    }

    /// Returns the first variable with two values, and both of them.
    pub(super) fn conflict(&self) -> Option<&str> {
        self.conflict.as_deref()
    }
}

fn described(variable: &str, held: &str, new: &str) -> String {
    let [held, new] = [held, new].map(|value| printable(value, MAX_VALUE));
    format!("`{variable}` is `{held}` and `{new}`")
}
