use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::Error;
use super::schema::decode;
use crate::store::{Record, Version};

/// A cache of decoded records of one kind.
///
/// The record itself is always read from the store; only decoding is saved. A cached value is used only if the record
/// just read has the version that the value was decoded from, so the cache is never stale.
pub(super) struct DecodeCache<T>(RwLock<HashMap<Uuid, (Version, Arc<T>)>>);

/// The maximum number of cached values.
const CAPACITY: usize = 4096;

impl<T: DeserializeOwned> DecodeCache<T> {
    pub(super) fn get(&self, record: &Record) -> Result<Arc<T>, Error> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((version, value)) = known.get(&record.key.id)
            && *version == record.version
        {
            return Ok(Arc::clone(value));
        }
        drop(known);
        let value = Arc::new(decode(record)?);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Clearing everything avoids tracking use on every request; active values return with their next request.
        if known.len() >= CAPACITY {
            known.clear();
        }
        known.insert(record.key.id, (record.version, Arc::clone(&value)));
        Ok(value)
    }
}

impl<T> Default for DecodeCache<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

/// Omits the cached values.
impl<T> fmt::Debug for DecodeCache<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DecodeCache").finish_non_exhaustive()
    }
}
