//! How a record is changed: read, decided, committed on the condition that it has not changed since, and decided again
//! when it has.

use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::records::{decode, encode};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::model::Timestamp;
use crate::store::{Batch, Facets, Key, Precondition, Query, Record, StoreErrorKind};

/// How often a change is tried when others change the same records at the same time.
pub(super) const ATTEMPTS: usize = 16;

impl Inventory {
    pub(super) async fn get(&self, key: Key) -> Result<Option<Record>, Error> {
        Ok(self.store.get(&[key]).await?.pop().flatten())
    }

    /// A record that must be there, decoded.
    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        key: Key,
        entity: Entity,
    ) -> Result<(Record, T), Error> {
        let record = self.get(key).await?.ok_or(ErrorKind::NotFound { entity, id: key.id })?;
        let value = decode(&record)?;
        Ok((record, value))
    }

    /// All records of a query, decoded.
    pub(super) async fn read_all<T: DeserializeOwned>(&self, query: &Query) -> Result<Vec<T>, Error> {
        self.store.list(query).await?.records.iter().map(decode).collect()
    }

    /// How many records a query matches.
    pub(super) async fn count(&self, query: Query) -> Result<u64, Error> {
        Ok(self.store.list(&Query { limit: Some(0), ..query }).await?.total)
    }

    /// Changes a value of a record that refers to nothing new, at a time that is asked for anew with every attempt.
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

    /// Commits a batch. `false`: others came between, and everything is to be decided anew on what is there now.
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

/// The expectation that a record is still the one that was read, or that there is still none.
pub(super) fn as_read(record: Option<&Record>) -> Precondition {
    record.map_or(Precondition::Absent, |record| Precondition::Version(record.version))
}

/// Others always came between.
pub(super) fn conflict(entity: Entity, id: Uuid) -> Error {
    ErrorKind::Conflict { entity, id }.into()
}
