//! Lists that are materialized while their records change.

use super::random::Random;
use super::same::page;
use super::{Model, loaded, materialize, put, select, write};
use crate::store::index::Packs;
use crate::store::index::{Answer, Index, ListKey};
use crate::store::{Query, Version, Write};

/// An index with the records of some random batches, and its model.
fn filled(random: &mut Random, batches: usize, of: usize) -> (Index, Model) {
    let (mut index, mut model) = (Index::default(), Model::new());
    for _ in 0..batches {
        change(&mut index, &mut model, random, of);
    }
    (index, model)
}

fn change(index: &mut Index, model: &mut Model, random: &mut Random, of: usize) {
    let writes = random.writes(of);
    if index.check(&writes, &Packs::default(), &[]).is_ok() {
        write(index, model, &writes);
    }
}

/// The list of a query, unless one run has it.
fn list_of(index: &Index, query: &Query) -> Option<ListKey> {
    match index.list_within(query, 0).expect("the query keeps the contract") {
        Answer::Materialize(key) => Some(key),
        Answer::Page(..) => None,
    }
}

/// A query of one organization whose list has to be materialized.
fn expensive_query(random: &mut Random, index: &Index, of: usize) -> (Query, ListKey) {
    loop {
        let query = random.query(of);
        if let Some(key) = list_of(index, &query) {
            return (query, key);
        }
    }
}

fn materialize_among_changes(seed: u64, batches: usize, of: usize, changes: usize) {
    let mut random = Random::new(seed);
    let (mut index, mut model) = filled(&mut random, batches, of);
    let (query, key) = expensive_query(&mut random, &index, of);
    let mut left = changes;
    let is_cached = materialize(&mut index, key, |index| {
        if left > 0 {
            left -= 1;
            change(index, &mut model, &mut random, of);
        }
    });
    let fresh = loaded(&model, Version(index.next_version().0 - 1));
    if is_cached {
        assert!(list_of(&index, &query).is_none(), "the list of {query:?} is not in the cache");
    }
    let whole = Query { limit: None, start: crate::store::Start::Offset(0), ..query };
    let found = select(&mut index, &whole, 0);
    assert_eq!(super::same::records(&index, found), page(&fresh, &whole), "seed {seed}: {whole:?}");
}

#[test]
fn list_materialized_while_records_change_is_the_list_of_the_latest_state() {
    for seed in 0..600 {
        materialize_among_changes(seed, 60, 40, 400);
    }
}

/// More changes than one slice applies, and runs of several blocks.
#[test]
fn long_list_materialized_while_many_records_change_is_the_list_of_the_latest_state() {
    for seed in 0..6 {
        materialize_among_changes(seed, 1_500, 3_000, 1_000);
    }
}

#[test]
fn list_of_an_organization_that_loses_its_last_record_is_given_up() {
    let mut random = Random::new(3);
    for seed in 0..50 {
        let (mut index, mut model) = filled(&mut random, 20, 10 + seed);
        let (query, key) = expensive_query(&mut random, &index, 10);
        let mut calls = 0;
        materialize(&mut index, key, |index| {
            calls += 1;
            let facets = model.clone();
            let deletions = facets
                .keys()
                .map(|key| Write::Delete { key: *key, precondition: crate::store::Precondition::Any });
            let deletions: Vec<Write> = deletions.collect();
            match calls {
                2 => write(index, &mut model, &deletions),
                // The records come back, perhaps while the list is still on its way.
                3 => {
                    let puts: Vec<Write> = (0..5).map(|_| put(random.key(10), random.facets(10))).collect();
                    if index.check(&puts, &Packs::default(), &[]).is_ok() {
                        write(index, &mut model, &puts);
                    }
                }
                _ => {}
            }
        });
        let fresh = loaded(&model, Version(index.next_version().0 - 1));
        let found = select(&mut index, &query, 0);
        assert_eq!(super::same::records(&index, found), page(&fresh, &query), "{query:?}");
    }
}
