//! The mark of the history, of which a store has one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::position::PositionKey;
use super::record::CommitChanges;
use super::watch::Watchers;
use crate::inventory::schema::{CHANGE, HISTORY, WRITTEN, decode, encode};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::Timestamp;
use crate::store::{
    Batch, Direction, Facets, Guard, Key, KeyFilter, Order, Precondition, Query, Record, StoreError,
    StoreErrorKind, TermRange, Version,
};

/// The number of times that the history is opened before giving up, while others open it.
const MAX_ATTEMPTS: usize = 16;

/// The number of records of changes that are written again in one commit.
const RENEWED_TOGETHER: usize = 500;

/// What all instances with one store agree on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HistoryMark {
    /// The prefix of the keys of entries. Those of a later era are later.
    pub(super) era: u32,
    pub(super) key: PositionKey,
    /// When the history began: what was before is not known.
    pub(super) began_at: Timestamp,
}

/// The mark, as it is stored.
#[derive(Clone, Debug)]
pub(super) struct CurrentMark {
    pub(super) mark: Arc<HistoryMark>,
    version: Version,
}

impl CurrentMark {
    /// Returns the guard that no other era has begun.
    pub(super) const fn guard(&self) -> Guard {
        Guard::record(mark_key(), Precondition::Version(self.version))
    }
}

/// What an instance knows of the history.
#[derive(Debug, Default)]
pub(in crate::inventory) struct KnownHistory {
    mark: Mutex<Option<CurrentMark>>,
    /// Waited for by those who need the mark while it is read.
    reading: tokio::sync::Mutex<Opening>,
    pub(super) watchers: Watchers,
}

/// Whether this instance has opened the history.
#[derive(Debug, Default)]
struct Opening {
    is_done: bool,
}

impl KnownHistory {
    fn known(&self) -> MutexGuard<'_, Option<CurrentMark>> {
        self.mark.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the mark, if a commit has failed because there is another one.
    pub(super) fn note_failure(&self, error: &StoreError) {
        if matches!(error.kind(), StoreErrorKind::Conflict(key) if *key == mark_key()) {
            *self.known() = None;
        }
    }
}

const fn mark_key() -> Key {
    Key::new(HISTORY, Uuid::nil())
}

impl Inventory {
    /// Returns the mark. The first call opens the history.
    pub(super) async fn history_mark(&self) -> Result<CurrentMark, Error> {
        let known = self.state.history.known().clone();
        if let Some(mark) = known {
            return Ok(mark);
        }
        let mut opening = self.state.history.reading.lock().await;
        for _ in 0..MAX_ATTEMPTS {
            let known = self.state.history.known().clone();
            if let Some(mark) = known {
                return Ok(mark);
            }
            let mark = match self.get(mark_key()).await? {
                Some(record) if opening.is_done => {
                    Some(CurrentMark { version: record.version, mark: Arc::new(decode(&record)?) })
                }
                record => self.open_history(record).await?,
            };
            if let Some(mark) = mark {
                opening.is_done = true;
                *self.state.history.known() = Some(mark.clone());
                return Ok(mark);
            }
        }
        Err(StoreError::unavailable("other instances open the history at the same time").into())
    }

    /// Writes the mark anew. `None`: another instance has written it in the meantime.
    ///
    /// The version that the mark gets is greater than that of every entry, unless the store was restored since: an entry
    /// keeps the key that it had in the other store. The entries are then written again in their order, in an era of
    /// their own, and another one begins.
    async fn open_history(&self, record: Option<Record>) -> Result<Option<CurrentMark>, Error> {
        let known = record.as_ref().map(decode).transpose()?;
        let mark: HistoryMark = match known {
            Some(mark) => mark,
            None => HistoryMark { era: 1, key: PositionKey::generate(&*self.random)?, began_at: self.now() },
        };
        let Some(written) = self.write_mark(unchanged(record.as_ref()), mark).await? else { return Ok(None) };
        let Some(greatest) = self.greatest_era_after(&written).await? else { return Ok(Some(written)) };
        let own = HistoryMark { era: greatest.saturating_add(1), ..(*written.mark).clone() };
        let Some(renewing) = self.write_mark(Precondition::Version(written.version), own).await? else {
            return Ok(None);
        };
        self.renew_entries(&renewing).await?;
        let next = HistoryMark { era: renewing.mark.era.saturating_add(1), ..(*renewing.mark).clone() };
        self.write_mark(Precondition::Version(renewing.version), next).await
    }

    async fn write_mark(
        &self,
        precondition: Precondition,
        mark: HistoryMark,
    ) -> Result<Option<CurrentMark>, Error> {
        let mut batch = Batch::new();
        batch.put(mark_key(), precondition, Facets::default(), encode(&mark)?);
        match self.store.commit(batch).await {
            Ok(()) => {}
            Err(error) if matches!(error.kind(), StoreErrorKind::Conflict(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        // Another instance may have written it since. Its version then is the one that counts.
        let stored = self.get(mark_key()).await?.ok_or_else(|| Error::internal("the history has no mark"))?;
        Ok(Some(CurrentMark { version: stored.version, mark: Arc::new(decode(&stored)?) }))
    }

    /// Returns the era of the greatest key of an entry, if it is after that of the mark.
    async fn greatest_era_after(&self, mark: &CurrentMark) -> Result<Option<u32>, Error> {
        let written = [mark.mark.era.to_be_bytes().as_slice(), &mark.version.0.to_be_bytes()].concat();
        let query = Query {
            keys: vec![KeyFilter::new(WRITTEN, TermRange::new(written, None))],
            order: vec![Order::new(WRITTEN, Direction::Descending)],
            limit: Some(1),
            ..Query::new(CHANGE)
        };
        let found = self.store.list(&query).await?.records;
        found.first().map(|record| Ok(decode::<CommitChanges>(record)?.era)).transpose()
    }

    /// Writes the entries of former eras again, in their order, in the era of the mark.
    async fn renew_entries(&self, mark: &CurrentMark) -> Result<(), Error> {
        let end = mark.mark.era.to_be_bytes().to_vec();
        let query = Query {
            keys: vec![KeyFilter::new(WRITTEN, TermRange::new([], Some(end)))],
            order: vec![Order::new(WRITTEN, Direction::Ascending)],
            limit: Some(RENEWED_TOGETHER),
            ..Query::new(CHANGE)
        };
        loop {
            let records = self.store.list(&query).await?.records;
            if records.is_empty() {
                return Ok(());
            }
            let mut batch = Batch::new();
            batch.guard(mark.guard());
            let mut number = 0;
            for record in &records {
                let mut changes: CommitChanges = decode(record)?;
                changes.era = mark.mark.era;
                for entry in &mut changes.entries {
                    entry.number = number;
                    number += 1;
                }
                changes.put(record.key, Precondition::Version(record.version), &mut batch)?;
            }
            self.store.commit(batch).await?;
        }
    }
}
