//! Thousands of random operations, the answer to each compared with the model's.

mod pool;

use std::fmt::Debug;

use crate::store::{Key, Snapshot, StoreError, StoreErrorKind, Version, Write};
use crate::testing::{Bench, Entries, Fault, Model, Outcome, read_out, same};

use pool::Pool;

crate::testing::table! { of "store":
    "A store holds *records*: a [`Key`], a [`Version`], and a body of bytes that it never looks into" =>
        random_operations_agree_with_a_model;
}

const STEPS: usize = 4000;

struct Walk {
    bench: Bench,
    model: Model,
    pool: Pool,
    newest: Version,
    /// A snapshot that was taken some steps ago, and what it must hold.
    open: Option<(Box<dyn Snapshot>, Entries)>,
}

async fn random_operations_agree_with_a_model(mut bench: Bench) -> Outcome {
    let pool = Pool::new(&mut bench);
    // The counts of the purges to come are to be of the walk's own records.
    bench.store.purge_expired(pool.dusk()).await?;
    let mut walk = Walk { bench, model: Model::default(), pool, newest: Version(0), open: None };
    for step in 0..STEPS {
        walk.step().await.map_err(|fault| fault.within(&format!("at step {step}")))?;
    }
    walk.snapshot().await
}

impl Walk {
    async fn step(&mut self) -> Outcome {
        match self.pool.below(100) {
            0..=54 => self.commit().await,
            55..=86 => self.list().await,
            87..=91 => self.get().await,
            92 => self.snapshot().await,
            93..=97 => self.get_by_unique_key().await,
            _ => self.purge().await,
        }
    }

    async fn commit(&mut self) -> Outcome {
        let batch = self.pool.batch(&self.model);
        let objections = self.model.objections(&batch);
        let result = self.bench.store.commit(batch.clone()).await;
        match &result {
            Ok(()) if objections.is_empty() => {
                let versions = self.bench.versions(&batch).await?;
                if let Some(stale) = versions.values().find(|version| **version <= self.newest) {
                    return Err(Fault::new(format!("{stale:?} was given after {:?}", self.newest)));
                }
                self.newest = versions.values().max().copied().unwrap_or(self.newest);
                self.model.apply(&batch, &versions);
            }
            Err(error) if objections.contains(error.kind()) => {}
            _ => {
                let text = format!(
                    "{batch:?}: expected one of {objections:?}, or Ok if there is none, got {result:?}"
                );
                return Err(Fault::new(text));
            }
        }
        self.agree_on(&batch.writes().iter().map(Write::key).collect::<Vec<_>>()).await
    }

    async fn list(&mut self) -> Outcome {
        let query = self.pool.query();
        let result = self.bench.store.list(&query).await;
        same(&format!("{query:?}"), &kind_of(result)?, &self.model.list(&query))
    }

    /// Reads the snapshot that is open, and takes the next one.
    async fn snapshot(&mut self) -> Outcome {
        let next = (self.bench.store.snapshot().await?, self.model.entries());
        let Some((mut snapshot, expected)) = self.open.replace(next) else { return Ok(()) };
        let limit = self.pool.piece();
        same("snapshot", &read_out(&mut *snapshot, limit, self.bench.kinds()).await?, &expected)
    }

    async fn get(&mut self) -> Outcome {
        let keys = self.pool.keys();
        self.agree_on(&keys).await
    }

    async fn agree_on(&mut self, keys: &[Key]) -> Outcome {
        let expected: Vec<_> = keys.iter().map(|key| self.model.get(*key)).collect();
        same(&format!("get {keys:?}"), &self.bench.store.get(keys).await?, &expected)
    }

    async fn get_by_unique_key(&mut self) -> Outcome {
        let unique_key = self.pool.unique_key();
        same(
            "get_by_unique_key",
            &self.bench.store.get_by_unique_key(&unique_key).await?,
            &self.model.get_by_unique_key(&unique_key),
        )
    }

    async fn purge(&mut self) -> Outcome {
        let now = self.pool.moment();
        let count = self.bench.store.purge_expired(now).await?;
        same("how many were purged", &count, &self.model.purge_expired(now))
    }
}

/// The result as the model would give it. That the store is not able to answer is no answer.
fn kind_of<T: Debug>(result: Result<T, StoreError>) -> Outcome<Result<T, StoreErrorKind>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error) if *error.kind() == StoreErrorKind::Invalid => Ok(Err(StoreErrorKind::Invalid)),
        Err(error) => Err(error.into()),
    }
}
