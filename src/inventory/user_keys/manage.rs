use uuid::Uuid;

use super::user_api_key_facets;
use crate::access::Caller;
use crate::inventory::records::{USER_API_KEY, USER_LINK, key_use_key, linked, secret_key, user_api_key_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, as_read, require_session};
use crate::model::UserApiKey;
use crate::store::{Batch, Link, Precondition};

impl Inventory {
    /// Returns a user API key, with `key` masked.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn user_api_key(&self, id: Uuid) -> Result<UserApiKey, Error> {
        let (_, key) = self.read(user_api_key_key(id), Entity::UserApiKey).await?;
        Ok(UserApiKey { last_used: self.last_use(id).await?, ..key })
    }

    /// Returns all API keys of a user, oldest first.
    ///
    /// # Errors
    /// `NotFound` when there is no such user.
    pub async fn user_api_keys(&self, user: Uuid) -> Result<Vec<UserApiKey>, Error> {
        let organization = self.user(user).await?.organization_id;
        let query = linked(USER_API_KEY, organization, Link::new(USER_LINK, user));
        let mut keys: Vec<UserApiKey> = self.read_all(&query).await?;
        let uses = self.last_uses(keys.iter().map(|key| key.id)).await?;
        for (key, last_used) in keys.iter_mut().zip(uses) {
            key.last_used = last_used;
        }
        Ok(keys)
    }

    /// Enables or disables a user API key. Takes effect with the next request.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn set_user_api_key_enabled(&self, id: Uuid, is_enabled: bool) -> Result<UserApiKey, Error> {
        let set = |key: &mut UserApiKey, now| {
            key.is_enabled = is_enabled;
            key.updated_at = now;
        };
        let last_used = self.last_use(id).await?;
        let key = self.change(user_api_key_key(id), Entity::UserApiKey, user_api_key_facets, set).await?;
        Ok(UserApiKey { last_used, ..key })
    }

    /// Deletes a user API key. It is refused from the next request on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_user_api_key(&self, id: Uuid) -> Result<(), Error> {
        self.delete_key_if(id, |_| true).await
    }

    /// Deletes one of the caller's own API keys. It is refused from the next request on.
    ///
    /// # Errors
    /// `UserContextRequired` for a caller with an API key; `NotFound`, also for the key of another user.
    pub async fn delete_user_api_key_as(&self, caller: &Caller, id: Uuid) -> Result<(), Error> {
        require_session(caller)?;
        self.delete_key_if(id, |key| is_own(caller, key)).await
    }

    async fn delete_key_if(&self, id: Uuid, is_meant: impl Fn(&UserApiKey) -> bool) -> Result<(), Error> {
        let mut transaction = self.transaction(Entity::UserApiKey, id);
        loop {
            let (record, key) = self.read(user_api_key_key(id), Entity::UserApiKey).await?;
            if !is_meant(&key) {
                return Err(not_found(id));
            }
            let mut batch = Batch::new();
            batch.delete(record.key, as_read(Some(&record)));
            delete_beside(&mut batch, id);
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }
}

/// Returns whether the caller owns a key.
pub(super) fn is_own(caller: &Caller, key: &UserApiKey) -> bool {
    key.user_id == caller.user_id() && key.organization_id == caller.organization_id()
}

pub(super) fn not_found(id: Uuid) -> Error {
    ErrorKind::NotFound { entity: Entity::UserApiKey, id }.into()
}

/// Adds the deletion of a key's secret and use records to a batch.
pub(in crate::inventory) fn delete_beside(batch: &mut Batch, key: Uuid) {
    batch.delete(secret_key(key), Precondition::Any);
    batch.delete(key_use_key(key), Precondition::Any);
}
