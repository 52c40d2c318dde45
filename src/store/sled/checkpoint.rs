//! Puts into the records what stands in a full journal, beside the writing of the next.

use std::collections::{HashMap, HashSet, VecDeque};
use std::error::Error;
use std::fs::File;
use std::sync::mpsc::{Receiver, SendError, Sender};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::codec::{BodyRef, RecordChange};
use super::files::preallocate;
use super::state::{Shared, closed};
use super::trees::{ScrubProgress, Side, TreePair, TreeWriter};
use super::wal::{SealedFile, Wal};
use crate::store::{Key, StoreError};

/// What became of every record that was written since the last checkpoint.
pub(super) type Changes = HashMap<Key, RecordChange>;

/// How many records a lock is held for that readers of memory wait for.
const UNPIN_BATCH: usize = 512;

/// What a checkpoint is about.
#[derive(Debug)]
pub(super) struct CheckpointTask {
    pub(super) changes: Changes,
    /// The files that hold the changes, free when the task is done.
    pub(super) sealed: Vec<SealedFile>,
    /// The file, if it is not on the disk yet.
    pub(super) unsynced: Option<File>,
    /// Up to where the records have come then.
    pub(super) applied_lsn: u64,
    pub(super) last_version: u64,
    pub(super) last_body_id: u64,
}

/// A task, and what came of it. What failed can be given to the checkpointer again, as often as need be.
#[derive(Debug)]
pub(super) struct CheckpointResult {
    pub(super) task: CheckpointTask,
    pub(super) result: Result<(), StoreError>,
}

/// The thread that does the task.
#[derive(Debug)]
pub(super) struct Checkpointer {
    shared: Arc<Shared>,
    pending_deletes: PendingDeletes,
    mirror_ready: bool,
}

/// Bodies that were replaced, until the last reader is gone that could ask for them.
#[derive(Debug, Default)]
struct PendingDeletes(VecDeque<(Weak<()>, HashSet<BodyRef>)>);

impl Checkpointer {
    pub(super) fn new(shared: Arc<Shared>, pending_deletes: Vec<BodyRef>) -> Self {
        // Of those that are left from another time nobody can ask any more.
        Self {
            shared,
            pending_deletes: PendingDeletes(VecDeque::from([(
                Weak::new(),
                pending_deletes.into_iter().collect(),
            )])),
            mirror_ready: false,
        }
    }

    /// Works until nobody can give it task any more.
    #[allow(clippy::needless_pass_by_value, reason = "a thread owns its ends of the channels")]
    pub(super) fn run(mut self, tasks: Receiver<CheckpointTask>, outcomes: Sender<CheckpointResult>) {
        for task in tasks {
            let result = self.checkpoint(&task);
            let (applied_lsn, failure) = (task.applied_lsn, result.as_ref().err().map(ToString::to_string));
            if outcomes.send(CheckpointResult { task, result }).is_err() {
                return;
            }
            // After the writing thread can know of it: those who are woken here ask that thread.
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
        let unwritten = |error| StoreError::unavailable("the journal cannot be written").with_source(error);
        task.unsynced.as_ref().map_or(Ok(()), File::sync_data).map_err(unwritten)?;
        preallocate(shared.folder.path(), task.changes.values().map(RecordChange::size).sum())?;
        let outcome = self.write_both(task, &mut progress);
        progress.end_checkpoint(outcome.is_err());
        outcome?;
        self.unpin(task);
        Ok(())
    }

    /// Writes a task into one copy after the other, so that one of them is whole at any time.
    fn write_both(&mut self, task: &CheckpointTask, progress: &mut ScrubProgress) -> Result<(), StoreError> {
        let removable = self.pending_deletes.take_removable();
        self.pending_deletes.start_epoch(Arc::downgrade(&self.shared.write_state()?.advance_epoch()));
        let has_readers = self.pending_deletes.have_readers();
        let trees = &self.shared.trees;
        // What failed is carried out to its end before the other is changed again.
        let order = if trees.primary.is_dirty() {
            [Side::Primary, Side::Mirror]
        } else {
            [Side::Mirror, Side::Primary]
        };
        for side in order {
            let outcome = write_to_copy(trees, side, task, has_readers, &removable, progress);
            self.pending_deletes.add(outcome.inspect_err(|_| trees.of(side).poison())?);
        }
        Ok(())
    }

    /// Lets the bodies in memory go that the records have now.
    fn unpin(&self, task: &CheckpointTask) {
        let mut changes = task.changes.iter().peekable();
        while changes.peek().is_some() {
            let Ok(mut state) = self.shared.write_state() else { return };
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
    /// What is added from now on was shown to those who hold this.
    fn start_epoch(&mut self, readers: Weak<()>) {
        self.0.push_back((readers, HashSet::new()));
    }

    fn add(&mut self, replaced: Vec<BodyRef>) {
        if let Some((_, body_refs)) = self.0.back_mut() {
            body_refs.extend(replaced);
        }
    }

    /// Whether anybody can still ask for what is replaced.
    fn have_readers(&self) -> bool {
        self.0.iter().any(|(readers, _)| readers.strong_count() > 0)
    }

    /// The bodies that nobody can ask for any more.
    fn take_removable(&mut self) -> HashSet<BodyRef> {
        let mut removable = HashSet::new();
        while self.0.front().is_some_and(|(readers, _)| readers.strong_count() == 0) {
            removable.extend(self.0.pop_front().unwrap_or_default().1);
        }
        removable
    }
}

/// Puts a task into one copy, and returns which bodies are left to be removed later.
fn write_to_copy(
    trees: &TreePair,
    side: Side,
    task: &CheckpointTask,
    has_readers: bool,
    removable: &HashSet<BodyRef>,
    progress: &mut ScrubProgress,
) -> Result<Vec<BodyRef>, StoreError> {
    let copy = trees.of(side);
    copy.mark_dirty()?;
    let mut writer = TreeWriter::new(copy, copy.manifest_for_writing()?, has_readers);
    let mut replaced = Vec::new();
    for (key, change) in &task.changes {
        let before = *writer.manifest();
        replaced.extend(writer.write(*key, change)?);
        progress.record_change(side, *key, &before, writer.manifest());
    }
    removable.iter().try_for_each(|body_ref| writer.remove_body(*body_ref))?;
    writer.finish(task.applied_lsn, task.last_version, task.last_body_id)?;
    copy.mark_clean()?;
    Ok(replaced)
}

/// How long a checkpoint that failed is left alone, if the journal has room.
const RETRY: Duration = Duration::from_secs(1);

/// The checkpointer, as the writing thread sees it.
#[derive(Debug)]
pub(super) struct CheckpointScheduler {
    tasks: Sender<CheckpointTask>,
    outcomes: Receiver<CheckpointResult>,
    state: SchedulerState,
    /// Up to where everything is in the records.
    applied_lsn: u64,
}

#[derive(Debug)]
enum SchedulerState {
    Idle,
    Running,
    /// And since when.
    Failed(CheckpointTask, Instant),
}

impl CheckpointScheduler {
    pub(super) fn new(tasks: Sender<CheckpointTask>, outcomes: Receiver<CheckpointResult>) -> Self {
        Self { tasks, outcomes, state: SchedulerState::Idle, applied_lsn: 0 }
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

    /// Frees what a checkpoint has freed by now, or tries one again that failed a while ago.
    pub(super) fn poll(&mut self, wal: &mut Wal) {
        self.state = match std::mem::replace(&mut self.state, SchedulerState::Idle) {
            SchedulerState::Failed(task, since) if since.elapsed() >= RETRY => return self.start(task),
            state => state,
        };
        if matches!(self.state, SchedulerState::Running)
            && let Ok(outcome) = self.outcomes.try_recv()
            && let Err(error) = self.complete(outcome, wal)
        {
            tracing::error!(
                error = &error as &dyn Error,
                "what is in the journal cannot be put into the records"
            );
        }
    }

    /// Tries a checkpoint again that failed, and returns whether one is under way then. Does not wait for it.
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

    /// Waits for the checkpoint that is under way, and tries one that failed again.
    pub(super) fn wait(&mut self, wal: &mut Wal) -> Result<(), StoreError> {
        match std::mem::replace(&mut self.state, SchedulerState::Running) {
            SchedulerState::Idle => {
                self.state = SchedulerState::Idle;
                return Ok(());
            }
            SchedulerState::Running => {}
            SchedulerState::Failed(task, _) => self.start(task),
        }
        let outcome = self.outcomes.recv();
        outcome.map_err(|_| closed()).and_then(|outcome| self.complete(outcome, wal))
    }

    fn complete(&mut self, outcome: CheckpointResult, wal: &mut Wal) -> Result<(), StoreError> {
        let CheckpointResult { task, result } = outcome;
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
