//! Organizations, their networks and their tags.

use uuid::Uuid;

use super::records::{StoredUser, network_facets, organization_facets, user_api_key_facets, user_facets};
use super::schema::{
    CREATED_AT, DAEMON_API_KEY, HOST, NAME, NETWORK, NETWORK_LINK, ORGANIZATION, SERVICE_TAG_LINK, SHARE,
    TAG, TAG_LINK, USER, USER_API_KEY, all_of, decode, encode, exists, facets, linked, network_key,
    on_network, organization_key, tag_key,
};
use super::{Entity, Error, ErrorKind, Inventory, unchanged, validate};
use crate::model::{Network, Organization, Tag, UserApiKey};
use crate::store::{
    Batch, Direction, Guard, Link, Name, Order, Precondition, Query, SortKey, StoreErrorKind,
};

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

/// The kinds of records that keep a network from being deleted.
const NETWORK_CONTENTS: [(Entity, Name); 3] =
    [(Entity::Host, HOST), (Entity::DaemonApiKey, DAEMON_API_KEY), (Entity::Share, SHARE)];

impl Inventory {
    /// Creates a network.
    ///
    /// # Errors
    /// `Invalid` when the name is blank or longer than 100 characters; `NotFound` when there is no such organization.
    pub async fn create_network(&self, organization: Uuid, name: &str) -> Result<Network, Error> {
        self.create_network_with_id(organization, self.new_id()?, name).await
    }

    /// Creates a network with a given id, such as one named by imported hosts.
    ///
    /// # Errors
    /// Those of [`create_network`](Self::create_network), and `AlreadyExists` when the id is taken.
    pub async fn create_network_with_id(
        &self,
        organization: Uuid,
        id: Uuid,
        name: &str,
    ) -> Result<Network, Error> {
        let now = self.now();
        let name = validate::name("name", name, 100)?;
        let network = Network { id, organization_id: organization, name, created_at: now, updated_at: now };
        let mut batch = Batch::new();
        batch.put(network_key(id), Precondition::Absent, network_facets(&network), encode(&network)?);
        batch.guard(exists(organization_key(organization)));
        match self.store.commit(batch).await {
            Ok(()) => Ok(network),
            Err(error) => Err(match error.kind() {
                StoreErrorKind::Conflict(key) if *key == network_key(id) => {
                    ErrorKind::AlreadyExists { entity: Entity::Network, name: id.to_string() }.into()
                }
                StoreErrorKind::Conflict(_) => {
                    ErrorKind::NotFound { entity: Entity::Organization, id: organization }.into()
                }
                _ => error.into(),
            }),
        }
    }

    /// Returns a network.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn network(&self, id: Uuid) -> Result<Network, Error> {
        Ok(self.read(network_key(id), Entity::Network).await?.1)
    }

    /// Returns all networks of an organization, sorted by name.
    pub async fn networks(&self, organization: Uuid) -> Result<Vec<Network>, Error> {
        let order = vec![Order::new(NAME, Direction::Ascending)];
        self.read_all(&Query { order, ..all_of(NETWORK, organization) }).await
    }

    /// Deletes an empty network and revokes all grants of it to users and API keys.
    ///
    /// ```
    /// # use toposcope::inventory::{Inventory, NewShare};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// let network = inventory.create_network(organization.id, "Office").await?;
    /// let mut share = NewShare::new(organization.id, "The office");
    /// share.network_id = Some(network.id);
    /// let share = inventory.create_share(share).await?;
    ///
    /// assert!(inventory.delete_network(network.id).await.is_err());
    /// inventory.delete_share(share.id).await?;
    /// inventory.delete_network(network.id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound`; `InUse` while the network has hosts, daemon API keys or shares.
    pub async fn delete_network(&self, id: Uuid) -> Result<(), Error> {
        let mut transaction = self.transaction(Entity::Network, id);
        loop {
            let (record, network): (_, Network) = self.read(network_key(id), Entity::Network).await?;
            let organization = network.organization_id;
            for (used_by, kind) in NETWORK_CONTENTS {
                if self.count(on_network(kind, organization, id)).await? > 0 {
                    let name = network.name;
                    return Err(ErrorKind::InUse { entity: Entity::Network, name, used_by }.into());
                }
            }
            let mut batch = Batch::new();
            batch.delete(record.key, unchanged(Some(&record)));
            batch.guard(Guard::NetworkEmpty { organization: Some(organization), network: id });
            self.revoke_network(&network, &mut batch).await?;
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }

    /// Adds the revocation of all grants of a network to a batch.
    async fn revoke_network(&self, network: &Network, batch: &mut Batch) -> Result<(), Error> {
        let (organization, link) = (network.organization_id, Link::new(NETWORK_LINK, network.id));
        let now = self.now();
        for record in self.store.list(&linked(USER, organization, link)).await?.records {
            let mut stored: StoredUser = decode(&record)?;
            stored.user.network_ids.retain(|id| *id != network.id);
            stored.user.updated_at = now;
            batch.put(record.key, unchanged(Some(&record)), user_facets(&stored.user), encode(&stored)?);
        }
        for record in self.store.list(&linked(USER_API_KEY, organization, link)).await?.records {
            let mut key: UserApiKey = decode(&record)?;
            key.network_ids.retain(|id| *id != network.id);
            key.updated_at = now;
            batch.put(record.key, unchanged(Some(&record)), user_api_key_facets(&key), encode(&key)?);
        }
        batch.guard(Guard::LinkedWithin { organization: Some(organization), link });
        Ok(())
    }
}

/// The records that can have tags, with kind and link relation.
const TAGGED_KINDS: [(Entity, Name, Name); 4] = [
    (Entity::Host, HOST, TAG_LINK),
    (Entity::Service, HOST, SERVICE_TAG_LINK),
    (Entity::UserApiKey, USER_API_KEY, TAG_LINK),
    (Entity::DaemonApiKey, DAEMON_API_KEY, TAG_LINK),
];

impl Inventory {
    /// Creates a tag.
    ///
    /// ```
    /// # use toposcope::inventory::Inventory;
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// let tag = inventory.create_tag(organization.id, "critical").await?;
    /// assert_eq!(inventory.tags(organization.id).await?, [tag.clone()]);
    /// inventory.delete_tag(tag.id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` when the name is blank or longer than 100 characters; `NotFound` when there is no such organization;
    /// `QuotaExceeded`.
    pub async fn create_tag(&self, organization: Uuid, name: &str) -> Result<Tag, Error> {
        let now = self.now();
        let name = validate::name("name", name, 100)?;
        let tag =
            Tag { id: self.new_id()?, organization_id: organization, name, created_at: now, updated_at: now };
        let mut facets = facets(organization, now);
        facets.sort_keys.push(SortKey::new(NAME, tag.name.as_bytes()));
        let mut batch = Batch::new();
        batch.put(tag_key(tag.id), Precondition::Absent, facets, encode(&tag)?);
        batch.guard(exists(organization_key(organization)));
        let limit = self.quotas.tags_per_organization;
        let _turn = self.quota_turn(limit, organization_key(organization), Entity::Organization).await?;
        self.check_quota(limit, Entity::Tag, all_of(TAG, organization), 1).await?;
        self.store.commit(batch).await.map_err(|error| match error.kind() {
            StoreErrorKind::Conflict(_) => {
                ErrorKind::NotFound { entity: Entity::Organization, id: organization }.into()
            }
            _ => Error::from(error),
        })?;
        Ok(tag)
    }

    /// Returns a tag.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn tag(&self, id: Uuid) -> Result<Tag, Error> {
        Ok(self.read(tag_key(id), Entity::Tag).await?.1)
    }

    /// Returns all tags of an organization, sorted by name.
    pub async fn tags(&self, organization: Uuid) -> Result<Vec<Tag>, Error> {
        let order = vec![Order::new(NAME, Direction::Ascending)];
        self.read_all(&Query { order, ..all_of(TAG, organization) }).await
    }

    /// Deletes a tag that is not in use.
    ///
    /// # Errors
    /// `NotFound`; `InUse` while a host, service or API key has the tag.
    pub async fn delete_tag(&self, id: Uuid) -> Result<(), Error> {
        let mut transaction = self.transaction(Entity::Tag, id);
        loop {
            let (record, tag): (_, Tag) = self.read(tag_key(id), Entity::Tag).await?;
            let organization = tag.organization_id;
            for (entity, kind, relation) in TAGGED_KINDS {
                if self.count(linked(kind, organization, Link::new(relation, id))).await? > 0 {
                    let in_use = ErrorKind::InUse { entity: Entity::Tag, name: tag.name, used_by: entity };
                    return Err(in_use.into());
                }
            }
            let mut batch = Batch::new();
            batch.delete(record.key, unchanged(Some(&record)));
            for relation in [TAG_LINK, SERVICE_TAG_LINK] {
                let link = Link::new(relation, id);
                batch.guard(Guard::LinkedWithin { organization: Some(organization), link });
            }
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }
}
