//! Tasks that read while one writes.

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

async fn records_written_together_are_returned_by_get_in_one_state(fixture: Fixture) -> Outcome {
    watch_together(fixture, get_together).await
}

async fn records_written_together_are_listed_in_one_state(fixture: Fixture) -> Outcome {
    watch_together(fixture, list_together).await
}

async fn watch_together<R>(mut fixture: Fixture, look: fn(Scene) -> R) -> Outcome
where
    R: Future<Output = Outcome> + Send + 'static,
{
    let scene = Scene::new(&mut fixture);
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
        [left, right] => expect_equal("the second of two bodies written together", right, left),
        found => Err(Fault::new(format!("{} of two records written together are found", found.len()))),
    }
}

async fn records_deleted_together_are_returned_by_get_both_or_neither(fixture: Fixture) -> Outcome {
    watch_flickering(fixture, get_flickering).await
}

async fn records_deleted_together_are_listed_both_or_neither(fixture: Fixture) -> Outcome {
    watch_flickering(fixture, list_flickering).await
}

async fn watch_flickering<R>(mut fixture: Fixture, look: fn(Scene) -> R) -> Outcome
where
    R: Future<Output = Outcome> + Send + 'static,
{
    let scene = Scene::new(&mut fixture);
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
    expect(there != 1, "one of two records is there that are put and deleted together")
}

async fn list_flickering(scene: Scene) -> Outcome {
    let Page { records, total, .. } = scene.store.list(&scene.query).await?;
    expect(records.len() != 1, "one of two records is listed that are put and deleted together")?;
    expect_equal("the total of an unlimited page", &total, &(records.len() as u64))
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

async fn watch_moving<R>(mut fixture: Fixture, look: fn(Scene) -> R) -> Outcome
where
    R: Future<Output = Outcome> + Send + 'static,
{
    let scene = Scene::new(&mut fixture);
    let [left, right] = scene.pair;
    move_record(&scene, left, right).await?;
    let writer = async {
        for (from, to) in [(right, left), (left, right)].into_iter().cycle().take(ROUNDS) {
            move_record(&scene, from, to).await?;
            yield_now().await;
        }
        Ok(())
    };
    scene.clone().play(look, writer).await
}

/// To those who write, a delete and a put; to those who read, one record that is now here, now there.
async fn move_record(scene: &Scene, from: Key, to: Key) -> Outcome {
    let mut batch = Batch::new();
    batch.delete(from, Precondition::Any);
    batch.put(to, Precondition::Absent, with_unique_keys(&[&scene.unique_key]), "moves");
    Ok(scene.store.commit(batch).await?)
}

async fn get_moving(scene: Scene) -> Outcome {
    let there = scene.store.get(&scene.pair).await?.iter().flatten().count();
    expect_equal("in how many of two places the record is", &there, &1)
}

async fn list_moving(scene: Scene) -> Outcome {
    let Page { records, total, next } = scene.store.list(&scene.query).await?;
    expect_equal(
        "in how many of two places the record is, total and next",
        &(records.len(), total, next),
        &(1, 1, None),
    )
}

async fn get_moving_by_unique_key(scene: Scene) -> Outcome {
    let found = scene.store.get_by_unique_key(&scene.unique_key).await?;
    expect_equal("whether the unique key finds the record", &found.is_some(), &true)
}

async fn returned_commit_is_seen_by_every_task(mut fixture: Fixture) -> Outcome {
    let scene = Scene::new(&mut fixture);
    let [here, there] = scene.pair;
    for (from, to) in [(here, there), (there, here)].into_iter().cycle().take(ROUNDS / 5) {
        move_record(&scene, from, to).await?;
        let sights = run_concurrently(READERS, |_| look(scene.clone(), from, to)).await?;
        sights.into_iter().collect::<Outcome>()?;
    }
    Ok(())
}

async fn look(scene: Scene, gone: Key, there: Key) -> Outcome {
    let answers = scene.store.get(&[gone, there]).await?;
    let found: Vec<Key> = answers.into_iter().flatten().map(|record| record.key).collect();
    expect_equal("get after a commit", &found, &[there])?;
    expect_equal("list after a commit", &keys(&scene.store.list(&scene.query).await?), &[there])?;
    let holder = scene.store.get_by_unique_key(&scene.unique_key).await?.map(|record| record.key);
    expect_equal("resolve after a commit", &holder, &Some(there))
}
