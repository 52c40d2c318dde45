use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::task::yield_now;

use super::run_concurrently;
use crate::store::{Batch, Facets, Key, Precondition, Store, StoreErrorKind, Version};
use crate::testing::{Fault, Fixture, Outcome, expect_equal, put};

crate::testing::table! { of "store":
    "Every method may be called concurrently from any number of tasks" =>
        concurrent_increments_are_all_counted,
        concurrent_commits_get_different_versions;
}

const TASKS: usize = 8;
const ROUNDS: usize = 25;

async fn concurrent_increments_are_all_counted(mut fixture: Fixture) -> Outcome {
    let key = fixture.key();
    fixture.put(key, Facets::default(), "0").await?;
    let results = run_concurrently(TASKS, |_| count(fixture.store.clone(), key)).await?;
    results.into_iter().collect::<Outcome>()?;
    let sum = fixture.read(key).await?.map(|record| record.body);
    expect_equal("the count", &sum, &Some((TASKS * ROUNDS).to_string().into()))
}

async fn count(store: Arc<dyn Store>, key: Key) -> Outcome {
    for _ in 0..ROUNDS {
        increment(&*store, key).await?;
    }
    Ok(())
}

/// Increments the counter optimistically: reads, commits, and retries on a conflict.
async fn increment(store: &dyn Store, key: Key) -> Outcome {
    const TRIES: usize = 10_000;
    for _ in 0..TRIES {
        let record = store.get(&[key]).await?.pop().flatten();
        let record = record.ok_or_else(|| Fault::new("the counter does not exist"))?;
        let count = std::str::from_utf8(&record.body).ok().and_then(|text| text.parse::<u64>().ok());
        let count = count.ok_or_else(|| Fault::new("the counter is not a number"))?;
        let mut batch = Batch::new();
        batch.put(key, Precondition::Version(record.version), Facets::default(), (count + 1).to_string());
        match store.commit(batch).await {
            Err(error) if *error.kind() == StoreErrorKind::Conflict(key) => yield_now().await,
            result => return Ok(result?),
        }
    }
    Err(Fault::new(format!("{TRIES} consecutive conflicts, although one commit must succeed each time")))
}

async fn concurrent_commits_get_different_versions(mut fixture: Fixture) -> Outcome {
    let keys: Vec<Key> = (0..TASKS * ROUNDS).map(|_| fixture.key()).collect();
    let results = run_concurrently(TASKS, |number| {
        let mine = keys.iter().copied().skip(number * ROUNDS).take(ROUNDS).collect();
        put_one_by_one(fixture.store.clone(), mine)
    });
    results.await?.into_iter().collect::<Outcome>()?;
    let records = fixture.store.get(&keys).await?.into_iter().flatten();
    let versions: BTreeSet<Version> = records.map(|record| record.version).collect();
    expect_equal("the number of different versions", &versions.len(), &keys.len())
}

async fn put_one_by_one(store: Arc<dyn Store>, keys: Vec<Key>) -> Outcome {
    for key in keys {
        store.commit(put(key, Precondition::Absent, Facets::default())).await?;
    }
    Ok(())
}
