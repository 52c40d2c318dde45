//! Thousands of random operations, each result compared with the model's.

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
    /// A snapshot that was opened some steps ago, and its expected contents.
    open: Option<(Box<dyn Snapshot>, Entries)>,
}

async fn random_operations_match_model(mut fixture: Fixture) -> Outcome {
    let generator = Generator::new(&mut fixture);
    // Later purges must count only the records of this case.
    fixture.store.purge_expired(generator.last_expiry()).await?;
    let mut test = RandomTest { fixture, model: Model::default(), generator, newest: Version(0), open: None };
    for step in 0..STEPS {
        test.step().await.map_err(|fault| fault.within(&format!("at step {step}")))?;
    }
    test.snapshot().await
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
                    return Err(Fault::new(format!("{stale:?} was assigned after {:?}", self.newest)));
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
        self.expect_records_match(&batch.writes().iter().map(Write::key).collect::<Vec<_>>()).await
    }

    async fn list(&mut self) -> Outcome {
        let query = self.generator.query();
        let result = self.fixture.store.list(&query).await;
        expect_equal(&format!("{query:?}"), &as_model_result(result)?, &self.model.list(&query))
    }

    /// Reads the open snapshot and opens the next one.
    async fn snapshot(&mut self) -> Outcome {
        let next = (self.fixture.store.snapshot().await?, self.model.entries());
        let Some((mut snapshot, expected)) = self.open.replace(next) else { return Ok(()) };
        let limit = self.generator.snapshot_limit();
        expect_equal("snapshot", &read_all(&mut *snapshot, limit, self.fixture.kinds()).await?, &expected)
    }

    async fn get(&mut self) -> Outcome {
        let keys = self.generator.keys();
        self.expect_records_match(&keys).await
    }

    async fn expect_records_match(&mut self, keys: &[Key]) -> Outcome {
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
        expect_equal("the number of purged records", &count, &self.model.purge_expired(now))
    }
}

/// Converts a result to the model's form. An error other than `Invalid` fails the case.
fn as_model_result<T: Debug>(result: Result<T, StoreError>) -> Outcome<Result<T, StoreErrorKind>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error) if *error.kind() == StoreErrorKind::Invalid => Ok(Err(StoreErrorKind::Invalid)),
        Err(error) => Err(error.into()),
    }
}
