//! API keys of users and daemons, their verifiers and their last use.
//!
//! A key's verifier is stored apart from the key, so that no response contains it. So is its last use, which is written
//! in the background.

mod daemon;
mod daemon_record;
mod last_use;
mod user;
mod user_record;

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

pub use daemon::DaemonApiKeys;
pub(super) use last_use::UnwrittenUses;
pub use user::UserApiKeys;

use super::records::KeySecret;
use super::schema::DIGEST_UNIQUE_KEY;
use super::{Error, ErrorKind, Inventory};
use crate::access::KeyText;
use crate::store::UniqueKey;

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

    pub(super) fn map(self, change: impl FnOnce(R) -> R) -> Self {
        Self { record: change(self.record), text: self.text }
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
