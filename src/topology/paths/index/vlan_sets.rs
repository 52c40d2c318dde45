//! The different sets of VLANs that links carry. Most links carry one of a few sets.

use std::collections::HashMap;
use std::sync::Arc;

use crate::topology::links::{VlanRange, vlans};

/// Sets of VLANs, each with a number.
#[derive(Debug, Default)]
pub(super) struct VlanSets {
    sets: Vec<Arc<[VlanRange]>>,
    numbers: HashMap<Arc<[VlanRange]>, u32>,
}

impl VlanSets {
    /// Returns the number of a set.
    pub(super) fn number(&mut self, set: &[VlanRange]) -> Option<u32> {
        if let Some(number) = self.numbers.get(set) {
            return Some(*number);
        }
        if !vlans::are_ascending(set) {
            return self.number(&vlans::joined(set));
        }
        let number = u32::try_from(self.sets.len()).ok()?;
        let set: Arc<[VlanRange]> = set.into();
        self.sets.push(Arc::clone(&set));
        self.numbers.insert(set, number);
        Some(number)
    }

    pub(super) fn contains(&self, set: u32, vlan: u16) -> bool {
        vlans::find(self.get(set), vlan).is_some()
    }

    /// Returns the VLANs of a set, in ascending order.
    pub(super) fn get(&self, set: u32) -> &[VlanRange] {
        &self.sets[set as usize]
    }

    #[cfg(feature = "service")]
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Returns the number of bytes that the sets take.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<Arc<[VlanRange]>>() * 2 + size_of::<u32>();
        self.sets.iter().map(|set| size_of_val(&**set) + entry).sum()
    }
}
