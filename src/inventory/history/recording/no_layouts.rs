//! Layouts without topologies: none are stored, and those of other builds are deleted with their networks.

use std::collections::BTreeMap;

use super::recorder::{CommitEntries, is_layout};
use crate::inventory::history::Author;
use crate::inventory::schema::LAYOUT_MOVES;
use crate::inventory::{Error, Inventory};
use crate::store::{Batch, Key, Precondition, Record, Write};

impl Inventory {
    /// Deletes what is noted of deleted layouts. Returns that there is no entry.
    pub(super) async fn add_layouts(
        &self,
        _author: &Author,
        _before: &BTreeMap<Key, Record>,
        _changes: &mut CommitEntries,
        batch: &mut Batch,
    ) -> Result<bool, Error> {
        let layouts: Vec<Key> = batch.writes().iter().map(Write::key).filter(is_layout).collect();
        for key in layouts {
            batch.delete(Key::new(LAYOUT_MOVES, key.id), Precondition::Any);
        }
        Ok(false)
    }

    pub(super) fn record_layouts_later(&self, _layouts: &[Key]) {}
}
