use toposcope::store::{Batch, Key, Precondition, Record, Store, StoreError, StoreErrorKind, Version};

use super::plan::{Change, Step, Wanted};
use super::{Ledger, Writer};

/// Commits the next step of a writer, and retries while other writers change the ledger first.
pub(crate) async fn commit(store: &impl Store, writer: &Writer) -> Result<(), StoreError> {
    let (changes, in_ledger) = match writer.next_step() {
        Step::Purge(now) => {
            let count = store.purge_expired(now).await?;
            assert_eq!(count, writer.expired(now), "purged up to {now:?}");
            return Ok(());
        }
        Step::Commit { changes, in_ledger } => (changes, in_ledger),
    };
    loop {
        let mut batch = Batch::new();
        for change in &changes {
            add(store, &mut batch, writer, change).await?;
        }
        if in_ledger {
            enter(store, &mut batch, writer).await?;
        }
        match store.commit(batch).await {
            Err(error) if *error.kind() == StoreErrorKind::Conflict(Ledger::KEY) => {}
            outcome => return outcome,
        }
    }
}

async fn add(
    store: &impl Store,
    batch: &mut Batch,
    writer: &Writer,
    change: &Change,
) -> Result<(), StoreError> {
    match change {
        Change::Put { slot, wanted, kept } => {
            let key = writer.key(*slot);
            let precondition = expectation(store, key, *wanted).await?;
            batch.put(key, precondition, kept.facets.clone(), kept.content.body());
        }
        Change::Delete { slot, wanted } => {
            let key = writer.key(*slot);
            batch.delete(key, expectation(store, key, *wanted).await?);
        }
    }
    Ok(())
}

async fn expectation(store: &impl Store, key: Key, wanted: Wanted) -> Result<Precondition, StoreError> {
    Ok(match wanted {
        Wanted::Absent => Precondition::Absent,
        Wanted::Present => Precondition::Present,
        Wanted::Any => Precondition::Any,
        Wanted::SameVersion => {
            Precondition::Version(read(store, key).await?.map_or(Version(u64::MAX), |record| record.version))
        }
    })
}

async fn enter(store: &impl Store, batch: &mut Batch, writer: &Writer) -> Result<(), StoreError> {
    let record = read(store, Ledger::KEY).await?;
    let mut ledger = Ledger::read(record.as_ref());
    ledger.0[writer.number as usize] = writer.done + 1;
    let precondition = record.map_or(Precondition::Absent, |record| Precondition::Version(record.version));
    batch.put(Ledger::KEY, precondition, ledger.kept().unwrap().facets, ledger.body());
    Ok(())
}

async fn read(store: &impl Store, key: Key) -> Result<Option<Record>, StoreError> {
    Ok(store.get(&[key]).await?.pop().flatten())
}
