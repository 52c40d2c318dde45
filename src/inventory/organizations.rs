use uuid::Uuid;

use super::records::{CREATED_AT, ORGANIZATION, decode, encode, time_key};
use super::{ATTEMPTS, Entity, Error, ErrorKind, Inventory, as_read, text};
use crate::model::Organization;
use crate::store::{Batch, Expect, Facets, Key, Record};

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
        let facets = organization_facets(&organization);
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
        Ok(self.read_organization(id).await?.1)
    }

    /// Gives an organization API access or takes it away: whether its users' API keys work, from the very next request on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn set_api_access(&self, id: Uuid, api_access: bool) -> Result<Organization, Error> {
        for _ in 0..ATTEMPTS {
            let (record, organization) = self.read_organization(id).await?;
            let organization = Organization { api_access, updated_at: self.now(), ..organization };
            let mut batch = Batch::new();
            let facets = organization_facets(&organization);
            batch.put(record.key, as_read(Some(&record)), facets, encode(&organization)?);
            if self.commit_if_unchanged(batch).await? {
                return Ok(organization);
            }
        }
        Err(ErrorKind::Conflict { entity: Entity::Organization, id }.into())
    }

    async fn read_organization(&self, id: Uuid) -> Result<(Record, Organization), Error> {
        let not_found = ErrorKind::NotFound { entity: Entity::Organization, id };
        let record = self.get(organization_key(id)).await?.ok_or(not_found)?;
        let organization = decode(&record)?;
        Ok((record, organization))
    }
}

/// Organizations belong to none, so that those of a store can be listed.
fn organization_facets(organization: &Organization) -> Facets {
    Facets { sort_keys: vec![time_key(CREATED_AT, organization.created_at)], ..Facets::default() }
}

pub(super) const fn organization_key(id: Uuid) -> Key {
    Key::new(ORGANIZATION, id)
}
