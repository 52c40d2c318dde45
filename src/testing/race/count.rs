use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::yield_now;

use super::crowd;
use crate::store::{Batch, Facets, Key, Precondition, Store, StoreErrorKind, Version};
use crate::testing::{Bench, Fault, Outcome, put, same};

crate::testing::table! { of "store":
    "Every method may be called from any number of tasks at once" =>
        counting_in_many_tasks_loses_nothing,
        versions_of_commits_at_the_same_time_differ;
}

const TASKS: usize = 8;
const ROUNDS: usize = 25;

async fn counting_in_many_tasks_loses_nothing(mut bench: Bench) -> Outcome {
    let key = bench.key();
    bench.put(key, Facets::default(), "0").await?;
    let results = crowd(TASKS, |_| count(bench.store.clone(), key)).await?;
    results.into_iter().collect::<Outcome>()?;
    let sum = bench.read(key).await?.map(|record| record.body);
    same("the count", &sum, &Some((TASKS * ROUNDS).to_string().into()))
}

async fn count(store: Arc<dyn Store>, key: Key) -> Outcome {
    for _ in 0..ROUNDS {
        increment(&*store, key).await?;
    }
    Ok(())
}

/// As every careful writer does it: read, decide, commit, and begin again on a conflict.
async fn increment(store: &dyn Store, key: Key) -> Outcome {
    const TRIES: usize = 10_000;
    for _ in 0..TRIES {
        let record = store.get(&[key]).await?.pop().flatten();
        let record = record.ok_or_else(|| Fault::new("the counter is gone"))?;
        let count = std::str::from_utf8(&record.body).ok().and_then(|text| text.parse::<u64>().ok());
        let count = count.ok_or_else(|| Fault::new("the counter is no number"))?;
        let mut batch = Batch::new();
        batch.put(key, Precondition::Version(record.version), Facets::default(), (count + 1).to_string());
        match store.commit(batch).await {
            Err(error) if *error.kind() == StoreErrorKind::Conflict(key) => yield_now().await,
            result => return Ok(result?),
        }
    }
    Err(Fault::new(format!("{TRIES} conflicts one after the other, as if nobody ever succeeded")))
}

async fn versions_of_commits_at_the_same_time_differ(mut bench: Bench) -> Outcome {
    let keys: Vec<Key> = (0..TASKS * ROUNDS).map(|_| bench.key()).collect();
    let results = crowd(TASKS, |number| {
        let mine = keys.iter().copied().skip(number * ROUNDS).take(ROUNDS).collect();
        put_one_by_one(bench.store.clone(), mine)
    });
    results.await?.into_iter().collect::<Outcome>()?;
    let records = bench.store.get(&keys).await?.into_iter().flatten();
    let versions: BTreeSet<Version> = records.map(|record| record.version).collect();
    same("how many versions as many commits gave", &versions.len(), &keys.len())
}

async fn put_one_by_one(store: Arc<dyn Store>, keys: Vec<Key>) -> Outcome {
    for key in keys {
        store.commit(put(key, Precondition::Absent, Facets::default())).await?;
    }
    Ok(())
}
