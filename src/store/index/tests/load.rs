use uuid::Uuid;

use super::random::Random;
use super::same::assert_same;
use super::{Model, loaded, select, write};
use crate::model::Timestamp;
use crate::store::index::Packs;
use crate::store::index::load::FEW_ROWS;
use crate::store::index::{Index, Loader};
use crate::store::{Direction, Facets, Key, Name, Order, Precondition, Query, SortKey, Version, Write};

const HOST: Name = Name::new("host");

fn key(number: u128) -> Key {
    Key::new(HOST, Uuid::from_u128(number))
}

fn sorted_by(name: &'static str, value: &[u8]) -> Facets {
    Facets { sort_keys: vec![SortKey::new(Name::new(name), value)], ..Facets::default() }
}

/// Commits random writes, those that the index takes, to all the indexes.
fn write_at_random(
    indexes: &mut [&mut Index],
    model: &mut Model,
    steps: usize,
    records: usize,
    random: &mut Random,
) {
    for _ in 0..steps {
        let writes = random.writes(records);
        if indexes.iter().all(|index| index.check(&writes, &Packs::default(), &[]).is_err()) {
            continue;
        }
        for index in indexes.iter_mut() {
            write(index, model, &writes);
        }
    }
}

/// Loads the records of an index after random writes, compares the two, and writes to both. Returns the number of records
/// were loaded.
fn compare_at_random(seed: u64, steps: usize, records: usize) -> usize {
    let mut random = Random::new(seed);
    let (mut applied, mut model) = (Index::default(), Model::new());
    write_at_random(&mut [&mut applied], &mut model, steps, records, &mut random);
    let count = model.len();
    let last = Version(applied.next_version().0 - 1);
    let mut loaded = loaded(&model, last);
    assert_same(&loaded, &applied, &model, records, &mut random);
    for micros in [3, 60] {
        write_at_random(&mut [&mut loaded, &mut applied], &mut model, steps / 3 + 5, records, &mut random);
        assert_same(&loaded, &applied, &model, records, &mut random);
        let now = Timestamp::UNIX_EPOCH.plus_micros(micros);
        let delete = |key| Write::Delete { key, precondition: Precondition::Present };
        let deletions: Vec<Write> = applied.expired(now).into_iter().map(delete).collect();
        for index in [&mut loaded, &mut applied] {
            write(index, &mut model, &deletions);
        }
        assert!(model.values().all(|(_, facets)| facets.expires_at.is_none_or(|time| time > now)));
        assert_same(&loaded, &applied, &model, records, &mut random);
    }
    count
}

#[test]
fn a_loaded_index_answers_like_one_that_was_written_and_goes_on_like_it() {
    for seed in 0..30 {
        compare_at_random(seed, 300, 100);
    }
}

#[test]
fn an_index_loaded_of_nothing_or_of_little_is_like_one_that_was_written() {
    for seed in 0..20 {
        compare_at_random(seed, seed as usize % 4, 3);
    }
}

#[test]
fn an_index_whose_orders_are_sorted_side_by_side_is_like_one_that_was_written() {
    let count = compare_at_random(77, 3_500, 8_000);
    assert!(count > 3 * FEW_ROWS, "{count} records of two kinds are too few for threads");
}

#[test]
fn the_next_version_is_greater_than_the_last_given_and_than_any_of_a_record() {
    assert_eq!(Loader::default().finish(Version(7)).next_version(), Version(8));
    let mut loader = Loader::default();
    loader.add(key(1), Version(9), &Facets::default()).expect("the record fits");
    loader.add(key(2), Version(3), &Facets::default()).expect("the record fits");
    assert_eq!(loader.finish(Version(7)).next_version(), Version(10));
}

#[test]
fn an_order_that_only_later_records_have_is_that_of_all() {
    let mut loader = Loader::default();
    for (number, facets) in
        [(3, Facets::default()), (1, sorted_by("name", b"b")), (2, sorted_by("place", b"a"))]
    {
        loader.add(key(number), Version(1), &facets).expect("the record fits");
    }
    let mut index = loader.finish(Version(1));
    let mut query = Query::new(HOST);
    for (name, expected) in [("name", [2, 0, 1]), ("place", [1, 0, 2])] {
        query.order = vec![Order::new(Name::new(name), Direction::Ascending)];
        assert_eq!(select(&mut index, &query, usize::MAX).rows, expected);
    }
}
