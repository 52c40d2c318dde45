use crate::store::{Batch, Facets, Guard, Precondition, StoreErrorKind, Version};
use crate::testing::{Fixture, Outcome, delete, expect_equal, guard_only, put, with_unique_keys};

crate::testing::table! { of "commit":
    "The record satisfies the precondition before the batch" =>
        record_guard_passes_if_precondition_holds,
        record_guard_conflicts_if_precondition_fails;
    "The unique key belongs to this record before the batch, or to no record" =>
        unique_key_guard_passes_if_holder_is_expected,
        unique_key_guard_fails_if_holder_differs;
    "Preconditions and guards are evaluated against the state before the batch" =>
        guards_ignore_writes_of_their_batch;
    "If one fails, nothing changes" =>
        one_failed_guard_rejects_the_whole_batch;
    "A batch without writes only evaluates its guards" =>
        batch_of_guards_only_changes_nothing;
}

async fn record_guard_passes_if_precondition_holds(mut fixture: Fixture) -> Outcome {
    let [there, missing, written] = fixture.keys();
    let version = fixture.put(there, Facets::default(), "there").await?.version;
    let guards = [
        (there, Precondition::Present),
        (there, Precondition::Version(version)),
        (there, Precondition::Any),
        (missing, Precondition::Absent),
        (missing, Precondition::Any),
    ];
    for (key, precondition) in guards {
        let mut batch = put(written, Precondition::Any, Facets::default());
        batch.guard(Guard::Record { key, precondition });
        fixture.store.commit(batch.clone()).await?;
    }
    let mut all = delete(written, Precondition::Present);
    for (key, precondition) in guards {
        all.guard(Guard::Record { key, precondition });
    }
    fixture.store.commit(all).await?;
    expect_equal("the record written under the guards", &fixture.read(written).await?, &None)
}

async fn record_guard_conflicts_if_precondition_fails(mut fixture: Fixture) -> Outcome {
    let [there, missing, new] = fixture.keys();
    let old = fixture.put(there, Facets::default(), "old").await?.version;
    let version = fixture.put(there, Facets::default(), "there").await?.version;
    let guards = [
        (there, Precondition::Absent),
        (there, Precondition::Version(old)),
        (there, Precondition::Version(Version(version.0.wrapping_add(1)))),
        (missing, Precondition::Present),
        (missing, Precondition::Version(version)),
        (missing, Precondition::Version(Version(0))),
    ];
    for (key, precondition) in guards {
        let mut batch = put(new, Precondition::Absent, Facets::default());
        batch.guard(Guard::Record { key, precondition });
        let what = format!("a guard that expects {precondition:?}");
        fixture.expect_rejected(&what, batch, StoreErrorKind::Conflict(key)).await?;
    }
    Ok(())
}

async fn unique_key_guard_passes_if_holder_is_expected(mut fixture: Fixture) -> Outcome {
    let ([holder, written], held, free) = (fixture.keys(), fixture.unique_key(), fixture.unique_key());
    fixture.put(holder, with_unique_keys(&[&held]), "has it").await?;
    let mut batch = put(written, Precondition::Absent, Facets::default());
    batch.guard(Guard::UniqueKey { unique_key: held, holder: Some(holder) });
    batch.guard(Guard::UniqueKey { unique_key: free, holder: None });
    fixture.store.commit(batch).await?;
    let body = fixture.read(written).await?.map(|record| record.body);
    expect_equal("the record written under the guards", &body, &Some("put".into()))
}

async fn unique_key_guard_fails_if_holder_differs(mut fixture: Fixture) -> Outcome {
    let ([holder, other, new], held, free) = (fixture.keys(), fixture.unique_key(), fixture.unique_key());
    fixture.put(holder, with_unique_keys(&[&held]), "has it").await?;
    fixture.put(other, Facets::default(), "has none").await?;
    for (unique_key, holder) in
        [(&held, Some(other)), (&held, Some(new)), (&held, None), (&free, Some(other))]
    {
        let mut batch = put(new, Precondition::Absent, Facets::default());
        batch.guard(Guard::UniqueKey { unique_key: unique_key.clone(), holder });
        let taken = StoreErrorKind::UniqueKeyTaken(unique_key.clone());
        fixture.expect_rejected(&format!("a guard that expects the holder {holder:?}"), batch, taken).await?;
    }
    Ok(())
}

async fn guards_ignore_writes_of_their_batch(mut fixture: Fixture) -> Outcome {
    let ([created, replaced, deleted], unique_key) = (fixture.keys(), fixture.unique_key());
    let version = fixture.put(replaced, with_unique_keys(&[&unique_key]), "before").await?.version;
    fixture.put(deleted, Facets::default(), "before").await?;
    let mut writes = put(created, Precondition::Absent, with_unique_keys(&[&unique_key]));
    writes
        .put(replaced, Precondition::Present, Facets::default(), "after")
        .delete(deleted, Precondition::Present);

    let mut after = writes.clone();
    after.guard(Guard::Record { key: created, precondition: Precondition::Present });
    fixture
        .expect_rejected(
            "a guard on a record that the batch creates",
            after,
            StoreErrorKind::Conflict(created),
        )
        .await?;
    let mut after = writes.clone();
    after.guard(Guard::Record { key: deleted, precondition: Precondition::Absent });
    fixture
        .expect_rejected(
            "a guard on a record that the batch deletes",
            after,
            StoreErrorKind::Conflict(deleted),
        )
        .await?;
    let mut after = writes.clone();
    after.guard(Guard::UniqueKey { unique_key: unique_key.clone(), holder: Some(created) });
    fixture
        .expect_rejected(
            "a guard on a unique key that the batch moves",
            after,
            StoreErrorKind::UniqueKeyTaken(unique_key.clone()),
        )
        .await?;

    writes.guard(Guard::Record { key: created, precondition: Precondition::Absent });
    writes.guard(Guard::Record { key: replaced, precondition: Precondition::Version(version) });
    writes.guard(Guard::Record { key: deleted, precondition: Precondition::Present });
    writes.guard(Guard::UniqueKey { unique_key: unique_key.clone(), holder: Some(replaced) });
    fixture.store.commit(writes).await?;
    expect_equal("the holder afterwards", &fixture.holder(&unique_key).await?, &Some(created))
}

async fn one_failed_guard_rejects_the_whole_batch(mut fixture: Fixture) -> Outcome {
    let ([created, replaced, deleted, missing], unique_key) = (fixture.keys(), fixture.unique_key());
    fixture.put(replaced, with_unique_keys(&[&unique_key]), "before").await?;
    fixture.put(deleted, Facets::default(), "before").await?;
    let mut batch = put(created, Precondition::Absent, with_unique_keys(&[&unique_key]));
    batch
        .put(replaced, Precondition::Present, Facets::default(), "after")
        .delete(deleted, Precondition::Present);
    batch.guard(Guard::Record { key: replaced, precondition: Precondition::Present });
    batch.guard(Guard::Record { key: missing, precondition: Precondition::Present });
    batch.guard(Guard::UniqueKey { unique_key: unique_key.clone(), holder: Some(replaced) });
    fixture.expect_rejected("one of three guards fails", batch, StoreErrorKind::Conflict(missing)).await?;
    expect_equal("the holder of the unique key", &fixture.holder(&unique_key).await?, &Some(replaced))
}

async fn batch_of_guards_only_changes_nothing(mut fixture: Fixture) -> Outcome {
    let ([there, missing], unique_key) = (fixture.keys(), fixture.unique_key());
    let record = fixture.put(there, with_unique_keys(&[&unique_key]), "there").await?;
    let mut passing = Batch::new();
    passing.guard(Guard::Record { key: there, precondition: Precondition::Version(record.version) });
    passing.guard(Guard::Record { key: missing, precondition: Precondition::Absent });
    passing.guard(Guard::UniqueKey { unique_key: unique_key.clone(), holder: Some(there) });
    passing.guard(Guard::LinkedWithin { organization: None, link: fixture.link() });
    passing.guard(Guard::NetworkEmpty { organization: None, network: fixture.random.uuid() });
    fixture.store.commit(passing).await?;
    let answers = fixture.store.get(&[there, missing]).await?;
    expect_equal("the records after passing guards", &answers, &[Some(record), None])?;
    let failing = guard_only(Guard::Record { key: missing, precondition: Precondition::Present });
    fixture.expect_rejected("a failing guard alone", failing, StoreErrorKind::Conflict(missing)).await?;
    let failing = guard_only(Guard::UniqueKey { unique_key: unique_key.clone(), holder: None });
    fixture
        .expect_rejected(
            "a failing guard on a unique key alone",
            failing,
            StoreErrorKind::UniqueKeyTaken(unique_key),
        )
        .await
}
