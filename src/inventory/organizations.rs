use uuid::Uuid;

use super::schema::{CREATED_AT, ORGANIZATION, encode, organization_key, time_key};
use super::{Entity, Error, Inventory, validate};
use crate::model::Organization;
use crate::store::{Batch, Direction, Facets, Order, Precondition, Query};

/// An organization to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewOrganization {
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// Whether the API keys of its users work. Default: true.
    pub api_access: bool,
}

impl NewOrganization {
    /// An organization with API access.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), api_access: true }
    }
}

impl From<&str> for NewOrganization {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for NewOrganization {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl Inventory {
    /// Creates an organization.
    ///
    /// ```
    /// # use toposcope::{Inventory, MemoryStore};
    /// use toposcope::inventory::NewOrganization;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.create_organization("Example").await?;
    /// assert!(organization.api_access);
    ///
    /// let mut new = NewOrganization::new("Trial");
    /// new.api_access = false;
    /// inventory.create_organization(new).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` when the name is blank or longer than 100 characters.
    pub async fn create_organization(&self, new: impl Into<NewOrganization>) -> Result<Organization, Error> {
        let NewOrganization { name, api_access } = new.into();
        let now = self.now();
        let name = validate::name("name", &name, 100)?;
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

    /// Accepts the API keys of the organization's users again, from the next request on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn enable_api_access(&self, id: Uuid) -> Result<Organization, Error> {
        self.set_api_access(id, true).await
    }

    /// Refuses the API keys of the organization's users from the next request on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn disable_api_access(&self, id: Uuid) -> Result<Organization, Error> {
        self.set_api_access(id, false).await
    }

    async fn set_api_access(&self, id: Uuid, api_access: bool) -> Result<Organization, Error> {
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
