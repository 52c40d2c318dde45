use uuid::Uuid;

use super::schema::{CREATED_AT, ORGANIZATION, encode, organization_key, time_key};
use super::{Entity, Error, Inventory, validate};
use crate::model::Organization;
use crate::store::{Batch, Direction, Facets, Order, Precondition, Query};

impl Inventory {
    /// Creates an organization.
    ///
    /// `api_access` determines whether the API keys of its users are accepted.
    ///
    /// # Errors
    /// `Invalid` when the name is blank or longer than 100 characters.
    pub async fn create_organization(&self, name: &str, api_access: bool) -> Result<Organization, Error> {
        let now = self.now();
        let name = validate::name("name", name, 100)?;
        let organization =
            Organization { id: self.new_id()?, name, api_access, created_at: now, updated_at: now };
        let facets = organization_facets(&organization);
        let mut batch = Batch::new();
        batch.put(organization_key(organization.id), Precondition::Absent, facets, encode(&organization)?);
        self.store.commit(batch).await?;
        Ok(organization)
    }

    /// Returns an organization.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn organization(&self, id: Uuid) -> Result<Organization, Error> {
        Ok(self.read(organization_key(id), Entity::Organization).await?.1)
    }

    /// Returns all organizations in the store, oldest first.
    ///
    /// # Errors
    /// None specific to this method.
    pub async fn organizations(&self) -> Result<Vec<Organization>, Error> {
        let order = vec![Order::new(CREATED_AT, Direction::Ascending)];
        self.read_all(&Query { order, ..Query::new(ORGANIZATION) }).await
    }

    /// Enables or disables API access for an organization.
    ///
    /// Without API access, the API keys of its users are refused. Takes effect with the next request.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn set_api_access(&self, id: Uuid, api_access: bool) -> Result<Organization, Error> {
        let (key, entity) = (organization_key(id), Entity::Organization);
        let set = |organization: &mut Organization, now| {
            organization.api_access = api_access;
            organization.updated_at = now;
        };
        self.change(key, entity, organization_facets, set).await
    }
}

/// Organization records have no organization facet, so that one query can list them all.
pub(super) fn organization_facets(organization: &Organization) -> Facets {
    Facets { sort_keys: vec![time_key(CREATED_AT, organization.created_at)], ..Facets::default() }
}
