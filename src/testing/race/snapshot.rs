//! Snapshots that are opened and read during writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::{JoinSet, yield_now};

use crate::store::{Batch, Facets, Key, Precondition, Snapshot, Store, UniqueKey};
use crate::testing::{CHUNK, Entries, Fixture, Outcome, expect, expect_equal, read_chunk, with_unique_keys};

crate::testing::table! { of "snapshot":
    "It reflects one state between the call and its return" =>
        records_committed_together_are_in_snapshots_together,
        moving_record_is_in_every_snapshot_exactly_once,
        snapshot_state_lies_between_call_and_return;
}

const SNAPSHOTS: usize = 15;

/// A task that writes repeatedly until it is stopped or dropped.
struct Writer {
    is_done: Arc<AtomicBool>,
    running: JoinSet<Outcome>,
}

impl Writer {
    async fn begin<W>(write: impl Fn(usize) -> W + Send + 'static) -> Outcome<Self>
    where
        W: Future<Output = Outcome> + Send + 'static,
    {
        write(0).await?;
        let is_done = Arc::new(AtomicBool::new(false));
        let mut running = JoinSet::new();
        running.spawn(write_on(is_done.clone(), write));
        Ok(Self { is_done, running })
    }

    async fn end(mut self) -> Outcome {
        self.is_done.store(true, Ordering::Release);
        while let Some(outcome) = self.running.join_next().await {
            outcome??;
        }
        Ok(())
    }
}

async fn write_on<W: Future<Output = Outcome>>(
    is_done: Arc<AtomicBool>,
    write: impl Fn(usize) -> W,
) -> Outcome {
    let mut round = 1;
    while !is_done.load(Ordering::Acquire) {
        write(round).await?;
        yield_now().await;
        round += 1;
    }
    Ok(())
}

/// Reads a snapshot and yields to other tasks between the chunks.
async fn read_slowly(fixture: &Fixture, mut snapshot: Box<dyn Snapshot>) -> Outcome<Entries> {
    let mut entries = Entries::new();
    yield_now().await;
    while read_chunk(&mut *snapshot, CHUNK, fixture.kinds(), &mut entries).await? {
        yield_now().await;
    }
    Ok(entries)
}

async fn records_committed_together_are_in_snapshots_together(mut fixture: Fixture) -> Outcome {
    let keys = [fixture.key(), fixture.other_key(), fixture.key(), fixture.other_key()];
    let store = fixture.store.clone();
    let writer = Writer::begin(move |round| write_together(store.clone(), keys, round)).await?;
    for _ in 0..SNAPSHOTS {
        let entries = read_slowly(&fixture, fixture.store.snapshot().await?).await?;
        let mut bodies: Vec<_> = entries.into_values().map(|entry| entry.record.body).collect();
        expect_equal("the number of records written together", &bodies.len(), &keys.len())?;
        bodies.dedup();
        expect_equal("the number of different bodies", &bodies.len(), &1)?;
    }
    writer.end().await
}

async fn write_together<const N: usize>(store: Arc<dyn Store>, keys: [Key; N], round: usize) -> Outcome {
    let mut batch = Batch::new();
    for key in keys {
        batch.put(key, Precondition::Any, Facets::default(), round.to_string());
    }
    Ok(store.commit(batch).await?)
}

async fn moving_record_is_in_every_snapshot_exactly_once(mut fixture: Fixture) -> Outcome {
    let ([left, right], unique_key, store) = (fixture.keys(), fixture.unique_key(), fixture.store.clone());
    let writer = Writer::begin(move |round| {
        let (from, to) = if round.is_multiple_of(2) { (left, right) } else { (right, left) };
        move_record(store.clone(), from, to, unique_key.clone())
    });
    let writer = writer.await?;
    for _ in 0..SNAPSHOTS {
        let entries = read_slowly(&fixture, fixture.store.snapshot().await?).await?;
        let unique_keys: usize = entries.values().map(|entry| entry.facets.unique_keys.len()).sum();
        let found = (entries.len(), unique_keys);
        expect_equal("the number of records, and of unique keys", &found, &(1, 1))?;
    }
    writer.end().await
}

async fn move_record(store: Arc<dyn Store>, from: Key, to: Key, unique_key: UniqueKey) -> Outcome {
    let mut batch = Batch::new();
    batch.delete(from, Precondition::Any);
    batch.put(to, Precondition::Absent, with_unique_keys(&[&unique_key]), "moves");
    Ok(store.commit(batch).await?)
}

async fn snapshot_state_lies_between_call_and_return(mut fixture: Fixture) -> Outcome {
    let (key, store) = (fixture.key(), fixture.store.clone());
    let writer = Writer::begin(move |round| write_together(store.clone(), [key], round)).await?;
    for _ in 0..SNAPSHOTS {
        let before = fixture.read(key).await?.map(|record| record.version);
        let snapshot = fixture.store.snapshot().await?;
        let after = fixture.read(key).await?.map(|record| record.version);
        let entries = read_slowly(&fixture, snapshot).await?;
        let version = entries.get(&key).map(|entry| entry.record.version);
        let is_between = before <= version && version <= after;
        expect(is_between, &format!("{before:?} before the call, {version:?} in it, {after:?} after it"))?;
    }
    writer.end().await
}
