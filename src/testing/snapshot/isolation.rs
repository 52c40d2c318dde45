use crate::store::{Batch, Facets, Key, Precondition, Query};
use crate::testing::{
    CHUNK, Entries, Fixture, Outcome, by_key, expect_equal, expect_list, of, put, read_all, read_chunk,
    with_expiry, with_rank, with_unique_keys,
};

crate::testing::table! { of "snapshot":
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
}

/// Puts ten records with facets.
async fn put_ten(fixture: &mut Fixture) -> Outcome<([Key; 10], Entries)> {
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

/// Deletes, creates and replaces records, so that a store reuses the row numbers of deleted ones.
async fn replace_all(fixture: &mut Fixture, keys: &[Key]) -> Outcome {
    let mut deletes = Batch::new();
    for key in keys {
        deletes.delete(*key, Precondition::Present);
    }
    fixture.store.commit(deletes).await?;
    for _ in 0..keys.len() {
        let new = fixture.other_key();
        let unique_key = fixture.unique_key();
        fixture.put(new, with_unique_keys(&[&unique_key]), "new").await?;
    }
    for key in keys.iter().step_by(2) {
        let organization = fixture.random.uuid();
        fixture.put(*key, of(Some(organization), None), "made again").await?;
        fixture.put(*key, with_rank(b"z"), "and replaced").await?;
    }
    Ok(())
}

async fn later_commits_do_not_change_a_snapshot(mut fixture: Fixture) -> Outcome {
    let (keys, before) = put_ten(&mut fixture).await?;
    let mut snapshot = fixture.store.snapshot().await?;
    replace_all(&mut fixture, &keys).await?;
    expect_equal("the snapshot", &read_all(&mut *snapshot, CHUNK, fixture.kinds()).await?, &before)?;
    let now = fixture.entries().await?;
    expect_equal("the number of records in a new snapshot", &now.len(), &(keys.len() + keys.len() / 2))
}

async fn commits_between_chunks_do_not_change_a_snapshot(mut fixture: Fixture) -> Outcome {
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

async fn later_purge_does_not_change_a_snapshot(mut fixture: Fixture) -> Outcome {
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

async fn open_snapshot_blocks_no_other_call(mut fixture: Fixture) -> Outcome {
    let (_, before) = put_ten(&mut fixture).await?;
    let mut snapshot = fixture.store.snapshot().await?;
    let mut entries = Entries::new();
    let is_more = read_chunk(&mut *snapshot, 1, fixture.kinds(), &mut entries).await?;
    expect_equal("whether a first chunk exists", &is_more, &true)?;
    let (key, unique_key, time) = (fixture.other_key(), fixture.unique_key(), fixture.ancient_time());
    let facets = Facets { unique_keys: vec![unique_key.clone()], ..with_expiry(time) };
    let record = fixture.put(key, facets, "while a snapshot is open").await?;
    expect_equal("get", &fixture.read(key).await?, &Some(record.clone()))?;
    expect_equal("get_by_unique_key", &fixture.store.get_by_unique_key(&unique_key).await?, &Some(record))?;
    let query = Query::new(fixture.other_kind);
    expect_list("list", &fixture.store.list(&query).await?, &[key])?;
    expect_equal("another snapshot", &fixture.entries().await?.len(), &(before.len() + 1))?;
    fixture.store.purge_expired(time).await?;
    expect_list("list after a purge", &fixture.store.list(&query).await?, &[])?;
    while read_chunk(&mut *snapshot, CHUNK, fixture.kinds(), &mut entries).await? {}
    expect_equal("the snapshot", &entries, &before)
}

async fn concurrent_snapshots_each_keep_their_own_state(mut fixture: Fixture) -> Outcome {
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

async fn unfinished_snapshots_leave_store_usable_when_dropped(mut fixture: Fixture) -> Outcome {
    let (keys, before) = put_ten(&mut fixture).await?;
    let [first, ..] = keys;
    for chunks in 0..4 {
        let mut snapshot = fixture.store.snapshot().await?;
        for _ in 0..chunks {
            snapshot.next(1).await?;
        }
        drop(snapshot);
        fixture.store.commit(put(first, Precondition::Present, Facets::default())).await?;
    }
    let after = fixture.entries().await?;
    expect_equal("the number of records afterwards", &after.len(), &before.len())?;
    replace_all(&mut fixture, &keys).await
}

async fn snapshot_is_readable_after_store_is_dropped(mut fixture: Fixture) -> Outcome {
    let (keys, before) = put_ten(&mut fixture).await?;
    let mut snapshot = fixture.store.snapshot().await?;
    replace_all(&mut fixture, &keys).await?;
    let kinds = fixture.kinds();
    // `run` keeps no handle to the store, but a custom runner may.
    drop(fixture);
    expect_equal("the snapshot", &read_all(&mut *snapshot, CHUNK, kinds).await?, &before)
}
