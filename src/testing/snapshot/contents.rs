use crate::store::{Batch, Facets, Key, Precondition};
use crate::testing::{
    Entries, Fixture, Outcome, by_key, expect_equal, read_all, with_expiry, with_rank, with_unique_keys,
};

crate::testing::table! { of "snapshot":
    "It contains every record of the store, of every kind, each once, in any order" =>
        snapshot_contains_records_of_all_kinds,
        snapshot_contains_each_of_thousands_of_records_once,
        snapshot_omits_deleted_and_purged_records,
        snapshot_contains_expired_records_until_purged;
    "Each entry holds the record's key, version and body" =>
        snapshot_contains_latest_version_and_body;
}

async fn snapshot_contains_records_of_all_kinds(mut fixture: Fixture) -> Outcome {
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

async fn snapshot_contains_each_of_thousands_of_records_once(mut fixture: Fixture) -> Outcome {
    const RECORDS: usize = 2500;
    let mut keys: Vec<Key> = (0..RECORDS).map(|_| fixture.key()).collect();
    let mut batch = Batch::new();
    for key in &keys {
        batch.put(*key, Precondition::Absent, with_rank(key.id.as_bytes()), key.id.to_string());
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

async fn snapshot_omits_deleted_and_purged_records(mut fixture: Fixture) -> Outcome {
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

async fn snapshot_contains_expired_records_until_purged(mut fixture: Fixture) -> Outcome {
    let (key, time) = (fixture.key(), fixture.ancient_time());
    let entry = fixture.put_entry(key, with_expiry(time), "expired").await?;
    expect_equal("an expired record", &fixture.entries().await?, &by_key([entry]))
}

async fn snapshot_contains_latest_version_and_body(mut fixture: Fixture) -> Outcome {
    let [one, two] = fixture.keys();
    let bystander = fixture.put_entry(two, Facets::default(), "bystander").await?;
    for body in ["first", "second", "", "last"] {
        let entry = fixture.put_entry(one, Facets::default(), body).await?;
        expect_equal(body, &fixture.entries().await?, &by_key([entry, bystander.clone()]))?;
    }
    Ok(())
}
