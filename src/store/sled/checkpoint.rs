//! Puts into the records what stands in a full journal, beside the writing of the next.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Weak};

use super::codec::Place;
use super::copies::{Copies, Side};
use super::journal::{Change, Sealed};
use super::progress::Progress;
use super::room::require_room;
use super::shared::Shared;
use super::writer::Writer;
use crate::store::{Key, StoreError};

/// What became of every record that was written since the last checkpoint.
pub(super) type Changes = HashMap<Key, Change>;

/// How many records a lock is held for that readers of memory wait for.
const UNPINNED: usize = 512;

/// What a checkpoint is about.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) changes: Changes,
    /// The files that hold the changes, free when the work is done.
    pub(super) sealed: Vec<Sealed>,
    /// The file, if it is not on the disk yet.
    pub(super) unsynced: Option<File>,
    /// Up to where the records have come then.
    pub(super) applied: u64,
    pub(super) version: u64,
    pub(super) body: u64,
}

/// A work, and what came of it. What failed can be given to the checkpointer again, as often as need be.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) work: Work,
    pub(super) result: Result<(), StoreError>,
}

/// What came of the last checkpoint.
#[derive(Debug, Default)]
pub(super) struct Checkpointed {
    /// The sequence up to which everything is in the records.
    pub(super) applied: u64,
    /// Why the last checkpoint failed; `None` if it did not.
    pub(super) failure: Option<String>,
}

/// The thread that does the work.
#[derive(Debug)]
pub(super) struct Checkpointer {
    shared: Arc<Shared>,
    graves: Graves,
    has_second: bool,
}

/// Bodies that were replaced, until the last reader is gone that could ask for them.
#[derive(Debug, Default)]
struct Graves(VecDeque<(Weak<()>, HashSet<Place>)>);

impl Checkpointer {
    pub(super) fn new(shared: Arc<Shared>, graves: Vec<Place>) -> Self {
        // Of those that are left from another time nobody can ask any more.
        Self {
            shared,
            graves: Graves(VecDeque::from([(Weak::new(), graves.into_iter().collect())])),
            has_second: false,
        }
    }

    /// Works until nobody can give it work any more.
    #[allow(clippy::needless_pass_by_value, reason = "a thread owns its ends of the channels")]
    pub(super) fn run(mut self, works: Receiver<Work>, outcomes: Sender<Outcome>) {
        for work in works {
            let result = self.check_point(&work);
            let (applied, failure) = (work.applied, result.as_ref().err().map(ToString::to_string));
            if outcomes.send(Outcome { work, result }).is_err() {
                return;
            }
            // After the writing thread can know of it: those who are woken here ask that thread.
            self.shared.checkpointed.send_modify(|checkpointed| {
                if failure.is_none() {
                    checkpointed.applied = applied;
                }
                checkpointed.failure = failure;
            });
        }
    }

    fn check_point(&mut self, work: &Work) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let mut progress = shared.records.blocking_lock();
        if !self.has_second {
            shared.copies.prepare_second(&shared.folder, work.applied)?;
            self.has_second = true;
        }
        if work.changes.is_empty() {
            return Ok(());
        }
        let unwritten = |error| StoreError::unavailable("the journal cannot be written").with_source(error);
        work.unsynced.as_ref().map_or(Ok(()), File::sync_data).map_err(unwritten)?;
        require_room(shared.folder.path(), work.changes.values().map(Change::size).sum())?;
        let outcome = self.write(work, &mut progress);
        progress.end_checkpoint(outcome.is_err());
        outcome?;
        self.unpin(work);
        Ok(())
    }

    /// Writes a work into one copy after the other, so that one of them is whole at any time.
    fn write(&mut self, work: &Work, progress: &mut Progress) -> Result<(), StoreError> {
        let unread = self.graves.take_unread();
        self.graves.begin(Arc::downgrade(&self.shared.write_state()?.renew_lease()));
        let is_read = self.graves.are_read();
        let copies = &self.shared.copies;
        // What failed is carried out to its end before the other is changed again.
        let order = if copies.first.is_in_change() {
            [Side::First, Side::Second]
        } else {
            [Side::Second, Side::First]
        };
        for side in order {
            let outcome = write_into(copies, side, work, is_read, &unread, progress);
            self.graves.add(outcome.inspect_err(|_| copies.of(side).distrust())?);
        }
        Ok(())
    }

    /// Lets the bodies in memory go that the records have now.
    fn unpin(&self, work: &Work) {
        let mut changes = work.changes.iter().peekable();
        while changes.peek().is_some() {
            let Ok(mut state) = self.shared.write_state() else { return };
            for (key, change) in changes.by_ref().take(UNPINNED) {
                if let (Some(row), Change::Put { place, .. }) = (state.index.find(*key), change) {
                    state.bodies.unpin(row, *place);
                }
            }
            let evicted = state.bodies.evict();
            drop(state);
            drop(evicted);
        }
    }
}

impl Graves {
    /// What is added from now on was shown to those who hold this.
    fn begin(&mut self, readers: Weak<()>) {
        self.0.push_back((readers, HashSet::new()));
    }

    fn add(&mut self, replaced: Vec<Place>) {
        if let Some((_, places)) = self.0.back_mut() {
            places.extend(replaced);
        }
    }

    /// Whether anybody can still ask for what is replaced.
    fn are_read(&self) -> bool {
        self.0.iter().any(|(readers, _)| readers.strong_count() > 0)
    }

    /// The bodies that nobody can ask for any more.
    fn take_unread(&mut self) -> HashSet<Place> {
        let mut unread = HashSet::new();
        while self.0.front().is_some_and(|(readers, _)| readers.strong_count() == 0) {
            unread.extend(self.0.pop_front().unwrap_or_default().1);
        }
        unread
    }
}

/// Puts a work into one copy, and returns which bodies are left to be removed later.
fn write_into(
    copies: &Copies,
    side: Side,
    work: &Work,
    is_read: bool,
    unread: &HashSet<Place>,
    progress: &mut Progress,
) -> Result<Vec<Place>, StoreError> {
    let copy = copies.of(side);
    copy.begin_change()?;
    let mut writer = Writer::new(copy, copy.base_to_write()?, is_read);
    let mut replaced = Vec::new();
    for (key, change) in &work.changes {
        let before = *writer.base();
        replaced.extend(writer.write(*key, change)?);
        progress.note(side, *key, &before, writer.base());
    }
    unread.iter().try_for_each(|place| writer.remove_body(*place))?;
    writer.finish(work.applied, work.version, work.body)?;
    copy.end_change()?;
    Ok(replaced)
}
