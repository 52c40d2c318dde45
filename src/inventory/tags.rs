//! Tags: their rules, and their removal from the records that have them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::access::Caller;
use crate::inventory::collections::{
    BulkDeletable, CollectionRecord, Creatable, Deletable, Referenced, Requirements, Revertable, Rewritten,
    handle, put_tombstone,
};
use crate::inventory::records::{daemon_api_key_facets, named, user_api_key_facets};
use crate::inventory::schema::{
    DAEMON_API_KEY, NETWORK, SERVICE_TAG_LINK, SUBNET, TAG, TAG_DELETION, TAG_LINK, TAG_NAME_UNIQUE_KEY,
    USER_API_KEY, decode, encode, name_unique_key, organization_key,
};
use crate::inventory::{Entity, Error, Inventory, validate};
use crate::model::{
    ChangedEntity, DaemonApiKey, Host, Network, OrganizationId, Permission, Subnet, Tag, TagId, Timestamp,
    UserApiKey,
};
use crate::store::{Batch, Facets, Key, Link, Name, Query, Record};

impl Tag {
    /// Creates a tag for [`Collection::create`](crate::inventory::Collection::create), which sets everything but the name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let now = Timestamp::now();
        Self {
            id: TagId::nil(),
            organization_id: OrganizationId::nil(),
            name: name.into(),
            description: None,
            color: None,
            created_at: now,
            updated_at: now,
        }
    }
}

impl CollectionRecord for Tag {
    type Id = TagId;

    const ENTITY: Entity = Entity::Tag;
    const KIND: Name = TAG;
    const NAME_KEY: Option<Name> = Some(TAG_NAME_UNIQUE_KEY);
    const REQUIREMENTS: Requirements =
        Requirements::levels(Permission::Viewer, Permission::Member, Permission::Admin);

    fn id(&self) -> TagId {
        self.id
    }

    fn label(&self) -> String {
        self.name.clone()
    }

    fn restrict(query: Query, _caller: &Caller) -> Query {
        query
    }

    fn begin(&mut self, id: TagId, organization: OrganizationId, now: Timestamp) {
        (self.id, self.organization_id) = (id, organization);
        (self.created_at, self.updated_at) = (now, now);
    }

    fn keep_fixed(&mut self, stored: &Self) {
        (self.id, self.organization_id) = (stored.id, stored.organization_id);
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
        validate::description("description", self.description.as_deref())
    }

    fn facets(&self, organization: OrganizationId) -> Facets {
        named(organization, &self.name, self.created_at, self.updated_at).with_unique_keys([name_unique_key(
            TAG_NAME_UNIQUE_KEY,
            organization,
            &self.name,
        )])
    }
    async fn prepare_deletion(
        inventory: &Inventory,
        caller: &Caller,
        record: &Self,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        put_tombstone(record, caller.organization_id(), inventory.now(), batch)
    }

    async fn finish_deletion(inventory: &Inventory, caller: &Caller, id: TagId) -> Result<bool, Error> {
        inventory.finish_deletion_of::<Self>(caller.organization_id(), id, |_| true).await
    }
}

handle! {
    /// The tags of an organization.
    ///
    /// The deletion of a tag removes it from all records that have it. From the first commit on, the tag does not exist
    /// and no record can get it. It is removed from the records in further commits of at most 1,000, which change their
    /// `updated_at`. Repeating an interrupted deletion completes it.
    pub struct Tags(Tag) = tags;
}

impl Revertable for Tag {
    const CHANGED: ChangedEntity = ChangedEntity::Tag;
}

impl Creatable for Tag {
    fn quota(inventory: &Inventory, caller: &Caller) -> (Option<u64>, Key) {
        (inventory.quotas.tags_per_organization, organization_key(caller.organization_id()))
    }
}

impl Deletable for Tag {}

impl BulkDeletable for Tag {}

impl Referenced for Tag {
    const TOMBSTONE: Name = TAG_DELETION;
    const RELATIONS: &'static [Name] = &[TAG_LINK, SERVICE_TAG_LINK];

    async fn remove_references(
        inventory: &Inventory,
        organization: OrganizationId,
        record: &Self,
    ) -> Result<(), Error> {
        let id = record.id;
        let links = Self::RELATIONS.iter().map(|relation| Link::new(*relation, id.uuid()));
        for link in links {
            inventory.rewrite_linked_hosts(organization, (Entity::Tag, link), remove_from_host).await?;
        }
        for (kind, rewrite) in TAGGED_KINDS {
            let link = (Entity::Tag, Link::new(TAG_LINK, id.uuid()));
            let without = |record: &Record, now| rewrite(inventory, record, organization, id, now);
            inventory.rewrite_linked((organization, kind), link, without).await?;
        }
        Ok(())
    }
}

/// Removes a tag from a host and its services.
fn remove_from_host(host: &mut Host, tag: TagId, now: Timestamp) {
    host.tags.retain(|id| *id != tag);
    for service in host.services.iter_mut().filter(|service| service.tags.contains(&tag)) {
        service.tags.retain(|id| *id != tag);
        service.updated_at = now;
    }
}

/// Removes a tag from a record of an organization, at a time.
type RemoveTag = fn(&Inventory, &Record, OrganizationId, TagId, Timestamp) -> Result<Rewritten, Error>;

/// The kinds of records other than hosts that can have tags.
const TAGGED_KINDS: [(Name, RemoveTag); 4] = [
    (NETWORK, remove_from::<Network>),
    (SUBNET, remove_from::<Subnet>),
    (USER_API_KEY, remove_from::<UserApiKey>),
    (DAEMON_API_KEY, remove_from::<DaemonApiKey>),
];

fn remove_from<T: Tagged>(
    inventory: &Inventory,
    record: &Record,
    organization: OrganizationId,
    tag: TagId,
    now: Timestamp,
) -> Result<Rewritten, Error> {
    let mut value: T = decode(record)?;
    let (tags, updated_at) = value.tags_and_time();
    tags.retain(|id| *id != tag);
    *updated_at = now;
    Ok((value.facets_in(inventory, organization), encode(&value)?))
}

/// A record with tags, as it is stored.
trait Tagged: Serialize + DeserializeOwned {
    /// Returns the tags and the time of the last change.
    fn tags_and_time(&mut self) -> (&mut Vec<TagId>, &mut Timestamp);

    /// Returns the facets under which a record of the organization is stored.
    fn facets_in(&self, inventory: &Inventory, organization: OrganizationId) -> Facets;
}

impl Tagged for Network {
    fn tags_and_time(&mut self) -> (&mut Vec<TagId>, &mut Timestamp) {
        (&mut self.tags, &mut self.updated_at)
    }

    fn facets_in(&self, inventory: &Inventory, organization: OrganizationId) -> Facets {
        inventory.facets_of(organization, self)
    }
}

impl Tagged for Subnet {
    fn tags_and_time(&mut self) -> (&mut Vec<TagId>, &mut Timestamp) {
        (&mut self.tags, &mut self.updated_at)
    }

    fn facets_in(&self, inventory: &Inventory, organization: OrganizationId) -> Facets {
        inventory.facets_of(organization, self)
    }
}

impl Tagged for UserApiKey {
    fn tags_and_time(&mut self) -> (&mut Vec<TagId>, &mut Timestamp) {
        (&mut self.tags, &mut self.updated_at)
    }

    fn facets_in(&self, _inventory: &Inventory, _organization: OrganizationId) -> Facets {
        user_api_key_facets(self)
    }
}

impl Tagged for DaemonApiKey {
    fn tags_and_time(&mut self) -> (&mut Vec<TagId>, &mut Timestamp) {
        (&mut self.tags, &mut self.updated_at)
    }

    fn facets_in(&self, _inventory: &Inventory, organization: OrganizationId) -> Facets {
        daemon_api_key_facets(organization, self)
    }
}
