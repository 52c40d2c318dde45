use uuid::Uuid;

use super::user::{Grant, guard_references};
use super::{KeyHolder, put_secret, user_api_key_facets};
use crate::access::{KeyKind, KeyText};
use crate::inventory::schema::{USER_API_KEY, USER_LINK, encode, linked, user_api_key_key, user_key};
use crate::inventory::users::user_caller;
use crate::inventory::{Entity, Error, Inventory, IssuedKey, validate};
use crate::model::{Permission, Timestamp, UserApiKey};
use crate::store::{Batch, Guard, Link, Precondition};

/// The input for [`Inventory::create_user_api_key`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewUserApiKey {
    /// The user who owns the key.
    pub user_id: Uuid,
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// The permission level, at most the owner's.
    pub permissions: Permission,
    /// The networks the key may reach, all accessible to the owner. Empty: none.
    pub network_ids: Vec<Uuid>,
    /// The ids of the key's tags, all of the owner's organization.
    pub tags: Vec<Uuid>,
    /// When the key expires; must be in the future. `None`: never.
    pub expires_at: Option<Timestamp>,
    /// Whether the key is accepted.
    pub is_enabled: bool,
}

impl NewUserApiKey {
    /// Creates the input for an enabled key without expiry or networks.
    #[must_use]
    pub fn new(user_id: Uuid, name: impl Into<String>, permissions: Permission) -> Self {
        Self {
            user_id,
            name: name.into(),
            permissions,
            network_ids: Vec::new(),
            tags: Vec::new(),
            expires_at: None,
            is_enabled: true,
        }
    }
}

impl Inventory {
    /// Creates an API key of a user.
    ///
    /// ```
    /// # use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
    /// # use toposcope::model::Permission;
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// # let network = inventory.create_network(organization.id, "Office").await?;
    /// # let owner = NewUser::new(organization.id, "owner@example.net", Permission::Owner);
    /// # let owner = inventory.create_user(owner).await?;
    /// let mut new = NewUserApiKey::new(owner.id, "laptop", Permission::Viewer);
    /// new.network_ids = vec![network.id];
    /// let issued = inventory.create_user_api_key(new).await?;
    /// println!("Write this down, it is not shown again: {}", issued.plaintext());
    ///
    /// let id = issued.record().id;
    /// inventory.disable_user_api_key(id).await?;
    /// assert!(inventory.authenticate_user_key(issued.plaintext()).await.is_err());
    /// inventory.delete_user_api_key(id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `Invalid`: the name is blank or too long, or `expires_at` is not in the future.
    /// - `PermissionDenied`: the level is above the owner's.
    /// - `AccessDenied`: the owner cannot access one of the networks.
    /// - `ReferenceInvalid`: a network or tag belongs to another organization.
    /// - `NotFound`: there is no such user.
    /// - `QuotaExceeded`.
    pub async fn create_user_api_key(&self, new: NewUserApiKey) -> Result<IssuedKey<UserApiKey>, Error> {
        let now = self.now();
        let name = validate::name("name", &new.name, 100)?;
        validate::future("expires_at", new.expires_at, now)?;
        let plaintext = KeyText::generate(KeyKind::User, &*self.random)?;
        let id = self.new_id()?;
        let limit = self.quotas.user_api_keys_per_user;
        let _turn = self.quota_turn(limit, user_key(new.user_id), Entity::User).await?;
        let mut transaction = self.transaction(Entity::UserApiKey, id);
        loop {
            let owner = self.user(new.user_id).await?;
            let grant = Grant {
                permissions: Some(new.permissions),
                network_ids: Some(&new.network_ids),
                tags: &new.tags,
            };
            self.check_grant(&user_caller(&owner), &grant).await?;
            let keys = linked(USER_API_KEY, owner.organization_id, Link::new(USER_LINK, owner.id));
            self.check_quota(limit, Entity::UserApiKey, keys, 1).await?;
            let record = UserApiKey {
                id,
                name: name.clone(),
                organization_id: owner.organization_id,
                user_id: owner.id,
                tags: validate::distinct(new.tags.clone()),
                key: plaintext.masked(),
                last_used: None,
                created_at: now,
                updated_at: now,
                expires_at: new.expires_at,
                is_enabled: new.is_enabled,
                network_ids: validate::distinct(new.network_ids.clone()),
                permissions: new.permissions,
            };
            if transaction.commit(creation(&record, &plaintext)?).await? {
                return Ok(IssuedKey::new(record, plaintext));
            }
        }
    }
}

fn creation(record: &UserApiKey, text: &KeyText) -> Result<Batch, Error> {
    let mut batch = Batch::new();
    batch.put(
        user_api_key_key(record.id),
        Precondition::Absent,
        user_api_key_facets(record),
        encode(record)?,
    );
    let holder = (record.organization_id, KeyHolder::User(record.user_id));
    put_secret(&mut batch, record.id, Precondition::Absent, text, holder, record.created_at)?;
    batch.guard(Guard::Record { key: user_key(record.user_id), precondition: Precondition::Present });
    guard_references(record, &mut batch);
    Ok(batch)
}
