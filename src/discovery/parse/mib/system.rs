//! SNMPv2-MIB: the system group.

use super::{Accepted, VariableValue};
use crate::discovery::parse::text;
use crate::discovery::report::Device;

#[derive(Debug, Default)]
pub(super) struct System {
    descr: Option<String>,
    object_id: Option<String>,
    contact: Option<String>,
    name: Option<String>,
    location: Option<String>,
}

impl System {
    pub(super) fn accept(&mut self, object: u64, value: &VariableValue<'_>) -> Accepted {
        let place = match object {
            1 => &mut self.descr,
            2 => return Accepted::store(&mut self.object_id, value.arcs().map(dotted)),
            4 => &mut self.contact,
            5 => &mut self.name,
            6 => &mut self.location,
            _ => return Accepted::Yes,
        };
        let Some(bytes) = value.bytes() else { return Accepted::InvalidValue };
        *place = text::trimmed(bytes);
        Accepted::Yes
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(super) fn describe(&self, device: &mut Device) {
        device.sys_descr.clone_from(&self.descr);
        device.sys_object_id.clone_from(&self.object_id);
        device.sys_contact.clone_from(&self.contact);
        device.sys_name.clone_from(&self.name);
        device.sys_location.clone_from(&self.location);
    }
}

fn dotted(arcs: &[u64]) -> String {
    let arcs: Vec<String> = arcs.iter().map(u64::to_string).collect();
    arcs.join(".")
}
