//! A loaded index, compared with one that received the same records write by write.

mod common;
mod lists;
mod load;
mod random;
mod revisions;

use std::mem::discriminant;

use self::random::{Model, Random};
use super::{Finished, Index, ListKey, ListResult, Loader, Packs, PageRows, RowId};
use crate::model::Timestamp;
use crate::store::{Cursor, Guard, Key, Query, Start, StoreErrorKind, Version, Write};

/// Applies writes that the index must accept, to the index and its model.
fn write(index: &mut Index, model: &mut Model, writes: &[Write]) {
    let version = index.next_version();
    assert!(accepts(index, writes));
    add_to_model(model, version, writes);
    index.apply(version, writes, index.packer(writes).pack(writes), |_, _| {});
}

/// Applies writes to a model.
fn add_to_model(model: &mut Model, version: Version, writes: &[Write]) {
    for write in writes {
        match write {
            Write::Put { key, facets, .. } => model.insert(*key, (version, facets.clone())),
            Write::Delete { key, .. } => model.remove(key),
        };
    }
}

/// Applies random writes to the index and its model, if the index accepts them.
fn write_at_random(index: &mut Index, model: &mut Model, random: &mut Random, records: usize) {
    let writes = random.writes(records);
    if accepts(index, &writes) {
        write(index, model, &writes);
    }
}

/// Returns whether the index accepts writes. Whether they are packed makes no difference.
fn accepts(index: &Index, writes: &[Write]) -> bool {
    refusal(index, writes, &[]).is_none()
}

/// Loads the records in the order of their keys.
fn loaded(model: &Model, version: Version) -> Index {
    let mut loader = Loader::default();
    for (place, (key, (version, facets))) in model.iter().enumerate() {
        assert_eq!(loader.add(*key, *version, facets).expect("the record fits"), place as RowId);
    }
    loader.finish(version)
}

/// Loads the records of a model into an index that continues like this one.
fn reloaded(index: &Index, model: &Model) -> Index {
    loaded(model, Version(index.next_version().0 - 1))
}

/// Answers a query in at most this many steps. Materializes its list where the index asks for that.
fn select(index: &mut Index, query: &Query, steps: usize) -> PageRows {
    match index.list_within(query, steps).expect("the query keeps the contract") {
        ListResult::Page(selection, worth) => {
            if let Some(key) = worth {
                assert!(materialize(index, key, |_| {}));
            }
            selection
        }
        ListResult::Materialize(key) => {
            assert!(materialize(index, key, |_| {}));
            match index.list_within(query, 0).expect("the query keeps the contract") {
                ListResult::Page(selection, _) => selection,
                ListResult::Materialize(key) => panic!("the list is not in the cache: {key:?}"),
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

/// Asserts that two indexes answer alike, whatever the numbers of their rows. It compares keys, pages, expiry, and
/// checks of writes.
fn assert_same(left: &Index, right: &Index, model: &Model, records: usize, random: &mut Random) {
    assert_eq!(left.next_version(), right.next_version());
    for (key, (version, facets)) in model {
        for index in [left, right] {
            assert_eq!(index.find(*key).and_then(|row| index.key(row)), Some((*key, *version)));
            for unique_key in &facets.unique_keys {
                assert_eq!(
                    index.get_by_unique_key(unique_key).and_then(|row| index.key(row)),
                    Some((*key, *version))
                );
            }
        }
    }
    for micros in [-1, 0, 7, 49] {
        let now = Timestamp::UNIX_EPOCH.plus_micros(micros);
        let is_over = |time: Option<Timestamp>| time.is_some_and(|time| time <= now);
        let over = model.iter().filter(|(_, (_, facets))| is_over(facets.expires_at));
        let over: Vec<Key> = over.map(|(key, _)| *key).collect();
        assert_eq!((expired(left, now), expired(right, now)), (over.clone(), over));
    }
    for _ in 0..100 {
        assert_same_pages(left, right, random.query(records));
        let (writes, guards) = (random.writes(records), random.guards(records, model));
        assert_eq!(
            refusal(left, &writes, &guards),
            refusal(right, &writes, &guards),
            "{writes:?} {guards:?}"
        );
    }
}

/// Asserts that a few consecutive pages are equal.
fn assert_same_pages(left: &Index, right: &Index, mut query: Query) {
    for _ in 0..4 {
        let page = page(left, &query);
        assert_eq!(page, self::page(right, &query), "{query:?}");
        let Some(next) = page.2 else { return };
        query.start = Start::After(next);
    }
}

/// Returns the page that an index finds without the ordering cache.
fn page(index: &Index, query: &Query) -> (Vec<(Key, Version)>, u64, Option<Cursor>) {
    match index.list_within(query, usize::MAX).expect("the query keeps the contract") {
        ListResult::Page(found, _) => records(index, found),
        ListResult::Materialize(key) => panic!("without a limit, a list was to be materialized: {key:?}"),
    }
}

fn records(index: &Index, found: PageRows) -> (Vec<(Key, Version)>, u64, Option<Cursor>) {
    (found.rows.iter().filter_map(|row| index.key(*row)).collect(), found.total, found.next)
}

fn refusal(index: &Index, writes: &[Write], guards: &[Guard]) -> Option<StoreErrorKind> {
    let refusal = |packs| index.check(writes, &packs, guards).err().map(|error| error.kind().clone());
    let (packed, unpacked) = (refusal(index.packer(writes).pack(writes)), refusal(Packs::default()));
    // If several unique keys are taken, the two errors may name different ones.
    assert_eq!(packed.as_ref().map(discriminant), unpacked.as_ref().map(discriminant));
    unpacked
}

fn expired(index: &Index, now: Timestamp) -> Vec<Key> {
    let mut expired = index.expired(now);
    expired.sort_unstable();
    expired
}
