use uuid::Uuid;

use super::manage::{is_own, not_found};
use super::{Grant, check_references_of, user_api_key_facets};
use crate::access::Caller;
use crate::inventory::records::{encode, user_api_key_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, as_read, require_session, text};
use crate::model::{Permission, Timestamp, UserApiKey};
use crate::store::Batch;

/// How a user API key is to be. What is `None` stays as it is.
///
/// ```
/// # use toposcope::inventory::{Inventory, NewUser, NewUserApiKey, UserApiKeyUpdate};
/// # use toposcope::access::{Caller, Scope};
/// # use toposcope::model::Permission;
/// # use toposcope::store::MemoryStore;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// # let inventory = Inventory::new(MemoryStore::new());
/// # let organization = inventory.create_organization("Example", true).await?;
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
    /// The organization it is in, which cannot be another one.
    pub organization_id: Uuid,
    /// The user whose it is, which cannot be another one.
    pub user_id: Uuid,
    /// All tags, of the organization.
    pub tags: Vec<Uuid>,
    /// When it ends, also in the past; `Some(None)`: never.
    pub expires_at: Option<Option<Timestamp>>,
    /// Whether it works.
    pub is_enabled: Option<bool>,
    /// All networks it reaches, of those that the user can access.
    pub network_ids: Option<Vec<Uuid>>,
    /// The level it acts at, at most the user's.
    pub permissions: Option<Permission>,
}

impl UserApiKeyUpdate {
    /// A name and tags; all the rest stays.
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
            tags: text::distinct(self.tags.clone()),
            expires_at: self.expires_at.unwrap_or(key.expires_at),
            is_enabled: self.is_enabled.unwrap_or(key.is_enabled),
            network_ids: self.network_ids.clone().map_or(key.network_ids, text::distinct),
            permissions: self.permissions.unwrap_or(key.permissions),
            updated_at: now,
            ..key
        }
    }
}

/// Whether a caller may change or delete user API keys at all: only a user in person, of any level.
pub(crate) fn may_manage_user_api_keys(caller: &Caller) -> Result<(), Error> {
    require_session(caller)
}

impl Inventory {
    /// Changes one of the caller's own API keys, for the very next request with it.
    ///
    /// # Errors
    /// `UserContextRequired` for a caller with an API key. `Invalid` for the name. `NotFound`, also for the key of another
    /// user. `UpdateForbidden` for another organization or user. `PermissionDenied` for a level above the caller's.
    /// `ReferenceInvalid` for a network or a tag that is not the organization's; `AccessDenied` for a network that the
    /// caller cannot access.
    pub async fn update_user_api_key_as(
        &self,
        caller: &Caller,
        id: Uuid,
        update: &UserApiKeyUpdate,
    ) -> Result<UserApiKey, Error> {
        may_manage_user_api_keys(caller)?;
        let name = text::name("name", &update.name, 100)?;
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
            // Read before, so that a change that was made is not answered by an error.
            let last_used = self.last_use(id).await?;
            let key = update.apply(key, &name, self.now());
            let mut batch = Batch::new();
            batch.put(record.key, as_read(Some(&record)), user_api_key_facets(&key), encode(&key)?);
            check_references_of(&key, &mut batch);
            if transaction.commit(batch).await? {
                return Ok(UserApiKey { last_used, ..key });
            }
        }
    }
}
