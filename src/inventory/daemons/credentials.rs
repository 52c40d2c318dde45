//! The credentials of discoveries that have not ended.
//!
//! Only the instance that received them has them, in memory. Another instance, or this one after a restart, cannot hand
//! out their discovery. The discovery then fails with the error `credentials_lost`: at once if no other process can use
//! the store, and otherwise one minute after an instance first missed them, so that the daemon's next requests may
//! reach the instance that holds them.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::inventory::schema::{decode, discovery_key, organization_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{Discovery, DiscoveryId, OrganizationId, SnmpCredentials, Timestamp};
use crate::store::Key;

/// The maximum number of discoveries whose credentials an instance holds.
const MAX_HELD: usize = 1_000;

/// The maximum number of discoveries of an organization whose credentials an instance holds.
const MAX_HELD_BY_ORGANIZATION: usize = 100;

/// The time after which an instance drops credentials that no daemon has asked for, in microseconds.
const MAX_AGE: i64 = 24 * 60 * 60 * 1_000_000;

/// The time from when credentials are first missed until their discovery fails, in microseconds.
///
/// Daemons ask every 30 s, so that one that alternates between instances reaches the one that holds them.
pub(super) const GRACE_MICROS: i64 = 60 * 1_000_000;

/// The error of a discovery whose credentials no instance holds.
pub(super) const CREDENTIALS_LOST: &str = "credentials_lost";

/// The time between two checks for organizations that another instance has deleted, in microseconds.
const LOOK_INTERVAL: i64 = 60 * 1_000_000;

/// The credentials that an instance holds, by discovery.
#[derive(Debug, Default)]
pub(in crate::inventory) struct HeldCredentials {
    held: Mutex<HashMap<DiscoveryId, Held>>,
    /// When the instance last checked for deleted organizations, in microseconds of Unix time.
    looked_at: AtomicI64,
}

#[derive(Debug)]
struct Held {
    organization: OrganizationId,
    since: Timestamp,
    /// Whether the discovery is stored.
    is_stored: bool,
    credentials: Arc<SnmpCredentials>,
}

/// Credentials of a discovery that is being created. They are dropped with it unless the discovery is stored.
pub(in crate::inventory) struct Holding<'h> {
    held: &'h HeldCredentials,
    discovery: DiscoveryId,
}

impl Holding<'_> {
    /// Notes that the discovery may be stored: the credentials are kept until it ends.
    pub(in crate::inventory) fn keep(&self) {
        self.set_stored(true);
    }

    /// Notes that the discovery is not stored yet.
    pub(in crate::inventory) fn release(&self) {
        self.set_stored(false);
    }

    fn set_stored(&self, is_stored: bool) {
        if let Some(held) = self.held.lock().get_mut(&self.discovery) {
            held.is_stored = is_stored;
        }
    }
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        let mut all = self.held.lock();
        if all.get(&self.discovery).is_some_and(|held| !held.is_stored) {
            all.remove(&self.discovery);
        }
    }
}

impl HeldCredentials {
    fn lock(&self) -> MutexGuard<'_, HashMap<DiscoveryId, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the credentials of a discovery.
    pub(in crate::inventory) fn forget(&self, discovery: DiscoveryId) {
        self.lock().remove(&discovery);
    }

    /// Drops the credentials of all discoveries of an organization.
    pub(in crate::inventory) fn forget_organization(&self, organization: OrganizationId) {
        self.lock().retain(|_, held| held.organization != organization);
    }

    pub(super) fn get(&self, discovery: DiscoveryId) -> Option<Arc<SnmpCredentials>> {
        self.lock().get(&discovery).map(|held| Arc::clone(&held.credentials))
    }

    fn hold(&self, discovery: DiscoveryId, held: Held) -> Result<Holding<'_>, Error> {
        let mut all = self.lock();
        let is_full = |limit: usize, count: usize| {
            let limit = limit as u64;
            let error = ErrorKind::QuotaExceeded { entity: Entity::Discovery, limit };
            if count as u64 >= limit { Err(error) } else { Ok(()) }
        };
        is_full(MAX_HELD, all.len())?;
        let of_organization = all.values().filter(|other| other.organization == held.organization).count();
        is_full(MAX_HELD_BY_ORGANIZATION, of_organization)?;
        all.insert(discovery, held);
        Ok(Holding { held: self, discovery })
    }

    /// Drops the credentials that are too old.
    fn prune(&self, now: Timestamp) {
        self.lock().retain(|_, held| held.since.plus_micros(MAX_AGE) > now);
    }

    /// Returns the organizations of which credentials are held.
    fn organizations(&self) -> BTreeSet<OrganizationId> {
        self.lock().values().map(|held| held.organization).collect()
    }

    /// Returns whether a check for deleted organizations is due, and notes that the caller makes it.
    fn is_look_due(&self, now: Timestamp) -> bool {
        let (before, now) = (self.looked_at.load(Ordering::Relaxed), now.unix_micros());
        (now.saturating_sub(before) >= LOOK_INTERVAL || now < before)
            && self.looked_at.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Returns the stored discoveries of an organization whose credentials are held.
    fn stored_of(&self, organization: OrganizationId) -> Vec<DiscoveryId> {
        let all = self.lock();
        let own = all.iter().filter(|(_, held)| held.is_stored && held.organization == organization);
        own.map(|(id, _)| *id).collect()
    }
}

impl Inventory {
    /// Drops credentials that are too old, and those of organizations that no longer exist.
    ///
    /// Another instance may have deleted the organization. A failure is logged: the next call tries again.
    pub(in crate::inventory) async fn drop_credentials(&self) {
        let all = &self.state.credentials;
        all.prune(self.now());
        let organizations = all.organizations();
        if organizations.is_empty() {
            return;
        }
        let keys: Vec<Key> = organizations.iter().copied().map(organization_key).collect();
        match self.store.get(&keys).await {
            Ok(records) => {
                let gone = organizations.into_iter().zip(records).filter(|(_, record)| record.is_none());
                gone.for_each(|(organization, _)| all.forget_organization(organization));
            }
            Err(error) => {
                tracing::warn!("credentials could not be dropped: {}", Error::from(error).with_causes());
            }
        }
    }

    /// Drops credentials as [`drop_credentials`](Self::drop_credentials) does, at most once a minute.
    pub(super) async fn drop_credentials_periodically(&self) {
        if self.state.credentials.is_look_due(self.now()) {
            self.drop_credentials().await;
        }
    }

    /// Holds the credentials of a discovery that is being created.
    ///
    /// # Errors
    /// `QuotaExceeded` if the instance holds those of 100 discoveries of the organization, or of 1,000 in all.
    pub(in crate::inventory) async fn hold_credentials(
        &self,
        organization: OrganizationId,
        discovery: DiscoveryId,
        credentials: SnmpCredentials,
    ) -> Result<Holding<'_>, Error> {
        self.drop_credentials_periodically().await;
        let (all, since) = (&self.state.credentials, self.now());
        all.prune(since);
        // Other instances may have ended discoveries whose credentials are here.
        let keys: Vec<Key> = all.stored_of(organization).into_iter().map(discovery_key).collect();
        for (key, record) in keys.iter().zip(self.store.get(&keys).await?) {
            let is_open = record.is_some_and(|record| {
                // A record that cannot be decoded is reported where it is used.
                decode::<Discovery>(&record).is_ok_and(|discovery| discovery.is_open())
            });
            if !is_open {
                all.forget(key.id.into());
            }
        }
        let credentials = Arc::new(credentials);
        all.hold(discovery, Held { organization, since, is_stored: false, credentials })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::MemoryStore;

    #[tokio::test]
    async fn credentials_of_an_organization_that_another_instance_has_deleted_are_dropped() {
        let store = Arc::new(MemoryStore::new());
        let (here, elsewhere) = (Inventory::new(Arc::clone(&store)), Inventory::new(store));
        let [gone, staying] = [1, 2].map(DiscoveryId::from_u128);
        let mut organizations = Vec::new();
        for (name, discovery) in [("Gone", gone), ("Staying", staying)] {
            let organization = here.organizations().create(name).await.unwrap().id;
            let credentials = json!({"default_credential": {"version": "V2c", "community": "secret"}});
            let credentials = SnmpCredentials::from_json(credentials).unwrap();
            here.hold_credentials(organization, discovery, credentials).await.unwrap().keep();
            organizations.push(organization);
        }
        elsewhere.organizations().delete(organizations[0]).await.unwrap();
        let held = |discovery| here.state.credentials.get(discovery).is_some();
        here.drop_credentials_periodically().await;
        assert!(held(gone), "the instance has looked less than a minute ago");
        here.purge_expired().await.unwrap();
        assert_eq!((held(gone), held(staying)), (false, true));
    }

    #[test]
    fn look_for_deleted_organizations_is_due_once_a_minute() {
        let (held, begin) = (HeldCredentials::default(), Timestamp::now());
        let due = [0, 1, LOOK_INTERVAL - 1, LOOK_INTERVAL, LOOK_INTERVAL + 1, 2 * LOOK_INTERVAL]
            .map(|micros| held.is_look_due(begin.plus_micros(micros)));
        assert_eq!(due, [true, false, false, true, false, true]);
    }
}
