//! Compaction: both copies are written again, without the space that sled no longer uses.

use std::io;
use std::path::Path;

use super::blocking::Cancellation;
use super::files::size_of;
use super::folder::Folder;
use super::trees::{TreeCopy, TreePair};
use crate::store::StoreError;

/// Result of [`SledStore::compact`](super::SledStore::compact).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compaction {
    /// Size of the folder before, in bytes.
    pub bytes_before: u64,
    /// Size of the folder now, in bytes.
    pub bytes_after: u64,
}

/// Compacts a folder that was closed cleanly; blocks.
///
/// Each step leaves a folder that opens. A new copy replaces the mirror once it is complete, and then the copies are
/// swapped.
pub(super) fn compact(path: &Path, cancellation: &Cancellation) -> Result<Compaction, StoreError> {
    let unusable = |error: io::Error| {
        StoreError::unavailable(format!("{} cannot be compacted", path.display())).with_source(error)
    };
    let folder = Folder::acquire(path)?;
    let bytes_before = size_of(path).map_err(unusable)?;
    for _ in 0..2 {
        cancellation.check()?;
        let pair = TreePair::new(TreeCopy::open(&folder.primary())?, &folder);
        let rebuilt = pair.rebuild_mirror(&folder);
        pair.close().and(rebuilt)?;
        folder.swap_copies().map_err(unusable)?;
    }
    let bytes_after = size_of(path).map_err(unusable)?;
    folder.release();
    Ok(Compaction { bytes_before, bytes_after })
}
