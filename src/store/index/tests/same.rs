//! Whether two indexes answer alike. The numbers of their rows may differ.

use super::Model;
use super::random::Random;
use crate::model::Timestamp;
use crate::store::index::Packs;
use crate::store::index::{Answer, Index, Selection};
use crate::store::{Cursor, Guard, Key, Query, Start, StoreErrorKind, Version, Write};

/// Asks both for all records of a model and for some pages, and whether they would take some writes.
pub(super) fn assert_same(left: &Index, right: &Index, model: &Model, records: usize, random: &mut Random) {
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
        let (writes, guards) = (random.writes(records), random.checks(records, model));
        assert_eq!(
            refusal(left, &writes, &guards),
            refusal(right, &writes, &guards),
            "{writes:?} {guards:?}"
        );
    }
}

/// Whether a few pages that follow each other are alike.
fn assert_same_pages(left: &Index, right: &Index, mut query: Query) {
    for _ in 0..4 {
        let page = page(left, &query);
        assert_eq!(page, self::page(right, &query), "{query:?}");
        let Some(next) = page.2 else { return };
        query.start = Start::After(next);
    }
}

/// The page that an index finds without the ordering cache.
pub(super) fn page(index: &Index, query: &Query) -> (Vec<(Key, Version)>, u64, Option<Cursor>) {
    match index.list_within(query, usize::MAX).expect("the query keeps the contract") {
        Answer::Page(found, _) => records(index, found),
        Answer::Materialize(key) => panic!("without a limit, a list was to be materialized: {key:?}"),
    }
}

pub(super) fn records(index: &Index, found: Selection) -> (Vec<(Key, Version)>, u64, Option<Cursor>) {
    (found.rows.iter().filter_map(|row| index.key(*row)).collect(), found.total, found.next)
}

fn refusal(index: &Index, writes: &[Write], guards: &[Guard]) -> Option<StoreErrorKind> {
    index.check(writes, &Packs::default(), guards).err().map(|error| error.kind().clone())
}

fn expired(index: &Index, now: Timestamp) -> Vec<Key> {
    let mut expired = index.expired(now);
    expired.sort_unstable();
    expired
}
