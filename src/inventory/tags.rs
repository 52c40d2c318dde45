use uuid::Uuid;

use super::schema::{
    DAEMON_API_KEY, HOST, NAME, SERVICE_TAG_LINK, TAG, TAG_LINK, USER_API_KEY, all_of, encode, facets,
    linked, organization_key, tag_key,
};
use super::{Entity, Error, ErrorKind, Inventory, unchanged, validate};
use crate::model::Tag;
use crate::store::{
    Batch, Direction, Guard, Link, Name, Order, Precondition, Query, SortKey, StoreErrorKind,
};

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
        batch.guard(Guard::Record {
            key: organization_key(organization),
            precondition: Precondition::Present,
        });
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
    ///
    /// # Errors
    /// None specific to this method.
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
