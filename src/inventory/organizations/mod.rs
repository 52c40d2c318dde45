//! Organizations.

mod deletion;
mod transfer;

use crate::access::Caller;
use crate::inventory::collections::{CollectionRecord, Requirement, Requirements, handle};
use crate::inventory::history::Author;
use crate::inventory::records::named;
use crate::inventory::schema::{
    CREATED_AT, ORGANIZATION, encode, organization_deletion_key, organization_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, Problem, validate};
use crate::model::{Organization, OrganizationId, Permission, Timestamp, derived_id};
use crate::store::{Batch, Direction, Facets, Guard, Name, Order, Precondition, Query};

/// An organization to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewOrganization {
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// Whether the API keys of its users work. Default: true.
    pub api_access: bool,
    /// The id; `None`: [`create`](Organizations::create) makes one, and [`ensure`](Organizations::ensure) derives it from
    /// the name. The nil id is refused.
    pub id: Option<OrganizationId>,
}

impl NewOrganization {
    /// An organization with API access.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), api_access: true, id: None }
    }

    /// Sets the id, such as that of a tenant of the host application.
    #[must_use]
    pub fn id(self, id: impl Into<OrganizationId>) -> Self {
        Self { id: Some(id.into()), ..self }
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

handle! {
    /// The organizations in the store.
    ///
    /// Only host applications manage organizations, so that the methods take no caller.
    pub struct Organizations = organizations;
}

impl Organizations<'_> {
    /// Creates an organization.
    ///
    /// ```
    /// # use toposcope::{Inventory, MemoryStore};
    /// use toposcope::inventory::NewOrganization;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// let organization = inventory.organizations().create("Example").await?;
    /// assert!(organization.api_access);
    ///
    /// let mut new = NewOrganization::new("Trial");
    /// new.api_access = false;
    /// inventory.organizations().create(new).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` when the name is blank or longer than 100 characters, or the id is nil. `AlreadyExists` when an
    /// organization has the id, or one with the id is being deleted.
    pub async fn create(self, new: impl Into<NewOrganization>) -> Result<Organization, Error> {
        let new = new.into();
        let id = match new.id {
            Some(id) => id,
            None => self.inventory.new_id()?,
        };
        let organization = organization(new, id, self.inventory.now())?;
        let mut transaction = self.inventory.transaction(Author::system(id), Entity::Organization, id);
        let taken = [organization_key(id), organization_deletion_key(id)];
        while self.inventory.store.get(&taken).await?.iter().all(Option::is_none) {
            if transaction.commit(creation(&organization)?).await? {
                return Ok(organization);
            }
        }
        Err(ErrorKind::AlreadyExists { entity: Entity::Organization, name: id.to_string() }.into())
    }

    /// Returns the organization with this id, or creates it.
    ///
    /// A host application calls this for each of its tenants, at every start or at every login. An organization that
    /// exists is returned as it is: its name and API access do not change. Without an id, the name identifies it, as for
    /// [`bootstrap`](Inventory::bootstrap), which then finds the same organization. Several tasks and processes may
    /// call it at once.
    ///
    /// ```
    /// # use toposcope::{Inventory, MemoryStore};
    /// use toposcope::inventory::NewOrganization;
    /// use uuid::Uuid;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// let tenant = NewOrganization::new("Example").id(Uuid::from_u128(42));
    /// let organization = inventory.organizations().ensure(tenant.clone()).await?;
    /// assert_eq!(inventory.organizations().ensure(tenant).await?, organization);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for the name or the id, as for [`create`](Self::create); `Conflict` while an organization with the id is being deleted.
    pub async fn ensure(self, new: impl Into<NewOrganization>) -> Result<Organization, Error> {
        let new = new.into();
        let id = match new.id {
            Some(id) => id,
            None => id_of_name(&validate::name("name", &new.name, 100)?),
        };
        let organization = organization(new, id, self.inventory.now())?;
        let mut transaction = self.inventory.transaction(Author::system(id), Entity::Organization, id);
        loop {
            if let Some((_, known)) = self.inventory.find(organization_key(id)).await? {
                return Ok(known);
            }
            if transaction.commit(creation(&organization)?).await? {
                return Ok(organization);
            }
        }
    }

    /// Returns an organization.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn get(self, id: OrganizationId) -> Result<Organization, Error> {
        self.inventory.organization(id).await
    }

    /// Returns all organizations in the store, oldest first.
    pub async fn all(self) -> Result<Vec<Organization>, Error> {
        let order = vec![Order::new(CREATED_AT, Direction::Ascending)];
        self.inventory.read_all(&Query { order, ..Query::new(ORGANIZATION) }).await
    }

    /// Accepts the API keys of the organization's users again, from the next request on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn enable_api_access(self, id: OrganizationId) -> Result<Organization, Error> {
        self.inventory.set_api_access(id, true).await
    }

    /// Refuses the API keys of the organization's users from the next request on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn disable_api_access(self, id: OrganizationId) -> Result<Organization, Error> {
        self.inventory.set_api_access(id, false).await
    }
}

impl Inventory {
    async fn set_api_access(&self, id: OrganizationId, api_access: bool) -> Result<Organization, Error> {
        let set = |organization: &mut Organization, now| {
            organization.api_access = api_access;
            organization.updated_at = now;
        };
        let facets = |organization: &Organization| organization.facets(id);
        self.change(Author::system(id), organization_key(id), Entity::Organization, facets, set).await
    }
}

/// Returns the id of an organization that its name identifies.
///
/// Equal ids let concurrent calls compete for the same record instead of creating two.
pub(super) fn id_of_name(name: &str) -> OrganizationId {
    derived_id("bootstrap organization", &[name.as_bytes()])
}

fn organization(new: NewOrganization, id: OrganizationId, now: Timestamp) -> Result<Organization, Error> {
    let NewOrganization { name, api_access, .. } = new;
    let mut organization = Organization { id, name, api_access, created_at: now, updated_at: now };
    organization.validate(None, now)?;
    // The nil id names no organization: system callers have it as their user, and health checks use it.
    if id.is_nil() {
        return Err(Error::invalid("id", Problem::InvalidFormat));
    }
    Ok(organization)
}

fn creation(organization: &Organization) -> Result<Batch, Error> {
    let mut batch = Batch::new();
    put_organization(organization, &mut batch)?;
    Ok(batch)
}

/// Adds the creation of an organization to a batch. It fails while an earlier one with the same id is being deleted.
pub(super) fn put_organization(organization: &Organization, batch: &mut Batch) -> Result<(), Error> {
    let (id, facets) = (organization.id, organization.facets(organization.id));
    batch.put(organization_key(id), Precondition::Absent, facets, encode(organization)?);
    batch.guard(Guard::record(organization_deletion_key(id), Precondition::Absent));
    Ok(())
}

impl CollectionRecord for Organization {
    type Id = OrganizationId;

    const ENTITY: Entity = Entity::Organization;
    const KIND: Name = ORGANIZATION;
    const REQUIREMENTS: Requirements = Requirements {
        read: Requirement::level(Permission::Viewer),
        create: Requirement::session(Permission::Owner),
        change: Requirement::session(Permission::Owner),
    };

    fn id(&self) -> OrganizationId {
        self.id
    }

    fn label(&self) -> String {
        self.name.clone()
    }

    fn restrict(query: Query, _caller: &Caller) -> Query {
        query
    }

    fn begin(&mut self, id: OrganizationId, _organization: OrganizationId, now: Timestamp) {
        (self.id, self.created_at, self.updated_at) = (id, now, now);
    }

    fn keep_fixed(&mut self, stored: &Self) {
        (self.id, self.api_access) = (stored.id, stored.api_access);
        (self.created_at, self.updated_at) = (stored.created_at, stored.updated_at);
    }

    fn touch(&mut self, now: Timestamp) {
        self.updated_at = now;
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn validate(&mut self, _stored: Option<&Self>, _now: Timestamp) -> Result<(), Error> {
        self.name = validate::name("name", &self.name, 100)?;
        Ok(())
    }

    /// An organization belongs to itself, so that its callers find it like their other records.
    fn facets(&self, _organization: OrganizationId) -> Facets {
        named(self.id, &self.name, self.created_at, self.updated_at)
    }
}
