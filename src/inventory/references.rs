use serde::Deserialize;
use uuid::Uuid;

use super::records::decode;
use super::{Entity, Error, ErrorKind, Inventory};
use crate::store::{Key, Record};

/// As much of a record as tells whose it is.
#[derive(Debug, Deserialize)]
struct Owned {
    organization_id: Uuid,
}

/// Whose a record is.
pub(super) fn organization_of(record: &Record) -> Result<Uuid, Error> {
    Ok(decode::<Owned>(record)?.organization_id)
}

/// Whether there is a record, and it is the organization's.
pub(super) fn belongs_to(organization: Uuid, record: Option<&Record>) -> Result<bool, Error> {
    Ok(record.map(organization_of).transpose()? == Some(organization))
}

impl Inventory {
    /// Whether a record is there and the organization's; `field` names it.
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

    /// Whether the records of a list are all there and the organization's; `field` is the list that names them.
    pub(super) async fn check_references(
        &self,
        organization: Uuid,
        entity: Entity,
        keys: &[Key],
        field: &str,
    ) -> Result<(), Error> {
        for (place, record) in self.store.get(keys).await?.iter().enumerate() {
            if !belongs_to(organization, record.as_ref())? {
                return Err(ErrorKind::ReferenceInvalid { entity, field: format!("{field}.{place}") }.into());
            }
        }
        Ok(())
    }
}
