//! What verifies API keys: beside the keys, in records that no response is ever made from.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::records::{DIGEST_ALIAS, encode, facets, secret_key};
use super::{Error, ErrorKind, Inventory};
use crate::access::{KeyText, Verifier};
use crate::model::Timestamp;
use crate::store::{Alias, Batch, Expect};

/// The body of a [`KEY_SECRET`](super::records::KEY_SECRET) record: what verifies a key that was found by its digest, and whose it is.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeySecret {
    pub(super) verifier: Verifier,
    pub(super) organization_id: Uuid,
    pub(super) holder: KeyHolder,
}

/// Who shows a key.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum KeyHolder {
    User(Uuid),
    /// The daemon of a network.
    Daemon(Uuid),
}

impl Inventory {
    /// The key that a text is, by its id, and whose it is.
    pub(super) async fn find_secret(&self, text: &KeyText) -> Result<(Uuid, Arc<KeySecret>), Error> {
        let digest = text.digest();
        let alias = Alias::new(DIGEST_ALIAS, digest.lookup());
        let found = self.store.resolve(&alias).await?.ok_or(ErrorKind::NotAuthenticated)?;
        let secret = self.remembered.rights.secrets.get(&found)?;
        if !secret.verifier.matches(&digest.verifier()) {
            return Err(ErrorKind::NotAuthenticated.into());
        }
        Ok((found.key.id, secret))
    }
}

/// Adds to a batch the record that verifies the key with this id, in place of one that `expect` allows.
pub(super) fn put_secret(
    batch: &mut Batch,
    id: Uuid,
    expect: Expect,
    text: &KeyText,
    (organization_id, holder): (Uuid, KeyHolder),
    created_at: Timestamp,
) -> Result<(), Error> {
    let digest = text.digest();
    let secret = KeySecret { verifier: digest.verifier(), organization_id, holder };
    let mut facets = facets(organization_id, created_at);
    facets.aliases.push(Alias::new(DIGEST_ALIAS, digest.lookup()));
    batch.put(secret_key(id), expect, facets, encode(&secret)?);
    Ok(())
}
