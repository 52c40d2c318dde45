use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::networks::network_key;
use super::records::{
    DIGEST_ALIAS, KEY_SECRET, NETWORK_LINK, TAG_LINK, USER_API_KEY, USER_LINK, encode, facets, links,
};
use super::tags::tag_key;
use super::users::user_key;
use super::{Entity, Error, ErrorKind, Inventory, Problem, text};
use crate::access::{KeyKind, KeyText, Scope, Verifier};
use crate::model::{Permission, Timestamp, User, UserApiKey};
use crate::store::{Alias, Batch, Check, Expect, Key, Link, StoreErrorKind};

/// A user's API key to be created.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewUserApiKey {
    /// Whose it is.
    pub user_id: Uuid,
    /// A name of 1 to 100 characters.
    pub name: String,
    /// The level it acts at, at most its owner's.
    pub permissions: Permission,
    /// The networks it reaches, of those that its owner can access. An empty list: none.
    pub network_ids: Vec<Uuid>,
    /// Tags of the organization.
    pub tags: Vec<Uuid>,
    /// When it ends; in the future. `None`: never.
    pub expires_at: Option<Timestamp>,
    /// Whether it works.
    pub is_enabled: bool,
}

impl NewUserApiKey {
    /// A key that works, does not end, and reaches no network yet.
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

/// A key that was just created: the only time that its plaintext is to be had.
pub struct IssuedUserApiKey {
    record: UserApiKey,
    text: KeyText,
}

impl IssuedUserApiKey {
    /// The record as it is stored, its `key` masked.
    #[must_use]
    pub const fn record(&self) -> &UserApiKey {
        &self.record
    }

    /// The key itself, to be handed to its owner and kept nowhere else.
    #[must_use]
    pub fn plaintext(&self) -> &str {
        self.text.expose()
    }
}

/// Without the plaintext.
impl fmt::Debug for IssuedUserApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("IssuedUserApiKey").field("record", &self.record).finish_non_exhaustive()
    }
}

/// The body of a [`KEY_SECRET`] record: what verifies a key that was found by its digest, and whose it is.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeySecret {
    pub(super) verifier: Verifier,
    pub(super) user_id: Uuid,
    pub(super) organization_id: Uuid,
}

impl Inventory {
    /// Creates an API key of a user.
    ///
    /// # Errors
    /// `Invalid` for a name that is blank or too long and for an `expires_at` that is not in the future.
    /// `PermissionDenied` for a level above the owner's, `AccessDenied` for a network that the owner cannot access.
    /// `ReferenceInvalid` for a network or a tag that is not the organization's. `NotFound` when there is no such user.
    pub async fn create_user_api_key(&self, new: NewUserApiKey) -> Result<IssuedUserApiKey, Error> {
        let now = self.now();
        let owner = self.user(new.user_id).await?;
        let name = text::name("name", &new.name, 100)?;
        if new.expires_at.is_some_and(|time| time <= now) {
            return Err(Error::invalid("expires_at", Problem::NotInFuture { now }));
        }
        self.check_grant(&owner, &new).await?;
        let plaintext = KeyText::generate(KeyKind::User, &*self.random)?;
        let record = UserApiKey {
            id: self.new_id()?,
            name,
            organization_id: owner.organization_id,
            user_id: owner.id,
            tags: text::distinct(new.tags),
            key: plaintext.masked(),
            last_used: None,
            created_at: now,
            updated_at: now,
            expires_at: new.expires_at,
            is_enabled: new.is_enabled,
            network_ids: text::distinct(new.network_ids),
            permissions: new.permissions,
        };
        self.store.commit(creation(&record, &plaintext)?).await.map_err(|error| match error.kind() {
            // The user, a network or a tag went while the key was made.
            StoreErrorKind::Conflict(_) => {
                ErrorKind::Conflict { entity: Entity::UserApiKey, id: record.id }.into()
            }
            _ => Error::from(error),
        })?;
        Ok(IssuedUserApiKey { record, text: plaintext })
    }

    /// Whether a user may give a key this level, these networks and these tags.
    async fn check_grant(&self, owner: &User, new: &NewUserApiKey) -> Result<(), Error> {
        if new.permissions > owner.permissions {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let networks: Vec<Key> = new.network_ids.iter().map(|id| network_key(*id)).collect();
        self.check_references(owner.organization_id, Entity::Network, &networks, "network_ids").await?;
        let reach = Scope::granted(owner.permissions, owner.network_ids.iter().copied());
        if let Some(id) = new.network_ids.iter().copied().find(|network| !reach.allows(*network)) {
            return Err(ErrorKind::AccessDenied { entity: Entity::Network, id }.into());
        }
        let tags: Vec<Key> = new.tags.iter().map(|id| tag_key(*id)).collect();
        self.check_references(owner.organization_id, Entity::Tag, &tags, "tags").await
    }
}

fn creation(record: &UserApiKey, text: &KeyText) -> Result<Batch, Error> {
    let digest = text.digest();
    let secret = KeySecret {
        verifier: digest.verifier(),
        user_id: record.user_id,
        organization_id: record.organization_id,
    };
    let mut key_facets = facets(record.organization_id, record.created_at);
    key_facets.links.push(Link::new(USER_LINK, record.user_id));
    key_facets.links.extend(links(NETWORK_LINK, &record.network_ids));
    key_facets.links.extend(links(TAG_LINK, &record.tags));
    let mut secret_facets = facets(record.organization_id, record.created_at);
    secret_facets.aliases.push(Alias::new(DIGEST_ALIAS, digest.lookup()));
    let mut batch = Batch::new();
    batch.put(user_api_key_key(record.id), Expect::Absent, key_facets, encode(record)?);
    batch.put(Key::new(KEY_SECRET, record.id), Expect::Absent, secret_facets, encode(&secret)?);
    let networks = record.network_ids.iter().map(|id| network_key(*id));
    let tags = record.tags.iter().map(|id| tag_key(*id));
    for key in std::iter::once(user_key(record.user_id)).chain(networks).chain(tags) {
        batch.check(Check::Record { key, expect: Expect::Present });
    }
    Ok(batch)
}

pub(super) const fn user_api_key_key(id: Uuid) -> Key {
    Key::new(USER_API_KEY, id)
}
