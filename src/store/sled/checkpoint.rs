//! Checkpoints, which apply a full log file to both copies of the trees. Meanwhile the next file is written.

use std::collections::{HashMap, HashSet, VecDeque};
use std::error::Error;
use std::fs::File;
use std::sync::mpsc::{Receiver, SendError, Sender};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::files::SpaceCheck;
use super::state::Shared;
use super::trees::{Manifest, ScrubProgress, Side, TreePair, TreeWriter, place_of_body};
use super::wal::{SealedFile, Wal};
use crate::invariant::Invariant;
use crate::store::log::body::BodyRef;
use crate::store::log::codec::RecordChange;
use crate::store::log::queue::closed;
use crate::store::{Key, StoreError};

/// The last change of every record written since the last checkpoint.
pub(super) type Changes = HashMap<Key, RecordChange>;

/// Number of records unpinned while the state lock, for which readers wait, is held once.
const UNPIN_BATCH: usize = 512;

/// The input of one checkpoint.
#[derive(Debug)]
pub(super) struct CheckpointTask {
    pub(super) changes: Changes,
    /// The log files that contain the changes. They are free once the checkpoint has succeeded.
    pub(super) sealed: Vec<SealedFile>,
    /// The log file if it is not synced yet.
    pub(super) unsynced: Option<File>,
    /// LSN that the trees have once the task is applied.
    pub(super) applied_lsn: u64,
    /// Highest version assigned up to that LSN.
    pub(super) last_version: u64,
    /// Highest body number assigned up to that LSN.
    pub(super) last_body_id: u64,
}

/// A task with its result. A failed task can be run again any number of times.
pub(super) type CheckpointResult = (CheckpointTask, Result<(), StoreError>);

/// The thread that runs checkpoint tasks.
#[derive(Debug)]
pub(super) struct Checkpointer {
    shared: Arc<Shared>,
    pending_deletes: PendingDeletes,
    mirror_ready: bool,
}

/// Replaced bodies, grouped by the epoch whose readers may still read them.
#[derive(Debug, Default)]
struct PendingDeletes(VecDeque<(Weak<()>, HashSet<BodyRef>)>);

impl Checkpointer {
    pub(super) fn new(shared: Arc<Shared>, pending_deletes: Vec<BodyRef>) -> Self {
        // No reader of an earlier process is left, so these can be deleted at once.
        Self {
            shared,
            pending_deletes: PendingDeletes(VecDeque::from([(
                Weak::new(),
                pending_deletes.into_iter().collect(),
            )])),
            mirror_ready: false,
        }
    }

    /// Runs tasks until the scheduler is dropped.
    #[allow(clippy::needless_pass_by_value, reason = "a thread owns its ends of the channels")]
    pub(super) fn run(mut self, tasks: Receiver<CheckpointTask>, results: Sender<CheckpointResult>) {
        for task in tasks {
            let result = self.checkpoint(&task);
            let (applied_lsn, failure) = (task.applied_lsn, result.as_ref().err().map(ToString::to_string));
            if results.send((task, result)).is_err() {
                return;
            }
            // Only after the committer can receive the result, because tasks woken here ask the committer.
            self.shared.checkpoint_status.send_modify(|checkpoint_status| {
                if failure.is_none() {
                    checkpoint_status.applied_lsn = applied_lsn;
                }
                checkpoint_status.failure = failure;
            });
        }
    }

    fn checkpoint(&mut self, task: &CheckpointTask) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let mut progress = shared.trees_lock.blocking_lock();
        if !self.mirror_ready {
            shared.trees.prepare_mirror(&shared.folder, task.applied_lsn)?;
            self.mirror_ready = true;
        }
        if task.changes.is_empty() {
            return Ok(());
        }
        let unwritten =
            |error| StoreError::unavailable("the write-ahead log cannot be written").with_source(error);
        task.unsynced.as_ref().map_or(Ok(()), File::sync_data).map_err(unwritten)?;
        // Before the first change, so that a full disk leaves both copies clean.
        let mut space = SpaceCheck::begin(shared.folder.path())?;
        let outcome = self.write_both(task, &mut progress, &mut space);
        progress.end_checkpoint(outcome.is_err());
        outcome?;
        self.unpin(task);
        Ok(())
    }

    /// Applies a task to one copy after the other. Therefore one of them is intact at any time.
    fn write_both(
        &mut self,
        task: &CheckpointTask,
        progress: &mut ScrubProgress,
        space: &mut SpaceCheck<'_>,
    ) -> Result<(), StoreError> {
        let removable = self.pending_deletes.take_removable();
        self.pending_deletes.start_epoch(Arc::downgrade(&self.shared.state.write()?.advance_epoch()));
        let has_readers = self.pending_deletes.have_readers();
        let trees = &self.shared.trees;
        // A dirty primary is completed before the mirror is changed again.
        let order = if trees.primary.is_dirty() {
            [Side::Primary, Side::Mirror]
        } else {
            [Side::Mirror, Side::Primary]
        };
        for side in order {
            let outcome = write_to_copy(trees, side, task, has_readers, &removable, progress, space);
            self.pending_deletes.add(outcome.inspect_err(|_| trees.of(side).poison())?);
        }
        Ok(())
    }

    /// Unpins the bodies that the trees now contain, so that the cache may evict them.
    fn unpin(&self, task: &CheckpointTask) {
        let mut changes = task.changes.iter().peekable();
        while changes.peek().is_some() {
            let Ok(mut state) = self.shared.state.write() else { return };
            for (key, change) in changes.by_ref().take(UNPIN_BATCH) {
                if let (Some(row), RecordChange::Put { body_ref, .. }) = (state.index.find(*key), change) {
                    state.bodies.unpin(row, *body_ref);
                }
            }
            let evicted = state.bodies.evict();
            drop(state);
            drop(evicted);
        }
    }
}

impl PendingDeletes {
    /// Starts a new epoch: bodies added from now on were visible to these readers.
    fn start_epoch(&mut self, readers: Weak<()>) {
        self.0.push_back((readers, HashSet::new()));
    }

    fn add(&mut self, replaced: Vec<BodyRef>) {
        if let Some((_, body_refs)) = self.0.back_mut() {
            body_refs.extend(replaced);
        }
    }

    /// Returns whether any reader may still read a replaced body.
    fn have_readers(&self) -> bool {
        self.0.iter().any(|(readers, _)| readers.strong_count() > 0)
    }

    /// Takes the bodies that no reader can still read.
    fn take_removable(&mut self) -> HashSet<BodyRef> {
        let mut removable = HashSet::new();
        while self.0.front().is_some_and(|(readers, _)| readers.strong_count() == 0) {
            removable.extend(self.0.pop_front().asserted_or_default().1);
        }
        removable
    }
}

/// Applies a task to one copy. Returns the replaced bodies that are to be deleted later.
fn write_to_copy(
    trees: &TreePair,
    side: Side,
    task: &CheckpointTask,
    has_readers: bool,
    removable: &HashSet<BodyRef>,
    progress: &mut ScrubProgress,
    space: &mut SpaceCheck<'_>,
) -> Result<Vec<BodyRef>, StoreError> {
    let copy = trees.of(side);
    copy.mark_dirty()?;
    let mut writer = TreeWriter::new(copy, copy.manifest_for_writing()?, has_readers);
    let mut replaced = Vec::new();
    for (key, change) in in_order_of_bodies(&task.changes) {
        space.take(change.size())?;
        let before = *writer.manifest();
        replaced.extend(writer.write(*key, change)?);
        progress.record_change(side, *key, &before, writer.manifest());
    }
    removable.iter().try_for_each(|body_ref| writer.remove_body(*body_ref))?;
    let CheckpointTask { applied_lsn, last_version, last_body_id, .. } = *task;
    writer.finish(Manifest { applied_lsn, last_version, last_body_id, ..Manifest::default() })?;
    copy.mark_clean()?;
    Ok(replaced)
}

/// Returns changes in the order of the keys of their bodies.
///
/// sled then loads each page of bodies once per checkpoint: its cache is too small to hold all of them.
fn in_order_of_bodies(changes: &Changes) -> Vec<(&Key, &RecordChange)> {
    let mut changes: Vec<_> = changes.iter().collect();
    changes.sort_unstable_by_key(|(key, change)| match change {
        RecordChange::Delete => (0, **key),
        RecordChange::Put { body_ref, .. } => (place_of_body(body_ref.id), **key),
    });
    changes
}

/// Delay before a failed checkpoint is retried. It applies as long as the log has a free file.
const RETRY: Duration = Duration::from_secs(1);

/// The committer's side of the checkpointer: starts tasks and receives their results.
#[derive(Debug)]
pub(super) struct CheckpointScheduler {
    tasks: Sender<CheckpointTask>,
    results: Receiver<CheckpointResult>,
    thread: JoinHandle<()>,
    state: SchedulerState,
    /// LSN up to which all commits are in both copies.
    applied_lsn: u64,
}

#[derive(Debug)]
enum SchedulerState {
    Idle,
    Running,
    /// The task, and when it failed.
    Failed(CheckpointTask, Instant),
}

impl CheckpointScheduler {
    pub(super) fn new(
        tasks: Sender<CheckpointTask>,
        results: Receiver<CheckpointResult>,
        thread: JoinHandle<()>,
    ) -> Self {
        Self { tasks, results, thread, state: SchedulerState::Idle, applied_lsn: 0 }
    }

    /// Ends the thread, and returns when it has released its files.
    pub(super) fn end(self) {
        let Self { tasks, results, thread, .. } = self;
        drop((tasks, results));
        if thread.join().is_err() {
            tracing::error!("the thread of the checkpoints has panicked");
        }
    }

    pub(super) const fn applied_lsn(&self) -> u64 {
        self.applied_lsn
    }

    pub(super) fn start(&mut self, task: CheckpointTask) {
        self.state = match self.tasks.send(task) {
            Ok(()) => SchedulerState::Running,
            Err(SendError(task)) => SchedulerState::Failed(task, Instant::now()),
        };
    }

    /// Releases the log files of a finished checkpoint. A checkpoint that failed more than [`RETRY`] ago is retried.
    pub(super) fn poll(&mut self, wal: &mut Wal) {
        self.state = match std::mem::replace(&mut self.state, SchedulerState::Idle) {
            SchedulerState::Failed(task, since) if since.elapsed() >= RETRY => return self.start(task),
            state => state,
        };
        if matches!(self.state, SchedulerState::Running)
            && let Ok(result) = self.results.try_recv()
            && let Err(error) = self.complete(result, wal)
        {
            tracing::error!(
                error = &error as &dyn Error,
                "a checkpoint failed; commits remain in the write-ahead log"
            );
        }
    }

    /// Retries a failed checkpoint at once, and returns whether one is running; does not wait.
    pub(super) fn retry(&mut self, wal: &mut Wal) -> bool {
        self.poll(wal);
        self.state = match std::mem::replace(&mut self.state, SchedulerState::Idle) {
            SchedulerState::Failed(task, _) => {
                self.start(task);
                return self.is_running();
            }
            state => state,
        };
        self.is_running()
    }

    pub(super) const fn is_running(&self) -> bool {
        matches!(self.state, SchedulerState::Running)
    }

    /// Waits for the running checkpoint; a failed one is retried first.
    pub(super) fn wait(&mut self, wal: &mut Wal) -> Result<(), StoreError> {
        match std::mem::replace(&mut self.state, SchedulerState::Running) {
            SchedulerState::Idle => {
                self.state = SchedulerState::Idle;
                return Ok(());
            }
            SchedulerState::Running => {}
            SchedulerState::Failed(task, _) => self.start(task),
        }
        let received = self.results.recv();
        received.map_err(|_| closed()).and_then(|result| self.complete(result, wal))
    }

    fn complete(&mut self, (task, result): CheckpointResult, wal: &mut Wal) -> Result<(), StoreError> {
        if result.is_ok() {
            task.sealed.iter().for_each(|sealed| wal.release(*sealed));
            self.state = SchedulerState::Idle;
            self.applied_lsn = task.applied_lsn;
        } else {
            self.state = SchedulerState::Failed(task, Instant::now());
        }
        result
    }
}
