//! Reading of records from the store.

use serde::de::DeserializeOwned;

use super::records::belongs_to;
use super::schema::{decode, organization_key};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::model::OrganizationId;
use crate::store::{Batch, Key, Precondition, Query, Record};

impl Inventory {
    /// Returns whether the store answers a read.
    pub(crate) async fn answers(&self) -> bool {
        self.store.get(&[organization_key(OrganizationId::nil())]).await.is_ok()
    }

    /// Returns whether the store accepts a write, which changes nothing: it deletes a record that does not exist.
    pub(crate) async fn accepts_writes(&self) -> bool {
        let mut batch = Batch::new();
        batch.delete(organization_key(OrganizationId::nil()), Precondition::Absent);
        self.store.commit(batch).await.is_ok()
    }

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

    /// Checks that all records of a list exist and belong to the organization.
    ///
    /// `field` is the path of the list; the error names the failing element.
    pub(super) async fn check_references(
        &self,
        organization: OrganizationId,
        entity: Entity,
        keys: &[Key],
        field: &str,
    ) -> Result<(), Error> {
        for (index, record) in self.store.get(keys).await?.iter().enumerate() {
            if !belongs_to(organization, record.as_ref())? {
                return Err(ErrorKind::ReferenceInvalid { entity, field: format!("{field}.{index}") }.into());
            }
        }
        Ok(())
    }
}
