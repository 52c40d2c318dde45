use std::collections::HashMap;

use uuid::Uuid;

use super::interner::NameId;
use super::rows::Row;
use super::run::RowId;

/// Posting lists: for each link, the numbers of the rows that have it, sorted.
#[derive(Debug, Default)]
pub(super) struct Links(HashMap<(NameId, Uuid), Vec<RowId>>);

impl Links {
    pub(super) fn rows(&self, relation: NameId, target: Uuid) -> &[RowId] {
        self.0.get(&(relation, target)).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn insert_all(&mut self, row: &Row, id: RowId) {
        for link in row.facets.links() {
            let rows = self.0.entry(link).or_default();
            // Most rows are newer than all rows in the list.
            if rows.last().is_none_or(|last| *last < id) {
                rows.push(id);
            } else if let Err(place) = rows.binary_search(&id) {
                rows.insert(place, id);
            }
        }
    }

    pub(super) fn remove_all(&mut self, row: &Row, id: RowId) {
        for link in row.facets.links() {
            let Some(rows) = self.0.get_mut(&link) else { continue };
            if let Ok(place) = rows.binary_search(&id) {
                rows.remove(place);
            }
            if rows.is_empty() {
                self.0.remove(&link);
            }
        }
    }
}
