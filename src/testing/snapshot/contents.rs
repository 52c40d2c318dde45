use crate::store::{Batch, Facets, Key, Precondition};
use crate::testing::{Bench, Entries, Outcome, by_key, expiring, ranked, read_out, same, uniquely_keyed};

crate::testing::table! { of "snapshot":
    "Every record of the store is in it, of whatever kind, each once, in any order" =>
        a_snapshot_has_the_records_of_all_kinds,
        a_snapshot_has_each_of_thousands_of_records_once,
        a_snapshot_has_no_record_that_is_gone,
        a_snapshot_has_what_has_expired_and_was_not_purged;
    "Of a record come key, version and body" =>
        a_snapshot_has_the_latest_version_and_body;
}

async fn a_snapshot_has_the_records_of_all_kinds(mut bench: Bench) -> Outcome {
    same("before any is put", &bench.entries().await?, &Entries::new())?;
    let key = bench.key();
    let namesake = Key::new(bench.other_kind, key.id);
    let one = bench.put_entry(key, Facets::default(), "one").await?;
    same("with one record", &bench.entries().await?, &by_key([one.clone()]))?;
    let other = bench.put_entry(namesake, ranked(b"a"), "of another kind").await?;
    let more = bench.other_key();
    let third = bench.put_entry(more, Facets::default(), "").await?;
    same("with records of two kinds", &bench.entries().await?, &by_key([one, other, third]))
}

async fn a_snapshot_has_each_of_thousands_of_records_once(mut bench: Bench) -> Outcome {
    const RECORDS: usize = 2500;
    let mut keys: Vec<Key> = (0..RECORDS).map(|_| bench.key()).collect();
    let mut batch = Batch::new();
    for key in &keys {
        batch.put(*key, Precondition::Absent, ranked(key.id.as_bytes()), key.id.to_string());
    }
    bench.store.commit(batch).await?;
    keys.sort_unstable();
    for limit in [RECORDS * 2, 100, 7] {
        let mut snapshot = bench.store.snapshot().await?;
        let entries = read_out(&mut *snapshot, limit, bench.kinds()).await?;
        let found: Vec<Key> = entries.keys().copied().collect();
        same(&format!("the keys, read in pieces of {limit}"), &found, &keys)?;
        for (key, entry) in entries {
            same("a body", &entry.record.body, &key.id.to_string().as_bytes())?;
            same("the facets", &entry.facets, &ranked(key.id.as_bytes()))?;
        }
    }
    Ok(())
}

async fn a_snapshot_has_no_record_that_is_gone(mut bench: Bench) -> Outcome {
    let ([kept, deleted, again, purged], time) = (bench.keys(), bench.antiquity());
    let stays = bench.put_entry(kept, Facets::default(), "stays").await?;
    let unique_key = bench.unique_key();
    bench.put(deleted, uniquely_keyed(&[&unique_key]), "is deleted").await?;
    bench.put(again, ranked(b"a"), "is deleted and made again").await?;
    bench.put(purged, expiring(time), "is purged").await?;
    bench.delete(deleted).await?;
    bench.delete(again).await?;
    bench.store.purge_expired(time).await?;
    same("after deletes and a purge", &bench.entries().await?, &by_key([stays.clone()]))?;
    let made_again = bench.put_entry(again, Facets::default(), "made again").await?;
    same("after one was made again", &bench.entries().await?, &by_key([stays, made_again]))
}

async fn a_snapshot_has_what_has_expired_and_was_not_purged(mut bench: Bench) -> Outcome {
    let (key, time) = (bench.key(), bench.antiquity());
    let entry = bench.put_entry(key, expiring(time), "expired").await?;
    same("a record whose time is over", &bench.entries().await?, &by_key([entry]))
}

async fn a_snapshot_has_the_latest_version_and_body(mut bench: Bench) -> Outcome {
    let [one, two] = bench.keys();
    let bystander = bench.put_entry(two, Facets::default(), "bystander").await?;
    for body in ["first", "second", "", "last"] {
        let entry = bench.put_entry(one, Facets::default(), body).await?;
        same(body, &bench.entries().await?, &by_key([entry, bystander.clone()]))?;
    }
    Ok(())
}
