//! Revisions: the number of changes of an organization's records, unique to one index.

use std::hash::{BuildHasher, RandomState};

use uuid::Uuid;

use super::Index;
use crate::store::{Name, Revision};

/// A random number that no other index has: counts begin anew when a store is opened again.
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
        let changes = table.map_or(0, |table| table.changes(Some(organization)));
        Revision::new(u128::from(self.identity.0) << 64 | u128::from(changes))
    }
}
