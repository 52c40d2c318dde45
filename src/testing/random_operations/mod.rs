//! Thousands of random operations, the answer to each compared with the model's.

mod generator;

use std::fmt::Debug;

use crate::store::{Key, Snapshot, StoreError, StoreErrorKind, Version, Write};
use crate::testing::{Entries, Fault, Fixture, Model, Outcome, expect_equal, read_all};

use generator::Generator;

crate::testing::table! { of "store":
    "A store holds *records*: a [`Key`], a [`Version`], and a body of bytes that the store never interprets" =>
        random_operations_match_model;
}

const STEPS: usize = 4000;

struct RandomTest {
    fixture: Fixture,
    model: Model,
    generator: Generator,
    newest: Version,
    /// A snapshot that was taken some steps ago, and what it must hold.
    open: Option<(Box<dyn Snapshot>, Entries)>,
}

async fn random_operations_match_model(mut fixture: Fixture) -> Outcome {
    let generator = Generator::new(&mut fixture);
    // The counts of the purges to come are to be of the walk's own records.
    fixture.store.purge_expired(generator.last_expiry()).await?;
    let mut random_operations =
        RandomTest { fixture, model: Model::default(), generator, newest: Version(0), open: None };
    for step in 0..STEPS {
        random_operations.step().await.map_err(|fault| fault.within(&format!("at step {step}")))?;
    }
    random_operations.snapshot().await
}

impl RandomTest {
    async fn step(&mut self) -> Outcome {
        match self.generator.below(100) {
            0..=54 => self.commit().await,
            55..=86 => self.list().await,
            87..=91 => self.get().await,
            92 => self.snapshot().await,
            93..=97 => self.get_by_unique_key().await,
            _ => self.purge().await,
        }
    }

    async fn commit(&mut self) -> Outcome {
        let batch = self.generator.batch(&self.model);
        let violations = self.model.violations(&batch);
        let result = self.fixture.store.commit(batch.clone()).await;
        match &result {
            Ok(()) if violations.is_empty() => {
                let versions = self.fixture.versions(&batch).await?;
                if let Some(stale) = versions.values().find(|version| **version <= self.newest) {
                    return Err(Fault::new(format!("{stale:?} was given after {:?}", self.newest)));
                }
                self.newest = versions.values().max().copied().unwrap_or(self.newest);
                self.model.apply(&batch, &versions);
            }
            Err(error) if violations.contains(error.kind()) => {}
            _ => {
                let text = format!(
                    "{batch:?}: expected one of {violations:?}, or Ok if there is none, got {result:?}"
                );
                return Err(Fault::new(text));
            }
        }
        self.agree_on(&batch.writes().iter().map(Write::key).collect::<Vec<_>>()).await
    }

    async fn list(&mut self) -> Outcome {
        let query = self.generator.query();
        let result = self.fixture.store.list(&query).await;
        expect_equal(&format!("{query:?}"), &kind_of(result)?, &self.model.list(&query))
    }

    /// Reads the snapshot that is open, and takes the next one.
    async fn snapshot(&mut self) -> Outcome {
        let next = (self.fixture.store.snapshot().await?, self.model.entries());
        let Some((mut snapshot, expected)) = self.open.replace(next) else { return Ok(()) };
        let limit = self.generator.piece();
        expect_equal("snapshot", &read_all(&mut *snapshot, limit, self.fixture.kinds()).await?, &expected)
    }

    async fn get(&mut self) -> Outcome {
        let keys = self.generator.keys();
        self.agree_on(&keys).await
    }

    async fn agree_on(&mut self, keys: &[Key]) -> Outcome {
        let expected: Vec<_> = keys.iter().map(|key| self.model.get(*key)).collect();
        expect_equal(&format!("get {keys:?}"), &self.fixture.store.get(keys).await?, &expected)
    }

    async fn get_by_unique_key(&mut self) -> Outcome {
        let unique_key = self.generator.unique_key();
        expect_equal(
            "get_by_unique_key",
            &self.fixture.store.get_by_unique_key(&unique_key).await?,
            &self.model.get_by_unique_key(&unique_key),
        )
    }

    async fn purge(&mut self) -> Outcome {
        let now = self.generator.expiry();
        let count = self.fixture.store.purge_expired(now).await?;
        expect_equal("how many were purged", &count, &self.model.purge_expired(now))
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
