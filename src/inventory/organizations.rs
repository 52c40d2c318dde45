use uuid::Uuid;

use super::records::{CREATED_AT, ORGANIZATION, decode, encode, time_key};
use super::{Entity, Error, ErrorKind, Inventory, text};
use crate::model::Organization;
use crate::store::{Batch, Expect, Facets, Key};

impl Inventory {
    /// Creates an organization. `api_access` says whether its users' API keys work at all.
    ///
    /// # Errors
    /// `Invalid` when the name is blank or longer than 100 characters.
    pub async fn create_organization(&self, name: &str, api_access: bool) -> Result<Organization, Error> {
        let now = self.now();
        let name = text::name("name", name, 100)?;
        let organization =
            Organization { id: self.new_id()?, name, api_access, created_at: now, updated_at: now };
        // Organizations belong to none, so that those of a store can be listed.
        let facets = Facets { sort_keys: vec![time_key(CREATED_AT, now)], ..Facets::default() };
        let mut batch = Batch::new();
        batch.put(organization_key(organization.id), Expect::Absent, facets, encode(&organization)?);
        self.store.commit(batch).await?;
        Ok(organization)
    }

    /// An organization.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn organization(&self, id: Uuid) -> Result<Organization, Error> {
        match self.get(organization_key(id)).await? {
            Some(record) => decode(&record),
            None => Err(ErrorKind::NotFound { entity: Entity::Organization, id }.into()),
        }
    }
}

pub(super) const fn organization_key(id: Uuid) -> Key {
    Key::new(ORGANIZATION, id)
}
