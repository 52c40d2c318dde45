use crate::store::{Batch, Facets, Key, Precondition};
use crate::testing::cancel::drop_after;
use crate::testing::{Bench, Entries, Outcome, PIECE, read_out, read_piece, same, take_in};

crate::testing::table! { of "next":
    "At least one while any are left; it may be fewer than `limit`" =>
        pieces_of_any_length_make_up_the_whole,
        large_bodies_come_in_pieces_of_which_none_is_empty;
    "None when all were read, however often it is asked" =>
        behind_the_end_there_is_nothing_more;
    "None for a limit of 0, which reads nothing" =>
        a_limit_of_0_gives_nothing_and_takes_nothing;
    "A call that is dropped before it is ready takes nothing: what it would have given comes with the next one" =>
        what_a_dropped_call_would_have_given_comes_with_the_next;
}

async fn fill(bench: &mut Bench, records: usize) -> Outcome<Entries> {
    let mut batch = Batch::new();
    let keys: Vec<Key> = (0..records).map(|_| bench.key()).collect();
    for key in keys {
        batch.put(key, Precondition::Absent, Facets::default(), key.id.to_string());
    }
    bench.store.commit(batch).await?;
    bench.entries().await
}

async fn pieces_of_any_length_make_up_the_whole(mut bench: Bench) -> Outcome {
    let expected = fill(&mut bench, 40).await?;
    same("how many records a snapshot has", &expected.len(), &40)?;
    for limit in [1, 2, 39, 40, 41, usize::MAX] {
        let mut snapshot = bench.store.snapshot().await?;
        let entries = read_out(&mut *snapshot, limit, bench.kinds()).await?;
        same(&format!("pieces of {limit}"), &entries, &expected)?;
    }
    let (mut snapshot, mut entries) = (bench.store.snapshot().await?, Entries::new());
    for limit in (1..5).cycle() {
        if !read_piece(&mut *snapshot, limit, bench.kinds(), &mut entries).await? {
            break;
        }
    }
    same("pieces of changing lengths", &entries, &expected)
}

async fn large_bodies_come_in_pieces_of_which_none_is_empty(mut bench: Bench) -> Outcome {
    let mut batch = Batch::new();
    for megabytes in [0, 3, 0, 5, 1, 0, 9] {
        let (key, body) = (bench.key(), bench.random.bytes(megabytes << 20));
        batch.put(key, Precondition::Absent, Facets::default(), body);
    }
    let sizes = |entries: &Entries| -> Vec<usize> {
        let mut sizes: Vec<usize> = entries.values().map(|entry| entry.record.body.len() >> 20).collect();
        sizes.sort_unstable();
        sizes
    };
    bench.store.commit(batch).await?;
    for limit in [usize::MAX, 3, 1] {
        let mut snapshot = bench.store.snapshot().await?;
        let entries = read_out(&mut *snapshot, limit, bench.kinds()).await?;
        same(&format!("the sizes, in pieces of {limit}"), &sizes(&entries), &vec![0, 0, 0, 1, 3, 5, 9])?;
    }
    Ok(())
}

async fn behind_the_end_there_is_nothing_more(mut bench: Bench) -> Outcome {
    fill(&mut bench, 3).await?;
    let mut snapshot = bench.store.snapshot().await?;
    read_out(&mut *snapshot, PIECE, bench.kinds()).await?;
    let later = bench.key();
    bench.put(later, Facets::default(), "put when it was read").await?;
    for limit in [1, 0, PIECE, usize::MAX] {
        same("a piece behind the end", &snapshot.next(limit).await?, &[])?;
    }
    Ok(())
}

async fn a_limit_of_0_gives_nothing_and_takes_nothing(mut bench: Bench) -> Outcome {
    let expected = fill(&mut bench, 5).await?;
    let (mut snapshot, mut entries) = (bench.store.snapshot().await?, Entries::new());
    loop {
        same("a piece of none", &snapshot.next(0).await?, &[])?;
        if !read_piece(&mut *snapshot, 2, bench.kinds(), &mut entries).await? {
            break;
        }
    }
    same("the pieces between", &entries, &expected)
}

/// Drops calls after every number of polls, with calls between that are not dropped.
async fn what_a_dropped_call_would_have_given_comes_with_the_next(mut bench: Bench) -> Outcome {
    let expected = fill(&mut bench, 30).await?;
    let (mut snapshot, mut entries) = (bench.store.snapshot().await?, Entries::new());
    for polls in 0..8 {
        if let Some(piece) = drop_after(polls, snapshot.next(2)).await {
            take_in(piece?, bench.kinds(), &mut entries)?;
        }
        read_piece(&mut *snapshot, 1, bench.kinds(), &mut entries).await?;
    }
    while read_piece(&mut *snapshot, PIECE, bench.kinds(), &mut entries).await? {}
    same("all that was given", &entries, &expected)
}
