//! Verifiers of API keys, stored apart from the keys so that no response contains them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::records::{DIGEST_UNIQUE_KEY, encode, facets, secret_key};
use super::{Error, ErrorKind, Inventory};
use crate::access::{KeyText, Verifier};
use crate::model::Timestamp;
use crate::store::{Batch, Precondition, UniqueKey};

/// The body of a [`KEY_SECRET`](super::records::KEY_SECRET) record: the verifier and owner of a key.
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
        let secret = self.remembered.rights.secrets.get(&found)?;
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
