//! The creation and rotation of API keys.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::call::ClientCall;
use super::collection::item;
use super::{Client, ClientError, Collection, HttpService};
use crate::model::{
    DaemonApiKey, DaemonApiKeyId, NetworkId, Permission, TagId, Timestamp, UserApiKey, UserApiKeyId,
};
use crate::wire::{NewDaemonApiKey, NewUserApiKey};

/// An API key just created or rotated, with its plaintext, which cannot be retrieved later.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct CreatedKey<R> {
    api_key: R,
    key: String,
}

/// The record of an API key.
trait KeyRecord: Collection {
    /// Returns the field that shows the key.
    fn shown_key(&mut self) -> &mut String;
}

impl KeyRecord for UserApiKey {
    fn shown_key(&mut self) -> &mut String {
        &mut self.key
    }
}

impl KeyRecord for DaemonApiKey {
    fn shown_key(&mut self) -> &mut String {
        &mut self.key
    }
}

impl<R> CreatedKey<R> {
    /// Returns the record, with its `key` in masked form, as it is read later.
    #[must_use]
    pub const fn record(&self) -> &R {
        &self.api_key
    }

    /// Returns the plaintext key. Hand it to its owner and do not store it.
    #[must_use]
    pub fn plaintext(&self) -> &str {
        &self.key
    }
}

/// Omits the record and the plaintext.
impl<R> fmt::Debug for CreatedKey<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CreatedKey").finish_non_exhaustive()
    }
}

impl<S: HttpService> Client<S> {
    /// Creates an API key of the caller; `user_id` is ignored. Requires a session.
    ///
    /// # Errors
    /// `auth_user_context_required`, `auth_permission_denied`, `quota_exceeded`, `validation_…`.
    pub async fn create_user_key(&self, new: &NewUserApiKey) -> Result<CreatedKey<UserApiKey>, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            name: &'a str,
            tags: &'a [TagId],
            expires_at: Option<Timestamp>,
            is_enabled: bool,
            network_ids: &'a [NetworkId],
            all_networks: bool,
            permissions: Permission,
        }
        let NewUserApiKey {
            user_id: _,
            name,
            permissions,
            network_ids,
            all_networks,
            tags,
            expires_at,
            is_enabled,
        } = new;
        let (permissions, expires_at, is_enabled) = (*permissions, *expires_at, *is_enabled);
        let all_networks = *all_networks;
        let body = Body { name, tags, expires_at, is_enabled, network_ids, all_networks, permissions };
        self.created_key(ClientCall::post(UserApiKey::PATH).json(&body)?).await
    }

    /// Replaces the secret of one of the caller's API keys. The old one stops at once. Requires a session.
    ///
    /// # Errors
    /// `auth_user_context_required`, `entity_not_found`.
    pub async fn rotate_user_key(&self, id: UserApiKeyId) -> Result<CreatedKey<UserApiKey>, ClientError> {
        self.rotate(id).await
    }

    /// Creates an API key of a discovery daemon.
    ///
    /// # Errors
    /// `entity_reference_invalid`, `entity_access_denied`, `quota_exceeded`, `validation_…`.
    pub async fn create_daemon_key(
        &self,
        new: &NewDaemonApiKey,
    ) -> Result<CreatedKey<DaemonApiKey>, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            name: &'a str,
            network_id: NetworkId,
            tags: &'a [TagId],
            expires_at: Option<Timestamp>,
            is_enabled: bool,
        }
        let NewDaemonApiKey { network_id, name, tags, expires_at, is_enabled } = new;
        let (network_id, expires_at, is_enabled) = (*network_id, *expires_at, *is_enabled);
        let body = Body { name, network_id, tags, expires_at, is_enabled };
        self.created_key(ClientCall::post(DaemonApiKey::PATH).json(&body)?).await
    }

    /// Replaces the secret of a daemon's API key. The old one stops at once.
    ///
    /// # Errors
    /// `entity_not_found`, `entity_access_denied`.
    pub async fn rotate_daemon_key(
        &self,
        id: DaemonApiKeyId,
    ) -> Result<CreatedKey<DaemonApiKey>, ClientError> {
        self.rotate(id).await
    }

    async fn rotate<T: KeyRecord>(&self, id: T::Id) -> Result<CreatedKey<T>, ClientError> {
        self.created_key(ClientCall::post(format!("{}/rotate", item::<T>(id)))).await
    }

    /// Sends a request for a key. The record in the response has the plaintext, which is then masked.
    async fn created_key<T: KeyRecord>(&self, call: ClientCall) -> Result<CreatedKey<T>, ClientError> {
        let mut created: CreatedKey<T> = self.value(call).await?;
        let shown = created.api_key.shown_key();
        if *shown == created.key {
            *shown = masked(&created.key);
        }
        Ok(created)
    }
}

/// Masks a key as the server shows it later: the prefix, `…` and the last 4 characters.
fn masked(key: &str) -> String {
    let end = key.len().checked_sub(4).and_then(|start| key.get(start..));
    match key.rsplit_once('_').zip(end) {
        Some(((prefix, _), end)) => format!("{prefix}_…{end}"),
        None => "…".to_owned(),
    }
}
