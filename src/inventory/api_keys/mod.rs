//! API keys of users and daemons, their verifiers and their last use.
//!
//! A key's verifier is stored apart from the key, so that no response contains it.

mod create;
mod daemon;
mod last_use;
mod update;
mod user;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use create::NewUserApiKey;
pub use daemon::NewDaemonApiKey;
pub(crate) use daemon::may_create_daemon_api_keys;
pub use update::UserApiKeyUpdate;
pub(crate) use update::may_manage_user_api_keys;
pub(super) use user::user_api_key_facets;

use super::schema::{DIGEST_UNIQUE_KEY, encode, facets, key_use_key, secret_key};
use super::{Error, ErrorKind, Inventory};
use crate::access::{KeyText, Verifier};
use crate::model::Timestamp;
use crate::store::{Batch, Precondition, UniqueKey};

/// An API key just created or rotated, with its plaintext, which cannot be retrieved later.
///
/// `R` is the stored record: a [`UserApiKey`](crate::model::UserApiKey) or a
/// [`DaemonApiKey`](crate::model::DaemonApiKey).
pub struct IssuedKey<R> {
    record: R,
    text: KeyText,
}

impl<R> IssuedKey<R> {
    pub(super) const fn new(record: R, text: KeyText) -> Self {
        Self { record, text }
    }

    /// Returns the stored record, with `key` masked.
    #[must_use]
    pub const fn record(&self) -> &R {
        &self.record
    }

    /// Returns the plaintext key. Hand it to its owner and do not store it.
    #[must_use]
    pub fn plaintext(&self) -> &str {
        self.text.expose()
    }
}

/// Omits the plaintext.
impl<R: fmt::Debug> fmt::Debug for IssuedKey<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("IssuedKey").field("record", &self.record).finish_non_exhaustive()
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

impl Inventory {
    /// Finds the key with this plaintext. Returns its id and secret record.
    pub(super) async fn find_secret(&self, text: &KeyText) -> Result<(Uuid, Arc<KeySecret>), Error> {
        let digest = text.digest();
        let unique_key = UniqueKey::new(DIGEST_UNIQUE_KEY, digest.lookup());
        let found = self.store.get_by_unique_key(&unique_key).await?.ok_or(ErrorKind::NotAuthenticated)?;
        let secret = self.state.authentication.secrets.get(&found)?;
        if !secret.verifier.matches(&digest.verifier()) {
            return Err(ErrorKind::NotAuthenticated.into());
        }
        Ok((found.key.id, secret))
    }
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
