use uuid::Uuid;

use super::user_api_key_facets;
use crate::access::{KeyKind, KeyText};
use crate::inventory::records::{encode, user_api_key_key};
use crate::inventory::secrets::{KeyHolder, put_secret};
use crate::inventory::{Entity, Error, Inventory, IssuedKey, as_read};
use crate::model::UserApiKey;
use crate::store::{Batch, Precondition};

impl Inventory {
    /// Replaces the plaintext of a user API key. The old one is refused from the next request on.
    ///
    /// Everything else stays: id, name, owner, level, networks, tags, expiry, and whether the key is enabled. Both
    /// halves of the change are one commit, so that exactly one plaintext is valid at any time.
    ///
    /// ```
    /// # use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
    /// # use toposcope::model::Permission;
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example", true).await?;
    /// # let owner = NewUser::new(organization.id, "owner@example.net", Permission::Owner);
    /// # let owner = inventory.create_user(owner).await?;
    /// let new = NewUserApiKey::new(owner.id, "backup script", Permission::Viewer);
    /// let old = inventory.create_user_api_key(new).await?;
    ///
    /// let key = inventory.rotate_user_api_key(old.record().id).await?;
    /// assert_eq!(key.record().name, "backup script");
    /// assert!(inventory.authenticate_user_key(key.plaintext()).await.is_ok());
    /// assert!(inventory.authenticate_user_key(old.plaintext()).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn rotate_user_api_key(&self, id: Uuid) -> Result<IssuedKey<UserApiKey>, Error> {
        let text = KeyText::generate(KeyKind::User, &*self.random)?;
        let mut transaction = self.transaction(Entity::UserApiKey, id);
        loop {
            let (record, key): (_, UserApiKey) = self.read(user_api_key_key(id), Entity::UserApiKey).await?;
            // Read before the commit, so that a completed rotation cannot return an error.
            let last_used = self.last_use(id).await?;
            let key = UserApiKey { key: text.masked(), updated_at: self.now(), ..key };
            let mut batch = Batch::new();
            batch.put(record.key, as_read(Some(&record)), user_api_key_facets(&key), encode(&key)?);
            // Key and secret are created and deleted together, so the key's version covers both.
            let holder = (key.organization_id, KeyHolder::User(key.user_id));
            put_secret(&mut batch, id, Precondition::Any, &text, holder, key.created_at)?;
            if transaction.commit(batch).await? {
                return Ok(IssuedKey::new(UserApiKey { last_used, ..key }, text));
            }
        }
    }
}
