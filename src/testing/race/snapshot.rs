//! Snapshots that are taken and read while somebody writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::{JoinSet, yield_now};

use crate::store::{Batch, Facets, Key, Precondition, Snapshot, Store, UniqueKey};
use crate::testing::{Bench, Entries, Outcome, PIECE, holds, read_piece, same, uniquely_keyed};

crate::testing::table! { of "snapshot":
    "It is of one state, that of a moment between the call and the return" =>
        records_written_together_are_together_in_every_snapshot,
        a_record_that_moves_is_in_one_place_in_every_snapshot,
        every_snapshot_is_of_a_moment_of_its_call;
}

const SNAPSHOTS: usize = 15;

/// Somebody who writes again and again, until told to end or dropped.
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

/// Reads a snapshot with others' turns between the pieces.
async fn read_slowly(bench: &Bench, mut snapshot: Box<dyn Snapshot>) -> Outcome<Entries> {
    let mut entries = Entries::new();
    yield_now().await;
    while read_piece(&mut *snapshot, PIECE, bench.kinds(), &mut entries).await? {
        yield_now().await;
    }
    Ok(entries)
}

async fn records_written_together_are_together_in_every_snapshot(mut bench: Bench) -> Outcome {
    let keys = [bench.key(), bench.other_key(), bench.key(), bench.other_key()];
    let store = bench.store.clone();
    let writer = Writer::begin(move |round| write_together(store.clone(), keys, round)).await?;
    for _ in 0..SNAPSHOTS {
        let entries = read_slowly(&bench, bench.store.snapshot().await?).await?;
        let mut bodies: Vec<_> = entries.into_values().map(|entry| entry.record.body).collect();
        same("how many of the records written together are there", &bodies.len(), &keys.len())?;
        bodies.dedup();
        same("how many different bodies they have", &bodies.len(), &1)?;
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

async fn a_record_that_moves_is_in_one_place_in_every_snapshot(mut bench: Bench) -> Outcome {
    let ([left, right], unique_key, store) = (bench.keys(), bench.unique_key(), bench.store.clone());
    let writer = Writer::begin(move |round| {
        let (from, to) = if round.is_multiple_of(2) { (left, right) } else { (right, left) };
        move_there(store.clone(), from, to, unique_key.clone())
    });
    let writer = writer.await?;
    for _ in 0..SNAPSHOTS {
        let entries = read_slowly(&bench, bench.store.snapshot().await?).await?;
        let unique_keys: usize = entries.values().map(|entry| entry.facets.unique_keys.len()).sum();
        let found = (entries.len(), unique_keys);
        same("in how many of two places the record is, and its unique key", &found, &(1, 1))?;
    }
    writer.end().await
}

async fn move_there(store: Arc<dyn Store>, from: Key, to: Key, unique_key: UniqueKey) -> Outcome {
    let mut batch = Batch::new();
    batch.delete(from, Precondition::Any);
    batch.put(to, Precondition::Absent, uniquely_keyed(&[&unique_key]), "moves");
    Ok(store.commit(batch).await?)
}

async fn every_snapshot_is_of_a_moment_of_its_call(mut bench: Bench) -> Outcome {
    let (key, store) = (bench.key(), bench.store.clone());
    let writer = Writer::begin(move |round| write_together(store.clone(), [key], round)).await?;
    for _ in 0..SNAPSHOTS {
        let before = bench.read(key).await?.map(|record| record.version);
        let snapshot = bench.store.snapshot().await?;
        let after = bench.read(key).await?.map(|record| record.version);
        let entries = read_slowly(&bench, snapshot).await?;
        let version = entries.get(&key).map(|entry| entry.record.version);
        let is_between = before <= version && version <= after;
        holds(is_between, &format!("{before:?} before the call, {version:?} in it, {after:?} after it"))?;
    }
    writer.end().await
}
