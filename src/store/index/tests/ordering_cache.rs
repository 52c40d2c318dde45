//! Cached lists against the same lists of an index that was loaded a moment ago and has an empty cache.

use super::random::Random;
use super::same::{page, records};
use super::{Model, loaded, select, write};
use crate::store::index::Index;
use crate::store::index::Packs;
use crate::store::{Query, Start, Version};

/// Steps that suffice for no list, for short ones, and for all.
const STEPS: [usize; 3] = [0, 40, usize::MAX];

fn ask_again_and_again(seed: u64, (rounds, batches): (usize, usize), of: usize, questions: usize) {
    let mut random = Random::new(seed);
    let (mut index, mut model) = (Index::default(), Model::new());
    let queries: Vec<Query> = (0..questions).map(|_| random.query(of)).collect();
    for round in 0..rounds {
        for _ in 0..batches {
            let writes = random.writes(of);
            if index.check(&writes, &Packs::default(), &[]).is_ok() {
                write(&mut index, &mut model, &writes);
            }
        }
        let fresh = loaded(&model, Version(index.next_version().0 - 1));
        for (number, query) in queries.iter().enumerate() {
            let steps = STEPS[(number + round) % STEPS.len()];
            let found = select(&mut index, query, steps);
            assert_eq!(records(&index, found), page(&fresh, query), "{query:?}");
            // Another part of the same list.
            let elsewhere = Query { start: random.query(of).start, ..query.clone() };
            let is_cursor_of_another =
                matches!(&elsewhere.start, Start::After(cursor) if cursor.keys().len() != query.order.len());
            if !is_cursor_of_another {
                let fresh = loaded(&model, Version(index.next_version().0 - 1));
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
