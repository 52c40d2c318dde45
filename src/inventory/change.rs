//! Reading, deciding and committing changes of records.

use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::records::{decode, encode};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::model::Timestamp;
use crate::store::{Batch, Facets, Key, Precondition, Query, Record, StoreErrorKind};

/// The maximum number of attempts of a change under contention.
pub(super) const ATTEMPTS: usize = 16;

impl Inventory {
    pub(super) async fn get(&self, key: Key) -> Result<Option<Record>, Error> {
        Ok(self.store.get(&[key]).await?.pop().flatten())
    }

    /// Reads and decodes a record that must exist.
    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        key: Key,
        entity: Entity,
    ) -> Result<(Record, T), Error> {
        let record = self.get(key).await?.ok_or(ErrorKind::NotFound { entity, id: key.id })?;
        let value = decode(&record)?;
        Ok((record, value))
    }

    /// Reads and decodes all records of a query.
    pub(super) async fn read_all<T: DeserializeOwned>(&self, query: &Query) -> Result<Vec<T>, Error> {
        self.store.list(query).await?.records.iter().map(decode).collect()
    }

    /// Returns how many records a query matches.
    pub(super) async fn count(&self, query: Query) -> Result<u64, Error> {
        Ok(self.store.list(&Query { limit: Some(0), ..query }).await?.total)
    }

    /// Updates a record in place, without adding references.
    ///
    /// `change` receives the decoded value and the current time. It is called again on every attempt.
    pub(super) async fn change<T: DeserializeOwned + Serialize>(
        &self,
        key: Key,
        entity: Entity,
        facets: impl Fn(&T) -> Facets,
        change: impl Fn(&mut T, Timestamp),
    ) -> Result<T, Error> {
        let mut transaction = self.transaction(entity, key.id);
        loop {
            let (record, mut value) = self.read(key, entity).await?;
            change(&mut value, self.now());
            let mut batch = Batch::new();
            batch.put(key, as_read(Some(&record)), facets(&value), encode(&value)?);
            if transaction.commit(batch).await? {
                return Ok(value);
            }
        }
    }

    /// Commits a batch. Returns `false` when a precondition or guard failed and the change must be decided again.
    pub(super) async fn commit_if_unchanged(&self, batch: Batch) -> Result<bool, Error> {
        let Err(error) = self.store.commit(batch).await else { return Ok(true) };
        match error.kind() {
            StoreErrorKind::Conflict(_)
            | StoreErrorKind::Linked(_)
            | StoreErrorKind::NetworkInUse(_)
            | StoreErrorKind::UniqueKeyTaken(_) => {
                tokio::task::yield_now().await;
                Ok(false)
            }
            _ => Err(error.into()),
        }
    }
}

/// Returns the precondition that a record is still at the version read, or still absent.
pub(super) fn as_read(record: Option<&Record>) -> Precondition {
    record.map_or(Precondition::Absent, |record| Precondition::Version(record.version))
}

/// Creates the error for a change that ran out of attempts.
pub(super) fn conflict(entity: Entity, id: Uuid) -> Error {
    ErrorKind::Conflict { entity, id }.into()
}
