//! API keys of users and daemons, their verifiers and their last use.
//!
//! A key's verifier is stored apart from the key, so that no response contains it.

mod daemon;
mod daemon_record;
mod user;
mod user_record;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use daemon::DaemonApiKeys;
pub use user::UserApiKeys;

use super::records::KeySecret;
use super::schema::{DIGEST_UNIQUE_KEY, decode, encode, exists, facets, key_use_record_key};
use super::{Error, ErrorKind, Inventory, unchanged};
use crate::access::KeyText;
use crate::model::{OrganizationId, Timestamp};
use crate::store::{Batch, Key, Store, StoreErrorKind, UniqueKey};

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

/// The minimum time between two recorded uses of a key, in microseconds.
const INTERVAL_MICROS: i64 = 60 * 1_000_000;

/// The body of a [`KEY_USE`](crate::inventory::schema::KEY_USE) record.
#[derive(Debug, Serialize, Deserialize)]
struct KeyUse {
    last_used: Timestamp,
}

impl Inventory {
    /// Records in the background that a key is used now, unless `recorded_at` is recent.
    pub(in crate::inventory) fn record_use(
        &self,
        key: Key,
        organization: OrganizationId,
        recorded_at: &Arc<AtomicI64>,
        now: Timestamp,
    ) {
        let before = recorded_at.load(Ordering::Relaxed);
        let micros = now.unix_micros();
        if !is_due(before, micros) {
            return;
        }
        // Among concurrent requests, only one records the use.
        let is_first =
            || recorded_at.compare_exchange(before, micros, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        let task = store_use(Arc::clone(&self.store), key, organization, now, Arc::clone(recorded_at));
        self.state.tasks.spawn(is_first, task);
    }

    /// Returns when a key was last used.
    pub(in crate::inventory) async fn last_use(
        &self,
        id: impl Into<Uuid>,
    ) -> Result<Option<Timestamp>, Error> {
        Ok(self.last_uses(std::iter::once(id.into())).await?.pop().flatten())
    }

    /// Sets the time of last use in these keys.
    pub(in crate::inventory) async fn set_last_uses<K>(
        &self,
        keys: &mut [K],
        id: impl Fn(&K) -> Uuid,
        last_used: impl Fn(&mut K) -> &mut Option<Timestamp>,
    ) -> Result<(), Error> {
        let uses = self.last_uses(keys.iter().map(id)).await?;
        for (key, used) in keys.iter_mut().zip(uses) {
            *last_used(key) = used;
        }
        Ok(())
    }

    /// Returns when each of these keys was last used.
    pub(in crate::inventory) async fn last_uses(
        &self,
        ids: impl Iterator<Item = Uuid>,
    ) -> Result<Vec<Option<Timestamp>>, Error> {
        let keys: Vec<Key> = ids.map(key_use_record_key).collect();
        let records = self.store.get(&keys).await?;
        let times = records.iter().map(|record| record.as_ref().map(decode::<KeyUse>).transpose());
        times.map(|used| Ok(used?.map(|used| used.last_used))).collect()
    }
}

/// Returns whether a use must be recorded; a clock set back makes it due.
const fn is_due(before: i64, now: i64) -> bool {
    now < before || now.saturating_sub(before) >= INTERVAL_MICROS
}

async fn store_use(
    store: Arc<dyn Store>,
    key: Key,
    organization: OrganizationId,
    now: Timestamp,
    recorded_at: Arc<AtomicI64>,
) {
    match try_store_use(&*store, key, organization, now).await {
        Ok(recorded) => recorded_at.store(recorded.unix_micros(), Ordering::Relaxed),
        Err(error) => tracing::warn!("the use of the {key} could not be recorded: {}", error.with_causes()),
    }
}

/// Records a use unless the stored record is recent. Returns the recorded time.
///
/// The stored record decides, because other processes may have recorded a use. On a conflict, the other writer's
/// record stands.
async fn try_store_use(
    store: &dyn Store,
    key: Key,
    organization: OrganizationId,
    now: Timestamp,
) -> Result<Timestamp, Error> {
    let known = store.get(&[key_use_record_key(key.id)]).await?.pop().flatten();
    if let Some(record) = &known {
        let KeyUse { last_used } = decode(record)?;
        if !is_due(last_used.unix_micros(), now.unix_micros()) {
            return Ok(last_used);
        }
    }
    let mut batch = Batch::new();
    let body = encode(&KeyUse { last_used: now })?;
    batch.put(key_use_record_key(key.id), unchanged(known.as_ref()), facets(organization, now), body);
    // The use of a key that was deleted in the meantime is not recorded.
    batch.guard(exists(key));
    match store.commit(batch).await {
        Err(error) if matches!(error.kind(), StoreErrorKind::Conflict(_)) => Ok(now),
        outcome => Ok(outcome.map(|()| now)?),
    }
}
