//! When API keys were last used.
//!
//! A use is written in the background, at most once a minute for each key. A use that the store does not take is kept, and
//! written after the next use that the store takes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::inventory::schema::{decode, encode, exists, facets, key_use_record_key};
use crate::inventory::{Error, ErrorKind, Inventory, unchanged};
use crate::model::{OrganizationId, Timestamp};
use crate::store::{Batch, Key, Store, StoreErrorKind};

/// The minimum time between two recorded uses of a key, in microseconds.
const INTERVAL_MICROS: i64 = 60 * 1_000_000;

/// The maximum number of uses that are kept while the store does not take them, each of another key.
const MAX_UNWRITTEN: usize = 1_000;

/// The body of a [`KEY_USE`](crate::inventory::schema::KEY_USE) record.
#[derive(Debug, Serialize, Deserialize)]
struct KeyUse {
    last_used: Timestamp,
}

/// A use of a key that is to be written.
#[derive(Debug)]
struct NewUse {
    key: Key,
    organization: OrganizationId,
    used_at: Timestamp,
    /// When a use of the key was last recorded, in microseconds of Unix time.
    recorded_at: Arc<AtomicI64>,
    /// Whether the store did not take it before. Meanwhile, a later use may have been written.
    is_late: bool,
}

/// The uses that the store did not take, oldest first: at most one for each key.
#[derive(Debug, Default)]
pub(in crate::inventory) struct UnwrittenUses(Mutex<VecDeque<NewUse>>);

impl UnwrittenUses {
    /// Keeps a use, unless a later one of the key is kept. The oldest makes room for it.
    fn keep(&self, kept: NewUse) {
        let mut uses = self.lock();
        match uses.iter_mut().find(|other| other.key == kept.key) {
            Some(other) if other.used_at < kept.used_at => *other = kept,
            Some(_) => {}
            None => {
                if uses.len() >= MAX_UNWRITTEN {
                    uses.pop_front();
                }
                uses.push_back(kept);
            }
        }
    }

    /// Drops the use of a key, which has been used again.
    fn supersede(&self, key: Key) {
        self.lock().retain(|kept| kept.key != key);
    }

    /// Takes out the oldest use.
    fn take(&self) -> Option<NewUse> {
        self.lock().pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<NewUse>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A use that is being written. Dropped before it has an outcome, as by a panic in the store, it is kept.
struct Writing<'u> {
    unwritten: &'u UnwrittenUses,
    new: Option<NewUse>,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if let Some(new) = self.new.take() {
            self.unwritten.keep(NewUse { is_late: true, ..new });
        }
    }
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
        let recorded_at = Arc::clone(recorded_at);
        let new = NewUse { key, organization, used_at: now, recorded_at, is_late: false };
        let task = write_uses(Arc::clone(&self.store), Arc::clone(&self.state.unwritten_uses), new);
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

/// Writes a use, and then those that the store did not take before, until it takes one no longer.
async fn write_uses(store: Arc<dyn Store>, unwritten: Arc<UnwrittenUses>, new: NewUse) {
    unwritten.supersede(new.key);
    let mut next = Some(new);
    while let Some(new) = next {
        if !write_use(&*store, &unwritten, new).await {
            return;
        }
        next = unwritten.take();
    }
}

/// Writes a use, which is kept if the store is not available. Returns whether the store has answered.
async fn write_use(store: &dyn Store, unwritten: &UnwrittenUses, new: NewUse) -> bool {
    let (key, used_at) = (new.key, new.used_at.unix_micros());
    let recorded_at = Arc::clone(&new.recorded_at);
    let mut writing = Writing { unwritten, new: Some(new) };
    let Some(new) = &writing.new else { return false };
    match try_write_use(store, new).await {
        Ok(recorded) => {
            let recorded = recorded.unix_micros();
            // A later use may be recorded already.
            let _ = recorded_at.compare_exchange(used_at, recorded, Ordering::Relaxed, Ordering::Relaxed);
            writing.new = None;
            true
        }
        Err(error) => {
            tracing::warn!("the use of the {key} could not be recorded: {}", error.with_causes());
            let is_unavailable = matches!(error.kind(), ErrorKind::StoreUnavailable);
            if !is_unavailable {
                // Damaged data would fail again.
                writing.new = None;
            }
            !is_unavailable
        }
    }
}

/// Records a use unless the stored record is recent. Returns the recorded time.
///
/// The stored record decides, because other processes may have recorded a use. On a conflict, the other writer's
/// record stands.
async fn try_write_use(store: &dyn Store, new: &NewUse) -> Result<Timestamp, Error> {
    let record_key = key_use_record_key(new.key.id);
    let known = store.get(&[record_key]).await?.pop().flatten();
    if let Some(record) = &known {
        let KeyUse { last_used } = decode(record)?;
        let is_superseded = new.is_late && last_used >= new.used_at;
        if is_superseded || !is_due(last_used.unix_micros(), new.used_at.unix_micros()) {
            return Ok(last_used);
        }
    }
    let mut batch = Batch::new();
    let body = encode(&KeyUse { last_used: new.used_at })?;
    batch.put(record_key, unchanged(known.as_ref()), facets(new.organization, new.used_at), body);
    // The use of a key that was deleted in the meantime is not recorded.
    batch.guard(exists(new.key));
    match store.commit(batch).await {
        Err(error) if matches!(error.kind(), StoreErrorKind::Conflict(_)) => Ok(new.used_at),
        outcome => Ok(outcome.map(|()| new.used_at)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::schema::user_api_key_record_key;
    use crate::model::UserApiKeyId;

    fn used(key: usize, second: i64) -> NewUse {
        NewUse {
            key: user_api_key_record_key(UserApiKeyId::from_u128(key as u128)),
            organization: OrganizationId::nil(),
            used_at: Timestamp::UNIX_EPOCH.plus_micros(second * 1_000_000),
            recorded_at: Arc::default(),
            is_late: true,
        }
    }

    #[test]
    fn latest_use_of_a_bounded_number_of_keys_is_kept() {
        let unwritten = UnwrittenUses::default();
        for key in 0..=MAX_UNWRITTEN {
            unwritten.keep(used(key, 5));
        }
        unwritten.keep(used(2, 9));
        unwritten.keep(used(2, 7));
        unwritten.supersede(used(3, 0).key);
        let kept: Vec<NewUse> = std::iter::from_fn(|| unwritten.take()).collect();
        assert_eq!(kept.len(), MAX_UNWRITTEN - 1, "the oldest made room, and one was superseded");
        let expected = [used(1, 5), used(2, 9), used(4, 5)].map(|used| (used.key, used.used_at));
        let oldest: Vec<_> = kept.iter().take(3).map(|kept| (kept.key, kept.used_at)).collect();
        assert_eq!(oldest, expected);
    }
}
