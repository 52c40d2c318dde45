//! The identity of a device, and its clock.

use super::message::SnmpAnswer;
use super::value::{ObjectId, SnmpValue};

/// Maximum number of bytes that are kept of a `sysName`.
const MAX_NAME: usize = 255;

/// `sysUpTime.0`.
pub(super) const UP_TIME: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 3, 0];

/// `sysObjectID.0` and `sysName.0`, which every agent has.
pub(super) const SYSTEM: [[u32; 9]; 2] = [[1, 3, 6, 1, 2, 1, 1, 2, 0], [1, 3, 6, 1, 2, 1, 1, 5, 0]];

/// The identity of a device, which shows whether it was read under another address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SystemIdentity {
    /// `sysName`.
    pub name: Option<Vec<u8>>,
    /// `sysObjectID`.
    pub object_id: Option<ObjectId>,
}

pub(super) fn value_of<'a>(answer: &'a SnmpAnswer, object: &[u32]) -> Option<&'a SnmpValue> {
    answer.variables.iter().find(|variable| variable.id.arcs() == object).map(|found| &found.value)
}

impl SystemIdentity {
    pub(super) fn read(answer: &SnmpAnswer) -> Self {
        let value = |object: &[u32]| value_of(answer, object);
        let [object_id, name] = SYSTEM;
        Self {
            name: value(&name).and_then(Self::name_of),
            object_id: match value(&object_id) {
                Some(SnmpValue::ObjectId(id)) => Some(id.clone()),
                _ => None,
            },
        }
    }

    /// Returns the name that a value of `sysName` is.
    pub(in crate::collect) fn name_of(value: &SnmpValue) -> Option<Vec<u8>> {
        match value {
            SnmpValue::Bytes(name) if !name.is_empty() => Some(name.iter().copied().take(MAX_NAME).collect()),
            _ => None,
        }
    }
}
