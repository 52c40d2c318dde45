//! An index that was loaded against one that came to the same records write by write.

mod kept;
mod load;
mod random;
mod refuse;
mod same;

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Index, Loader, RowId};
use crate::store::{Expect, Facets, Key, Version, Write};

/// What an index holds: all that it is loaded from.
type Model = BTreeMap<Key, (Version, Facets)>;

fn put(key: Key, facets: Facets) -> Write {
    Write::Put { key, expect: Expect::Any, facets, body: Bytes::new() }
}

/// Writes to an index what it must accept, and keeps the model of what it holds.
fn write(index: &mut Index, model: &mut Model, writes: &[Write]) {
    let version = index.next_version();
    index.check(writes, &[]).expect("the writes pass");
    for write in writes {
        match write {
            Write::Put { key, facets, .. } => model.insert(*key, (version, facets.clone())),
            Write::Delete { key, .. } => model.remove(key),
        };
    }
    index.apply(version, writes.to_vec(), |_, _| {});
}

/// Loads the records in the order of their keys.
fn loaded(model: &Model, version: Version) -> Index {
    let mut loader = Loader::default();
    for (place, (key, (version, facets))) in model.iter().enumerate() {
        assert_eq!(loader.add(*key, *version, facets).expect("the record fits"), place as RowId);
    }
    loader.finish(version)
}
