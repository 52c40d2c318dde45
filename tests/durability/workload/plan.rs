use std::collections::BTreeSet;

use toposcope::model::Timestamp;
use toposcope::store::{Facets, Link, Name, SortKey, UniqueKey};
use uuid::Uuid;

use super::WRITERS;
use super::writer::{Slot, Writer};
use crate::support::{Content, Kept, RANK, SplitMix64, numbered};

/// Maximum number of records of a writer.
pub(crate) const SLOTS: Slot = 14;

/// The large record of the writers that have one.
const LARGE: Slot = 0;

/// The changes of one batch.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Commit { changes: Vec<Change>, in_ledger: bool },
    Purge(Timestamp),
}

/// A change of one record.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Put { slot: Slot, wanted: Wanted, kept: Kept },
    Delete { slot: Slot, wanted: Wanted },
}

/// The precondition of a change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    Absent,
    Present,
    SameVersion,
    Any,
}

impl Writer {
    /// Returns the next step of this writer.
    pub(crate) fn next_step(&self) -> Step {
        let batch = self.done + 1;
        let mut random = numbered(self.seed, &[self.number, batch]);
        if self.purges() && random.once_in(5) {
            return Step::Purge(moment(batch.saturating_sub(random.next() % 4)));
        }
        let mut slots = BTreeSet::new();
        for _ in 0..1 + random.below(5) {
            slots.insert(1 + random.next() % (SLOTS - 1));
        }
        if self.has_large() && random.once_in(2) {
            slots.insert(LARGE);
        }
        let mut free = self.free_unique_keys(&slots);
        let changes = slots.into_iter().map(|slot| self.change_of(slot, &mut free, &mut random)).collect();
        Step::Commit { changes, in_ledger: random.once_in(6) }
    }

    /// Returns whether this writer purges. Only one writer has records that expire, so a purge takes no other
    /// writer's records.
    const fn purges(&self) -> bool {
        self.number == 0
    }

    const fn has_large(&self) -> bool {
        self.number % (WRITERS / 2) == 1
    }

    /// Returns the unique keys not held by an unchanged record: within the batch they may move between any
    /// records.
    fn free_unique_keys(&self, changed: &BTreeSet<Slot>) -> Vec<UniqueKey> {
        let staying = self.records.iter().filter(|(slot, _)| !changed.contains(slot));
        let taken: BTreeSet<&UniqueKey> = staying.flat_map(|(_, kept)| &kept.facets.unique_keys).collect();
        self.unique_keys().into_iter().filter(|unique_key| !taken.contains(unique_key)).collect()
    }

    fn change_of(&self, slot: Slot, free: &mut Vec<UniqueKey>, random: &mut SplitMix64) -> Change {
        let wanted = match self.records.contains_key(&slot) {
            false => random.choose(&[Wanted::Absent, Wanted::Any]),
            true => random.choose(&[Wanted::Present, Wanted::SameVersion, Wanted::SameVersion, Wanted::Any]),
        };
        if self.records.contains_key(&slot) && random.once_in(4) {
            return Change::Delete { slot, wanted };
        }
        let facets = self.facets(free, random);
        let seed = random.next();
        let length = match slot {
            LARGE => (2 << 20) - random.below(10_000),
            _ if random.once_in(10) => 50_000 + random.below(5_000),
            _ => random.below(1_000),
        };
        Change::Put { slot, wanted, kept: Kept { facets, content: Content::Made { seed, length } } }
    }

    fn facets(&self, free: &mut Vec<UniqueKey>, random: &mut SplitMix64) -> Facets {
        let unique_keys = random.some_of(free);
        free.retain(|unique_key| !unique_keys.contains(unique_key));
        let target = |number: u128| Uuid::from_u128(0xB000 + number);
        let links = random.some_of(&[0, 1, 2, 3]).into_iter();
        let rank = random.below(50).to_string();
        Facets::default()
            .with_organization(self.organization())
            .with_network(random.choose(&[None, Some(target(10)), Some(target(11))]))
            .with_expires_at(if self.purges() { Some(moment(self.done + 1)) } else { None })
            .with_links(links.map(|number| Link::new(Name::new("tag"), target(number))))
            .with_sort_keys([SortKey::new(RANK, rank)])
            .with_unique_keys(unique_keys)
    }
}

fn moment(number: u64) -> Timestamp {
    Timestamp::UNIX_EPOCH.plus_micros(i64::try_from(number).unwrap())
}
