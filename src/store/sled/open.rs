//! Opening a folder: the options, and the recovery of the index and of unapplied commits.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};

use bytes::Bytes;
use tokio::sync::{Mutex, watch};

use super::checkpoint::{Changes, CheckpointScheduler, CheckpointTask, Checkpointer};
use super::commit::Committer;
use super::files::sync_directory;
use super::folder::Folder;
use super::state::{CheckpointStatus, Shared, State};
use super::trees::{Manifest, ScrubProgress, TreeCopy, TreePair};
use super::wal::{DurableLsn, Recovered, Wal, recover};
use crate::store::index::Loader;
use crate::store::lock::StateLock;
use crate::store::log::batch::{AcceptedBatch, ReplayedBatch};
use crate::store::log::body::BodyRef;
use crate::store::log::body_cache::BodyCache;
use crate::store::log::codec::{RecordChange, RecordHeader, decode_header};
use crate::store::log::group_collector::GroupCollector;
use crate::store::log::queue::Queue;
use crate::store::{Facets, Key, StoreError, Version, Write};

/// Durability guarantee of an acknowledged commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// The commit is synced to disk before it is acknowledged.
    ///
    /// It survives a crash of the process or of the operating system, and a loss of power, provided that the disk and
    /// the file system honour a sync.
    #[default]
    Durable,
    /// The commit is written to the operating system, but not synced, before it is acknowledged.
    ///
    /// It survives a crash of the process at any moment. A crash of the operating system or a loss of power loses the
    /// newest commits, each of them as a whole: those that were not written back by then. Linux writes data back
    /// after about 30 seconds.
    Buffered,
}

/// Options for opening a [`SledStore`](crate::store::SledStore); returned by
/// [`SledStore::builder`](crate::store::SledStore::builder).
#[derive(Clone, Debug)]
pub struct SledStoreBuilder {
    pub(super) folder: PathBuf,
    pub(super) cache_size: usize,
    pub(super) durability: Durability,
}

impl SledStoreBuilder {
    /// The default [`cache_size`](Self::cache_size): 64 MiB.
    pub const DEFAULT_CACHE_SIZE: usize = 64 << 20;

    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, cache_size: Self::DEFAULT_CACHE_SIZE, durability: Durability::default() }
    }

    /// Sets the memory for cached record bodies, in bytes.
    ///
    /// The limit applies to bodies that are also in the database files. With 0, those bodies are read from disk each
    /// time. Bodies of commits that no checkpoint has applied yet stay in memory in addition. The default is
    /// [`DEFAULT_CACHE_SIZE`](Self::DEFAULT_CACHE_SIZE).
    #[must_use]
    pub const fn cache_size(mut self, bytes: usize) -> Self {
        self.cache_size = bytes;
        self
    }

    /// Sets the durability guarantee of acknowledged commits.
    ///
    /// The default is [`Durability::Durable`]. It may change each time the folder is opened.
    #[must_use]
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}

/// Opens a folder; blocks. The threads start only after everything was found intact.
pub(super) fn open(options: &SledStoreBuilder) -> Result<(Arc<Shared>, Queue), StoreError> {
    let folder = Folder::acquire(&options.folder)?;
    let mut durable_lsn = open_durable_lsn(&folder)?;
    let Loaded { primary, state, pending_deletes, wal, recovered } =
        load(&folder, &mut durable_lsn, options)?;
    let (lsn, last_body_id) = (recovered.applied_lsn, recovered.last_body_id);
    // Everything recovered is synced now, acknowledged or not. Recording it keeps an outdated log from passing as
    // complete.
    durable_lsn.write(lsn).map_err(|error| unreadable(&folder, error))?;
    let trees = TreePair::new(primary, &folder);
    let (scrub_turn, trees_lock) = (Mutex::new(()), Mutex::new(ScrubProgress::default()));
    let (checkpoint_status, _) = watch::channel(CheckpointStatus::default());
    let state = StateLock::new(state);
    let shared = Arc::new(Shared { state, trees, folder, checkpoint_status, scrub_turn, trees_lock });
    let checkpoints = start_checkpoints(&shared, pending_deletes, recovered)?;
    let (queue, jobs) = Queue::new();
    let committer = Committer {
        shared: Arc::clone(&shared),
        jobs: GroupCollector::new(jobs),
        wal,
        durable_lsn,
        is_durable: options.durability == Durability::Durable,
        checkpoints,
        changes: Changes::new(),
        pinned: 0,
        lsn,
        last_body_id,
    };
    spawn_thread("toposcope-writer", || committer.run())?;
    Ok((shared, queue))
}

/// Opens the durable LSN file. It is created before the trees, so that a folder with records always has one.
fn open_durable_lsn(folder: &Folder) -> Result<DurableLsn, StoreError> {
    let open = || {
        let mut durable_lsn = DurableLsn::open(&folder.durable_lsn())?;
        if folder.is_new() && durable_lsn.read()?.is_none() {
            durable_lsn.write(0)?;
            durable_lsn.sync()?;
        }
        Ok(durable_lsn)
    };
    open().map_err(|error| unreadable(folder, error))
}

/// Starts the checkpoint thread with the recovered changes. Even without changes, its first task opens the mirror.
fn start_checkpoints(
    shared: &Arc<Shared>,
    pending_deletes: Vec<BodyRef>,
    recovered: CheckpointTask,
) -> Result<CheckpointScheduler, StoreError> {
    let checkpointer = Checkpointer::new(Arc::clone(shared), pending_deletes);
    let ((tasks, task_receiver), (result_sender, results)) = (channel(), channel());
    let thread = spawn_thread("toposcope-trees", || checkpointer.run(task_receiver, result_sender))?;
    let mut checkpoints = CheckpointScheduler::new(tasks, results, thread);
    checkpoints.start(recovered);
    Ok(checkpoints)
}

fn spawn_thread(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(run);
    spawned
        .map_err(|error| StoreError::unavailable("a background thread cannot be started").with_source(error))
}

/// The contents of a folder.
struct Loaded {
    primary: TreeCopy,
    state: State,
    pending_deletes: Vec<BodyRef>,
    wal: Wal,
    /// The changes in the log beyond the trees.
    recovered: CheckpointTask,
}

/// Loads the primary copy and the log. If that fails, swaps the copies and tries the mirror.
fn load(
    folder: &Folder,
    durable_lsn: &mut DurableLsn,
    options: &SledStoreBuilder,
) -> Result<Loaded, StoreError> {
    prefer_clean_copy(folder).map_err(|error| unreadable(folder, error))?;
    load_primary(folder, durable_lsn, options).or_else(|error| {
        if !folder.has_mirror() || folder.swap_copies().is_err() {
            return Err(error);
        }
        tracing::warn!(
            error = &error as &dyn Error,
            "the primary copy cannot be loaded: loading the mirror instead"
        );
        load_primary(folder, durable_lsn, options).map_err(|mirror_error| {
            tracing::warn!(error = &mirror_error as &dyn Error, "the mirror cannot be loaded either");
            // Swapped back, so that a repair finds both where they were.
            let _ = folder.swap_copies();
            error
        })
    })
}

/// Swaps the copies if the primary is dirty and the mirror is not.
fn prefer_clean_copy(folder: &Folder) -> io::Result<()> {
    let is_dirty = |copy: &Path| TreeCopy::closed(copy).is_dirty();
    let mirror_is_clean = folder.has_mirror() && !is_dirty(&folder.mirror());
    if mirror_is_clean && is_dirty(&folder.primary()) { folder.swap_copies() } else { Ok(()) }
}

fn load_primary(
    folder: &Folder,
    durable_lsn: &mut DurableLsn,
    options: &SledStoreBuilder,
) -> Result<Loaded, StoreError> {
    let primary = TreeCopy::open(&folder.primary())?;
    match load_from(&primary, folder, durable_lsn, options) {
        Ok((state, pending_deletes, wal, recovered)) => {
            Ok(Loaded { primary, state, pending_deletes, wal, recovered })
        }
        Err(error) => {
            let _ = primary.close();
            Err(error)
        }
    }
}

/// Loads an open primary copy and the log.
fn load_from(
    primary: &TreeCopy,
    folder: &Folder,
    durable_lsn: &mut DurableLsn,
    options: &SledStoreBuilder,
) -> Result<(State, Vec<BodyRef>, Wal, CheckpointTask), StoreError> {
    let manifest = primary.manifest()?;
    let (mut wal, recovered) = open_wal(folder, options.durability, manifest.applied_lsn)?;
    check_nothing_lost(folder, durable_lsn, &recovered)?;
    wal.discard(&recovered.discardable).map_err(|error| unreadable(folder, error))?;
    let Recovered { batches, last_lsn, sealed, .. } = recovered;
    let (last_version, last_body_id) = (
        manifest.last_version.max(recovered.last_version),
        manifest.last_body_id.max(recovered.last_body_id),
    );
    let latest = latest_changes(batches);
    let state = build_state(primary, &manifest, &latest, Version(last_version), options.cache_size)?;
    let pending_deletes = without_rewritten(primary.pending_deletes()?, &latest);
    let changes: Changes = latest.into_iter().map(|(key, latest)| (key, latest.change)).collect();
    Ok((
        state,
        pending_deletes,
        wal,
        CheckpointTask { changes, sealed, unsynced: None, applied_lsn: last_lsn, last_version, last_body_id },
    ))
}

/// Opens and reads the log. The recovered frames and all file names are synced afterwards.
fn open_wal(
    folder: &Folder,
    durability: Durability,
    applied_lsn: u64,
) -> Result<(Wal, Recovered), StoreError> {
    let open = || {
        let mut wal = Wal::open(folder.path(), durability == Durability::Durable)?;
        let recovered = recover(&mut wal, applied_lsn)?;
        sync_directory(folder.path())?;
        Ok((wal, recovered))
    };
    open().map_err(|error| unreadable(folder, error))
}

/// Checks that no acknowledged commit is missing.
fn check_nothing_lost(
    folder: &Folder,
    durable_lsn: &mut DurableLsn,
    recovered: &Recovered,
) -> Result<(), StoreError> {
    let folder_name = folder.path().display();
    let Some(acknowledged) = durable_lsn.read().map_err(|error| unreadable(folder, error))? else {
        return Err(StoreError::corrupt(format!(
            "the file `acknowledged` in {folder_name} is damaged: a repair writes it again"
        )));
    };
    if recovered.has_gap || recovered.last_lsn < acknowledged {
        return Err(StoreError::corrupt(format!(
            "commits are missing in {folder_name}: the last acknowledged LSN is {acknowledged}, the last intact \
             one is {}",
            recovered.last_lsn
        )));
    }
    Ok(())
}

/// The last change of a record in the log.
#[derive(Debug)]
struct LatestChange {
    version: Version,
    change: RecordChange,
    /// The facets and the body of a put; empty for a delete.
    facets: Facets,
    body: Bytes,
}

fn latest_changes(batches: Vec<ReplayedBatch>) -> HashMap<Key, LatestChange> {
    let mut latest = HashMap::new();
    for ReplayedBatch { accepted: AcceptedBatch { version, changes }, writes } in batches {
        for ((key, change), write) in changes.into_iter().zip(writes) {
            let (facets, body) = match write {
                Write::Put { facets, body, .. } => (facets, body),
                Write::Delete { .. } => Default::default(),
            };
            latest.insert(key, LatestChange { version, change, facets, body });
        }
    }
    latest
}

/// Builds the index and the body cache from the trees and the log.
///
/// Records that the log changes are taken from the log alone: an interrupted checkpoint may have applied a part of
/// these changes, and only with all of them is the state consistent.
fn build_state(
    primary: &TreeCopy,
    manifest: &Manifest,
    latest: &HashMap<Key, LatestChange>,
    version: Version,
    cache_size: usize,
) -> Result<State, StoreError> {
    let mut loader = Loader::default();
    let mut bodies = BodyCache::new(cache_size);
    let mut found = Manifest { record_count: 0, checksum_sum: 0, ..*manifest };
    primary.with_prefetch(|| {
        primary.headers(|key, bytes| {
            found.count_in(RecordHeader::checksum(bytes));
            let RecordHeader { version, body, facets } = decode_header(key, bytes)?;
            if !latest.contains_key(&key) {
                bodies.set_body_ref(loader.add(key, version, &facets)?, body);
            }
            Ok(())
        })
    })?;
    manifest.check(found)?;
    for (key, LatestChange { version, change, facets, body }) in latest {
        if let RecordChange::Put { body_ref, .. } = change {
            let row = loader.add(*key, *version, facets)?;
            bodies.pin(row, *body_ref, body.clone());
        }
    }
    Ok(State::new(loader.finish(version), bodies))
}

/// Returns the pending deletes, except bodies that the recovered changes are about to write again.
fn without_rewritten(mut pending_deletes: Vec<BodyRef>, latest: &HashMap<Key, LatestChange>) -> Vec<BodyRef> {
    let rewritten = latest.values().filter_map(|latest| match &latest.change {
        RecordChange::Put { body_ref, .. } => Some(body_ref.id),
        RecordChange::Delete => None,
    });
    let rewritten: HashSet<u64> = rewritten.collect();
    pending_deletes.retain(|pending| !rewritten.contains(&pending.id));
    pending_deletes
}

fn unreadable(folder: &Folder, error: io::Error) -> StoreError {
    StoreError::unavailable(format!("{} cannot be read", folder.path().display())).with_source(error)
}
