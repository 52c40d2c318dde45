//! The index over facets that the backends share: finds, checks and lists records without reading a body.
//!
//! Every kind of record has, for each organization and for each of its networks, one sorted [`run`] of row numbers for
//! each order. A page is found by rank: in O(log n) where one run covers the query, and by selection over several runs
//! where it takes more. Lists that no run holds are answered by [`list`], which is the planner, and cached in their order
//! by the [`ordering_cache`].
//!
//! The index stands behind one lock, so no look at it may take long. Answering a query under the lock is limited by
//! *steps*, counted by a [`meter`]; a list that needs more is [materialized](materialize) outside the lock.

mod apply;
mod filter;
mod freeze;
mod groups;
mod hashed;
mod ids;
mod links;
mod list;
mod load;
mod materialize;
mod merge;
mod meter;
mod names;
mod order;
mod ordering_cache;
mod pack;
mod packed;
mod partitions;
mod revision;
mod row_set;
mod rows;
mod run;
mod sort;
mod table;
#[cfg(test)]
mod tests;
mod unique_key_group;
mod unique_keys;
mod verify;
mod walk;
mod window;

use std::collections::{BTreeSet, HashMap};

pub(crate) use self::freeze::Frozen;
use self::ids::Ids;
use self::links::Links;
pub(crate) use self::list::{Answer, Selection};
pub(crate) use self::load::Loader;
pub(crate) use self::materialize::{Built, Finished};
use self::names::{NameId, Names};
pub(crate) use self::ordering_cache::ListKey;
pub(crate) use self::pack::Packs;
use self::revision::Identity;
use self::rows::Rows;
pub(crate) use self::run::RowId;
use self::table::Table;
use self::unique_keys::UniqueKeys;
use super::{Key, UniqueKey, Version};
use crate::model::Timestamp;

/// Where the records of a store are, by every way there is to ask for them.
#[derive(Debug, Default)]
pub(crate) struct Index {
    identity: Identity,
    version: u64,
    names: Names,
    tables: HashMap<NameId, Table>,
    rows: Rows,
    ids: Ids,
    unique_keys: UniqueKeys,
    links: Links,
    expiring: BTreeSet<(Timestamp, RowId)>,
}

impl Index {
    pub(crate) fn find(&self, key: Key) -> Option<RowId> {
        self.ids.find(&self.rows, self.names.find(key.kind)?, key.id)
    }

    pub(crate) fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Option<RowId> {
        self.unique_keys.find(&self.rows, self.names.find(unique_key.name)?, &unique_key.value)
    }

    /// The version that the next writing has.
    pub(crate) fn next_version(&self) -> Version {
        Version(self.version + 1)
    }

    /// All rows.
    pub(crate) fn rows(&self) -> impl Iterator<Item = RowId> + '_ {
        self.rows.iter().map(|(id, _)| id)
    }

    /// What names a row, and which writing of it is there.
    pub(crate) fn key(&self, row: RowId) -> Option<(Key, Version)> {
        let row = self.rows.get(row)?;
        Some((Key::new(self.names.name(row.table)?, row.id), Version(row.version)))
    }
}
