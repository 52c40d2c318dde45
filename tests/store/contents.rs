//! The contents of a store, read from a snapshot.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

#[cfg(feature = "testing")]
use bytes::Bytes;
use toposcope::store::{Entry, Facets, Key, Store, StoreError};

/// How a store deviates from its expected contents.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// It reported an error.
    Reported(String),
    /// It returned wrong data.
    Wrong(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reported(text) => write!(formatter, "reported: {text}"),
            Self::Wrong(text) => write!(formatter, "wrong: {text}"),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Reported(chain(&error))
    }
}

/// Returns an error with its kind and its chain of sources.
pub(crate) fn chain(error: &StoreError) -> String {
    let mut text = format!("{:?}: {error}", error.kind());
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text} < {error}");
        source = error.source();
    }
    text
}

/// Returns all records with their facets in ascending order.
pub(crate) async fn entries(store: &(impl Store + ?Sized)) -> Result<BTreeMap<Key, Entry>, Fault> {
    let mut snapshot = store.snapshot().await?;
    let mut entries = BTreeMap::new();
    loop {
        let chunk = snapshot.next(100).await?;
        if chunk.is_empty() {
            return Ok(entries);
        }
        for mut entry in chunk {
            let key = entry.record.key;
            entry.facets = in_order(entry.facets);
            if entries.insert(key, entry).is_some() {
                return Err(Fault::Wrong(format!("{key} is there twice")));
            }
        }
    }
}

/// Returns all facets and bodies. Versions are omitted because they differ between two stores.
#[cfg(feature = "testing")]
pub(crate) async fn contents(store: &(impl Store + ?Sized)) -> BTreeMap<Key, (Facets, Bytes)> {
    let entries = entries(store).await.unwrap();
    entries.into_iter().map(|(key, entry)| (key, (entry.facets, entry.record.body))).collect()
}

/// Returns facets in the order in which they are compared. A store returns them in any order.
pub(crate) fn in_order(mut facets: Facets) -> Facets {
    facets.links.sort_unstable();
    facets.terms.sort_unstable();
    facets.unique_keys.sort_unstable();
    facets.sort_keys.sort_unstable_by_key(|key| key.name);
    facets
}
