//! The in-memory index over facets that the backends share. It finds, checks and lists records without reading a
//! body.
//!
//! # What it holds
//! Every record is a *row* with a number, the [`RowId`]. The other structures hold row numbers and compare
//! keys in the row.
//!
//! ```text
//! Index
//! ├─ rows        number → id, version, organization and network, packed facets
//! ├─ lookup      key → row;  unique key → row;  link → row, or posting list (sorted row numbers)
//! ├─ expiring    (time, row) of every record that expires, sorted
//! ├─ recent      the last changes, in order
//! └─ tables      one for each kind of record; in it, for each organization:
//!    ├─ runs of the organization     one sorted run for each order: by id, and by each sort key
//!    ├─ runs of each of its networks the same
//!    ├─ postings                     term → posting list, sorted by name and value
//!    └─ ordering cache               lists that no run holds, each materialized as a run of its own
//! ```
//!
//! A [`run`] is a list of row numbers in one order, from which any rank is read in O(log n). It serves both
//! directions.
//!
//! # How a query is answered
//! [`query`] is the planner. It takes the first way that fits:
//!
//! ```text
//! query
//!  ├─ 1 filters by id ──────────────────────── look up the ids, filter, sort the rest
//!  ├─ 2 is one run, or of all organizations ── read the rank in the run; or as in 4, without a limit
//!  ├─ 3 is in the ordering cache ───────────── read the rank in the cached run
//!  ├─ 4 costs at most 4,096 steps ──────────── with filters on links or terms: take the one with the fewest
//!  │                                             postings, evaluate the others on its rows, sort the rest
//!  │                                           otherwise: merge the runs of the networks
//!  └─ 5 costs more ─────────────────────────── materialize the list; then way 3
//! ```
//!
//! | Way | Example | Chosen because |
//! |---|---|---|
//! | 1 | the hosts with these 20 ids | the caller bounds the number of rows |
//! | 2 | the hosts of an organization, of one of its networks or of all of them, by name | the run is the list; only the host application asks for all organizations |
//! | 3 | hosts of 10 networks by name, page 2 | another request has paid for the order |
//! | 4 | the hosts with a rare tag or a certain address; the first page of 3 networks | less work than to materialize |
//! | 5 | the hosts with a frequent tag, or an open port 22, by name | the page would hold the lock for too long |
//!
//! A *step* is a look at one row, which is a cache miss in a large index (50 to 100 ns). The planner counts
//! steps, not time, so a query takes the same way on every machine. Way 4 also adds up what a list has cost
//! so far: once that is a fair share of its price, [`ListResult::Page`] names the list, and the store
//! materializes it in the background.
//!
//! # Locks
//! A store keeps the index behind one lock, so no call may take long. Materializing therefore reads the index in
//! slices under the lock and sorts outside it; `query/materialize.rs` describes how changes in the meantime are kept.
//! Packing the facets of a large batch, and comparing them with the records that they replace, happens outside the
//! lock too, with a packer from [`Index::packer`]. Under the lock, the cost of replacing a record grows only with its
//! changes, and the replaced data is dropped after the lock is released.
//!
//! # How a batch is written
//! In [`write`], `check` evaluates preconditions, guards and unique keys and changes nothing. `apply` then updates
//! rows, lookups, runs and cached lists, and cannot fail; `insert` divides a large batch among threads. A
//! store in a folder builds the index with a `Loader`, which sorts every order once.

mod capacity;
mod index_snapshot;
mod interner;
mod list;
mod lookup;
mod memory;
mod query;
mod recent_changes;
mod rows;
mod run;
mod table;
mod terms;
#[cfg(test)]
#[cfg(any(feature = "sled", feature = "postgres"))]
mod tests;
mod varint;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};

use uuid::Uuid;

pub(crate) use self::index_snapshot::IndexSnapshot;
use self::interner::{Interner, NameId};
pub(crate) use self::list::ListKey;
use self::lookup::{Ids, LinkIndex, UniqueKeys};
pub(crate) use self::query::{Built, Finished, ListResult, PageRows};
use self::recent_changes::RecentChanges;
use self::rows::Rows;
pub(crate) use self::run::RowId;
use self::table::KindTable;
#[cfg(any(feature = "sled", feature = "postgres"))]
pub(crate) use self::write::Loader;
#[cfg(feature = "sled")]
pub(crate) use self::write::Packer;
pub(crate) use self::write::{Packs, ReplacedRows, is_large};
use super::{Key, Name, Revision, UniqueKey, Version};
use crate::model::Timestamp;

/// Finds the records of a store by key, unique key, link, term, order and expiry.
#[derive(Debug, Default)]
pub(crate) struct Index {
    identity: Identity,
    version: u64,
    names: Interner,
    /// Few enough that comparing their numbers takes less time than hashing one.
    tables: BTreeMap<NameId, KindTable>,
    rows: Rows,
    ids: Ids,
    unique_keys: UniqueKeys,
    links: LinkIndex,
    expiring: BTreeSet<(Timestamp, RowId)>,
    recent: RecentChanges,
}

/// The number of emptied organizations, counted for each kind of record, whose changes the index remembers.
const MAX_EMPTIED: usize = if cfg!(test) { 32 } else { 1 << 15 };

/// A random number that no other index has. It is part of revisions, because counts begin anew when a store is opened
/// again.
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

    /// Returns the organization of a row.
    #[cfg(feature = "postgres")]
    pub(crate) fn organization(&self, row: RowId) -> Option<Uuid> {
        self.rows.partitions().get(self.rows.get(row)?.partition)?.organization
    }

    /// Bounds the memory of organizations without records, after some have lost their last ones.
    ///
    /// A new identity keeps revisions from repeating. They all change, as when the store is opened again.
    fn bound_emptied(&mut self) {
        if self.tables.values().map(KindTable::emptied).sum::<usize>() > MAX_EMPTIED {
            self.tables.values_mut().for_each(KindTable::forget_emptied);
            self.identity = Identity::default();
        }
    }

    /// Returns the revision of an organization: its number of changes, made unique to this index.
    pub(crate) fn revision(&self, kind: Name, organization: Uuid) -> Revision {
        let table = self.names.find(kind).and_then(|id| self.tables.get(&id));
        let changes = table.map_or(0, |table| table.changes(Some(organization)));
        Revision::new(u128::from(self.identity.0) << 64 | u128::from(changes))
    }

    /// Returns the ids of the records that have changed since a revision, in order; `None` when unknown.
    pub(crate) fn changed_since(
        &self,
        kind: Name,
        organization: Uuid,
        revision: Revision,
    ) -> Option<Vec<Uuid>> {
        let now = self.revision(kind, organization).number();
        // A revision of another identity, or of a later state, is not one of this index.
        let changes = now.checked_sub(revision.number()).filter(|_| now >> 64 == revision.number() >> 64)?;
        match self.names.find(kind) {
            Some(table) => self.recent.last(table, organization, u64::try_from(changes).ok()?),
            None => Some(Vec::new()),
        }
    }
}
