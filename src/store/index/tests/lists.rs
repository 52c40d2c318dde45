//! Materialized lists, compared with the same lists of an index that was just loaded.

use uuid::Uuid;

use super::random::{Model, Random, put};
use super::{accepts, loaded, materialize, page, records, reloaded, select, write, write_at_random};
use crate::store::index::{Index, ListKey, ListResult};
use crate::store::{
    Facets, Key, Name, Precondition, Query, Start, Term, TermFilter, TermRange, Version, Write,
};

/// Returns an index with the records of some random batches, and its model.
fn filled(random: &mut Random, batches: usize, of: usize) -> (Index, Model) {
    let (mut index, mut model) = (Index::default(), Model::new());
    for _ in 0..batches {
        write_at_random(&mut index, &mut model, random, of);
    }
    (index, model)
}

/// Returns the list of a query, unless one run has it.
fn list_of(index: &Index, query: &Query) -> Option<ListKey> {
    match index.list_within(query, 0).expect("the query keeps the contract") {
        ListResult::Materialize(key) => Some(key),
        ListResult::Page(..) => None,
    }
}

/// Returns a query of one organization whose list has to be materialized.
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
    let filled = filled(&mut random, batches, of);
    let list = expensive_query(&mut random, &filled.0, of);
    materialize_list(filled, list, &mut random, (of, changes));
}

/// Materializes a list while records change.
///
/// Compares it with the same list of an index that was just loaded.
fn materialize_list(
    (mut index, mut model): (Index, Model),
    (query, key): (Query, ListKey),
    random: &mut Random,
    (of, changes): (usize, usize),
) {
    let mut left = changes;
    let is_cached = materialize(&mut index, key.clone(), |index| {
        if left > 0 {
            left -= 1;
            write_at_random(index, &mut model, random, of);
        }
    });
    let fresh = reloaded(&index, &model);
    if is_cached {
        // The query may be about another list by now, because its networks have become those of all records.
        assert!(list_of(&index, &query) != Some(key), "the list of {query:?} is not in the cache");
    }
    let whole = Query { limit: None, start: Start::Offset(0), ..query };
    let found = select(&mut index, &whole, 0);
    assert_eq!(records(&index, found), page(&fresh, &whole), "{whole:?}");
}

#[test]
fn list_materialized_while_records_change_is_the_list_of_the_latest_state() {
    for seed in 0..200 {
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
fn short_list_of_many_records_materialized_while_they_change_is_the_list_of_the_latest_state() {
    // The list has so few rows that their keys are sorted, instead of being searched for in a run.
    const RECORDS: usize = 8_000;
    let mut random = Random::new(11);
    let records = (0..RECORDS).map(|_| {
        let facets = Facets { unique_keys: Vec::new(), ..random.facets(RECORDS) };
        (random.key(RECORDS), (Version(1), facets))
    });
    let model: Model = records.collect();
    let index = loaded(&model, Version(1));
    for _ in 0..12 {
        let list = loop {
            let list = expensive_query(&mut random, &index, RECORDS);
            if (1..=12).contains(&page(&index, &list.0).1) {
                break list;
            }
        };
        materialize_list((loaded(&model, Version(1)), model.clone()), list, &mut random, (RECORDS, 30));
    }
}

#[test]
fn list_of_all_networks_has_no_record_of_a_network_that_is_added_later() {
    let (mut index, mut model) = (Index::default(), Model::new());
    let [organization, network, other, added] = [1, 2, 3, 4].map(Uuid::from_u128);
    let kind = Name::new("host");
    let record = |number: u128, network| {
        let facets = Facets {
            organization: Some(organization),
            network: Some(network),
            terms: vec![Term::new(Name::new("word"), "core")],
            ..Facets::default()
        };
        put(Key::new(kind, Uuid::from_u128(number)), facets)
    };
    write(&mut index, &mut model, &[record(1, network), record(2, other)]);
    let query =
        Query { organization: Some(organization), networks: Some(vec![network, other]), ..Query::new(kind) };
    let word = TermFilter::new(Name::new("word"), [TermRange::exact("core")]);
    let queries = [query.clone(), Query { terms: vec![word], ..query }];
    for query in &queries {
        assert_eq!(select(&mut index, query, 0).total, 2);
    }
    write(&mut index, &mut model, &[record(3, added)]);
    for query in &queries {
        assert_eq!(select(&mut index, query, 0).total, 2);
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
            let deletions =
                facets.keys().map(|key| Write::Delete { key: *key, precondition: Precondition::Any });
            let deletions: Vec<Write> = deletions.collect();
            match calls {
                2 => write(index, &mut model, &deletions),
                // The records come back, perhaps while the list is still on its way.
                3 => {
                    let puts: Vec<Write> = (0..5).map(|_| put(random.key(10), random.facets(10))).collect();
                    if accepts(index, &puts) {
                        write(index, &mut model, &puts);
                    }
                }
                _ => {}
            }
        });
        let fresh = reloaded(&index, &model);
        let found = select(&mut index, &query, 0);
        assert_eq!(records(&index, found), page(&fresh, &query), "{query:?}");
    }
}

/// Steps that suffice for no list, for short ones, and for all.
const STEPS: [usize; 3] = [0, 40, usize::MAX];

fn ask_again_and_again(seed: u64, (rounds, batches): (usize, usize), of: usize, questions: usize) {
    let mut random = Random::new(seed);
    let (mut index, mut model) = (Index::default(), Model::new());
    let queries: Vec<Query> = (0..questions).map(|_| random.query(of)).collect();
    for round in 0..rounds {
        for _ in 0..batches {
            write_at_random(&mut index, &mut model, &mut random, of);
        }
        let fresh = reloaded(&index, &model);
        for (number, query) in queries.iter().enumerate() {
            let steps = STEPS[(number + round) % STEPS.len()];
            let found = select(&mut index, query, steps);
            assert_eq!(records(&index, found), page(&fresh, query), "{query:?}");
            // Another part of the same list.
            let elsewhere = Query { start: random.query(of).start, ..query.clone() };
            let is_cursor_of_another =
                matches!(&elsewhere.start, Start::After(cursor) if cursor.keys().len() != query.order.len());
            if !is_cursor_of_another {
                let found = select(&mut index, &elsewhere, steps);
                assert_eq!(records(&index, found), page(&fresh, &elsewhere), "{elsewhere:?}");
            }
        }
    }
}

#[test]
fn cached_lists_follow_every_write() {
    for seed in 0..12 {
        ask_again_and_again(seed, (12, 10), 60, 25);
    }
}

/// More lists than the cache holds.
#[test]
fn evicted_lists_are_materialized_again() {
    ask_again_and_again(77, (8, 20), 200, 60);
}

/// Ties in every term, runs of several blocks.
#[test]
fn long_cached_lists_follow_every_write() {
    ask_again_and_again(5, (4, 700), 2_000, 12);
}

/// Returns puts of records in one list, each with this number of terms. The last term varies with `turn`.
fn records_with_terms(count: usize, turn: usize) -> Vec<Write> {
    let name = Name::new("word");
    let facets = |number: usize| Facets {
        organization: Some(Uuid::from_u128(1)),
        terms: (0..count)
            .map(|place| Term::new(name, format!("common {place} {number}")))
            .chain([Term::new(name, format!("varies {number} {turn}"))])
            .collect(),
        ..Facets::default()
    };
    (0..40)
        .map(|number| put(Key::new(Name::new("host"), Uuid::from_u128(number as u128)), facets(number)))
        .collect()
}

/// Returns a query for records with two words.
fn query_of_words() -> Query {
    let word = |range| TermFilter::new(Name::new("word"), [range]);
    Query {
        organization: Some(Uuid::from_u128(1)),
        terms: vec![word(TermRange::prefix("common")), word(TermRange::prefix("varies"))],
        ..Query::new(Name::new("host"))
    }
}

/// Caches a list, and changes its records while it is not read. Returns whether it is still in the cache.
fn stays_cached(terms: usize, turns: usize) -> bool {
    let (mut index, mut model) = (Index::default(), Model::new());
    write(&mut index, &mut model, &records_with_terms(terms, 0));
    let query = query_of_words();
    let key = list_of(&index, &query).expect("the list has to be materialized");
    assert!(materialize(&mut index, key, |_| {}));
    for turn in 1..=turns {
        write(&mut index, &mut model, &records_with_terms(terms, turn));
    }
    let is_cached = list_of(&index, &query).is_none();
    let found = select(&mut index, &query, 0);
    assert_eq!(records(&index, found), page(&reloaded(&index, &model), &query));
    is_cached
}

#[test]
fn list_is_dropped_if_following_changes_of_large_records_costs_more_than_reading_it() {
    assert!(stays_cached(20, 60));
    assert!(stays_cached(500, 1));
    assert!(!stays_cached(500, 3));
}

#[test]
fn records_with_many_terms_are_filtered_in_more_steps_than_others() {
    let steps = |terms| {
        let (mut index, mut model) = (Index::default(), Model::new());
        write(&mut index, &mut model, &records_with_terms(terms, 0));
        let is_enough =
            |steps: &usize| matches!(index.list_within(&query_of_words(), *steps), Ok(ListResult::Page(..)));
        (0..).step_by(20).find(is_enough).expect("some number of steps is enough")
    };
    assert_eq!(steps(10), 80);
    assert!(steps(2_000) > 800);
}
