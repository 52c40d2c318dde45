use std::collections::{BTreeMap, BTreeSet};

use toposcope::model::Timestamp;
use toposcope::store::{Key, Name, UniqueKey};
use uuid::Uuid;

use super::Ledger;
use super::plan::{Change, Step};
use crate::support::{Kept, Truth};

/// Number of a record among those of its writer.
pub(crate) type Slot = u64;

/// A writer and its progress.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(super) seed: u64,
    pub(crate) number: u64,
    /// Number of batches written.
    pub(crate) done: u64,
    pub(super) records: BTreeMap<Slot, Kept>,
    /// The batch that put each record.
    pub(crate) written: BTreeMap<Slot, u64>,
    /// The last batch that changed the ledger.
    pub(crate) in_ledger: u64,
}

impl Writer {
    pub(crate) const fn new(seed: u64, number: u64) -> Self {
        Self { seed, number, done: 0, records: BTreeMap::new(), written: BTreeMap::new(), in_ledger: 0 }
    }

    /// Returns the writer as it is after `done` batches.
    pub(crate) fn after(seed: u64, number: u64, done: u64) -> Self {
        let mut writer = Self::new(seed, number);
        while writer.done < done {
            writer.go_on();
        }
        writer
    }

    /// Marks the next step as done.
    pub(crate) fn go_on(&mut self) {
        match self.next_step() {
            Step::Purge(now) => self.purge(now),
            Step::Commit { changes, in_ledger } => {
                changes.into_iter().for_each(|change| self.change(change));
                if in_ledger {
                    self.in_ledger = self.done + 1;
                }
            }
        }
        self.done += 1;
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Delete { slot, .. } => {
                self.records.remove(&slot);
                self.written.remove(&slot);
            }
            Change::Put { slot, kept, .. } => {
                self.records.insert(slot, kept);
                self.written.insert(slot, self.done + 1);
            }
        }
    }

    /// Returns the number of records that a purge deletes.
    pub(super) fn expired(&self, now: Timestamp) -> u64 {
        let times = self.records.values().filter_map(|kept| kept.facets.expires_at);
        times.filter(|time| *time <= now).count() as u64
    }

    fn purge(&mut self, now: Timestamp) {
        self.records.retain(|_, kept| kept.facets.expires_at.is_none_or(|time| time > now));
        self.written.retain(|slot, _| self.records.contains_key(slot));
    }

    pub(crate) fn organization(&self) -> Uuid {
        Uuid::from_u128(0xA000 + u128::from(self.number))
    }

    /// Returns the key of a record. The records are of different kinds, and their ids are not consecutive.
    pub(crate) fn key(&self, slot: Slot) -> Key {
        let kind = if slot.is_multiple_of(3) { Name::new("note") } else { Name::new("host") };
        let spread = u128::from(slot + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_0C21_4C4F_7A11);
        Key::new(kind, Uuid::from_u128((spread & !0xFFFF) | u128::from(self.number << 8 | slot)))
    }

    /// Returns the unique keys that the records of this writer have in turn.
    pub(super) fn unique_keys(&self) -> Vec<UniqueKey> {
        let unique_key = |place: u8| {
            let mut value = format!("{}/{place}", self.number).into_bytes();
            // So long that a head with some of them has several parts.
            value.resize(if place < 6 { value.len() } else { UniqueKey::MAX_LENGTH }, place);
            UniqueKey::new(Name::new(if place.is_multiple_of(2) { "even" } else { "odd" }), value)
        };
        (0..12).map(unique_key).collect()
    }

    /// Returns what the store must hold of this writer.
    pub(crate) fn truth(&self) -> Truth {
        let records = self.records.iter().map(|(slot, kept)| (self.key(*slot), kept.clone())).collect();
        Truth { records, unique_keys: self.unique_keys().into_iter().collect() }
    }

    /// Returns all keys that this writer ever writes.
    pub(crate) fn keys(&self) -> BTreeSet<Key> {
        (0..super::plan::SLOTS).map(|slot| self.key(slot)).collect()
    }
}

/// Returns what the store must hold if these are all the writers.
pub(crate) fn truth_of(writers: &[Writer]) -> Truth {
    let mut truth = Truth::default();
    for of_writer in writers.iter().map(Writer::truth) {
        truth.records.extend(of_writer.records);
        truth.unique_keys.extend(of_writer.unique_keys);
    }
    truth.records.extend(Ledger::of(writers).kept().map(|kept| (Ledger::KEY, kept)));
    truth
}
