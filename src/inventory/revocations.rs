//! Revocations: the users whose long responses the host application has ended, as other processes see them.

use serde::{Deserialize, Serialize};

use super::schema::{CREATED_AT, decode, encode, revocation_key, time_sort_key};
use super::{Error, Inventory};
use crate::model::{Timestamp, UserId};
use crate::store::{Batch, Facets, Key, Precondition, Record, Version};

/// The time after which a revocation is purged, in microseconds. No response that it ends lasts as long.
const LIFETIME_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// The last revocation of a user, by any process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Revocation {
    /// Increases with each revocation.
    pub(crate) version: Version,
    pub(crate) revoked_at: Timestamp,
}

/// A revocation, as stored.
#[derive(Deserialize, Serialize)]
struct Stored {
    revoked_at: Timestamp,
}

impl Revocation {
    fn of(record: &Record) -> Result<Self, Error> {
        let Stored { revoked_at } = decode(record)?;
        Ok(Self { version: record.version, revoked_at })
    }
}

impl Inventory {
    /// Returns whether other processes may use the store at the same time.
    pub(crate) fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    /// Tells other processes that the responses of a user end.
    pub(crate) async fn put_revocation(&self, user: UserId) -> Result<(), Error> {
        self.purge_periodically();
        let now = self.now();
        let facets = Facets::default()
            .with_sort_keys([time_sort_key(CREATED_AT, now)])
            .with_expires_at(now.plus_micros(LIFETIME_MICROS));
        let mut batch = Batch::new();
        batch.put(revocation_key(user), Precondition::Any, facets, encode(&Stored { revoked_at: now })?);
        Ok(self.store.commit(batch).await?)
    }

    /// Returns the last revocation of each of these users.
    pub(crate) async fn revocations(&self, users: &[UserId]) -> Result<Vec<Option<Revocation>>, Error> {
        let keys: Vec<Key> = users.iter().map(|user| revocation_key(*user)).collect();
        let records = self.store.get(&keys).await?;
        records.iter().map(|record| record.as_ref().map(Revocation::of).transpose()).collect()
    }
}
