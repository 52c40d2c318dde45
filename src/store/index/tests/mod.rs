//! An index that was loaded against one that came to the same records write by write.

mod load;
mod materialize;
mod ordering_cache;
mod random;
mod refuse;
mod same;

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Answer, Finished, Index, ListKey, Loader, Packs, RowId, Selection};
use crate::store::{Facets, Key, Precondition, Query, Version, Write};

/// What an index holds: all that it is loaded from.
type Model = BTreeMap<Key, (Version, Facets)>;

fn put(key: Key, facets: Facets) -> Write {
    Write::Put { key, precondition: Precondition::Any, facets, body: Bytes::new() }
}

/// Writes to an index what it must accept, and keeps the model of what it holds.
fn write(index: &mut Index, model: &mut Model, writes: &[Write]) {
    let version = index.next_version();
    index.check(writes, &Packs::default(), &[]).expect("the writes pass");
    for write in writes {
        match write {
            Write::Put { key, facets, .. } => model.insert(*key, (version, facets.clone())),
            Write::Delete { key, .. } => model.remove(key),
        };
    }
    index.apply(version, writes, index.packer().pack(writes), |_, _| {});
}

/// Loads the records in the order of their keys.
fn loaded(model: &Model, version: Version) -> Index {
    let mut loader = Loader::default();
    for (place, (key, (version, facets))) in model.iter().enumerate() {
        assert_eq!(loader.add(*key, *version, facets).expect("the record fits"), place as RowId);
    }
    loader.finish(version)
}

/// Answers a query in at most this many steps, and materializes its list where the index asks for that.
fn select(index: &mut Index, query: &Query, steps: usize) -> Selection {
    match index.list_within(query, steps).expect("the query keeps the contract") {
        Answer::Page(selection, worth) => {
            if let Some(key) = worth {
                assert!(materialize(index, key, |_| {}));
            }
            selection
        }
        Answer::Materialize(key) => {
            assert!(materialize(index, key, |_| {}));
            match index.list_within(query, 0).expect("the query keeps the contract") {
                Answer::Page(selection, _) => selection,
                Answer::Materialize(key) => panic!("the list is not in the cache: {key:?}"),
            }
        }
    }
}

/// Materializes a list in small slices, and changes the index between any two of them. Returns whether it came into the
/// cache.
fn materialize(index: &mut Index, key: ListKey, mut change: impl FnMut(&mut Index)) -> bool {
    let Some(mut list) = index.begin(key) else { return false };
    change(index);
    let mut steps = 0;
    while list.read(index, 1 + steps % 5) {
        steps += 1;
        change(index);
    }
    change(index);
    let mut list = list.sort();
    change(index);
    list.read_prefixes(index);
    change(index);
    let mut list = list.build();
    loop {
        change(index);
        match index.finish(list) {
            Finished::Cached(_) => return true,
            Finished::Abandoned => return false,
            Finished::Unfinished(unfinished) => list = unfinished,
        }
    }
}
