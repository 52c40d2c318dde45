//! Caches of decoded records, which authentication reads with every request.

use std::collections::HashMap;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, PoisonError, RwLock};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::records::{KeySecret, SessionRecord, UserRights};
use super::schema::decode;
use super::{Entity, Error, ErrorKind};
use crate::access::Caller;
use crate::figures::{CacheCounters, CacheFigures};
use crate::model::{NetworkId, Permission, Timestamp, UserApiKeyId, UserId};
use crate::store::{Record, Version};

/// A cache of decoded records of one kind.
///
/// The record itself is always read from the store; only decoding is saved. A cached value is used only if the record
/// just read has the version that the value was decoded from, so the cache is never stale.
pub(super) struct DecodeCache<T> {
    values: RwLock<HashMap<Uuid, (Version, Arc<T>)>>,
    counters: CacheCounters,
}

/// The maximum number of cached values.
const MAX_CACHED: usize = 4096;

impl<T: DeserializeOwned> DecodeCache<T> {
    pub(super) fn get(&self, record: &Record) -> Result<Arc<T>, Error> {
        let known = self.values.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, value)) = known.get(&record.key.id)
            && *version == record.version
        {
            self.counters.hits.increment();
            return Ok(Arc::clone(value));
        }
        drop(known);
        self.counters.misses.increment();
        let value = Arc::new(decode(record)?);
        let mut known = self.values.write().unwrap_or_else(PoisonError::into_inner);
        // Clearing everything avoids tracking use on every request; active values return with their next request.
        if known.len() >= MAX_CACHED {
            known.clear();
        }
        known.insert(record.key.id, (record.version, Arc::clone(&value)));
        Ok(value)
    }
}

impl<T> DecodeCache<T> {
    fn figures(&self, name: &'static str) -> CacheFigures {
        let entries = self.values.read().unwrap_or_else(PoisonError::into_inner).len();
        CacheFigures::new(name, &self.counters, entries)
    }
}

impl<T> Default for DecodeCache<T> {
    fn default() -> Self {
        Self { values: RwLock::default(), counters: CacheCounters::default() }
    }
}

/// Decoded records that authentication reads on every request.
#[derive(Default)]
pub(super) struct AuthenticationCache {
    pub(super) secrets: DecodeCache<KeySecret>,
    pub(super) sessions: DecodeCache<SessionRecord>,
    pub(super) user_keys: DecodeCache<UserKeyRights>,
    pub(super) daemon_keys: DecodeCache<KeyRights>,
    pub(super) users: DecodeCache<UserRights>,
    pub(super) organizations: DecodeCache<OrganizationRights>,
}

impl AuthenticationCache {
    pub(super) fn figures(&self) -> [CacheFigures; 6] {
        let Self { secrets, sessions, user_keys, daemon_keys, users, organizations } = self;
        [
            secrets.figures("secrets"),
            sessions.figures("sessions"),
            user_keys.figures("user_keys"),
            daemon_keys.figures("daemon_keys"),
            users.figures("users"),
            organizations.figures("organizations"),
        ]
    }
}

/// The part of an API key that every request needs.
#[derive(Debug, Deserialize)]
pub(super) struct KeyRights {
    expires_at: Option<Timestamp>,
    is_enabled: bool,
    /// When a use was last recorded, in microseconds of Unix time. Not stored.
    #[serde(skip)]
    pub(super) recorded_at: Arc<AtomicI64>,
}

/// The part of a user API key that every request needs.
#[derive(Debug, Deserialize)]
pub(super) struct UserKeyRights {
    #[serde(flatten)]
    pub(super) key: KeyRights,
    network_ids: Vec<NetworkId>,
    #[serde(default)]
    all_networks: bool,
    permissions: Permission,
    /// The caller derived for the key, and the owner record's version it was derived from. Not stored.
    #[serde(skip)]
    caller: RwLock<Option<(Version, Caller)>>,
}

impl UserKeyRights {
    /// Returns the caller for this key. Derived again only when a record changed, because scopes may be long.
    pub(super) fn caller(&self, id: UserApiKeyId, owner: &Record, rights: &UserRights) -> Caller {
        if let Some((version, caller)) = &*self.caller.read().unwrap_or_else(PoisonError::into_inner)
            && (*version, caller.user_id()) == (owner.version, UserId::new(owner.key.id))
        {
            return caller.clone();
        }
        let user = rights.caller();
        let caller = if self.all_networks {
            user.through_key_of_all_networks(id, self.permissions)
        } else {
            user.through_key(id, self.permissions, self.network_ids.iter().copied())
        };
        let known = Some((owner.version, caller.clone()));
        *self.caller.write().unwrap_or_else(PoisonError::into_inner) = known;
        caller
    }
}

/// The part of an organization that every request with an API key needs.
#[derive(Debug, Deserialize)]
pub(super) struct OrganizationRights {
    pub(super) api_access: bool,
}

impl KeyRights {
    pub(super) fn check(&self, entity: Entity, now: Timestamp) -> Result<(), Error> {
        if !self.is_enabled {
            return Err(ErrorKind::Disabled { entity }.into());
        }
        if self.expires_at.is_some_and(|time| time <= now) {
            return Err(ErrorKind::Expired { entity }.into());
        }
        Ok(())
    }
}
