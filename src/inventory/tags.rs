use uuid::Uuid;

use super::organizations::organization_key;
use super::records::{NAME, TAG, encode, facets};
use super::{Entity, Error, ErrorKind, Inventory, text};
use crate::model::Tag;
use crate::store::{Batch, Check, Expect, Key, SortKey, StoreErrorKind};

impl Inventory {
    /// Creates a tag.
    ///
    /// # Errors
    /// `Invalid` when the name is blank or longer than 100 characters, `NotFound` when there is no such organization.
    pub async fn create_tag(&self, organization: Uuid, name: &str) -> Result<Tag, Error> {
        let now = self.now();
        let name = text::name("name", name, 100)?;
        let tag =
            Tag { id: self.new_id()?, organization_id: organization, name, created_at: now, updated_at: now };
        let mut facets = facets(organization, now);
        facets.sort_keys.push(SortKey::new(NAME, tag.name.as_bytes()));
        let mut batch = Batch::new();
        batch.put(tag_key(tag.id), Expect::Absent, facets, encode(&tag)?);
        batch.check(Check::Record { key: organization_key(organization), expect: Expect::Present });
        self.store.commit(batch).await.map_err(|error| match error.kind() {
            StoreErrorKind::Conflict(_) => {
                ErrorKind::NotFound { entity: Entity::Organization, id: organization }.into()
            }
            _ => Error::from(error),
        })?;
        Ok(tag)
    }
}

pub(super) const fn tag_key(id: Uuid) -> Key {
    Key::new(TAG, id)
}
