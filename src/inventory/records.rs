//! Stored bodies of records outside of the public model, and facets that find records.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::schema::{
    DIGEST_UNIQUE_KEY, NAME, NETWORK_LINK, OWNER_LINK, TAG_LINK, UPDATED_AT, USER_LINK, decode, encode,
    exists, facets, key_secret_record_key, key_use_record_key, links, network_key, organization_key,
    time_sort_key,
};
use super::shared_emails::{email_key_within, email_link};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::access::{Caller, KeyText, Scope, Verifier};
use crate::model::{
    DaemonApiKey, NetworkId, Organization, OrganizationId, Permission, Share, Timestamp, User, UserApiKey,
    UserId,
};
use crate::store::{Batch, Facets, Link, Precondition, Record, SortKey, UniqueKey};

/// The owner field that most records share.
#[derive(Debug, Deserialize)]
struct Owned {
    organization_id: OrganizationId,
}

/// Returns the organization that owns a record.
pub(super) fn organization_of(record: &Record) -> Result<OrganizationId, Error> {
    Ok(decode::<Owned>(record)?.organization_id)
}

/// Returns whether the record exists and belongs to the organization.
pub(super) fn belongs_to(organization: OrganizationId, record: Option<&Record>) -> Result<bool, Error> {
    Ok(record.map(organization_of).transpose()? == Some(organization))
}

/// The part of a user record that determines the user's rights.
#[derive(Debug, Deserialize)]
pub(super) struct UserRights {
    id: UserId,
    organization_id: OrganizationId,
    permissions: Permission,
    network_ids: Vec<NetworkId>,
    is_enabled: bool,
    /// The caller derived from this record. Not stored.
    #[serde(skip)]
    caller: OnceLock<Caller>,
}

impl UserRights {
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.is_enabled { Ok(()) } else { Err(ErrorKind::Disabled { entity: Entity::User }.into()) }
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

fn caller(
    organization: OrganizationId,
    user: UserId,
    permission: Permission,
    networks: &[NetworkId],
) -> Caller {
    Caller::new(organization, user, permission, Scope::granted(permission, networks.iter().copied()))
}

/// Returns the facets common to all records with a name.
pub(super) fn named(
    organization: OrganizationId,
    name: &str,
    created_at: Timestamp,
    updated_at: Timestamp,
) -> Facets {
    let keys = [time_sort_key(UPDATED_AT, updated_at), SortKey::new(NAME, name.as_bytes())];
    facets(organization, created_at).with_sort_keys(keys)
}

pub(super) fn user_facets(user: &User) -> Facets {
    let organization = user.organization_id;
    let owned = is_enabled_owner(user).then_some(Link::new(OWNER_LINK, organization.uuid()));
    let email = Some(user.email.as_str()).filter(|email| !email.is_empty());
    named(organization, user.label(), user.created_at, user.updated_at)
        .with_unique_keys(email.map(|email| email_key_within(organization, email)))
        .with_links(links(NETWORK_LINK, &user.network_ids).chain(owned).chain(email.map(email_link)))
}

/// Returns whether the user is an enabled Owner. An organization keeps at least one.
pub(super) fn is_enabled_owner(user: &User) -> bool {
    user.is_enabled && user.permissions == Permission::Owner
}

/// Adds guards that the granted networks still exist.
pub(super) fn guard_networks(user: &User, batch: &mut Batch) {
    for network in &user.network_ids {
        batch.guard(exists(network_key(*network)));
    }
}

pub(super) fn user_api_key_facets(record: &UserApiKey) -> Facets {
    let networks = if record.all_networks { &[] } else { record.network_ids.as_slice() };
    named(record.organization_id, &record.name, record.created_at, record.updated_at)
        .with_links([Link::new(USER_LINK, record.user_id.uuid())])
        .with_links(links(NETWORK_LINK, networks))
        .with_links(links(TAG_LINK, &record.tags))
}

pub(super) fn daemon_api_key_facets(organization: OrganizationId, record: &DaemonApiKey) -> Facets {
    named(organization, &record.name, record.created_at, record.updated_at)
        .with_network(record.network_id.uuid())
        .with_links(links(TAG_LINK, &record.tags))
}

pub(super) fn share_facets(share: &Share) -> Facets {
    named(share.organization_id, &share.name, share.created_at, share.updated_at)
        .with_network(share.network_id.map(Uuid::from))
}

/// The body of a [`KEY_SECRET`](super::schema::KEY_SECRET) record: the verifier and owner of a key.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeySecret {
    pub(super) verifier: Verifier,
    pub(super) organization_id: OrganizationId,
    pub(super) holder: KeyHolder,
}

/// The owner of an API key.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum KeyHolder {
    User(UserId),
    /// The daemon of this network.
    Daemon(NetworkId),
}

/// Adds a key's secret record to a batch, replacing one that `precondition` allows.
pub(super) fn put_secret(
    batch: &mut Batch,
    id: impl Into<Uuid>,
    precondition: Precondition,
    text: &KeyText,
    (organization_id, holder): (OrganizationId, KeyHolder),
    created_at: Timestamp,
) -> Result<(), Error> {
    let digest = text.digest();
    let secret = KeySecret { verifier: digest.verifier(), organization_id, holder };
    let mut facets = facets(organization_id, created_at);
    facets.unique_keys.push(UniqueKey::new(DIGEST_UNIQUE_KEY, digest.lookup()));
    batch.put(key_secret_record_key(id.into()), precondition, facets, encode(&secret)?);
    Ok(())
}

/// Adds the deletion of a key's secret and use records to a batch.
pub(super) fn delete_key_records(batch: &mut Batch, key: impl Into<Uuid>) {
    let key = key.into();
    batch.delete(key_secret_record_key(key), Precondition::Any);
    batch.delete(key_use_record_key(key), Precondition::Any);
}

/// The body of a [`SESSION`](super::schema::SESSION) record. Responses never contain it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SessionRecord {
    pub(super) verifier: Verifier,
    pub(super) user_id: UserId,
    pub(super) organization_id: OrganizationId,
    pub(super) created_at: Timestamp,
    pub(super) expires_at: Timestamp,
}

impl Inventory {
    /// Returns an organization.
    ///
    /// # Errors
    /// `NotFound`.
    pub(in crate::inventory) async fn organization(&self, id: OrganizationId) -> Result<Organization, Error> {
        Ok(self.read(organization_key(id), Entity::Organization).await?.1)
    }

    /// Requires that the organization of a system caller exists. The others belong to users of one that does.
    ///
    /// # Errors
    /// `NotFound`.
    pub(in crate::inventory) async fn require_organization(&self, caller: &Caller) -> Result<(), Error> {
        if caller.is_system() {
            self.organization(caller.organization_id()).await?;
        }
        Ok(())
    }
}
