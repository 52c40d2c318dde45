//! Revocations: the users whose long responses the host application has ended, as other processes see them.

use super::schema::{CREATED_AT, revocation_key, time_key};
use super::{Error, Inventory};
use crate::model::UserId;
use crate::store::{Batch, Facets, Key, Precondition, Version};

/// The time after which a revocation is purged, in microseconds. No response that it ends lasts as long.
const LIFETIME_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

impl Inventory {
    /// Returns whether other processes may use the store at the same time.
    pub(crate) fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    /// Tells other processes that the responses of a user end.
    pub(crate) async fn put_revocation(&self, user: UserId) -> Result<(), Error> {
        let now = self.now();
        let facets = Facets::default()
            .with_sort_keys([time_key(CREATED_AT, now)])
            .with_expires_at(now.plus_micros(LIFETIME_MICROS));
        let mut batch = Batch::new();
        batch.put(revocation_key(user), Precondition::Any, facets, "{}");
        Ok(self.store.commit(batch).await?)
    }

    /// Returns the last revocation of each of these users. It increases with each one.
    pub(crate) async fn revocations(&self, users: &[UserId]) -> Result<Vec<Option<Version>>, Error> {
        let keys: Vec<Key> = users.iter().map(|user| revocation_key(*user)).collect();
        let records = self.store.get(&keys).await?;
        Ok(records.into_iter().map(|record| record.map(|record| record.version)).collect())
    }
}
