use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::Error;
use super::records::decode;
use crate::store::{Record, Version};

/// Values of one kind of record that were decoded lately.
///
/// It saves the decoding, never the reading: a value is taken only for a record that was read just now and has the very
/// version that the value was decoded from. So nothing here can be out of date.
pub(super) struct Decoded<T>(RwLock<HashMap<Uuid, (Version, Arc<T>)>>);

/// How many values are kept at most.
const CAPACITY: usize = 4096;

impl<T: DeserializeOwned> Decoded<T> {
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
        // Those in use come back with their next request; to find out which are not would cost every request.
        if known.len() >= CAPACITY {
            known.clear();
        }
        known.insert(record.key.id, (record.version, Arc::clone(&value)));
        Ok(value)
    }
}

impl<T> Default for Decoded<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

/// Without the values.
impl<T> fmt::Debug for Decoded<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Decoded").finish_non_exhaustive()
    }
}
