use std::fs;
use std::io;
use std::path::Path;

use super::guard::unavailable;
use super::medium::Medium;
use super::{Records, keys};
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

    /// Tells of every head that can be read, whole or not, and gives back how often some could not.
    pub(in crate::store::sled) fn readable_heads(&self, mut each: impl FnMut(Key, &[u8])) -> u64 {
        let mut gaps = 0;
        let mut from = keys::HEADS.to_vec();
        loop {
            let mut last = None;
            let scanned = self.heads_from(&from, &mut |key, bytes| {
                last = Some(key);
                each(key, bytes);
                Ok(())
            });
            if scanned.is_ok() {
                return gaps;
            }
            gaps += 1;
            // Not even a key was read: what follows is tried a little further on.
            let begin = last.map_or(from, keys::head);
            match keys::further(&begin) {
                Some(further) => from = further,
                None => return gaps,
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
