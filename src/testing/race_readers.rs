//! Readers and snapshots while one task writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use tokio::task::{JoinSet, yield_now};

use crate::store::Precondition::{Absent, Any, Present};
use crate::store::{Batch, Facets, Key, Page, Query, Record, Snapshot, Store, UniqueKey};
use crate::testing::{
    CHUNK, CaseOutcome, Entries, Fixture, Violation, expect, expect_equal, keys, read_chunk,
    run_concurrently, with_unique_keys,
};

crate::testing::table! {
    of "get":
    "All elements are from one state" =>
        records_written_together_are_returned_by_get_in_one_state,
        records_deleted_together_are_returned_by_get_both_or_neither,
        moving_record_is_returned_by_get_exactly_once;
    of "list":
    "Records and total are from one state" =>
        records_written_together_are_listed_in_one_state,
        records_deleted_together_are_listed_both_or_neither,
        moving_record_is_listed_exactly_once;
    of "store":
    "Every result reflects one state of the store, never a partially applied commit" =>
        moving_unique_key_always_has_a_holder;
    "Once a commit has returned, every call that begins later sees it" =>
        returned_commit_is_seen_by_every_task;
    of "snapshot":
    "It reflects one state between the call and its return" =>
        records_committed_together_are_in_snapshots_together,
        moving_record_is_in_every_snapshot_exactly_once,
        snapshot_state_lies_between_call_and_return;
}

const READERS: usize = 3;
const ROUNDS: usize = 150;

/// The state that readers and the writer share.
#[derive(Clone)]
struct Watched {
    store: Arc<dyn Store>,
    pair: [Key; 2],
    unique_key: UniqueKey,
    query: Query,
    done: Arc<AtomicBool>,
}

impl Watched {
    fn new(fixture: &mut Fixture) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        Self {
            store: fixture.store.clone(),
            pair: fixture.keys(),
            unique_key: fixture.unique_key(),
            query: fixture.query(),
            done,
        }
    }

    async fn move_record(&self, from: Key, to: Key) -> CaseOutcome {
        move_record(self.store.clone(), from, to, self.unique_key.clone()).await
    }

    /// Runs the readers during the writer, and once more afterwards.
    async fn run_readers<R>(
        self,
        observe: fn(Self) -> R,
        writer: impl Future<Output = CaseOutcome>,
    ) -> CaseOutcome
    where
        R: Future<Output = CaseOutcome> + Send + 'static,
    {
        let mut readers = JoinSet::new();
        for _ in 0..READERS {
            readers.spawn(self.clone().watch(observe));
        }
        let written = writer.await;
        self.done.store(true, Ordering::Release);
        while let Some(outcome) = readers.join_next().await {
            outcome??;
        }
        written
    }

    async fn watch<R: Future<Output = CaseOutcome>>(self, observe: fn(Self) -> R) -> CaseOutcome {
        while !self.done.load(Ordering::Acquire) {
            observe(self.clone()).await?;
            yield_now().await;
        }
        observe(self).await
    }
}

async fn records_written_together_are_returned_by_get_in_one_state(fixture: Fixture) -> CaseOutcome {
    watch_pair_written_together(fixture, get_together).await
}

async fn records_written_together_are_listed_in_one_state(fixture: Fixture) -> CaseOutcome {
    watch_pair_written_together(fixture, list_together).await
}

async fn watch_pair_written_together<R>(mut fixture: Fixture, observe: fn(Watched) -> R) -> CaseOutcome
where
    R: Future<Output = CaseOutcome> + Send + 'static,
{
    let watched = Watched::new(&mut fixture);
    write_together(watched.store.clone(), watched.pair, 0).await?;
    let writer = async {
        for round in 1..ROUNDS {
            write_together(watched.store.clone(), watched.pair, round).await?;
            yield_now().await;
        }
        Ok(())
    };
    watched.clone().run_readers(observe, writer).await
}

async fn get_together(watched: Watched) -> CaseOutcome {
    let answers = watched.store.get(&watched.pair).await?;
    expect_equal_bodies(answers.into_iter().flatten())
}

async fn list_together(watched: Watched) -> CaseOutcome {
    let page = watched.store.list(&watched.query).await?;
    expect_equal_bodies(page.records)
}

fn expect_equal_bodies(records: impl IntoIterator<Item = Record>) -> CaseOutcome {
    let bodies: Vec<Bytes> = records.into_iter().map(|record| record.body).collect();
    match bodies.as_slice() {
        [left, right] => expect_equal("the second of two bodies written together", right, left),
        found => Err(Violation::new(format!(
            "{} of two records that are written together were found",
            found.len()
        ))),
    }
}

async fn records_deleted_together_are_returned_by_get_both_or_neither(fixture: Fixture) -> CaseOutcome {
    watch_pair_deleted_together(fixture, observe_pair_by_get).await
}

async fn records_deleted_together_are_listed_both_or_neither(fixture: Fixture) -> CaseOutcome {
    watch_pair_deleted_together(fixture, observe_pair_by_list).await
}

async fn watch_pair_deleted_together<R>(mut fixture: Fixture, observe: fn(Watched) -> R) -> CaseOutcome
where
    R: Future<Output = CaseOutcome> + Send + 'static,
{
    let watched = Watched::new(&mut fixture);
    let writer = async {
        for round in 0..ROUNDS / 2 {
            write_together(watched.store.clone(), watched.pair, round).await?;
            yield_now().await;
            delete_together(&watched).await?;
            yield_now().await;
        }
        Ok(())
    };
    watched.clone().run_readers(observe, writer).await
}

async fn delete_together(watched: &Watched) -> CaseOutcome {
    let mut batch = Batch::new();
    for key in watched.pair {
        batch.delete(key, Present);
    }
    Ok(watched.store.commit(batch).await?)
}

async fn observe_pair_by_get(watched: Watched) -> CaseOutcome {
    let there = watched.store.get(&watched.pair).await?.iter().flatten().count();
    expect(there != 1, "only one of two records that are put and deleted together exists")
}

async fn observe_pair_by_list(watched: Watched) -> CaseOutcome {
    let Page { records, total, .. } = watched.store.list(&watched.query).await?;
    expect(records.len() != 1, "only one of two records that are put and deleted together is listed")?;
    expect_equal("the total of a page without a limit", &total, &(records.len() as u64))
}

async fn moving_record_is_returned_by_get_exactly_once(fixture: Fixture) -> CaseOutcome {
    watch_moving(fixture, get_moving).await
}

async fn moving_record_is_listed_exactly_once(fixture: Fixture) -> CaseOutcome {
    watch_moving(fixture, list_moving).await
}

async fn moving_unique_key_always_has_a_holder(fixture: Fixture) -> CaseOutcome {
    watch_moving(fixture, get_moving_by_unique_key).await
}

async fn watch_moving<R>(mut fixture: Fixture, observe: fn(Watched) -> R) -> CaseOutcome
where
    R: Future<Output = CaseOutcome> + Send + 'static,
{
    let watched = Watched::new(&mut fixture);
    let [left, right] = watched.pair;
    watched.move_record(left, right).await?;
    let writer = async {
        for (from, to) in [(right, left), (left, right)].into_iter().cycle().take(ROUNDS) {
            watched.move_record(from, to).await?;
            yield_now().await;
        }
        Ok(())
    };
    watched.clone().run_readers(observe, writer).await
}

async fn get_moving(watched: Watched) -> CaseOutcome {
    let there = watched.store.get(&watched.pair).await?.iter().flatten().count();
    expect_equal("the number of records found", &there, &1)
}

async fn list_moving(watched: Watched) -> CaseOutcome {
    let Page { records, total, next, .. } = watched.store.list(&watched.query).await?;
    expect_equal("the number of records listed, total and next", &(records.len(), total, next), &(1, 1, None))
}

async fn get_moving_by_unique_key(watched: Watched) -> CaseOutcome {
    let found = watched.store.get_by_unique_key(&watched.unique_key).await?;
    expect_equal("whether the unique key finds the record", &found.is_some(), &true)
}

async fn returned_commit_is_seen_by_every_task(mut fixture: Fixture) -> CaseOutcome {
    let watched = Watched::new(&mut fixture);
    let [here, there] = watched.pair;
    for (from, to) in [(here, there), (there, here)].into_iter().cycle().take(ROUNDS / 5) {
        watched.move_record(from, to).await?;
        let sights = run_concurrently(READERS, |_| observe(watched.clone(), from, to)).await?;
        sights.into_iter().collect::<CaseOutcome>()?;
    }
    Ok(())
}

async fn observe(watched: Watched, gone: Key, there: Key) -> CaseOutcome {
    let answers = watched.store.get(&[gone, there]).await?;
    let found: Vec<Key> = answers.into_iter().flatten().map(|record| record.key).collect();
    expect_equal("get after a commit", &found, &[there])?;
    expect_equal("list after a commit", &keys(&watched.store.list(&watched.query).await?), &[there])?;
    let holder = watched.store.get_by_unique_key(&watched.unique_key).await?.map(|record| record.key);
    expect_equal("get_by_unique_key after a commit", &holder, &Some(there))
}

const SNAPSHOTS: usize = 15;

/// A task that writes repeatedly until it is stopped or dropped.
struct Writer {
    is_done: Arc<AtomicBool>,
    running: JoinSet<CaseOutcome>,
}

impl Writer {
    async fn begin<W>(write: impl Fn(usize) -> W + Send + 'static) -> CaseOutcome<Self>
    where
        W: Future<Output = CaseOutcome> + Send + 'static,
    {
        write(0).await?;
        let is_done = Arc::new(AtomicBool::new(false));
        let mut running = JoinSet::new();
        running.spawn(write_on(is_done.clone(), write));
        Ok(Self { is_done, running })
    }

    async fn end(mut self) -> CaseOutcome {
        self.is_done.store(true, Ordering::Release);
        while let Some(outcome) = self.running.join_next().await {
            outcome??;
        }
        Ok(())
    }
}

async fn write_on<W: Future<Output = CaseOutcome>>(
    is_done: Arc<AtomicBool>,
    write: impl Fn(usize) -> W,
) -> CaseOutcome {
    let mut round = 1;
    while !is_done.load(Ordering::Acquire) {
        write(round).await?;
        yield_now().await;
        round += 1;
    }
    Ok(())
}

/// Reads a snapshot and yields to other tasks between the chunks.
async fn read_slowly(fixture: &Fixture, mut snapshot: Box<dyn Snapshot>) -> CaseOutcome<Entries> {
    let mut entries = Entries::new();
    yield_now().await;
    while read_chunk(&mut *snapshot, CHUNK, fixture.kinds(), &mut entries).await? {
        yield_now().await;
    }
    Ok(entries)
}

async fn records_committed_together_are_in_snapshots_together(mut fixture: Fixture) -> CaseOutcome {
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

async fn write_together<const N: usize>(store: Arc<dyn Store>, keys: [Key; N], round: usize) -> CaseOutcome {
    let mut batch = Batch::new();
    for key in keys {
        batch.put(key, Any, Facets::default(), round.to_string());
    }
    Ok(store.commit(batch).await?)
}

async fn moving_record_is_in_every_snapshot_exactly_once(mut fixture: Fixture) -> CaseOutcome {
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

/// Deletes one record and puts the other in one batch. Readers thus see exactly one of them.
async fn move_record(store: Arc<dyn Store>, from: Key, to: Key, unique_key: UniqueKey) -> CaseOutcome {
    let mut batch = Batch::new();
    batch.delete(from, Any);
    batch.put(to, Absent, with_unique_keys(&[&unique_key]), "moves");
    Ok(store.commit(batch).await?)
}

async fn snapshot_state_lies_between_call_and_return(mut fixture: Fixture) -> CaseOutcome {
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
