//! Puts into the records what stands in a full journal, beside the writing of the next.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, PoisonError, Weak};

use super::codec::Place;
use super::journal::{Change, Sealed};
use super::records::Base;
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

/// The thread that does the work.
#[derive(Debug)]
pub(super) struct Checkpointer {
    shared: Arc<Shared>,
    graves: Graves,
    failed: bool,
}

/// Bodies that were replaced, until the last reader is gone that could ask for them.
#[derive(Debug, Default)]
struct Graves(VecDeque<(Weak<()>, Vec<Place>)>);

impl Checkpointer {
    pub(super) fn new(shared: Arc<Shared>, graves: Vec<Place>) -> Self {
        // Of those that are left from another time nobody can ask any more.
        Self { shared, graves: Graves(VecDeque::from([(Weak::new(), graves)])), failed: false }
    }

    /// Works until nobody can give it work any more.
    #[allow(clippy::needless_pass_by_value, reason = "a thread owns its ends of the channels")]
    pub(super) fn run(mut self, works: Receiver<Work>, outcomes: Sender<Outcome>) {
        for work in works {
            let result = self.check_point(&work);
            if outcomes.send(Outcome { work, result }).is_err() {
                return;
            }
        }
    }

    fn check_point(&mut self, work: &Work) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let _alone = shared.checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
        if work.changes.is_empty() {
            return Ok(());
        }
        let unwritten = |error| StoreError::unavailable("the journal cannot be written").with_source(error);
        work.unsynced.as_ref().map_or(Ok(()), File::sync_data).map_err(unwritten)?;
        let size = work.changes.values().map(Change::size).sum();
        shared.folder.require_room(size)?;
        let base = if self.failed {
            // What sled does not write once, it does not write any more; and what failed may be there in part.
            shared.records.reopen()?;
            shared.records.counted_base()?
        } else {
            shared.records.base()?
        };
        let outcome = self.write(work, base);
        self.failed = outcome.is_err();
        outcome?;
        self.unpin(work);
        Ok(())
    }

    fn write(&mut self, work: &Work, base: Base) -> Result<(), StoreError> {
        let lease = Arc::downgrade(&self.shared.write_state()?.renew_lease());
        let mut writer = Writer::new(&self.shared.records, base);
        let mut replaced = Vec::new();
        for (key, change) in &work.changes {
            replaced.extend(writer.write(*key, change)?);
        }
        self.graves.0.push_back((lease, replaced));
        self.graves.empty(&mut writer)?;
        writer.finish(work.applied, work.version, work.body)
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
    /// Removes all bodies that nobody can ask for any more.
    fn empty(&mut self, writer: &mut Writer<'_>) -> Result<(), StoreError> {
        while self.0.front().is_some_and(|(lease, _)| lease.strong_count() == 0) {
            let (_, places) = self.0.pop_front().unwrap_or_default();
            places.into_iter().try_for_each(|place| writer.remove_body(place))?;
        }
        Ok(())
    }
}
