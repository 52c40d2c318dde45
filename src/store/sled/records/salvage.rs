use std::fs;
use std::io;
use std::path::Path;

use super::guard::unavailable;
use super::medium::Medium;
use super::{Cursor, Heads, Records};
use crate::store::{Key, StoreError};

impl Records {
    /// Opens a folder that may be damaged, if need be without what is only there to make the opening quicker.
    pub(in crate::store::sled) fn open_damaged(folder: &Path) -> Result<Self, StoreError> {
        let unreadable = |error: io::Error| unavailable("cannot be read", folder).with_source(error);
        if Medium::open(folder).and_then(Medium::close).is_err() {
            remove_snapshots(folder).map_err(unreadable)?;
        }
        Self::open(folder)
    }

    /// Calls `each` for every head that can be read, whole or not, and returns how often some could not be read.
    ///
    /// # Errors
    /// That of the first call that fails.
    pub(in crate::store::sled) fn readable_heads(
        &self,
        mut each: impl FnMut(Key, &[u8]) -> Result<(), StoreError>,
    ) -> Result<u64, StoreError> {
        let mut gaps = 0;
        let mut from = Cursor::before_heads();
        loop {
            let Heads { heads, next } = self.heads_from(&from);
            heads.iter().try_for_each(|(key, bytes)| each(*key, bytes))?;
            let next = next.unwrap_or_else(|_| {
                gaps += 1;
                // Behind the last that was read; if none was, a little further on.
                heads.last().map_or(from, |(key, _)| Cursor::at_head(*key)).skip()
            });
            match next {
                Some(next) => from = next,
                None => return Ok(gaps),
            }
        }
    }
}

fn remove_snapshots(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("snap.") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
