//! Reading, counting and reference checks of stored records.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::schema::decode;
use super::{Entity, Error, ErrorKind, Inventory};
use crate::store::{Key, Query, Record};

/// The owner field that most records share.
#[derive(Debug, Deserialize)]
struct Owned {
    organization_id: Uuid,
}

/// Returns the organization that owns a record.
pub(super) fn organization_of(record: &Record) -> Result<Uuid, Error> {
    Ok(decode::<Owned>(record)?.organization_id)
}

/// Returns whether the record exists and belongs to the organization.
pub(super) fn belongs_to(organization: Uuid, record: Option<&Record>) -> Result<bool, Error> {
    Ok(record.map(organization_of).transpose()? == Some(organization))
}

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

    /// Checks that a record exists and belongs to the organization. `field` is reported in the error.
    pub(super) async fn check_reference(
        &self,
        organization: Uuid,
        entity: Entity,
        key: Key,
        field: &str,
    ) -> Result<(), Error> {
        if belongs_to(organization, self.get(key).await?.as_ref())? {
            Ok(())
        } else {
            Err(ErrorKind::ReferenceInvalid { entity, field: field.to_owned() }.into())
        }
    }

    /// Checks that all records of a list exist and belong to the organization.
    ///
    /// `field` is the path of the list; the error names the failing element.
    pub(super) async fn check_references(
        &self,
        organization: Uuid,
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
