use std::sync::Arc;

use super::run_concurrently;
use crate::store::{Batch, Facets, Key, Precondition, Store, StoreError, StoreErrorKind};
use crate::testing::{Fixture, Outcome, expect_equal, expect_error, with_unique_keys};

crate::testing::table! { of "commit":
    "Of concurrent commits that expect the same version of a record, exactly one succeeds" =>
        concurrent_updates_of_one_version_let_one_succeed,
        concurrent_creates_of_one_record_let_one_succeed;
    "If two records would share one, nothing changes and the error is `UniqueKeyTaken`" =>
        concurrent_puts_of_one_unique_key_let_one_succeed;
}

const TASKS: usize = 16;
const ROUNDS: usize = 10;

async fn concurrent_updates_of_one_version_let_one_succeed(mut fixture: Fixture) -> Outcome {
    let key = fixture.key();
    fixture.put(key, Facets::default(), "before").await?;
    for _ in 0..ROUNDS {
        let version = fixture.read(key).await?.map(|record| record.version);
        race(&fixture, key, version.map_or(Precondition::Absent, Precondition::Version)).await?;
    }
    Ok(())
}

async fn concurrent_creates_of_one_record_let_one_succeed(mut fixture: Fixture) -> Outcome {
    for _ in 0..ROUNDS {
        let key = fixture.key();
        race(&fixture, key, Precondition::Absent).await?;
    }
    Ok(())
}

/// Lets every task write its number, and expects the record to have the winner's.
async fn race(fixture: &Fixture, key: Key, precondition: Precondition) -> Outcome {
    let tasks = run_concurrently(TASKS, |number| {
        let mut batch = Batch::new();
        batch.put(key, precondition, Facets::default(), number.to_string());
        attempt(fixture.store.clone(), number, batch)
    });
    let winner = expect_one_winner(&tasks.await?, &StoreErrorKind::Conflict(key))?;
    let body = fixture.read(key).await?.map(|record| record.body);
    expect_equal("the body, which is the winner's number", &body, &Some(winner.to_string().into()))
}

async fn concurrent_puts_of_one_unique_key_let_one_succeed(mut fixture: Fixture) -> Outcome {
    for _ in 0..ROUNDS {
        let (keys, unique_key): ([Key; TASKS], _) = (fixture.keys(), fixture.unique_key());
        let tasks = run_concurrently(TASKS, |number| {
            let mut batch = Batch::new();
            for key in keys.iter().skip(number).take(1) {
                batch.put(*key, Precondition::Absent, with_unique_keys(&[&unique_key]), number.to_string());
            }
            attempt(fixture.store.clone(), number, batch)
        });
        let winner = expect_one_winner(&tasks.await?, &StoreErrorKind::UniqueKeyTaken(unique_key.clone()))?;
        let record = fixture.store.get_by_unique_key(&unique_key).await?;
        let body = record.as_ref().map(|record| record.body.clone());
        expect_equal("the body of the unique key's holder", &body, &Some(winner.to_string().into()))?;
        let there: Vec<_> = fixture.store.get(&keys).await?.into_iter().flatten().collect();
        expect_equal("the records of all competing puts", &there, &Vec::from_iter(record))?;
    }
    Ok(())
}

type Attempt = (usize, Result<(), StoreError>);

async fn attempt(store: Arc<dyn Store>, number: usize, batch: Batch) -> Attempt {
    (number, store.commit(batch).await)
}

fn expect_one_winner(attempts: &[Attempt], losers: &StoreErrorKind) -> Outcome<usize> {
    let (won, lost): (Vec<&Attempt>, Vec<_>) = attempts.iter().partition(|(_, result)| result.is_ok());
    for (_, result) in lost {
        expect_error("the error of a losing commit", result, losers)?;
    }
    expect_equal("the number of successful commits", &won.len(), &1)?;
    Ok(won.iter().map(|(number, _)| *number).sum())
}
