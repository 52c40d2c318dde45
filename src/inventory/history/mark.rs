//! The mark of the history, of which a store has one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::inventory::history::log::position::{Place, PositionKey};
use crate::inventory::history::log::reader::{commits_in, ordered};
use crate::inventory::history::log::record::CommitChanges;
use crate::inventory::schema::{CHANGE, CHANGE_RUN, HISTORY, decode, encode};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::Timestamp;
use crate::store::{
    Batch, Direction, Facets, Guard, Key, Precondition, Query, Record, StoreError, StoreErrorKind, TermRange,
    Version,
};

/// The number of times that the history is opened before giving up, while others open it.
const MAX_ATTEMPTS: usize = 16;

/// The settings that all instances with one store agree on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HistoryMark {
    /// The prefix of the keys of entries. Entries of a later era are later.
    pub(super) era: u32,
    /// The era since which all changes are recorded. Earlier eras were before a gap.
    pub(super) first_era: u32,
    /// Whether instances record changes. They must agree.
    pub(super) is_recording: bool,
    pub(super) key: PositionKey,
    /// When the history began. Earlier states are not known.
    pub(super) began_at: Timestamp,
    /// Whether the entries of all former eras are being written again in this one. No other entries are written meanwhile.
    #[serde(default)]
    pub(super) is_renewing: bool,
}

impl HistoryMark {
    /// Returns the place before the first entry since all changes are recorded. `None`: they were from the beginning.
    pub(super) fn beginning(&self) -> Option<Place> {
        let place = |era| Place { era, version: 0, number: 0, commit: 0 };
        Some(self.first_era).filter(|era| *era > 0).map(place)
    }
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

    /// Returns the mark without its version, with another era.
    fn with_era(&self, era: u32, is_renewing: bool) -> HistoryMark {
        HistoryMark { era, is_renewing, ..(*self.mark).clone() }
    }
}

pub(super) const fn mark_key() -> Key {
    Key::new(HISTORY, Uuid::nil())
}

/// Returns whether another instance has written what a commit was to write, or the mark.
fn is_overtaken(error: &Error) -> bool {
    let of_store = std::error::Error::source(error).and_then(|source| source.downcast_ref::<StoreError>());
    of_store.is_some_and(|error| matches!(error.kind(), StoreErrorKind::Conflict(_)))
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
                Some(record) if opening.is_done => Some(self.agreed_mark(&record)?),
                // It takes commits of its own, which must not have the answer to the request that is the first to need it.
                record => self.beside_answer().open_history(record).await?,
            };
            if let Some(mark) = mark {
                opening.is_done = true;
                *self.state.history.known() = Some(mark.clone());
                return Ok(mark);
            }
        }
        Err(StoreError::unavailable("other instances open the history at the same time").into())
    }

    /// Reads the mark that another instance has written.
    fn agreed_mark(&self, record: &Record) -> Result<CurrentMark, Error> {
        let mark: HistoryMark = decode(record)?;
        if mark.is_recording != self.recording.is_on() {
            let text =
                "another instance with this store records changes and this one does not, or conversely";
            return Err(StoreError::unavailable(text).into());
        }
        Ok(CurrentMark { version: record.version, mark: Arc::new(mark) })
    }

    /// Opens the history. `None`: it has to be opened once more, because another instance has written the mark in the meantime, or
    /// because entries were being written again, and now are.
    ///
    /// The mark is written anew, if the store may have been restored: an entry keeps the key that it had in the other store. The version
    /// that the mark gets is greater than that of every entry of this store. Entries of another one are then written again in their
    /// order, in an era of their own, and another one begins.
    async fn open_history(&self, record: Option<Record>) -> Result<Option<CurrentMark>, Error> {
        let is_recording = self.recording.is_on();
        let known: Option<HistoryMark> = record.as_ref().map(decode).transpose()?;
        if let (Some(record), Some(mark)) = (&record, &known)
            && mark.is_renewing
        {
            self.resume_renewal(record.version, mark).await?;
            return Ok(None);
        }
        if let (Some(record), Some(mark)) = (&record, &known)
            && mark.is_recording == is_recording
            && self.has_own_entries().await?
        {
            return Ok(Some(CurrentMark { version: record.version, mark: Arc::new(mark.clone()) }));
        }
        let mark = match known {
            Some(mark) if is_recording && !mark.is_recording => {
                let era = mark.era.saturating_add(1);
                HistoryMark { era, first_era: era, is_recording, began_at: self.now(), ..mark }
            }
            Some(mark) => HistoryMark { is_recording, ..mark },
            None => HistoryMark {
                era: 1,
                first_era: 0,
                is_recording,
                key: PositionKey::generate(&*self.random)?,
                began_at: self.now(),
                is_renewing: false,
            },
        };
        let Some(written) = self.write_mark(unchanged(record.as_ref()), mark).await? else { return Ok(None) };
        let Some(greatest) = self.era_of_other_store(&written).await? else { return Ok(Some(written)) };
        let own = written.with_era(greatest.saturating_add(1), true);
        match self.write_mark(Precondition::Version(written.version), own).await? {
            Some(renewing) => self.renew(&renewing).await,
            None => Ok(None),
        }
    }

    /// Writes the entries of former eras again, and begins the next era. `None`: another instance goes on with that.
    async fn renew(&self, renewing: &CurrentMark) -> Result<Option<CurrentMark>, Error> {
        match self.renew_entries(renewing).await {
            Err(error) if is_overtaken(&error) => return Ok(None),
            renewed => renewed?,
        }
        let next = renewing.with_era(renewing.mark.era.saturating_add(1), false);
        self.write_mark(Precondition::Version(renewing.version), next).await
    }

    /// Goes on writing the entries of former eras again, in the same era: the oldest of them are there already.
    async fn resume_renewal(&self, version: Version, mark: &HistoryMark) -> Result<(), Error> {
        let renewed = TermRange::new(mark.era.to_be_bytes(), None);
        // If the store has been restored since, these are former entries as well.
        let is_renewing = self.are_own(renewed).await? != Some(false);
        let mark = HistoryMark { is_renewing, ..mark.clone() };
        // Another instance that writes them can no longer do so.
        let written = self.write_mark(Precondition::Version(version), mark).await?;
        if let Some(renewing) = written.filter(|written| written.mark.is_renewing) {
            self.renew(&renewing).await?;
        }
        Ok(())
    }

    /// Begins an era after this one, unless the present one is.
    pub(in crate::inventory) async fn begin_era_after(&self, era: u32) -> Result<(), Error> {
        for _ in 0..MAX_ATTEMPTS {
            let current = self.history_mark().await?;
            if current.mark.era > era {
                return Ok(());
            }
            let next = current.with_era(era.saturating_add(1), false);
            let written = self.write_mark(Precondition::Version(current.version), next).await?;
            *self.state.history.known() = written;
        }
        Err(StoreError::unavailable("other instances change the history at the same time").into())
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

    /// Returns the greatest era of the entries, if some were written in another store.
    async fn era_of_other_store(&self, mark: &CurrentMark) -> Result<Option<u32>, Error> {
        let mut greatest = 0;
        let mut is_other = false;
        let own_end = Place { era: mark.mark.era, version: mark.version.0, number: 0, commit: 0 };
        for kind in [CHANGE, CHANGE_RUN] {
            for direction in [Direction::Ascending, Direction::Descending] {
                let query = Query { limit: Some(1), ..ordered(&Query::new(kind), direction) };
                let (found, _) = self.records_within(&query, TermRange::new([], None)).await?;
                let Some(record) = found.first() else { continue };
                let last = commits_in(record)?.iter().flat_map(CommitChanges::places).max();
                greatest = last.map_or(greatest, |last| greatest.max(last.era));
                is_other |= if kind == CHANGE {
                    // Other instances may have written entries of the same era since the mark.
                    last.is_some_and(|last| last.era > own_end.era) || !self.has_own_key(record).await?
                } else {
                    // A run has no key of a commit, but its entries are older than the mark.
                    last > Some(own_end)
                };
            }
        }
        Ok(is_other.then_some(greatest))
    }

    /// Returns whether all entries are known to have been written in this store.
    async fn has_own_entries(&self) -> Result<bool, Error> {
        match self.are_own(TermRange::new([], None)).await? {
            Some(are_own) => Ok(are_own),
            None => self.has_no_runs().await,
        }
    }

    /// Returns whether the first and the last record of changes in a range were written in this store. `None`: there is none.
    async fn are_own(&self, range: TermRange) -> Result<Option<bool>, Error> {
        for direction in [Direction::Ascending, Direction::Descending] {
            let query = Query { limit: Some(1), ..ordered(&Query::new(CHANGE), direction) };
            let (found, _) = self.records_within(&query, range.clone()).await?;
            let Some(record) = found.first() else { return Ok(None) };
            if !self.has_own_key(record).await? {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    async fn has_no_runs(&self) -> Result<bool, Error> {
        let any = Query { limit: Some(1), max_bytes: Some(0), ..Query::new(CHANGE_RUN) };
        Ok(self.store.list(&any).await?.total == 0)
    }

    /// Returns whether a record of changes is stored under the key of the commit in its body.
    async fn has_own_key(&self, record: &Record) -> Result<bool, Error> {
        let key = CommitChanges::read(record)?.place(0).commit_key();
        let own = Query { ids: Some(vec![record.key.id]), limit: Some(1), ..Query::new(CHANGE) };
        let (found, _) = self.records_within(&own, TermRange::exact(key)).await?;
        Ok(!found.is_empty())
    }
}
