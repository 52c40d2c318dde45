use uuid::Uuid;

use super::user::{Grant, guard_references, is_own, not_found};
use super::user_api_key_facets;
use crate::access::Caller;
use crate::inventory::schema::{encode, user_api_key_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_session, unchanged, validate};
use crate::model::{Permission, Timestamp, UserApiKey};
use crate::store::Batch;

/// The new values of a user API key. `None` leaves a field unchanged.
///
/// ```
/// # use toposcope::inventory::{Inventory, NewUser, NewUserApiKey, UserApiKeyUpdate};
/// # use toposcope::access::{Caller, Scope};
/// # use toposcope::model::Permission;
/// # use toposcope::store::MemoryStore;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// # let inventory = Inventory::new(MemoryStore::new());
/// # let organization = inventory.create_organization("Example").await?;
/// # let owner = NewUser::new(organization.id, "owner@example.net", Permission::Owner);
/// # let owner = inventory.create_user(owner).await?;
/// # let new = NewUserApiKey::new(owner.id, "laptop", Permission::Viewer);
/// # let key = inventory.create_user_api_key(new).await?.record().clone();
/// # let caller = Caller::new(organization.id, owner.id, Permission::Owner, Scope::all());
/// let mut update = UserApiKeyUpdate::new(organization.id, owner.id, "old laptop", vec![]);
/// update.is_enabled = Some(false);
/// let key = inventory.update_user_api_key_as(&caller, key.id, &update).await?;
/// assert_eq!((key.name.as_str(), key.is_enabled), ("old laptop", false));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserApiKeyUpdate {
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// The organization, which must not change.
    pub organization_id: Uuid,
    /// The owner, which must not change.
    pub user_id: Uuid,
    /// The complete list of tags, all of the organization.
    pub tags: Vec<Uuid>,
    /// When the key expires, which may be in the past. `Some(None)`: never.
    pub expires_at: Option<Option<Timestamp>>,
    /// Whether the key is accepted.
    pub is_enabled: Option<bool>,
    /// The complete list of networks, all accessible to the owner.
    pub network_ids: Option<Vec<Uuid>>,
    /// The permission level, at most the owner's.
    pub permissions: Option<Permission>,
}

impl UserApiKeyUpdate {
    /// Creates an update of name and tags that leaves everything else unchanged.
    #[must_use]
    pub fn new(organization_id: Uuid, user_id: Uuid, name: impl Into<String>, tags: Vec<Uuid>) -> Self {
        Self {
            name: name.into(),
            organization_id,
            user_id,
            tags,
            expires_at: None,
            is_enabled: None,
            network_ids: None,
            permissions: None,
        }
    }

    fn apply(&self, key: UserApiKey, name: &str, now: Timestamp) -> UserApiKey {
        UserApiKey {
            name: name.to_owned(),
            tags: validate::distinct(self.tags.clone()),
            expires_at: self.expires_at.unwrap_or(key.expires_at),
            is_enabled: self.is_enabled.unwrap_or(key.is_enabled),
            network_ids: self.network_ids.clone().map_or(key.network_ids, validate::distinct),
            permissions: self.permissions.unwrap_or(key.permissions),
            updated_at: now,
            ..key
        }
    }
}

/// Requires a user session of any level, as for changing and deleting user API keys.
pub(crate) fn may_manage_user_api_keys(caller: &Caller) -> Result<(), Error> {
    require_session(caller)
}

impl Inventory {
    /// Updates one of the caller's own API keys. Takes effect with the next request.
    ///
    /// # Errors
    /// - `UserContextRequired`: the caller uses an API key.
    /// - `Invalid`: the name is unacceptable.
    /// - `NotFound`: there is no such key, or it belongs to another user.
    /// - `UpdateForbidden`: the organization or owner would change.
    /// - `PermissionDenied`: the level is above the caller's.
    /// - `ReferenceInvalid`: a network or tag belongs to another organization.
    /// - `AccessDenied`: the caller cannot access one of the networks.
    pub async fn update_user_api_key_as(
        &self,
        caller: &Caller,
        id: Uuid,
        update: &UserApiKeyUpdate,
    ) -> Result<UserApiKey, Error> {
        may_manage_user_api_keys(caller)?;
        let name = validate::name("name", &update.name, 100)?;
        let mut transaction = self.transaction(Entity::UserApiKey, id);
        loop {
            let (record, key) = self.read(user_api_key_key(id), Entity::UserApiKey).await?;
            if !is_own(caller, &key) {
                return Err(not_found(id));
            }
            if update.organization_id != key.organization_id || update.user_id != key.user_id {
                return Err(ErrorKind::UpdateForbidden { entity: Entity::UserApiKey }.into());
            }
            let grant = Grant {
                permissions: update.permissions,
                network_ids: update.network_ids.as_deref(),
                tags: &update.tags,
            };
            self.check_grant(caller, &grant).await?;
            // Read before the commit, so that a completed update cannot return an error.
            let last_used = self.last_use(id).await?;
            let key = update.apply(key, &name, self.now());
            let mut batch = Batch::new();
            batch.put(record.key, unchanged(Some(&record)), user_api_key_facets(&key), encode(&key)?);
            guard_references(&key, &mut batch);
            if transaction.commit(batch).await? {
                return Ok(UserApiKey { last_used, ..key });
            }
        }
    }
}
