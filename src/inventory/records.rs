//! The stored bodies of records other than the public model, and the facets by which records are found.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::schema::{
    CREATED_AT, DIGEST_UNIQUE_KEY, NAME, NETWORK_LINK, TAG_LINK, USER_LINK, decode, encode, exists, facets,
    key_use_key, links, network_key, secret_key, tag_key, time_key,
};
use super::users::email_unique_key;
use super::{Entity, Error, ErrorKind};
use crate::access::{Caller, KeyText, Scope, Verifier};
use crate::model::{Network, Organization, Permission, Timestamp, User, UserApiKey};
use crate::store::{Batch, Facets, Link, Precondition, Record, SortKey, UniqueKey};

/// The owner field that most records share.
#[derive(Debug, Deserialize)]
struct Owned {
    organization_id: Uuid,
}

/// Returns the organization that owns a record.
pub(super) fn organization_of(record: &Record) -> Result<Uuid, Error> {
    Ok(decode::<Owned>(record)?.organization_id)
}

/// Returns whether the record exists and belongs to the organization.
pub(super) fn belongs_to(organization: Uuid, record: Option<&Record>) -> Result<bool, Error> {
    Ok(record.map(organization_of).transpose()? == Some(organization))
}

/// Organization records have no organization facet, so that one query can list them all.
pub(super) fn organization_facets(organization: &Organization) -> Facets {
    Facets { sort_keys: vec![time_key(CREATED_AT, organization.created_at)], ..Facets::default() }
}

pub(super) fn network_facets(network: &Network) -> Facets {
    let mut facets = facets(network.organization_id, network.created_at);
    facets.sort_keys.push(SortKey::new(NAME, network.name.as_bytes()));
    facets
}

/// The body of a [`USER`](super::schema::USER) record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredUser {
    #[serde(flatten)]
    pub(super) user: User,
    #[serde(default)]
    pub(super) is_disabled: bool,
}

/// The part of a user record that determines the user's rights.
#[derive(Debug, Deserialize)]
pub(super) struct UserRights {
    id: Uuid,
    organization_id: Uuid,
    permissions: Permission,
    network_ids: Vec<Uuid>,
    #[serde(default)]
    is_disabled: bool,
    /// The caller derived from this record. Not stored.
    #[serde(skip)]
    caller: OnceLock<Caller>,
}

impl UserRights {
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.is_disabled { Err(ErrorKind::Disabled { entity: Entity::User }.into()) } else { Ok(()) }
    }

    /// Returns the user as a caller with the user's current rights.
    pub(super) fn caller(&self) -> Caller {
        let caller = || caller(self.organization_id, self.id, self.permissions, &self.network_ids);
        self.caller.get_or_init(caller).clone()
    }
}

/// Creates a caller with all rights of a user.
pub(super) fn user_caller(user: &User) -> Caller {
    caller(user.organization_id, user.id, user.permissions, &user.network_ids)
}

fn caller(organization: Uuid, user: Uuid, permission: Permission, networks: &[Uuid]) -> Caller {
    Caller::new(organization, user, permission, Scope::granted(permission, networks.iter().copied()))
}

pub(super) fn user_facets(user: &User) -> Facets {
    let mut facets = facets(user.organization_id, user.created_at);
    facets.unique_keys.push(email_unique_key(&user.email));
    facets.links.extend(links(NETWORK_LINK, &user.network_ids));
    facets
}

/// Adds guards that the granted networks still exist.
pub(super) fn guard_networks(user: &User, batch: &mut Batch) {
    for network in &user.network_ids {
        batch.guard(exists(network_key(*network)));
    }
}

pub(super) fn user_api_key_facets(record: &UserApiKey) -> Facets {
    let mut facets = facets(record.organization_id, record.created_at);
    facets.links.push(Link::new(USER_LINK, record.user_id));
    facets.links.extend(links(NETWORK_LINK, &record.network_ids));
    facets.links.extend(links(TAG_LINK, &record.tags));
    facets
}

/// Adds guards that the records a key refers to still exist.
pub(super) fn guard_references(record: &UserApiKey, batch: &mut Batch) {
    let networks = record.network_ids.iter().map(|id| network_key(*id));
    for key in networks.chain(record.tags.iter().map(|id| tag_key(*id))) {
        batch.guard(exists(key));
    }
}

/// The body of a [`KEY_SECRET`](super::schema::KEY_SECRET) record: the verifier and owner of a key.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeySecret {
    pub(super) verifier: Verifier,
    pub(super) organization_id: Uuid,
    pub(super) holder: KeyHolder,
}

/// The owner of an API key.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum KeyHolder {
    User(Uuid),
    /// The daemon of this network.
    Daemon(Uuid),
}

/// Adds a key's secret record to a batch, replacing one that `precondition` allows.
pub(super) fn put_secret(
    batch: &mut Batch,
    id: Uuid,
    precondition: Precondition,
    text: &KeyText,
    (organization_id, holder): (Uuid, KeyHolder),
    created_at: Timestamp,
) -> Result<(), Error> {
    let digest = text.digest();
    let secret = KeySecret { verifier: digest.verifier(), organization_id, holder };
    let mut facets = facets(organization_id, created_at);
    facets.unique_keys.push(UniqueKey::new(DIGEST_UNIQUE_KEY, digest.lookup()));
    batch.put(secret_key(id), precondition, facets, encode(&secret)?);
    Ok(())
}

/// Adds the deletion of a key's secret and use records to a batch.
pub(super) fn delete_key_records(batch: &mut Batch, key: Uuid) {
    batch.delete(secret_key(key), Precondition::Any);
    batch.delete(key_use_key(key), Precondition::Any);
}

/// The body of a [`SESSION`](super::schema::SESSION) record. Responses never contain it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SessionRecord {
    pub(super) verifier: Verifier,
    pub(super) user_id: Uuid,
    pub(super) organization_id: Uuid,
    pub(super) created_at: Timestamp,
    pub(super) expires_at: Timestamp,
}
