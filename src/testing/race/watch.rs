//! Tasks that read while one writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use tokio::task::{JoinSet, yield_now};

use super::crowd;
use crate::store::{Batch, Facets, Key, Page, Precondition, Query, Record, Store, UniqueKey};
use crate::testing::{Bench, Fault, Outcome, holds, keys, same, uniquely_keyed};

crate::testing::table! {
    of "get":
    "All answers are from one state" =>
        two_records_written_together_are_got_together,
        two_records_deleted_together_are_got_or_gone_together,
        a_record_that_moves_is_got_in_one_place;
    of "list":
    "Records and total are from one state" =>
        two_records_written_together_are_listed_together,
        two_records_deleted_together_are_counted_or_gone_together,
        a_record_that_moves_is_listed_in_one_place;
    of "store":
    "What a method returns comes from one state of the store: never from the middle of a commit" =>
        a_unique_key_that_passes_on_always_has_a_holder;
    "A commit that has returned is seen by every call that begins after it" =>
        every_task_sees_what_was_committed_before;
}

const READERS: usize = 3;
const ROUNDS: usize = 150;

/// What the readers share with the writer.
#[derive(Clone)]
struct Scene {
    store: Arc<dyn Store>,
    pair: [Key; 2],
    unique_key: UniqueKey,
    query: Query,
    done: Arc<AtomicBool>,
}

impl Scene {
    fn new(bench: &mut Bench) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        Self {
            store: bench.store.clone(),
            pair: bench.keys(),
            unique_key: bench.unique_key(),
            query: bench.query(),
            done,
        }
    }

    /// Has the readers look while the writer writes, and once more afterwards.
    async fn play<R>(self, look: fn(Self) -> R, writer: impl Future<Output = Outcome>) -> Outcome
    where
        R: Future<Output = Outcome> + Send + 'static,
    {
        let mut readers = JoinSet::new();
        for _ in 0..READERS {
            readers.spawn(self.clone().watch(look));
        }
        let written = writer.await;
        self.done.store(true, Ordering::Release);
        while let Some(outcome) = readers.join_next().await {
            outcome??;
        }
        written
    }

    async fn watch<R: Future<Output = Outcome>>(self, look: fn(Self) -> R) -> Outcome {
        while !self.done.load(Ordering::Acquire) {
            look(self.clone()).await?;
            yield_now().await;
        }
        look(self).await
    }
}

async fn two_records_written_together_are_got_together(bench: Bench) -> Outcome {
    watch_together(bench, get_together).await
}

async fn two_records_written_together_are_listed_together(bench: Bench) -> Outcome {
    watch_together(bench, list_together).await
}

async fn watch_together<R>(mut bench: Bench, look: fn(Scene) -> R) -> Outcome
where
    R: Future<Output = Outcome> + Send + 'static,
{
    let scene = Scene::new(&mut bench);
    write_together(&scene, 0).await?;
    let writer = async {
        for round in 1..ROUNDS {
            write_together(&scene, round).await?;
            yield_now().await;
        }
        Ok(())
    };
    scene.clone().play(look, writer).await
}

async fn write_together(scene: &Scene, round: usize) -> Outcome {
    let mut batch = Batch::new();
    for key in scene.pair {
        batch.put(key, Precondition::Any, Facets::default(), round.to_string());
    }
    Ok(scene.store.commit(batch).await?)
}

async fn get_together(scene: Scene) -> Outcome {
    let answers = scene.store.get(&scene.pair).await?;
    agree(answers.into_iter().flatten())
}

async fn list_together(scene: Scene) -> Outcome {
    let page = scene.store.list(&scene.query).await?;
    agree(page.records)
}

fn agree(records: impl IntoIterator<Item = Record>) -> Outcome {
    let bodies: Vec<Bytes> = records.into_iter().map(|record| record.body).collect();
    match bodies.as_slice() {
        [left, right] => same("the second of two bodies written together", right, left),
        found => Err(Fault::new(format!("{} of two records written together are found", found.len()))),
    }
}

async fn two_records_deleted_together_are_got_or_gone_together(bench: Bench) -> Outcome {
    watch_flickering(bench, get_flickering).await
}

async fn two_records_deleted_together_are_counted_or_gone_together(bench: Bench) -> Outcome {
    watch_flickering(bench, list_flickering).await
}

async fn watch_flickering<R>(mut bench: Bench, look: fn(Scene) -> R) -> Outcome
where
    R: Future<Output = Outcome> + Send + 'static,
{
    let scene = Scene::new(&mut bench);
    let writer = async {
        for round in 0..ROUNDS / 2 {
            write_together(&scene, round).await?;
            yield_now().await;
            delete_together(&scene).await?;
            yield_now().await;
        }
        Ok(())
    };
    scene.clone().play(look, writer).await
}

async fn delete_together(scene: &Scene) -> Outcome {
    let mut batch = Batch::new();
    for key in scene.pair {
        batch.delete(key, Precondition::Present);
    }
    Ok(scene.store.commit(batch).await?)
}

async fn get_flickering(scene: Scene) -> Outcome {
    let there = scene.store.get(&scene.pair).await?.iter().flatten().count();
    holds(there != 1, "one of two records is there that are put and deleted together")
}

async fn list_flickering(scene: Scene) -> Outcome {
    let Page { records, total, .. } = scene.store.list(&scene.query).await?;
    holds(records.len() != 1, "one of two records is listed that are put and deleted together")?;
    same("the total of an unlimited page", &total, &(records.len() as u64))
}

async fn a_record_that_moves_is_got_in_one_place(bench: Bench) -> Outcome {
    watch_moving(bench, get_moving).await
}

async fn a_record_that_moves_is_listed_in_one_place(bench: Bench) -> Outcome {
    watch_moving(bench, list_moving).await
}

async fn a_unique_key_that_passes_on_always_has_a_holder(bench: Bench) -> Outcome {
    watch_moving(bench, get_moving_by_unique_key).await
}

async fn watch_moving<R>(mut bench: Bench, look: fn(Scene) -> R) -> Outcome
where
    R: Future<Output = Outcome> + Send + 'static,
{
    let scene = Scene::new(&mut bench);
    let [left, right] = scene.pair;
    move_there(&scene, left, right).await?;
    let writer = async {
        for (from, to) in [(right, left), (left, right)].into_iter().cycle().take(ROUNDS) {
            move_there(&scene, from, to).await?;
            yield_now().await;
        }
        Ok(())
    };
    scene.clone().play(look, writer).await
}

/// To those who write, a delete and a put; to those who read, one record that is now here, now there.
async fn move_there(scene: &Scene, from: Key, to: Key) -> Outcome {
    let mut batch = Batch::new();
    batch.delete(from, Precondition::Any);
    batch.put(to, Precondition::Absent, uniquely_keyed(&[&scene.unique_key]), "moves");
    Ok(scene.store.commit(batch).await?)
}

async fn get_moving(scene: Scene) -> Outcome {
    let there = scene.store.get(&scene.pair).await?.iter().flatten().count();
    same("in how many of two places the record is", &there, &1)
}

async fn list_moving(scene: Scene) -> Outcome {
    let Page { records, total, next } = scene.store.list(&scene.query).await?;
    same(
        "in how many of two places the record is, total and next",
        &(records.len(), total, next),
        &(1, 1, None),
    )
}

async fn get_moving_by_unique_key(scene: Scene) -> Outcome {
    let found = scene.store.get_by_unique_key(&scene.unique_key).await?;
    same("whether the unique key finds the record", &found.is_some(), &true)
}

async fn every_task_sees_what_was_committed_before(mut bench: Bench) -> Outcome {
    let scene = Scene::new(&mut bench);
    let [here, there] = scene.pair;
    for (from, to) in [(here, there), (there, here)].into_iter().cycle().take(ROUNDS / 5) {
        move_there(&scene, from, to).await?;
        let sights = crowd(READERS, |_| look(scene.clone(), from, to)).await?;
        sights.into_iter().collect::<Outcome>()?;
    }
    Ok(())
}

async fn look(scene: Scene, gone: Key, there: Key) -> Outcome {
    let answers = scene.store.get(&[gone, there]).await?;
    let found: Vec<Key> = answers.into_iter().flatten().map(|record| record.key).collect();
    same("get after a commit", &found, &[there])?;
    same("list after a commit", &keys(&scene.store.list(&scene.query).await?), &[there])?;
    let holder = scene.store.get_by_unique_key(&scene.unique_key).await?.map(|record| record.key);
    same("resolve after a commit", &holder, &Some(there))
}
