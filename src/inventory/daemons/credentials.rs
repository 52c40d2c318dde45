//! The credentials of discoveries that have not ended.
//!
//! They are only in the memory of the instance that has received them. Another instance, or this one after a restart,
//! cannot hand out their discovery: it fails with the error `credentials_lost`, at once if no other process can use the
//! store, otherwise a minute after an instance has missed them, so that the instance that holds them can be asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::inventory::schema::{decode, discovery_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::{Discovery, DiscoveryId, OrganizationId, SnmpCredentials, Timestamp};
use crate::store::Key;

/// The maximum number of discoveries whose credentials an instance holds.
const MAX_HELD: usize = 1_000;

/// The maximum number of discoveries of an organization whose credentials an instance holds.
const MAX_HELD_BY_ORGANIZATION: usize = 100;

/// The time after which credentials are dropped whose discovery no daemon has asked for, in microseconds.
const MAX_AGE: i64 = 24 * 60 * 60 * 1_000_000;

/// The time after which work without its credentials fails, from when they are first missed, in microseconds.
///
/// Daemons ask every 30 s, so that one that alternates between instances reaches the one that holds them.
pub(super) const GRACE_MICROS: i64 = 60 * 1_000_000;

/// The error of work whose credentials are gone.
pub(super) const CREDENTIALS_LOST: &str = "credentials_lost";

/// The credentials that an instance holds, by discovery.
#[derive(Debug, Default)]
pub(in crate::inventory) struct HeldCredentials(Mutex<HashMap<DiscoveryId, Held>>);

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
    /// Keeps the credentials until the discovery ends.
    pub(in crate::inventory) fn keep(self) {
        if let Some(held) = self.held.lock().get_mut(&self.discovery) {
            held.is_stored = true;
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Drops what is too old, and returns the stored discoveries of an organization whose credentials are held.
    fn prune(&self, organization: OrganizationId, now: Timestamp) -> Vec<DiscoveryId> {
        let mut all = self.lock();
        all.retain(|_, held| held.since.plus_micros(MAX_AGE) > now);
        let own = all.iter().filter(|(_, held)| held.is_stored && held.organization == organization);
        own.map(|(id, _)| *id).collect()
    }
}

impl Inventory {
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
        let (all, since) = (&self.state.credentials, self.now());
        // Other instances may have ended discoveries whose credentials are here.
        let keys: Vec<Key> = all.prune(organization, since).into_iter().map(discovery_key).collect();
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
