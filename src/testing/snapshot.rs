//! The records of a snapshot, its isolation from later changes, and its chunks.

use crate::store::Precondition::{Absent, Present};
use crate::store::{Batch, Facets, Key, Query};
use crate::testing::cancel::poll_then_drop;
use crate::testing::{
    CHUNK, CaseOutcome, Entries, Fixture, add_chunk, by_key, expect_equal, expect_list, of, put, read_all,
    read_chunk, with_expiry, with_rank, with_unique_keys,
};

crate::testing::table! {
    of "snapshot":
    "It contains every record of the store, of every kind, each once, in any order" =>
        snapshot_contains_records_of_all_kinds,
        snapshot_omits_deleted_and_purged_records,
        snapshot_contains_expired_records_until_purged;
    "Each entry holds the record's key, version and body" =>
        snapshot_contains_latest_version_and_body;
    "Later commits and purges do not change it, however slowly it is read" =>
        later_commits_do_not_change_a_snapshot,
        commits_between_chunks_do_not_change_a_snapshot,
        later_purge_does_not_change_a_snapshot;
    "An open snapshot blocks no other call: reads, commits, purges and other snapshots proceed" =>
        open_snapshot_blocks_no_other_call,
        concurrent_snapshots_each_keep_their_own_state;
    "It may be dropped before its end" =>
        unfinished_snapshots_leave_store_usable_when_dropped;
    "It stays readable after the last handle to the store is dropped" =>
        snapshot_is_readable_after_store_is_dropped;
    of "next":
    "The result has at least one record while any remain. It may have fewer than `limit`" =>
        chunks_of_any_size_yield_all_records,
        chunks_of_large_bodies_are_never_empty;
    "At the end, every call returns no records" =>
        finished_snapshot_returns_no_more_records;
    "A limit of 0 returns no records and skips none" =>
        limit_of_0_returns_and_skips_nothing;
    "A call that is dropped before it completes consumes nothing: the next call returns its records" =>
        dropped_call_leaves_its_records_to_the_next;
    of "snapshot":
    // The last one, because the others read all records of the store, some of them one by one.
    "It contains every record of the store, of every kind, each once, in any order" =>
        snapshot_contains_each_of_thousands_of_records_once;
}

async fn snapshot_contains_records_of_all_kinds(mut fixture: Fixture) -> CaseOutcome {
    expect_equal("before any is put", &fixture.entries().await?, &Entries::new())?;
    let key = fixture.key();
    let namesake = Key::new(fixture.other_kind, key.id);
    let one = fixture.put_entry(key, Facets::default(), "one").await?;
    expect_equal("with one record", &fixture.entries().await?, &by_key([one.clone()]))?;
    let other = fixture.put_entry(namesake, with_rank(b"a"), "of another kind").await?;
    let more = fixture.other_key();
    let third = fixture.put_entry(more, Facets::default(), "").await?;
    expect_equal("with records of two kinds", &fixture.entries().await?, &by_key([one, other, third]))
}

async fn snapshot_contains_each_of_thousands_of_records_once(mut fixture: Fixture) -> CaseOutcome {
    const RECORDS: usize = 2500;
    let mut keys: Vec<Key> = (0..RECORDS).map(|_| fixture.key()).collect();
    let mut batch = Batch::new();
    for key in &keys {
        batch.put(*key, Absent, with_rank(key.id.as_bytes()), key.id.to_string());
    }
    fixture.store.commit(batch).await?;
    keys.sort_unstable();
    for limit in [RECORDS * 2, 100, 7] {
        let mut snapshot = fixture.store.snapshot().await?;
        let entries = read_all(&mut *snapshot, limit, fixture.kinds()).await?;
        let found: Vec<Key> = entries.keys().copied().collect();
        expect_equal(&format!("the keys, read in chunks of {limit}"), &found, &keys)?;
        for (key, entry) in entries {
            expect_equal("a body", &entry.record.body, &key.id.to_string().as_bytes())?;
            expect_equal("the facets", &entry.facets, &with_rank(key.id.as_bytes()))?;
        }
    }
    Ok(())
}

async fn snapshot_omits_deleted_and_purged_records(mut fixture: Fixture) -> CaseOutcome {
    let ([kept, deleted, again, purged], time) = (fixture.keys(), fixture.ancient_time());
    let stays = fixture.put_entry(kept, Facets::default(), "stays").await?;
    let unique_key = fixture.unique_key();
    fixture.put(deleted, with_unique_keys(&[&unique_key]), "is deleted").await?;
    fixture.put(again, with_rank(b"a"), "is deleted and created again").await?;
    fixture.put(purged, with_expiry(time), "is purged").await?;
    fixture.delete(deleted).await?;
    fixture.delete(again).await?;
    fixture.store.purge_expired(time).await?;
    expect_equal("after deletes and a purge", &fixture.entries().await?, &by_key([stays.clone()]))?;
    let made_again = fixture.put_entry(again, Facets::default(), "made again").await?;
    expect_equal("after one was created again", &fixture.entries().await?, &by_key([stays, made_again]))
}

async fn snapshot_contains_expired_records_until_purged(mut fixture: Fixture) -> CaseOutcome {
    let (key, time) = (fixture.key(), fixture.ancient_time());
    let entry = fixture.put_entry(key, with_expiry(time), "expired").await?;
    expect_equal("an expired record", &fixture.entries().await?, &by_key([entry]))
}

async fn snapshot_contains_latest_version_and_body(mut fixture: Fixture) -> CaseOutcome {
    let [one, two] = fixture.keys();
    let bystander = fixture.put_entry(two, Facets::default(), "bystander").await?;
    for body in ["first", "second", "", "last"] {
        let entry = fixture.put_entry(one, Facets::default(), body).await?;
        expect_equal(body, &fixture.entries().await?, &by_key([entry, bystander.clone()]))?;
    }
    Ok(())
}

/// Puts ten records with facets.
async fn put_ten(fixture: &mut Fixture) -> CaseOutcome<([Key; 10], Entries)> {
    let keys: [Key; 10] = fixture.keys();
    let mut entries = Vec::new();
    for key in keys {
        let unique_key = fixture.unique_key();
        let facets = Facets {
            links: vec![fixture.link()],
            unique_keys: vec![unique_key],
            ..with_rank(key.id.as_bytes())
        };
        entries.push(fixture.put_entry(key, facets, "before").await?);
    }
    Ok((keys, by_key(entries)))
}

/// Deletes, creates and replaces records. A store thus reuses the row numbers of deleted ones.
async fn replace_all(fixture: &mut Fixture, keys: &[Key]) -> CaseOutcome {
    let mut deletes = Batch::new();
    for key in keys {
        deletes.delete(*key, Present);
    }
    fixture.store.commit(deletes).await?;
    for _ in 0..keys.len() {
        let new = fixture.other_key();
        let unique_key = fixture.unique_key();
        fixture.put(new, with_unique_keys(&[&unique_key]), "new").await?;
    }
    for key in keys.iter().step_by(2) {
        let organization = fixture.uuid();
        fixture.put(*key, of(Some(organization), None), "made again").await?;
        fixture.put(*key, with_rank(b"z"), "and replaced").await?;
    }
    Ok(())
}

async fn later_commits_do_not_change_a_snapshot(mut fixture: Fixture) -> CaseOutcome {
    let (keys, before) = put_ten(&mut fixture).await?;
    let mut snapshot = fixture.store.snapshot().await?;
    replace_all(&mut fixture, &keys).await?;
    expect_equal("the snapshot", &read_all(&mut *snapshot, CHUNK, fixture.kinds()).await?, &before)?;
    let now = fixture.entries().await?;
    expect_equal("the number of records in a new snapshot", &now.len(), &(keys.len() + keys.len() / 2))
}

async fn commits_between_chunks_do_not_change_a_snapshot(mut fixture: Fixture) -> CaseOutcome {
    let (keys, before) = put_ten(&mut fixture).await?;
    let mut snapshot = fixture.store.snapshot().await?;
    let mut entries = Entries::new();
    let (first, second) = keys.split_at(keys.len() / 2);
    let mut waiting = [(1, second), (4, first)].into_iter().peekable();
    while read_chunk(&mut *snapshot, 1, fixture.kinds(), &mut entries).await? {
        if let Some((_, keys)) = waiting.next_if(|(read, _)| *read <= entries.len()) {
            replace_all(&mut fixture, keys).await?;
        }
    }
    expect_equal("the snapshot", &entries, &before)
}

async fn later_purge_does_not_change_a_snapshot(mut fixture: Fixture) -> CaseOutcome {
    let ([one, two], time) = (fixture.keys(), fixture.ancient_time());
    fixture.store.purge_expired(time).await?;
    let purged = fixture.put_entry(one, with_expiry(time), "expires").await?;
    let stays = fixture.put_entry(two, Facets::default(), "stays").await?;
    let mut snapshot = fixture.store.snapshot().await?;
    fixture.store.purge_expired(time).await?;
    let entries = read_all(&mut *snapshot, CHUNK, fixture.kinds()).await?;
    expect_equal("the snapshot", &entries, &by_key([purged, stays.clone()]))?;
    expect_equal("a new snapshot", &fixture.entries().await?, &by_key([stays]))
}

async fn open_snapshot_blocks_no_other_call(mut fixture: Fixture) -> CaseOutcome {
    let (_, before) = put_ten(&mut fixture).await?;
    let mut snapshot = fixture.store.snapshot().await?;
    let mut entries = Entries::new();
    let is_more = read_chunk(&mut *snapshot, 1, fixture.kinds(), &mut entries).await?;
    expect_equal("whether a first chunk exists", &is_more, &true)?;
    let (key, unique_key, time) = (fixture.other_key(), fixture.unique_key(), fixture.ancient_time());
    let facets = Facets { unique_keys: vec![unique_key.clone()], ..with_expiry(time) };
    let record = fixture.put(key, facets, "while a snapshot is open").await?;
    expect_equal("get", &fixture.read(key).await?, &Some(record.clone()))?;
    expect_equal("get_by_unique_key", &fixture.record_of(&unique_key).await?, &Some(record))?;
    let query = Query::new(fixture.other_kind);
    expect_list("list", &fixture.store.list(&query).await?, &[key])?;
    expect_equal("another snapshot", &fixture.entries().await?.len(), &(before.len() + 1))?;
    fixture.store.purge_expired(time).await?;
    expect_list("list after a purge", &fixture.store.list(&query).await?, &[])?;
    while read_chunk(&mut *snapshot, CHUNK, fixture.kinds(), &mut entries).await? {}
    expect_equal("the snapshot", &entries, &before)
}

async fn concurrent_snapshots_each_keep_their_own_state(mut fixture: Fixture) -> CaseOutcome {
    let key = fixture.key();
    let mut open = Vec::new();
    for body in ["first", "second", "third", "fourth"] {
        let entry = fixture.put_entry(key, with_rank(body.as_bytes()), body).await?;
        open.push((fixture.store.snapshot().await?, Entries::new(), by_key([entry])));
    }
    fixture.delete(key).await?;
    loop {
        let mut is_more = false;
        for (snapshot, entries, _) in &mut open {
            is_more |= read_chunk(&mut **snapshot, CHUNK, fixture.kinds(), entries).await?;
        }
        if !is_more {
            break;
        }
    }
    for (_, entries, expected) in open {
        expect_equal("one of several snapshots", &entries, &expected)?;
    }
    Ok(())
}

async fn unfinished_snapshots_leave_store_usable_when_dropped(mut fixture: Fixture) -> CaseOutcome {
    let (keys, before) = put_ten(&mut fixture).await?;
    let [first, ..] = keys;
    for chunks in 0..4 {
        let mut snapshot = fixture.store.snapshot().await?;
        for _ in 0..chunks {
            snapshot.next(1).await?;
        }
        drop(snapshot);
        fixture.store.commit(put(first, Present, Facets::default())).await?;
    }
    let after = fixture.entries().await?;
    expect_equal("the number of records afterwards", &after.len(), &before.len())?;
    replace_all(&mut fixture, &keys).await
}

async fn snapshot_is_readable_after_store_is_dropped(mut fixture: Fixture) -> CaseOutcome {
    let (keys, before) = put_ten(&mut fixture).await?;
    let mut snapshot = fixture.store.snapshot().await?;
    replace_all(&mut fixture, &keys).await?;
    let kinds = fixture.kinds();
    // `run` keeps no handle to the store, but a custom runner may.
    drop(fixture);
    expect_equal("the snapshot", &read_all(&mut *snapshot, CHUNK, kinds).await?, &before)
}

async fn put_records(fixture: &mut Fixture, records: usize) -> CaseOutcome<Entries> {
    let mut batch = Batch::new();
    let keys: Vec<Key> = (0..records).map(|_| fixture.key()).collect();
    for key in keys {
        batch.put(key, Absent, Facets::default(), key.id.to_string());
    }
    fixture.store.commit(batch).await?;
    fixture.entries().await
}

async fn chunks_of_any_size_yield_all_records(mut fixture: Fixture) -> CaseOutcome {
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

async fn chunks_of_large_bodies_are_never_empty(mut fixture: Fixture) -> CaseOutcome {
    let mut batch = Batch::new();
    for megabytes in [0, 3, 0, 5, 1, 0, 9] {
        let (key, body) = (fixture.key(), fixture.bytes(megabytes << 20));
        batch.put(key, Absent, Facets::default(), body);
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

async fn finished_snapshot_returns_no_more_records(mut fixture: Fixture) -> CaseOutcome {
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

async fn limit_of_0_returns_and_skips_nothing(mut fixture: Fixture) -> CaseOutcome {
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
async fn dropped_call_leaves_its_records_to_the_next(mut fixture: Fixture) -> CaseOutcome {
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
