use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::folder::sync_directory;
use super::super::private;
use super::guard::{damaged, unavailable};
use super::{Cursor, Records, read_head};
use crate::store::StoreError;

/// A file that is there while the records are changed. Of what sled writes, a loss of power can leave any part, and what is
/// left may open and lack a body: the records themselves do not tell.
const MARK: &str = "changing";

impl Records {
    /// Notes on the disk that the records are changed from now on.
    pub(in crate::store::sled) fn begin_change(&self) -> Result<(), StoreError> {
        self.change_mark(|mark| private::create(mark).map(|_| ()))
    }

    /// Notes that all of it is on the disk. Returns when the note is too: of two copies, only one is marked at any moment.
    pub(in crate::store::sled) fn end_change(&self) -> Result<(), StoreError> {
        self.change_mark(|mark| fs::remove_file(mark))
    }

    fn change_mark(&self, change: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), StoreError> {
        change(&self.mark())
            .and_then(|()| sync_directory(&self.folder))
            .map_err(|error| unavailable("cannot be written", &self.folder).with_source(error))
    }

    /// Whether the records were being changed when they were used last.
    pub(in crate::store::sled) fn is_in_change(&self) -> bool {
        self.mark().exists()
    }

    /// Checks that every record is there with its body, and nothing else. Reads everything.
    ///
    /// # Errors
    /// `Corrupt` when a record is damaged or a body belongs to no record.
    pub(in crate::store::sled) fn require_whole(&self) -> Result<(), StoreError> {
        let mut known = HashSet::new();
        self.heads(|key, bytes| {
            let place = read_head(key, bytes)?.body;
            known.insert(place.id);
            self.body(key, place).map(|_| ())
        })?;
        known.extend(self.graves()?.iter().map(|grave| grave.id));
        let mut from = Some(Cursor::before_bodies());
        while let Some(begin) = from {
            let (ids, next) = self.bodies_from(&begin)?;
            if ids.iter().any(|id| !known.contains(id)) {
                return Err(damaged("what belongs to no record", &self.folder));
            }
            from = next;
        }
        Ok(())
    }

    fn mark(&self) -> PathBuf {
        self.folder.join(MARK)
    }
}
