use std::error::Error;

use uuid::Uuid;

use super::Loader;
use crate::store::{Facets, Key, Name, SortKey, StoreErrorKind, UniqueKey, Version};

const HOST: Name = Name::new("host");
const PORT: Name = Name::new("port");

fn key(number: u128) -> Key {
    Key::new(HOST, Uuid::from_u128(number))
}

fn known_as(names: &[&str]) -> Facets {
    Facets {
        unique_keys: names.iter().map(|name| UniqueKey::new(PORT, name.as_bytes())).collect(),
        ..Facets::default()
    }
}

fn sorted_by(names: &[Name]) -> Facets {
    Facets {
        sort_keys: names.iter().map(|name| SortKey::new(*name, b"a".as_slice())).collect(),
        ..Facets::default()
    }
}

/// Adds a record that is refused behind another, and one more behind it. Gives back why it was refused.
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
fn a_key_that_is_there_already_is_corrupt() {
    let text = refused(&Facets::default(), key(1), &Facets::default());
    assert!(text.ends_with("is there twice"), "{text}");
}

#[test]
fn a_unique_key_of_another_record_is_corrupt_and_its_value_is_not_told() {
    for unique_keys in [&["old", "young"][..], &["new", "old"], &["old"]] {
        let text = refused(&known_as(&["old"]), key(2), &known_as(unique_keys));
        assert!(text.ends_with("a unique key that another record has"), "{text}");
        assert!(!text.contains("old"), "{text}");
    }
}

#[test]
fn facets_that_no_batch_may_bring_are_corrupt() {
    let name = Name::new("name");
    let text = refused(&Facets::default(), key(2), &sorted_by(&[name, name]));
    assert!(text.contains("a sort key twice"), "{text}");
    let text = refused(&Facets::default(), key(2), &known_as(&["a".repeat(1_025).as_str()]));
    assert!(text.contains("a unique key of more than 1024 bytes"), "{text}");
}

#[test]
fn more_names_than_the_index_can_number_are_corrupt() {
    let names: Vec<Name> = (0..65_600).filter_map(|number| Name::parse(&number.to_string())).collect();
    let text = refused(&Facets::default(), key(2), &sorted_by(&names));
    assert!(text.contains("number no more names"), "{text}");
}

#[test]
fn a_unique_key_that_a_record_names_twice_is_its_own() {
    let mut loader = Loader::default();
    let row = loader.add(key(1), Version(1), &known_as(&["one", "one"])).expect("the record fits");
    let index = loader.finish(Version(1));
    assert_eq!(index.get_by_unique_key(&UniqueKey::new(PORT, b"one".as_slice())), Some(row));
}
