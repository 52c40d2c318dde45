//! Entries that are restored with their organization.

use bytes::Bytes;

#[cfg(feature = "topology")]
use crate::inventory::history::links::recorded::RecordedNetwork;
use crate::inventory::history::log::counts::CountedStretch;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::inventory::history::log::run::ChangeRun;
use crate::inventory::schema::{CHANGE, CHANGE_COUNTS, CHANGE_RUN, WRITTEN};
#[cfg(feature = "topology")]
use crate::inventory::schema::{NETWORK_LINKS, decode};
use crate::inventory::{Error, Inventory};
#[cfg(feature = "topology")]
use crate::model::NetworkId;
use crate::store::{Batch, Facets, Key, Precondition, Record, Version};

/// The latest era whose entries are restored. A store begins few, so that a later one is made up.
const MAX_ERA: u32 = u32::MAX / 2;

/// Puts the entries of an organization in another store than the one in which they were written, in their order.
#[derive(Clone, Copy, Debug)]
pub(in crate::inventory) struct RestoredHistory {
    /// The number that is added to eras: earlier eras were before a gap of this store.
    first_era: u32,
    /// The greatest era of an entry.
    greatest: u32,
}

impl RestoredHistory {
    /// Adds a record to a batch, if it is one of entries. `None`: its content is not valid. `Some(false)`: it is another record.
    pub(in crate::inventory) fn add(
        &mut self,
        key: Key,
        facets: &Facets,
        body: &Bytes,
        batch: &mut Batch,
    ) -> Result<Option<bool>, Error> {
        let record = Record { key, version: Version(0), body: body.clone() };
        match key.kind {
            CHANGE => self.add_commit(&record, facets, batch),
            CHANGE_RUN => self.add_run(&record, batch),
            CHANGE_COUNTS => self.add_counts(&record, batch),
            #[cfg(feature = "topology")]
            NETWORK_LINKS => self.add_network(&record, batch),
            _ => Ok(Some(false)),
        }
    }

    fn add_commit(
        &mut self,
        record: &Record,
        facets: &Facets,
        batch: &mut Batch,
    ) -> Result<Option<bool>, Error> {
        let Ok(mut changes) = CommitChanges::read(record) else { return Ok(None) };
        if !are_readable(&changes.entries) {
            return Ok(None);
        }
        let written = facets.sort_keys.iter().find(|key| key.name == WRITTEN);
        let version = written.and_then(|key| key.value.strip_prefix(&changes.era.to_be_bytes()));
        let version = version.and_then(|version| version.try_into().ok()).map(u64::from_be_bytes);
        let Some(era) = self.era(changes.era).filter(|_| version.is_some()) else { return Ok(None) };
        (changes.era, changes.version) = (era, version);
        self.move_causes(&mut changes.entries);
        changes.put(record.key, Precondition::Absent, batch)?;
        Ok(Some(true))
    }

    fn add_run(&mut self, record: &Record, batch: &mut Batch) -> Result<Option<bool>, Error> {
        let Ok(mut run) = ChangeRun::read(record) else { return Ok(None) };
        if !run.commits.iter().all(|commit| are_readable(&commit.entries)) {
            return Ok(None);
        }
        let Some(end) = self.era(run.end.era) else { return Ok(None) };
        run.end.era = end;
        for commit in &mut run.commits {
            let Some(era) = self.era(commit.era) else { return Ok(None) };
            commit.era = era;
            self.move_causes(&mut commit.entries);
        }
        run.put(record.key, Precondition::Absent, batch)?;
        Ok(Some(true))
    }

    fn add_counts(&mut self, record: &Record, batch: &mut Batch) -> Result<Option<bool>, Error> {
        let Ok(mut stretch) = CountedStretch::read(record) else { return Ok(None) };
        for place in [&mut stretch.after, &mut stretch.end] {
            let Some(era) = self.era(place.era) else { return Ok(None) };
            place.era = era;
        }
        stretch.put(record.key, Precondition::Absent, batch)?;
        Ok(Some(true))
    }

    /// Adds the record of a followed network, with the place up to which the links were recorded.
    #[cfg(feature = "topology")]
    fn add_network(&mut self, record: &Record, batch: &mut Batch) -> Result<Option<bool>, Error> {
        let Ok(mut network) = decode::<RecordedNetwork>(record) else { return Ok(None) };
        network.reached =
            network.reached.and_then(|reached| Some(Place { era: self.era(reached.era)?, ..reached }));
        network.put(NetworkId::new(record.key.id), Precondition::Absent, batch)?;
        Ok(Some(true))
    }

    /// Moves the places of the entries that led to others. Places outside of all eras are left out.
    fn move_causes(&mut self, entries: &mut [ChangeEntry]) {
        for entry in entries {
            entry.cause = entry.cause.and_then(|cause| Some(Place { era: self.era(cause.era)?, ..cause }));
        }
    }

    fn era(&mut self, era: u32) -> Option<u32> {
        let era = era.checked_add(self.first_era).filter(|era| *era <= MAX_ERA)?;
        self.greatest = self.greatest.max(era);
        Some(era)
    }
}

/// Returns whether the contents of entries can be decoded. The contents of a run are otherwise decoded only when they are read.
fn are_readable(entries: &[ChangeEntry]) -> bool {
    entries.iter().all(|entry| entry.fields().is_ok())
}

impl Inventory {
    pub(in crate::inventory) async fn restored_history(&self) -> Result<RestoredHistory, Error> {
        let first_era = self.history_mark().await?.mark.first_era;
        Ok(RestoredHistory { first_era, greatest: 0 })
    }

    /// Lets all further entries be later than the restored ones.
    pub(in crate::inventory) async fn end_restored_history(
        &self,
        restored: RestoredHistory,
    ) -> Result<(), Error> {
        self.begin_era_after(restored.greatest).await
    }
}
