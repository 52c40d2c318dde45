use crate::store::{Batch, Facets, Key, Precondition, Query};
use crate::testing::{
    Bench, Entries, Outcome, PIECE, by_key, expiring, of, put, ranked, read_out, read_piece, same, shows,
    uniquely_keyed,
};

crate::testing::table! { of "snapshot":
    "whatever is committed or purged afterwards, and however slowly it is read, it stays that state" =>
        what_is_committed_afterwards_does_not_change_a_snapshot,
        what_is_committed_between_two_pieces_does_not_change_a_snapshot,
        what_is_purged_afterwards_stays_in_a_snapshot;
    "Nobody waits for a snapshot that is open: reads, commits and purges go on, and so do other snapshots" =>
        everybody_goes_on_while_a_snapshot_is_open,
        snapshots_at_the_same_time_are_each_of_their_own_moment;
    "It may be dropped before its end" =>
        snapshots_dropped_before_their_end_leave_the_store_usable;
    "It may be read when nobody holds the store any more" =>
        a_snapshot_is_read_when_the_store_was_let_go;
}

/// Ten records, with facets.
async fn ten(bench: &mut Bench) -> Outcome<([Key; 10], Entries)> {
    let keys: [Key; 10] = bench.keys();
    let mut entries = Vec::new();
    for key in keys {
        let unique_key = bench.unique_key();
        let facets =
            Facets { links: vec![bench.link()], unique_keys: vec![unique_key], ..ranked(key.id.as_bytes()) };
        entries.push(bench.put_entry(key, facets, "before").await?);
    }
    Ok((keys, by_key(entries)))
}

/// Deletes, replaces, makes again and adds, so that whatever a store numbers is another's by then.
async fn change_all(bench: &mut Bench, keys: &[Key]) -> Outcome {
    let mut deletes = Batch::new();
    for key in keys {
        deletes.delete(*key, Precondition::Present);
    }
    bench.store.commit(deletes).await?;
    for _ in 0..keys.len() {
        let new = bench.other_key();
        let unique_key = bench.unique_key();
        bench.put(new, uniquely_keyed(&[&unique_key]), "new").await?;
    }
    for key in keys.iter().step_by(2) {
        let organization = bench.random.uuid();
        bench.put(*key, of(Some(organization), None), "made again").await?;
        bench.put(*key, ranked(b"z"), "and replaced").await?;
    }
    Ok(())
}

async fn what_is_committed_afterwards_does_not_change_a_snapshot(mut bench: Bench) -> Outcome {
    let (keys, before) = ten(&mut bench).await?;
    let mut snapshot = bench.store.snapshot().await?;
    change_all(&mut bench, &keys).await?;
    same("the snapshot", &read_out(&mut *snapshot, PIECE, bench.kinds()).await?, &before)?;
    let now = bench.entries().await?;
    same("how many records one that is taken now has", &now.len(), &(keys.len() + keys.len() / 2))
}

async fn what_is_committed_between_two_pieces_does_not_change_a_snapshot(mut bench: Bench) -> Outcome {
    let (keys, before) = ten(&mut bench).await?;
    let mut snapshot = bench.store.snapshot().await?;
    let mut entries = Entries::new();
    let (first, second) = keys.split_at(keys.len() / 2);
    let mut waiting = [(1, second), (4, first)].into_iter().peekable();
    while read_piece(&mut *snapshot, 1, bench.kinds(), &mut entries).await? {
        if let Some((_, keys)) = waiting.next_if(|(read, _)| *read <= entries.len()) {
            change_all(&mut bench, keys).await?;
        }
    }
    same("the snapshot", &entries, &before)
}

async fn what_is_purged_afterwards_stays_in_a_snapshot(mut bench: Bench) -> Outcome {
    let ([one, two], time) = (bench.keys(), bench.antiquity());
    bench.store.purge_expired(time).await?;
    let purged = bench.put_entry(one, expiring(time), "expires").await?;
    let stays = bench.put_entry(two, Facets::default(), "stays").await?;
    let mut snapshot = bench.store.snapshot().await?;
    bench.store.purge_expired(time).await?;
    let entries = read_out(&mut *snapshot, PIECE, bench.kinds()).await?;
    same("the snapshot", &entries, &by_key([purged, stays.clone()]))?;
    same("one that is taken now", &bench.entries().await?, &by_key([stays]))
}

async fn everybody_goes_on_while_a_snapshot_is_open(mut bench: Bench) -> Outcome {
    let (_, before) = ten(&mut bench).await?;
    let mut snapshot = bench.store.snapshot().await?;
    let mut entries = Entries::new();
    let is_more = read_piece(&mut *snapshot, 1, bench.kinds(), &mut entries).await?;
    same("whether there is a first piece", &is_more, &true)?;
    let (key, unique_key, time) = (bench.other_key(), bench.unique_key(), bench.antiquity());
    let facets = Facets { unique_keys: vec![unique_key.clone()], ..expiring(time) };
    let record = bench.put(key, facets, "while a snapshot is open").await?;
    same("get", &bench.read(key).await?, &Some(record.clone()))?;
    same("get_by_unique_key", &bench.store.get_by_unique_key(&unique_key).await?, &Some(record))?;
    let query = Query::new(bench.other_kind);
    shows("list", &bench.store.list(&query).await?, &[key])?;
    same("another snapshot", &bench.entries().await?.len(), &(before.len() + 1))?;
    bench.store.purge_expired(time).await?;
    shows("list after a purge", &bench.store.list(&query).await?, &[])?;
    while read_piece(&mut *snapshot, PIECE, bench.kinds(), &mut entries).await? {}
    same("the snapshot", &entries, &before)
}

async fn snapshots_at_the_same_time_are_each_of_their_own_moment(mut bench: Bench) -> Outcome {
    let key = bench.key();
    let mut open = Vec::new();
    for body in ["first", "second", "third", "fourth"] {
        let entry = bench.put_entry(key, ranked(body.as_bytes()), body).await?;
        open.push((bench.store.snapshot().await?, Entries::new(), by_key([entry])));
    }
    bench.delete(key).await?;
    loop {
        let mut is_more = false;
        for (snapshot, entries, _) in &mut open {
            is_more |= read_piece(&mut **snapshot, PIECE, bench.kinds(), entries).await?;
        }
        if !is_more {
            break;
        }
    }
    for (_, entries, expected) in open {
        same("one of several snapshots", &entries, &expected)?;
    }
    Ok(())
}

async fn snapshots_dropped_before_their_end_leave_the_store_usable(mut bench: Bench) -> Outcome {
    let (keys, before) = ten(&mut bench).await?;
    let [first, ..] = keys;
    for pieces in 0..4 {
        let mut snapshot = bench.store.snapshot().await?;
        for _ in 0..pieces {
            snapshot.next(1).await?;
        }
        drop(snapshot);
        bench.store.commit(put(first, Precondition::Present, Facets::default())).await?;
    }
    let after = bench.entries().await?;
    same("how many records are there afterwards", &after.len(), &before.len())?;
    change_all(&mut bench, &keys).await
}

async fn a_snapshot_is_read_when_the_store_was_let_go(mut bench: Bench) -> Outcome {
    let (keys, before) = ten(&mut bench).await?;
    let mut snapshot = bench.store.snapshot().await?;
    change_all(&mut bench, &keys).await?;
    let kinds = bench.kinds();
    // Whoever runs the case may hold the store still; `run` does not.
    drop(bench);
    same("the snapshot", &read_out(&mut *snapshot, PIECE, kinds).await?, &before)
}
