//! Lists that are kept against the same lists of an index that was loaded a moment ago and is asked for the first time.

use super::random::Random;
use super::same::page;
use super::{Model, loaded, write};
use crate::store::index::Index;
use crate::store::{Query, Start, Version};

fn ask_again_and_again(seed: u64, (rounds, batches): (usize, usize), records: usize, questions: usize) {
    let mut random = Random::new(seed);
    let (mut index, mut model) = (Index::default(), Model::new());
    let queries: Vec<Query> = (0..questions).map(|_| random.query(records)).collect();
    for _ in 0..rounds {
        for _ in 0..batches {
            let writes = random.writes(records);
            if index.check(&writes, &[]).is_ok() {
                write(&mut index, &mut model, &writes);
            }
        }
        let fresh = loaded(&model, Version(index.next_version().0 - 1));
        for query in &queries {
            assert_eq!(page(&index, query), page(&fresh, query), "{query:?}");
            // Another part of the same list.
            let elsewhere = Query { start: random.query(records).start, ..query.clone() };
            let is_cursor_of_another =
                matches!(&elsewhere.start, Start::After(cursor) if cursor.keys().len() != query.order.len());
            if !is_cursor_of_another {
                let fresh = loaded(&model, Version(index.next_version().0 - 1));
                assert_eq!(page(&index, &elsewhere), page(&fresh, &elsewhere), "{elsewhere:?}");
            }
        }
    }
}

#[test]
fn lists_that_are_asked_for_again_follow_every_write() {
    for seed in 0..12 {
        ask_again_and_again(seed, (12, 10), 60, 25);
    }
}

/// More lists than are kept, so that they come and go.
#[test]
fn lists_that_make_room_for_others_are_made_again() {
    ask_again_and_again(77, (8, 20), 200, 60);
}

/// Ties in every term, runs of several blocks.
#[test]
fn long_lists_follow_every_write() {
    ask_again_and_again(5, (4, 700), 2_000, 12);
}
