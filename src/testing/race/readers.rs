//! Concurrent readers while one task writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use tokio::task::{JoinSet, yield_now};

use super::run_concurrently;
use crate::store::{Batch, Facets, Key, Page, Precondition, Query, Record, Store, UniqueKey};
use crate::testing::{Fault, Fixture, Outcome, expect, expect_equal, keys, with_unique_keys};

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

    /// Runs the readers during the writer, and once more afterwards.
    async fn run_readers<R>(self, observe: fn(Self) -> R, writer: impl Future<Output = Outcome>) -> Outcome
    where
        R: Future<Output = Outcome> + Send + 'static,
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

    async fn watch<R: Future<Output = Outcome>>(self, observe: fn(Self) -> R) -> Outcome {
        while !self.done.load(Ordering::Acquire) {
            observe(self.clone()).await?;
            yield_now().await;
        }
        observe(self).await
    }
}

async fn records_written_together_are_returned_by_get_in_one_state(fixture: Fixture) -> Outcome {
    watch_pair_written_together(fixture, get_together).await
}

async fn records_written_together_are_listed_in_one_state(fixture: Fixture) -> Outcome {
    watch_pair_written_together(fixture, list_together).await
}

async fn watch_pair_written_together<R>(mut fixture: Fixture, observe: fn(Watched) -> R) -> Outcome
where
    R: Future<Output = Outcome> + Send + 'static,
{
    let watched = Watched::new(&mut fixture);
    write_together(&watched, 0).await?;
    let writer = async {
        for round in 1..ROUNDS {
            write_together(&watched, round).await?;
            yield_now().await;
        }
        Ok(())
    };
    watched.clone().run_readers(observe, writer).await
}

async fn write_together(watched: &Watched, round: usize) -> Outcome {
    let mut batch = Batch::new();
    for key in watched.pair {
        batch.put(key, Precondition::Any, Facets::default(), round.to_string());
    }
    Ok(watched.store.commit(batch).await?)
}

async fn get_together(watched: Watched) -> Outcome {
    let answers = watched.store.get(&watched.pair).await?;
    expect_equal_bodies(answers.into_iter().flatten())
}

async fn list_together(watched: Watched) -> Outcome {
    let page = watched.store.list(&watched.query).await?;
    expect_equal_bodies(page.records)
}

fn expect_equal_bodies(records: impl IntoIterator<Item = Record>) -> Outcome {
    let bodies: Vec<Bytes> = records.into_iter().map(|record| record.body).collect();
    match bodies.as_slice() {
        [left, right] => expect_equal("the second of two bodies written together", right, left),
        found => {
            Err(Fault::new(format!("{} of two records that are written together were found", found.len())))
        }
    }
}

async fn records_deleted_together_are_returned_by_get_both_or_neither(fixture: Fixture) -> Outcome {
    watch_pair_deleted_together(fixture, observe_pair_by_get).await
}

async fn records_deleted_together_are_listed_both_or_neither(fixture: Fixture) -> Outcome {
    watch_pair_deleted_together(fixture, observe_pair_by_list).await
}

async fn watch_pair_deleted_together<R>(mut fixture: Fixture, observe: fn(Watched) -> R) -> Outcome
where
    R: Future<Output = Outcome> + Send + 'static,
{
    let watched = Watched::new(&mut fixture);
    let writer = async {
        for round in 0..ROUNDS / 2 {
            write_together(&watched, round).await?;
            yield_now().await;
            delete_together(&watched).await?;
            yield_now().await;
        }
        Ok(())
    };
    watched.clone().run_readers(observe, writer).await
}

async fn delete_together(watched: &Watched) -> Outcome {
    let mut batch = Batch::new();
    for key in watched.pair {
        batch.delete(key, Precondition::Present);
    }
    Ok(watched.store.commit(batch).await?)
}

async fn observe_pair_by_get(watched: Watched) -> Outcome {
    let there = watched.store.get(&watched.pair).await?.iter().flatten().count();
    expect(there != 1, "only one of two records that are put and deleted together exists")
}

async fn observe_pair_by_list(watched: Watched) -> Outcome {
    let Page { records, total, .. } = watched.store.list(&watched.query).await?;
    expect(records.len() != 1, "only one of two records that are put and deleted together is listed")?;
    expect_equal("the total of a page without a limit", &total, &(records.len() as u64))
}

async fn moving_record_is_returned_by_get_exactly_once(fixture: Fixture) -> Outcome {
    watch_moving(fixture, get_moving).await
}

async fn moving_record_is_listed_exactly_once(fixture: Fixture) -> Outcome {
    watch_moving(fixture, list_moving).await
}

async fn moving_unique_key_always_has_a_holder(fixture: Fixture) -> Outcome {
    watch_moving(fixture, get_moving_by_unique_key).await
}

async fn watch_moving<R>(mut fixture: Fixture, observe: fn(Watched) -> R) -> Outcome
where
    R: Future<Output = Outcome> + Send + 'static,
{
    let watched = Watched::new(&mut fixture);
    let [left, right] = watched.pair;
    move_record(&watched, left, right).await?;
    let writer = async {
        for (from, to) in [(right, left), (left, right)].into_iter().cycle().take(ROUNDS) {
            move_record(&watched, from, to).await?;
            yield_now().await;
        }
        Ok(())
    };
    watched.clone().run_readers(observe, writer).await
}

/// Deletes one record and puts the other in one batch, so that readers see exactly one of them.
async fn move_record(watched: &Watched, from: Key, to: Key) -> Outcome {
    let mut batch = Batch::new();
    batch.delete(from, Precondition::Any);
    batch.put(to, Precondition::Absent, with_unique_keys(&[&watched.unique_key]), "moves");
    Ok(watched.store.commit(batch).await?)
}

async fn get_moving(watched: Watched) -> Outcome {
    let there = watched.store.get(&watched.pair).await?.iter().flatten().count();
    expect_equal("the number of records found", &there, &1)
}

async fn list_moving(watched: Watched) -> Outcome {
    let Page { records, total, next } = watched.store.list(&watched.query).await?;
    expect_equal("the number of records listed, total and next", &(records.len(), total, next), &(1, 1, None))
}

async fn get_moving_by_unique_key(watched: Watched) -> Outcome {
    let found = watched.store.get_by_unique_key(&watched.unique_key).await?;
    expect_equal("whether the unique key finds the record", &found.is_some(), &true)
}

async fn returned_commit_is_seen_by_every_task(mut fixture: Fixture) -> Outcome {
    let watched = Watched::new(&mut fixture);
    let [here, there] = watched.pair;
    for (from, to) in [(here, there), (there, here)].into_iter().cycle().take(ROUNDS / 5) {
        move_record(&watched, from, to).await?;
        let sights = run_concurrently(READERS, |_| observe(watched.clone(), from, to)).await?;
        sights.into_iter().collect::<Outcome>()?;
    }
    Ok(())
}

async fn observe(watched: Watched, gone: Key, there: Key) -> Outcome {
    let answers = watched.store.get(&[gone, there]).await?;
    let found: Vec<Key> = answers.into_iter().flatten().map(|record| record.key).collect();
    expect_equal("get after a commit", &found, &[there])?;
    expect_equal("list after a commit", &keys(&watched.store.list(&watched.query).await?), &[there])?;
    let holder = watched.store.get_by_unique_key(&watched.unique_key).await?.map(|record| record.key);
    expect_equal("get_by_unique_key after a commit", &holder, &Some(there))
}
