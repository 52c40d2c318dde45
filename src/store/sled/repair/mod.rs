//! Repair: builds a new primary copy from all data that is still readable. The data is read from both copies and the
//! write-ahead log.

mod salvage;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use bytes::Bytes;

use self::salvage::Sources;
use super::blocking::Cancellation;
use super::files::{self, sync_directory};
use super::folder::Folder;
use super::trees::{Manifest, TreeCopy, TreeWriter};
use super::wal::{DurableLsn, Recovered, Wal, first_lsn, recover};
use crate::store::index::Loader;
use crate::store::log::batch::AcceptedBatch;
use crate::store::log::codec::{RecordChange, RecordHeader};
use crate::store::{Key, StoreError, Version, Write};

/// Maximum number of keys listed in [`Repair::damaged`].
const MAX_DAMAGED: usize = 100;

/// Gap left in the numbering of versions and bodies, which lost records may have used.
const NUMBER_GAP: u64 = 1 << 32;

/// Result of [`SledStore::repair`](super::SledStore::repair).
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Repair {
    /// Number of records restored. Each has a state that was once committed.
    pub records: u64,
    /// Number of records that were detected but could not be restored.
    pub damaged_count: u64,
    /// Keys of the first 100 records that could not be restored.
    pub damaged: Vec<Key>,
    /// Whether records or commits may be lost beyond those counted in `damaged_count`.
    ///
    /// If true, restored records may be older than their last committed state, and records that were deleted may be
    /// back.
    pub is_behind: bool,
    /// Names of the small files beside the records that were damaged and were written again.
    ///
    /// If only they were damaged, no other file was changed. If `acknowledged` was damaged, `is_behind` is true,
    /// because no other file shows whether the last commits are missing.
    pub rewritten_files: Vec<&'static str>,
}

impl Repair {
    /// Returns whether every acknowledged commit was restored.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.damaged_count == 0 && !self.is_behind
    }

    fn report_lost(&mut self, key: Key) {
        self.damaged_count += 1;
        if self.damaged.len() < MAX_DAMAGED {
            self.damaged.push(key);
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, damaged_count, damaged, is_behind, rewritten_files } = self;
        write!(formatter, "{records} records restored, {damaged_count} damaged")?;
        formatter.write_str(if *is_behind { "; other records or newer versions may be lost" } else { "" })?;
        rewritten_files
            .iter()
            .try_for_each(|name| write!(formatter, "\nthe file `{name}` was written again"))?;
        damaged.iter().try_for_each(|key| write!(formatter, "\n{key} is damaged"))
    }
}

/// A header that was found, with its body if that is in the write-ahead log.
type FoundRecord = (RecordHeader, Option<Bytes>);

/// Repairs a folder; blocks. It removes nothing before the last step, and can be cancelled until then.
pub(super) fn repair(path: &Path, cancellation: &Cancellation) -> Result<Repair, StoreError> {
    let folder = Folder::acquire_damaged(path)?;
    let unusable = |error: io::Error| {
        StoreError::unavailable(format!("{} cannot be repaired", path.display())).with_source(error)
    };
    let mut durable_lsn = DurableLsn::open(&folder.durable_lsn()).map_err(unusable)?;
    let acknowledged = durable_lsn.read().map_err(unusable)?;
    let rewritten_files = damaged_files(&folder, acknowledged);
    if !rewritten_files.is_empty()
        && let Some((records, lsn)) = check_intact(&folder, acknowledged, cancellation)
    {
        durable_lsn.write(lsn).and_then(|()| durable_lsn.sync()).map_err(unusable)?;
        folder.write_format().map_err(unusable)?;
        folder.release();
        let is_behind = acknowledged.is_none();
        return Ok(Repair { records, rewritten_files, is_behind, ..Repair::default() });
    }
    back_up_primary(&folder).map_err(unusable)?;
    cancellation.check()?;
    let mut wal = Wal::open(path, true).map_err(unusable)?;

    let mut sources = Sources::open(&folder, cancellation)?;
    let salvaged = sources.salvage();
    let manifest = salvaged.manifest;
    let mut found: BTreeMap<Key, FoundRecord> =
        salvaged.headers.into_iter().map(|(key, header)| (key, (header, None))).collect();
    let recovered = replay_wal(&mut wal, manifest, &mut found).map_err(unusable)?;
    let lsn = recovered.last_lsn.max(acknowledged.unwrap_or(0)).max(sources.applied());
    let is_behind = salvaged.is_behind || recovered.has_gap || recovered.last_lsn < lsn;
    let is_behind = is_behind || acknowledged.is_none();
    let mut repair = Repair { is_behind, rewritten_files, ..Repair::default() };
    salvaged
        .damaged
        .into_iter()
        .filter(|key| !found.contains_key(key))
        .for_each(|key| repair.report_lost(key));
    drop_unique_key_conflicts(&mut found, &mut repair);

    let numbers = next_numbers(manifest, &found, &recovered, lsn, &repair);
    let new = TreeCopy::open(&folder.new_primary())?;
    write_records(&sources, &new, found, numbers, &mut repair, cancellation)?;
    sources.close()?;
    new.close()?;
    install(&folder).map_err(unusable)?;
    wal.clear().map_err(unusable)?;
    durable_lsn.write(lsn).and_then(|()| durable_lsn.sync()).map_err(unusable)?;
    folder.write_format().map_err(unusable)?;
    folder.release();
    Ok(repair)
}

/// Returns the names of the small files that are damaged.
fn damaged_files(folder: &Folder, acknowledged: Option<u64>) -> Vec<&'static str> {
    let files = [("acknowledged", acknowledged.is_some()), ("format", folder.has_format())];
    files.into_iter().filter(|(_, is_intact)| !is_intact).map(|(name, _)| name).collect()
}

/// Checks the primary copy and the log, and returns the number of records and the last LSN. `None` if any part is
/// damaged or missing.
fn check_intact(
    folder: &Folder,
    acknowledged: Option<u64>,
    cancellation: &Cancellation,
) -> Option<(u64, u64)> {
    let primary = TreeCopy::closed(&folder.primary());
    if !folder.primary().exists() || primary.is_dirty() {
        return None;
    }
    let check = || {
        primary.ensure_open()?;
        let manifest = primary.verified_manifest()?;
        cancellation.check()?;
        primary.check_all_records()?;
        Ok::<_, StoreError>(manifest)
    };
    let checked = check();
    let closed = primary.close();
    let manifest = checked.and_then(|manifest| closed.map(|()| manifest)).ok()?;
    let recovered = recover(&mut Wal::open(folder.path(), true).ok()?, manifest.applied_lsn).ok()?;
    // Commits that the copies lack change the number of records by an amount that only a full repair finds out.
    let is_complete = recovered.batches.is_empty()
        && !recovered.has_gap
        && acknowledged.is_none_or(|lsn| lsn <= recovered.last_lsn);
    is_complete.then_some((manifest.record_count, recovered.last_lsn))
}

/// Copies the primary copy aside, because opening it already changes its files.
fn back_up_primary(folder: &Folder) -> io::Result<()> {
    let (primary, backup) = (folder.primary(), folder.damaged_copy());
    if !primary.exists() {
        // A repair was interrupted between its last two steps, or only the mirror is left.
        return if backup.exists() { copy_files(&backup, &primary) } else { Ok(()) };
    }
    if backup.exists() {
        fs::remove_dir_all(&backup)?;
    }
    copy_files(&primary, &backup)
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    files::create_private_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    sync_directory(to)
}

/// Applies the write-ahead log to the headers found, up to its first gap.
fn replay_wal(
    wal: &mut Wal,
    manifest: Option<Manifest>,
    found: &mut BTreeMap<Key, FoundRecord>,
) -> io::Result<Recovered> {
    let first = first_lsn(wal)?;
    let applied = manifest.map_or(0, |manifest| manifest.applied_lsn);
    let starts_late = first.is_some_and(|first| first > applied + 1);
    let from = if starts_late { first.unwrap_or(1) - 1 } else { applied };
    let mut recovered = recover(wal, from)?;
    recovered.has_gap |= starts_late;
    for replayed in std::mem::take(&mut recovered.batches) {
        let AcceptedBatch { version, changes } = replayed.accepted;
        for ((key, change), write) in changes.into_iter().zip(replayed.writes) {
            match (change, write) {
                (RecordChange::Put { body_ref, body, .. }, Write::Put { facets, .. }) => {
                    found.insert(key, (RecordHeader { version, body: body_ref, facets }, Some(body)));
                }
                _ => {
                    found.remove(&key);
                }
            }
        }
    }
    Ok(recovered)
}

/// Keeps the newest of several records that have the same unique key. The others are dropped.
///
/// Such records come from different points in time.
fn drop_unique_key_conflicts(found: &mut BTreeMap<Key, FoundRecord>, repair: &mut Repair) {
    let mut keys: Vec<(Reverse<Version>, Key)> =
        found.iter().map(|(key, (header, _))| (Reverse(header.version), *key)).collect();
    keys.sort_unstable();
    let mut loader = Loader::default();
    for (_, key) in keys {
        let Some((header, _)) = found.get(&key) else { continue };
        if loader.add(key, header.version, &header.facets).is_err() {
            found.remove(&key);
            repair.report_lost(key);
        }
    }
}

/// Returns the manifest to continue from. Its numbers exceed all that were assigned, also to lost records.
fn next_numbers(
    manifest: Option<Manifest>,
    found: &BTreeMap<Key, FoundRecord>,
    recovered: &Recovered,
    lsn: u64,
    repair: &Repair,
) -> Manifest {
    let manifest = manifest.unwrap_or_default();
    // At least 1, so that the mirror differs from this manifest and is rebuilt.
    let gap = if repair.is_behind { NUMBER_GAP } else { 1 };
    let headers = || found.values().map(|(header, _)| header);
    let version = headers()
        .map(|header| header.version.0)
        .fold(manifest.last_version, u64::max)
        .max(recovered.last_version);
    let body = headers()
        .map(|header| header.body.id)
        .fold(manifest.last_body_id, u64::max)
        .max(recovered.last_body_id);
    Manifest {
        applied_lsn: lsn,
        last_version: version.saturating_add(gap),
        last_body_id: body.saturating_add(gap),
        record_count: 0,
        checksum_sum: 0,
    }
}

fn write_records(
    sources: &Sources,
    new: &TreeCopy,
    found: BTreeMap<Key, FoundRecord>,
    manifest: Manifest,
    repair: &mut Repair,
    cancellation: &Cancellation,
) -> Result<(), StoreError> {
    let mut writer = TreeWriter::new(new, manifest, false);
    for (key, (header, body)) in found {
        cancellation.check()?;
        let Ok(body) = body.map_or_else(|| sources.stored_body(key, header.body), Ok) else {
            repair.report_lost(key);
            continue;
        };
        let encoded = RecordHeader::encode(key, header.version, header.body, &header.facets);
        writer.write(key, &RecordChange::Put { header: encoded.into(), body_ref: header.body, body })?;
        repair.records += 1;
    }
    writer.finish(manifest)
}

fn install(folder: &Folder) -> io::Result<()> {
    if folder.primary().exists() {
        fs::remove_dir_all(folder.primary())?;
    }
    fs::rename(folder.new_primary(), folder.primary())?;
    sync_directory(folder.path())
}
