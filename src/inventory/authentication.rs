use serde::Deserialize;
use uuid::Uuid;

use super::decoded::Decoded;
use super::organizations::organization_key;
use super::records::DIGEST_ALIAS;
use super::user_keys::{KeySecret, user_api_key_key};
use super::users::{UserRights, user_key};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::access::{Caller, KeyKind, KeyText};
use crate::model::{Permission, Timestamp};
use crate::store::Alias;

/// What every request must know of those it comes from.
#[derive(Debug, Default)]
pub(super) struct Rights {
    secrets: Decoded<KeySecret>,
    keys: Decoded<KeyRights>,
    users: Decoded<UserRights>,
    organizations: Decoded<OrganizationRights>,
}

/// As much of a user API key as every request with it must know.
#[derive(Debug, Deserialize)]
struct KeyRights {
    expires_at: Option<Timestamp>,
    is_enabled: bool,
    network_ids: Vec<Uuid>,
    permissions: Permission,
}

/// As much of an organization as every request of its keys must know.
#[derive(Debug, Deserialize)]
struct OrganizationRights {
    api_access: bool,
}

impl Inventory {
    /// Who asks with this user API key: its owner, with the lower of both levels, in the networks of the key that the
    /// owner can access now.
    ///
    /// # Errors
    /// `NotAuthenticated` when the text is no such key; `Disabled` and `Expired`, both of the `UserApiKey`;
    /// `ApiAccessRequired` when the organization does not have API access.
    pub async fn authenticate_user_key(&self, text: &str) -> Result<Caller, Error> {
        // The checksum turns most mistyped keys away before anything is looked up.
        let key = KeyText::parse(text).filter(|key| key.kind() == KeyKind::User);
        let digest = key.ok_or(ErrorKind::NotAuthenticated)?.digest();
        let alias = Alias::new(DIGEST_ALIAS, digest.lookup());
        let found = self.store.resolve(&alias).await?.ok_or(ErrorKind::NotAuthenticated)?;
        let secret = self.rights.secrets.get(&found)?;
        if !secret.verifier.matches(&digest.verifier()) {
            return Err(ErrorKind::NotAuthenticated.into());
        }
        let key = user_api_key_key(found.key.id);
        let keys = [key, user_key(secret.user_id), organization_key(secret.organization_id)];
        let records = self.store.get(&keys).await?;
        let [Some(key), Some(user), Some(organization)] = records.as_slice() else {
            return Err(ErrorKind::NotAuthenticated.into());
        };
        let key = self.rights.keys.get(key)?;
        let user = self.rights.users.get(user)?;
        let organization = self.rights.organizations.get(organization)?;
        if !key.is_enabled {
            return Err(ErrorKind::Disabled { entity: Entity::UserApiKey }.into());
        }
        if key.expires_at.is_some_and(|time| time <= self.now()) {
            return Err(ErrorKind::Expired { entity: Entity::UserApiKey }.into());
        }
        if !organization.api_access {
            return Err(ErrorKind::ApiAccessRequired.into());
        }
        Ok(user.caller().through_key(found.key.id, key.permissions, key.network_ids.iter().copied()))
    }
}
