//! Which state of the records an index holds, told by the last version that changed them.

use std::hash::{BuildHasher, RandomState};

use uuid::Uuid;

use super::Index;
use crate::store::{Name, Revision};

/// What no other index has: versions are given anew when what had them was never on a disk, or was lost with it.
#[derive(Debug)]
pub(super) struct Identity(u64);

impl Default for Identity {
    fn default() -> Self {
        Self(RandomState::new().hash_one(()))
    }
}

impl Index {
    pub(crate) fn revision(&self, kind: Name, organization: Uuid) -> Revision {
        let table = self.names.find(kind).and_then(|id| self.tables.get(&id));
        let changed = table.map_or(0, |table| table.changed(Some(organization)));
        Revision::new(u128::from(self.identity.0) << 64 | u128::from(changed))
    }
}
