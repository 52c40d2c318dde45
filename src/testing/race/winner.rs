use std::sync::Arc;

use super::crowd;
use crate::store::{Batch, Facets, Key, Precondition, Store, StoreError, StoreErrorKind};
use crate::testing::{Bench, Outcome, refused, same, uniquely_keyed};

crate::testing::table! { of "commit":
    "Of commits at the same time that expect the same version of a record, one succeeds" =>
        of_many_puts_expecting_one_version_one_succeeds,
        of_many_puts_expecting_no_record_one_succeeds;
    "If two records would share one, nothing changes and the error is `UniqueKeyTaken`" =>
        of_many_claims_of_a_unique_key_one_succeeds;
}

const TASKS: usize = 16;
const ROUNDS: usize = 10;

async fn of_many_puts_expecting_one_version_one_succeeds(mut bench: Bench) -> Outcome {
    let key = bench.key();
    bench.put(key, Facets::default(), "before").await?;
    for _ in 0..ROUNDS {
        let version = bench.read(key).await?.map(|record| record.version);
        race(&bench, key, version.map_or(Precondition::Absent, Precondition::Version)).await?;
    }
    Ok(())
}

async fn of_many_puts_expecting_no_record_one_succeeds(mut bench: Bench) -> Outcome {
    for _ in 0..ROUNDS {
        let key = bench.key();
        race(&bench, key, Precondition::Absent).await?;
    }
    Ok(())
}

/// Every task writes its number: the record must be the winner's.
async fn race(bench: &Bench, key: Key, precondition: Precondition) -> Outcome {
    let tasks = crowd(TASKS, |number| {
        let mut batch = Batch::new();
        batch.put(key, precondition, Facets::default(), number.to_string());
        attempt(bench.store.clone(), number, batch)
    });
    let winner = only_winner(&tasks.await?, &StoreErrorKind::Conflict(key))?;
    let body = bench.read(key).await?.map(|record| record.body);
    same("the body, which is the winner's number", &body, &Some(winner.to_string().into()))
}

async fn of_many_claims_of_a_unique_key_one_succeeds(mut bench: Bench) -> Outcome {
    for _ in 0..ROUNDS {
        let (keys, unique_key): ([Key; TASKS], _) = (bench.keys(), bench.unique_key());
        let tasks = crowd(TASKS, |number| {
            let mut batch = Batch::new();
            for key in keys.iter().skip(number).take(1) {
                batch.put(*key, Precondition::Absent, uniquely_keyed(&[&unique_key]), number.to_string());
            }
            attempt(bench.store.clone(), number, batch)
        });
        let winner = only_winner(&tasks.await?, &StoreErrorKind::UniqueKeyTaken(unique_key.clone()))?;
        let record = bench.store.get_by_unique_key(&unique_key).await?;
        let body = record.as_ref().map(|record| record.body.clone());
        same("the body of the unique key's holder", &body, &Some(winner.to_string().into()))?;
        let there: Vec<_> = bench.store.get(&keys).await?.into_iter().flatten().collect();
        same("the records of all who tried", &there, &Vec::from_iter(record))?;
    }
    Ok(())
}

type Attempt = (usize, Result<(), StoreError>);

async fn attempt(store: Arc<dyn Store>, number: usize, batch: Batch) -> Attempt {
    (number, store.commit(batch).await)
}

fn only_winner(attempts: &[Attempt], losers: &StoreErrorKind) -> Outcome<usize> {
    let (won, lost): (Vec<&Attempt>, Vec<_>) = attempts.iter().partition(|(_, result)| result.is_ok());
    for (_, result) in lost {
        refused("one who came too late", result, losers)?;
    }
    same("how many succeeded", &won.len(), &1)?;
    Ok(won.iter().map(|(number, _)| *number).sum())
}
