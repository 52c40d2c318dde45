//! Loaded indexes, compared with indexes that received the same records write by write. Some of the writes were packed
//! before others changed their records.

use std::error::Error;

use bytes::Bytes;
use uuid::Uuid;

use super::random::{Model, Random, put};
use super::{
    Loader, accepts, add_to_model, assert_same, expired, loaded, page, reloaded, select, write,
    write_at_random,
};
use crate::model::Timestamp;
use crate::store::index::write::MIN_THREADED_ROWS;
use crate::store::index::{Index, Packs};
use crate::store::{
    Direction, Facets, Key, Name, Order, Precondition, Query, SortKey, StoreErrorKind, Term, UniqueKey,
    Version, Write,
};

const HOST: Name = Name::new("host");
const PORT: Name = Name::new("port");

fn key(number: u128) -> Key {
    Key::new(HOST, Uuid::from_u128(number))
}

fn sorted_by(names: &[Name]) -> Facets {
    Facets::default().with_sort_keys(names.iter().map(|name| SortKey::new(*name, b"a".as_slice())))
}

fn known_as(names: &[&str]) -> Facets {
    Facets::default().with_unique_keys(names.iter().map(|name| UniqueKey::new(PORT, name.as_bytes())))
}

/// Applies random writes to all indexes, as far as the indexes accept them.
fn write_to_all(
    indexes: &mut [&mut Index],
    model: &mut Model,
    steps: usize,
    records: usize,
    random: &mut Random,
) {
    for _ in 0..steps {
        let writes = random.writes(records);
        if indexes.iter().all(|index| !accepts(index, &writes)) {
            continue;
        }
        for index in indexes.iter_mut() {
            write(index, model, &writes);
        }
    }
}

/// Loads the records of an index after random writes, and compares the two. Then writes to both. Returns the number
/// of records that were loaded.
fn compare_at_random(seed: u64, steps: usize, records: usize) -> usize {
    let mut random = Random::new(seed);
    let (mut applied, mut model) = (Index::default(), Model::new());
    write_to_all(&mut [&mut applied], &mut model, steps, records, &mut random);
    let count = model.len();
    let last = Version(applied.next_version().0 - 1);
    let mut loaded = loaded(&model, last);
    assert_same(&loaded, &applied, &model, records, &mut random);
    for micros in [3, 60] {
        write_to_all(&mut [&mut loaded, &mut applied], &mut model, steps / 3 + 5, records, &mut random);
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
fn loaded_index_equals_written_index_also_after_later_writes() {
    for seed in 0..30 {
        compare_at_random(seed, 300, 100);
    }
}

#[test]
fn index_loaded_from_few_or_no_records_equals_written_index() {
    for seed in 0..20 {
        compare_at_random(seed, seed as usize % 4, 3);
    }
}

#[test]
fn index_whose_orders_are_sorted_in_parallel_equals_written_index() {
    let count = compare_at_random(77, 3_500, 8_000);
    assert!(count > 3 * MIN_THREADED_ROWS, "{count} records of two kinds are too few for threads");
}

#[test]
fn records_of_one_batch_are_found_as_if_written_one_by_one() {
    let mut random = Random::new(5);
    let (mut one_by_one, mut model) = (Index::default(), Model::new());
    write_to_all(&mut [&mut one_by_one], &mut model, 2_000, 600, &mut random);
    assert!(model.len() > 200, "{} records are too few for threads", model.len());
    let mut at_once = Index::default();
    let put = |(key, (_, facets)): (&Key, &(Version, Facets))| Write::Put {
        key: *key,
        precondition: Precondition::Absent,
        facets: facets.clone(),
        body: Bytes::new(),
    };
    let puts: Vec<Write> = model.iter().map(put).collect();
    let packs = at_once.packer(&puts).pack(&puts);
    at_once.apply(Version(one_by_one.next_version().0 - 1), &puts, packs, |_, _| {});
    for _ in 0..2_000 {
        let query = random.query(600);
        let keys = |index: &Index| page(index, &query).0.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
        assert_eq!(keys(&at_once), keys(&one_by_one), "{query:?}");
    }
    for (key, (_, facets)) in &model {
        for unique_key in &facets.unique_keys {
            let holder = at_once.get_by_unique_key(unique_key).and_then(|row| at_once.key(row));
            assert_eq!(holder.map(|(holder, _)| holder), Some(*key));
        }
    }
    let all = Timestamp::UNIX_EPOCH.plus_micros(1_000_000);
    assert_eq!(expired(&at_once, all), expired(&one_by_one, all));
}

#[test]
fn batch_of_records_with_equal_sort_keys_is_merged_in_order() {
    let name = Name::new("name");
    let (mut index, mut model) = (Index::default(), Model::new());
    for (batch, value) in ["m", "m", "a", "a", "z", "z", "m"].into_iter().enumerate() {
        let facets = Facets::default().with_sort_keys([SortKey::new(name, value)]);
        // The ids of the batches alternate.
        let keys = (0..100).map(|number| key(10 * number + batch as u128));
        let puts: Vec<Write> = keys.map(|key| put(key, facets.clone())).collect();
        write(&mut index, &mut model, &puts);
        let query = Query { order: vec![Order::new(name, Direction::Ascending)], ..Query::new(HOST) };
        assert_eq!(page(&index, &query), page(&reloaded(&index, &model), &query), "batch {batch}");
    }
}

#[test]
fn next_version_exceeds_the_last_version_and_those_of_all_records() {
    assert_eq!(Loader::default().finish(Version(7)).next_version(), Version(8));
    let mut loader = Loader::default();
    loader.add(key(1), Version(9), &Facets::default()).expect("the record fits");
    loader.add(key(2), Version(3), &Facets::default()).expect("the record fits");
    assert_eq!(loader.finish(Version(7)).next_version(), Version(10));
}

#[test]
fn order_that_only_later_records_have_sorts_all_records() {
    let mut loader = Loader::default();
    for (number, facets) in
        [(3, Facets::default()), (1, sorted_by(&[Name::new("name")])), (2, sorted_by(&[Name::new("place")]))]
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

/// Adds a record that must be refused, between two that fit. Returns the reason.
fn refused(first: &Facets, refused: Key, facets: &Facets) -> String {
    let mut loader = Loader::default();
    loader.add(key(1), Version(1), first).expect("the first record fits");
    let error = loader.add(refused, Version(2), facets).expect_err("the record is refused");
    assert_eq!(error.kind(), &StoreErrorKind::Corrupt);
    let text = error.to_string();
    assert!(text.contains(&refused.to_string()), "{text}");
    assert_eq!(loader.add(key(3), Version(3), &known_as(&["new"])).expect("the last record fits"), 1);
    let index = loader.finish(Version(3));
    let found = |key| index.find(key).and_then(|row| index.key(row));
    assert_eq!(found(key(1)), Some((key(1), Version(1))));
    assert_eq!(found(key(2)), None);
    assert_eq!(found(key(3)), Some((key(3), Version(3))));
    let holder = |name: &str| index.get_by_unique_key(&UniqueKey::new(PORT, name.as_bytes()));
    assert_eq!((holder("new"), holder("young")), (Some(1), None));
    assert_eq!(holder("old"), if first.unique_keys.is_empty() { None } else { Some(0) });
    match error.source() {
        Some(source) => format!("{text}: {source}"),
        None => text,
    }
}

#[test]
fn duplicate_key_is_refused_as_corrupt() {
    let text = refused(&Facets::default(), key(1), &Facets::default());
    assert!(text.ends_with("is there twice"), "{text}");
}

#[test]
fn unique_key_of_another_record_is_refused_as_corrupt_without_its_value() {
    for unique_keys in [&["old", "young"][..], &["new", "old"], &["old"]] {
        let text = refused(&known_as(&["old"]), key(2), &known_as(unique_keys));
        assert!(text.ends_with("a unique key that another record has"), "{text}");
        assert!(!text.contains("old"), "{text}");
    }
}

#[test]
fn facets_that_no_batch_may_have_are_refused_as_corrupt() {
    let name = Name::new("name");
    let text = refused(&Facets::default(), key(2), &sorted_by(&[name, name]));
    assert!(text.contains("a sort key twice"), "{text}");
    let text = refused(&Facets::default(), key(2), &known_as(&["a".repeat(1_025).as_str()]));
    assert!(text.contains("a unique key of more than 1024 bytes"), "{text}");
    let long = Facets::default().with_terms([Term::new(name, [0; Term::MAX_LENGTH + 1])]);
    let text = refused(&Facets::default(), key(2), &long);
    assert!(text.contains("a term of more than 64 bytes"), "{text}");
}

#[test]
fn names_beyond_the_maximum_are_refused_as_corrupt() {
    let names: Vec<Name> = (0..65_600).filter_map(|number| Name::parse(&number.to_string())).collect();
    let text = refused(&Facets::default(), key(2), &sorted_by(&names));
    assert!(text.contains("number no more names"), "{text}");
}

#[test]
fn unique_key_repeated_within_its_record_is_accepted() {
    let mut loader = Loader::default();
    let row = loader.add(key(1), Version(1), &known_as(&["one", "one"])).expect("the record fits");
    let index = loader.finish(Version(1));
    assert_eq!(index.get_by_unique_key(&UniqueKey::new(PORT, b"one".as_slice())), Some(row));
}

const RECORDS: usize = 10;

#[test]
fn packed_writes_have_the_same_effect_when_their_records_have_changed_since() {
    let mut accepted = 0;
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let (mut index, mut model) = (Index::default(), Model::new());
        for step in 0..300 {
            let writes = random.writes(RECORDS);
            let packs = index.packer(&writes).pack(&writes);
            write_at_random(&mut index, &mut model, &mut random, RECORDS);
            let is_accepted = index.check(&writes, &packs, &[]).is_ok();
            assert_eq!(is_accepted, index.check(&writes, &Packs::default(), &[]).is_ok());
            if !is_accepted {
                continue;
            }
            accepted += 1;
            let packs = if step % 4 == 0 { Packs::default() } else { packs };
            let version = index.next_version();
            add_to_model(&mut model, version, &writes);
            index.apply(version, &writes, packs, |_, _| {});
        }
        let reloaded = reloaded(&index, &model);
        assert_same(&index, &reloaded, &model, RECORDS, &mut random);
    }
    assert!(accepted > 1_000, "{accepted}");
}
