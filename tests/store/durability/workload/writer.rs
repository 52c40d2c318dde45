use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use toposcope::model::Timestamp;
use toposcope::store::{Facets, Key, Link, Name, SortKey, Term, UniqueKey};
use uuid::Uuid;

use super::WRITERS;
use super::settle::Ledger;
use crate::compare::{Content, Kept, RANK, Truth};
use crate::durability::{generator_of, once_in, some_of};

/// Number of a record among those of its writer.
pub(crate) type Slot = u64;

/// Maximum number of records of a writer.
pub(crate) const SLOTS: Slot = 14;

/// The large record of the writers that have one.
const LARGE_SLOT: Slot = 0;

/// The changes of one batch.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Commit { changes: Vec<Change>, in_ledger: bool },
    Purge(Timestamp),
}

/// A change of one record. The record is put, or deleted if there is nothing to put.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) slot: Slot,
    pub(crate) wanted: Wanted,
    pub(crate) kept: Option<Kept>,
}

/// The precondition of a change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    Absent,
    Present,
    SameVersion,
    Any,
}

/// A writer and its progress.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    seed: u64,
    pub(crate) number: u64,
    /// Number of batches written.
    pub(crate) done: u64,
    records: BTreeMap<Slot, Kept>,
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

    fn change(&mut self, Change { slot, kept, .. }: Change) {
        if let Some(kept) = kept {
            self.records.insert(slot, kept);
            self.written.insert(slot, self.done + 1);
        } else {
            self.records.remove(&slot);
            self.written.remove(&slot);
        }
    }

    /// Returns the number of records that a purge deletes.
    pub(crate) fn expired(&self, now: Timestamp) -> u64 {
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
    fn unique_keys(&self) -> Vec<UniqueKey> {
        let unique_key = |place: u8| {
            let mut value = format!("{}/{place}", self.number).into_bytes();
            // These are so long that a head with some of them has several parts.
            value.resize(if place < 6 { value.len() } else { UniqueKey::MAX_LENGTH }, place);
            UniqueKey::new(Name::new(if place.is_multiple_of(2) { "even" } else { "odd" }), value)
        };
        (0..12).map(unique_key).collect()
    }

    /// Returns the records that the store must hold of this writer.
    pub(crate) fn truth(&self) -> Truth {
        let records = self.records.iter().map(|(slot, kept)| (self.key(*slot), kept.clone())).collect();
        Truth { records, unique_keys: self.unique_keys().into_iter().collect() }
    }

    /// Returns all keys that this writer ever writes.
    pub(crate) fn keys(&self) -> BTreeSet<Key> {
        (0..SLOTS).map(|slot| self.key(slot)).collect()
    }
}

impl Writer {
    /// Returns the next step of this writer.
    pub(crate) fn next_step(&self) -> Step {
        let batch = self.done + 1;
        let mut random = generator_of(self.seed, &[self.number, batch]);
        if self.purges() && once_in(&mut random, 5) {
            return Step::Purge(moment(batch.saturating_sub(random.u64(..4))));
        }
        let mut slots = BTreeSet::new();
        for _ in 0..1 + random.usize(..5) {
            slots.insert(1 + random.u64(..SLOTS - 1));
        }
        if self.has_large() && random.bool() {
            slots.insert(LARGE_SLOT);
        }
        let mut free = self.free_unique_keys(&slots);
        let changes = slots.into_iter().map(|slot| self.change_of(slot, &mut free, &mut random)).collect();
        Step::Commit { changes, in_ledger: once_in(&mut random, 6) }
    }

    /// Returns whether this writer purges. Only one writer has records that expire, so a purge takes no other
    /// writer's records.
    const fn purges(&self) -> bool {
        self.number == 0
    }

    const fn has_large(&self) -> bool {
        self.number % (WRITERS / 2) == 1
    }

    /// Returns the unique keys that no unchanged record holds. Within the batch they may move between any records.
    fn free_unique_keys(&self, changed: &BTreeSet<Slot>) -> Vec<UniqueKey> {
        let staying = self.records.iter().filter(|(slot, _)| !changed.contains(slot));
        let taken: BTreeSet<&UniqueKey> = staying.flat_map(|(_, kept)| &kept.facets.unique_keys).collect();
        self.unique_keys().into_iter().filter(|unique_key| !taken.contains(unique_key)).collect()
    }

    fn change_of(&self, slot: Slot, free: &mut Vec<UniqueKey>, random: &mut Rng) -> Change {
        let is_present = self.records.contains_key(&slot);
        let wanted: &[Wanted] = match is_present {
            false => &[Wanted::Absent, Wanted::Any],
            true => &[Wanted::Present, Wanted::SameVersion, Wanted::SameVersion, Wanted::Any],
        };
        let wanted = *random.choice(wanted).unwrap();
        if is_present && once_in(random, 4) {
            return Change { slot, wanted, kept: None };
        }
        let facets = self.facets(free, random);
        let seed = random.u64(..);
        let length = match slot {
            LARGE_SLOT => (2 << 20) - random.usize(..10_000),
            _ if once_in(random, 10) => 50_000 + random.usize(..5_000),
            _ => random.usize(..1_000),
        };
        Change { slot, wanted, kept: Some(Kept { facets, content: Content::Generated { seed, length } }) }
    }

    fn facets(&self, free: &mut Vec<UniqueKey>, random: &mut Rng) -> Facets {
        let unique_keys = some_of(random, free);
        free.retain(|unique_key| !unique_keys.contains(unique_key));
        let target = |number: u128| Uuid::from_u128(0xB000 + number);
        let links = some_of(random, &[0, 1, 2, 3]).into_iter();
        let rank = random.usize(..50).to_string();
        Facets::default()
            .with_organization(self.organization())
            .with_network(random.choice([None, Some(target(10)), Some(target(11))]).unwrap())
            .with_expires_at(if self.purges() { Some(moment(self.done + 1)) } else { None })
            .with_links(links.map(|number| Link::new(Name::new("tag"), target(number))))
            .with_terms([Term::new(RANK, rank.as_str()), Term::new(RANK, "every")])
            .with_sort_keys([SortKey::new(RANK, rank)])
            .with_unique_keys(unique_keys)
    }
}

/// Returns the contents that the store must have if these are all the writers.
pub(crate) fn truth_of(writers: &[Writer]) -> Truth {
    let mut truth = Truth::default();
    for of_writer in writers.iter().map(Writer::truth) {
        truth.records.extend(of_writer.records);
        truth.unique_keys.extend(of_writer.unique_keys);
    }
    truth.records.extend(Ledger::of(writers).kept().map(|kept| (Ledger::KEY, kept)));
    truth
}

fn moment(number: u64) -> Timestamp {
    Timestamp::UNIX_EPOCH.plus_micros(i64::try_from(number).unwrap())
}
