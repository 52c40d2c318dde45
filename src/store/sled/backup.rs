//! Backups: a copy of the state of one moment, in a folder of its own.
//!
//! The copy is written beside the name that a store looks for. Only when it is complete does it get that name, and then
//! the folder the file `format`. So the folder of an interrupted backup does not open, and a repair does not find a part of
//! the records in it.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blocking::{Cancellation, cancellable};
use super::files::{SpaceCheck, size_of};
use super::folder::Folder;
use super::handle::Handle;
use super::snapshot::SledSnapshot;
use super::trees::{Manifest, TreeCopy, TreeWriter};
use crate::store::log::body::BodyRef;
use crate::store::log::codec::{RecordChange, RecordHeader};
use crate::store::{Entry, Record, StoreError};

/// Number of records that are read at once. Their bodies have at most about 4 MiB.
const CHUNK: usize = 1_000;

/// Result of [`SledStore::backup`](super::SledStore::backup).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// Number of records in the backup.
    pub records: u64,
    /// Size of the folder of the backup, in bytes. The first opening adds the second copy of the records.
    pub bytes: u64,
}

/// Writes a backup of an open store into a folder.
pub(super) async fn backup(handle: &Arc<Handle>, path: PathBuf) -> Result<Backup, StoreError> {
    // sled writes all databases of a process with the same few threads, so only one backup writes at a time.
    let turn = Arc::clone(&handle.backup_turn).lock_owned().await;
    let handle = Arc::clone(handle);
    cancellable(move |cancellation| {
        let outcome = write_or_clear(handle, &path, cancellation);
        drop(turn);
        outcome
    })
    .await
}

/// Writes a backup; blocks. After an error, nothing is left that was not there before.
fn write_or_clear(
    handle: Arc<Handle>,
    path: &Path,
    cancellation: &Cancellation,
) -> Result<Backup, StoreError> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    let outcome = Folder::acquire_empty(path).and_then(|folder| {
        // Each new folder is an entry of the one above it.
        let synced = folder.sync_above(missing.len());
        let written = synced.and_then(|()| write(handle, &folder, cancellation));
        if written.is_err()
            && let Err(error) = folder.clear_backup()
        {
            tracing::warn!(
                error = &error as &dyn Error,
                folder = %path.display(),
                "the parts of a failed backup cannot be removed"
            );
        }
        folder.release();
        written
    });
    if outcome.is_err() {
        // Fails for a folder into which another program has put files meanwhile; that folder stays.
        let _ = missing.iter().try_for_each(fs::remove_dir);
    }
    outcome
}

fn write(handle: Arc<Handle>, folder: &Folder, cancellation: &Cancellation) -> Result<Backup, StoreError> {
    let mut snapshot = SledSnapshot::new(handle)?;
    // Before sled writes, because it does not recover from a full disk.
    let mut space = SpaceCheck::begin(folder.path())?;
    let copy = TreeCopy::open(&folder.new_primary())?;
    let written = write_records(&mut snapshot, &copy, &mut space, cancellation);
    let records = copy.close().and(written)?;
    cancellation.check()?;
    folder.complete_backup()?;
    let bytes = size_of(folder.path()).map_err(|error| folder.unusable(error))?;
    Ok(Backup { records, bytes })
}

/// Writes all records of a snapshot into an empty copy, and returns their number.
fn write_records(
    snapshot: &mut SledSnapshot,
    copy: &TreeCopy,
    space: &mut SpaceCheck<'_>,
    cancellation: &Cancellation,
) -> Result<u64, StoreError> {
    let mut writer = TreeWriter::new(copy, Manifest::default(), false);
    let mut records = 0;
    loop {
        let entries = snapshot.read(CHUNK)?;
        if entries.is_empty() {
            break;
        }
        for Entry { record: Record { key, version, body }, facets } in entries {
            cancellation.check()?;
            records += 1;
            let (body_ref, body) = BodyRef::compressed(records, &body);
            let header = RecordHeader::encode(key, version, body_ref, &facets).into();
            let change = RecordChange::Put { header, body_ref, body };
            space.take(change.size())?;
            writer.write(key, &change)?;
        }
    }
    // The write-ahead log of the backup is empty, and begins with the first LSN.
    let last_version = snapshot.last_version().0;
    writer.finish(Manifest { last_version, last_body_id: records, ..Manifest::default() })?;
    Ok(records)
}
