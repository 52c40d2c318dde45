use crate::store::{Batch, Facets, Key, Precondition};
use crate::testing::cancel::poll_then_drop;
use crate::testing::{CHUNK, Entries, Fixture, Outcome, add_chunk, expect_equal, read_all, read_chunk};

crate::testing::table! { of "next":
    "The result has at least one record while any remain. It may have fewer than `limit`" =>
        chunks_of_any_size_yield_all_records,
        chunks_of_large_bodies_are_never_empty;
    "At the end, every call returns no records" =>
        finished_snapshot_returns_no_more_records;
    "A limit of 0 returns no records and skips none" =>
        limit_of_0_returns_and_skips_nothing;
    "A call that is dropped before it completes consumes nothing: the next call returns its records" =>
        dropped_call_leaves_its_records_to_the_next;
}

async fn put_records(fixture: &mut Fixture, records: usize) -> Outcome<Entries> {
    let mut batch = Batch::new();
    let keys: Vec<Key> = (0..records).map(|_| fixture.key()).collect();
    for key in keys {
        batch.put(key, Precondition::Absent, Facets::default(), key.id.to_string());
    }
    fixture.store.commit(batch).await?;
    fixture.entries().await
}

async fn chunks_of_any_size_yield_all_records(mut fixture: Fixture) -> Outcome {
    let expected = put_records(&mut fixture, 40).await?;
    expect_equal("the number of records in a snapshot", &expected.len(), &40)?;
    for limit in [1, 2, 39, 40, 41, usize::MAX] {
        let mut snapshot = fixture.store.snapshot().await?;
        let entries = read_all(&mut *snapshot, limit, fixture.kinds()).await?;
        expect_equal(&format!("chunks of {limit}"), &entries, &expected)?;
    }
    let (mut snapshot, mut entries) = (fixture.store.snapshot().await?, Entries::new());
    for limit in (1..5).cycle() {
        if !read_chunk(&mut *snapshot, limit, fixture.kinds(), &mut entries).await? {
            break;
        }
    }
    expect_equal("chunks of changing sizes", &entries, &expected)
}

async fn chunks_of_large_bodies_are_never_empty(mut fixture: Fixture) -> Outcome {
    let mut batch = Batch::new();
    for megabytes in [0, 3, 0, 5, 1, 0, 9] {
        let (key, body) = (fixture.key(), fixture.random.bytes(megabytes << 20));
        batch.put(key, Precondition::Absent, Facets::default(), body);
    }
    let sizes = |entries: &Entries| -> Vec<usize> {
        let mut sizes: Vec<usize> = entries.values().map(|entry| entry.record.body.len() >> 20).collect();
        sizes.sort_unstable();
        sizes
    };
    fixture.store.commit(batch).await?;
    for limit in [usize::MAX, 3, 1] {
        let mut snapshot = fixture.store.snapshot().await?;
        let entries = read_all(&mut *snapshot, limit, fixture.kinds()).await?;
        expect_equal(
            &format!("the body sizes, in chunks of {limit}"),
            &sizes(&entries),
            &vec![0, 0, 0, 1, 3, 5, 9],
        )?;
    }
    Ok(())
}

async fn finished_snapshot_returns_no_more_records(mut fixture: Fixture) -> Outcome {
    put_records(&mut fixture, 3).await?;
    let mut snapshot = fixture.store.snapshot().await?;
    read_all(&mut *snapshot, CHUNK, fixture.kinds()).await?;
    let later = fixture.key();
    fixture.put(later, Facets::default(), "put after the end").await?;
    for limit in [1, 0, CHUNK, usize::MAX] {
        expect_equal("a chunk after the end", &snapshot.next(limit).await?, &[])?;
    }
    Ok(())
}

async fn limit_of_0_returns_and_skips_nothing(mut fixture: Fixture) -> Outcome {
    let expected = put_records(&mut fixture, 5).await?;
    let (mut snapshot, mut entries) = (fixture.store.snapshot().await?, Entries::new());
    loop {
        expect_equal("a chunk with limit 0", &snapshot.next(0).await?, &[])?;
        if !read_chunk(&mut *snapshot, 2, fixture.kinds(), &mut entries).await? {
            break;
        }
    }
    expect_equal("the other chunks", &entries, &expected)
}

/// Drops calls after each number of polls, alternating with calls that complete.
async fn dropped_call_leaves_its_records_to_the_next(mut fixture: Fixture) -> Outcome {
    let expected = put_records(&mut fixture, 30).await?;
    let (mut snapshot, mut entries) = (fixture.store.snapshot().await?, Entries::new());
    for polls in 0..8 {
        if let Some(chunk) = poll_then_drop(polls, snapshot.next(2)).await {
            add_chunk(chunk?, fixture.kinds(), &mut entries)?;
        }
        read_chunk(&mut *snapshot, 1, fixture.kinds(), &mut entries).await?;
    }
    while read_chunk(&mut *snapshot, CHUNK, fixture.kinds(), &mut entries).await? {}
    expect_equal("all records returned", &entries, &expected)
}
