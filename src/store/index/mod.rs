//! The in-memory index over facets that the backends share: it finds, checks and lists records without reading a body.
//!
//! A record is a *row* with a number. Each kind of record has a [`table`]: for every organization as a whole, and for every
//! one of its networks, one sorted [`run`] of row numbers for each order.
//!
//! ```text
//! query ─ list (planner) ─┬─ one run holds the list ────────────── rank in the run, O(log n)
//!                         ├─ ordering_cache has the list ───────── rank in the cached run, O(log n)
//!                         ├─ few steps: scan, merge, filter ────── merge runs, or sort what a filter selects
//!                         └─ many steps: materialize ───────────── outside the lock, into the ordering_cache
//! ```
//!
//! The index is behind one lock of its store, so no access may take long. The planner counts the *steps* of a query with a
//! [`meter`] and never reads a clock, so that a query takes the same way on every machine.

mod apply;
mod check;
mod index_snapshot;
mod interner;
#[cfg(feature = "sled")]
mod load;
mod lookup;
mod merge;
mod pack;
mod packed;
mod query;
mod rows;
mod run;
mod table;
#[cfg(all(test, feature = "sled"))]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};

use uuid::Uuid;

pub(crate) use self::index_snapshot::IndexSnapshot;
use self::interner::{Interner, NameId};
#[cfg(feature = "sled")]
pub(crate) use self::load::Loader;
use self::lookup::{Ids, Links, UniqueKeys};
pub(crate) use self::pack::Packs;
pub(crate) use self::query::{Answer, Built, Finished, ListKey, Selection};
use self::rows::Rows;
pub(crate) use self::run::RowId;
use self::table::Table;
use super::{Key, Name, Revision, UniqueKey, Version};
use crate::model::Timestamp;

/// Finds the records of a store by key, unique key, link, order and expiry.
#[derive(Debug, Default)]
pub(crate) struct Index {
    identity: Identity,
    version: u64,
    names: Interner,
    tables: HashMap<NameId, Table>,
    rows: Rows,
    ids: Ids,
    unique_keys: UniqueKeys,
    links: Links,
    expiring: BTreeSet<(Timestamp, RowId)>,
}

/// A random number that no other index has: counts begin anew when a store is opened again.
#[derive(Debug)]
struct Identity(u64);

impl Default for Identity {
    fn default() -> Self {
        Self(RandomState::new().hash_one(()))
    }
}

impl Index {
    pub(crate) fn find(&self, key: Key) -> Option<RowId> {
        self.ids.find(&self.rows, self.names.find(key.kind)?, key.id)
    }

    pub(crate) fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Option<RowId> {
        self.unique_keys.find(&self.rows, self.names.find(unique_key.name)?, &unique_key.value)
    }

    /// Returns the version that the next write gets.
    pub(crate) fn next_version(&self) -> Version {
        Version(self.version + 1)
    }

    /// Returns the key and the version of a row.
    pub(crate) fn key(&self, row: RowId) -> Option<(Key, Version)> {
        let row = self.rows.get(row)?;
        Some((Key::new(self.names.name(row.table)?, row.id), Version(row.version)))
    }

    /// Returns the revision of an organization: its number of changes, made unique to this index.
    pub(crate) fn revision(&self, kind: Name, organization: Uuid) -> Revision {
        let table = self.names.find(kind).and_then(|id| self.tables.get(&id));
        let changes = table.map_or(0, |table| table.changes(Some(organization)));
        Revision::new(u128::from(self.identity.0) << 64 | u128::from(changes))
    }
}
