use std::collections::BTreeMap;

use toposcope::store::{Entry, Key, Store, Version};

use super::{Ledger, Progress, Writer, truth_of};
use crate::support::{Truth, compare, compare_entries, everything};

/// Determines the progress of every writer: the last acknowledged batch, or the one after it if that was
/// begun. Any other state of the store is an error.
pub(crate) async fn settle(
    store: &impl Store,
    seed: u64,
    progress: &Progress,
) -> Result<Vec<Writer>, String> {
    let entries = everything(store).await.map_err(|fault| fault.to_string())?;
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

/// Checks that of two records of a writer the one put by the later batch has the greater version.
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
