use std::collections::BTreeMap;

use toposcope::store::{
    Batch, Entry, Facets, Key, Name, Precondition, Record, Store, StoreError, StoreErrorKind, Version,
};
use uuid::Uuid;

use super::writer::{Change, Step, Wanted, Writer, truth_of};
use super::{Progress, WRITERS};
use crate::compare::{Content, Kept, Truth, compare, compare_entries};
use crate::contents::entries;

/// The one record that all writers change. It holds the last batch in which each writer did so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ledger(pub(crate) Vec<u64>);

impl Ledger {
    pub(crate) const KEY: Key = Key::new(Name::new("ledger"), Uuid::from_u128(0xC000));

    pub(crate) fn of(writers: &[Writer]) -> Self {
        Self(writers.iter().map(|writer| writer.in_ledger).collect())
    }

    pub(crate) fn read(record: Option<&Record>) -> Self {
        let entries = record.map_or(&[][..], |record| &record.body).chunks_exact(8);
        let mut entries: Vec<u64> =
            entries.map(|entry| u64::from_le_bytes(entry.try_into().unwrap())).collect();
        entries.resize(WRITERS as usize, 0);
        Self(entries)
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        self.0.iter().flat_map(|entry| entry.to_le_bytes()).collect()
    }

    /// Returns the record, or `None` before the first write.
    pub(crate) fn kept(&self) -> Option<Kept> {
        let content = Content::Given(self.body().into());
        self.0.iter().any(|entry| *entry > 0).then_some(Kept { facets: Facets::default(), content })
    }
}

/// Commits the next step of a writer. It retries while other writers change the ledger first.
///
/// After a conflict, it asserts that the ledger has another version than before.
pub(crate) async fn commit(store: &impl Store, writer: &Writer) -> Result<(), StoreError> {
    let (changes, in_ledger) = match writer.next_step() {
        Step::Purge(now) => {
            let count = store.purge_expired(now).await?;
            assert_eq!(count, writer.expired(now), "purged up to {now:?}");
            return Ok(());
        }
        Step::Commit { changes, in_ledger } => (changes, in_ledger),
    };
    let mut conflicting = None;
    loop {
        let mut batch = Batch::new();
        for Change { slot, wanted, kept } in &changes {
            let key = writer.key(*slot);
            let precondition = match wanted {
                Wanted::Absent => Precondition::Absent,
                Wanted::Present => Precondition::Present,
                Wanted::Any => Precondition::Any,
                Wanted::SameVersion => {
                    let record = read(store, key).await?;
                    Precondition::Version(record.map_or(Version(u64::MAX), |record| record.version))
                }
            };
            match kept {
                Some(kept) => batch.put(key, precondition, kept.facets.clone(), kept.content.body()),
                None => batch.delete(key, precondition),
            };
        }
        let mut expected = None;
        if in_ledger {
            expected = Some(enter(store, &mut batch, writer).await?);
            assert_ne!(expected, conflicting, "a false conflict of writer {}", writer.number);
        }
        match store.commit(batch).await {
            Err(error) if *error.kind() == StoreErrorKind::Conflict(Ledger::KEY) => {
                conflicting = expected;
            }
            outcome => return outcome,
        }
    }
}

/// Adds the change of the ledger to a batch, and returns the precondition.
async fn enter(store: &impl Store, batch: &mut Batch, writer: &Writer) -> Result<Precondition, StoreError> {
    let record = read(store, Ledger::KEY).await?;
    let mut ledger = Ledger::read(record.as_ref());
    ledger.0[writer.number as usize] = writer.done + 1;
    let precondition = record.map_or(Precondition::Absent, |record| Precondition::Version(record.version));
    batch.put(Ledger::KEY, precondition, ledger.kept().unwrap().facets, ledger.body());
    Ok(precondition)
}

async fn read(store: &impl Store, key: Key) -> Result<Option<Record>, StoreError> {
    Ok(store.get(&[key]).await?.pop().flatten())
}

/// Determines the progress of every writer.
///
/// It is the last acknowledged batch, or the next one if that was begun. Any other state of the store is an error.
pub(crate) async fn settle(
    store: &impl Store,
    seed: u64,
    progress: &Progress,
) -> Result<Vec<Writer>, String> {
    let entries = entries(store).await.map_err(|fault| fault.to_string())?;
    let ledger = Ledger::read(entries.get(&Ledger::KEY).map(|entry| &entry.record));
    let mut writers = Vec::new();
    for (number, done) in progress.done.iter().enumerate() {
        let acknowledged = Writer::after(seed, number as u64, *done);
        let has_begun = progress.begun[number] > *done;
        writers.push(find_state(&entries, &ledger, acknowledged, has_begun)?);
        if ledger.0[number] < progress.seen[number] {
            return Err(format!("what a reader has seen of writer {number} is gone"));
        }
    }
    compare_versions(&entries, &writers)?;
    compare(store, &truth_of(&writers)).await?;
    Ok(writers)
}

fn find_state(
    entries: &BTreeMap<Key, Entry>,
    ledger: &Ledger,
    acknowledged: Writer,
    has_begun: bool,
) -> Result<Writer, String> {
    let keys = acknowledged.keys();
    let own = entries.iter().filter(|(key, _)| keys.contains(key));
    let own = own.map(|(key, entry)| (*key, entry.clone())).collect();
    let mut next = acknowledged.clone();
    next.go_on();
    let (number, done) = (acknowledged.number, acknowledged.done);
    let without = compare_state(&own, ledger, &acknowledged);
    let with = if has_begun { compare_state(&own, ledger, &next) } else { Err("not begun".to_owned()) };
    match (without, with) {
        (_, Ok(())) => Ok(next),
        (Ok(()), _) => Ok(acknowledged),
        (Err(without), Err(with)) => {
            Err(format!("of writer {number}, as of batch {done}: {without}; as of the next: {with}"))
        }
    }
}

fn compare_state(own: &BTreeMap<Key, Entry>, ledger: &Ledger, writer: &Writer) -> Result<(), String> {
    let Truth { records, .. } = writer.truth();
    compare_entries(own, &Truth { records, ..Truth::default() }).map_err(|fault| fault.to_string())?;
    let (found, expected) = (ledger.0[writer.number as usize], writer.in_ledger);
    if found == expected { Ok(()) } else { Err(format!("the ledger has {found} instead of {expected}")) }
}

/// Checks that later batches of a writer gave their records greater versions.
fn compare_versions(entries: &BTreeMap<Key, Entry>, writers: &[Writer]) -> Result<(), String> {
    for writer in writers {
        let version_of = |slot| entries.get(&writer.key(slot)).map(|entry| entry.record.version);
        let mut by_batch: BTreeMap<u64, Vec<Version>> = BTreeMap::new();
        for (slot, batch) in &writer.written {
            by_batch.entry(*batch).or_default().extend(version_of(*slot));
        }
        let mut greatest = Version(0);
        for (batch, versions) in by_batch {
            if versions.iter().any(|version| *version <= greatest) {
                return Err(format!("a version did not grow in batch {batch} of writer {}", writer.number));
            }
            greatest = versions.into_iter().max().unwrap_or(greatest);
        }
    }
    Ok(())
}
