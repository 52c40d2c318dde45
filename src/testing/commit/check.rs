use crate::store::{Batch, Facets, Guard, Precondition, StoreErrorKind, Version};
use crate::testing::{Bench, Outcome, check, delete, put, same, uniquely_keyed};

crate::testing::table! { of "commit":
    "This record is as expected before the batch" =>
        a_check_of_a_record_that_is_as_expected_is_met,
        a_check_of_a_record_that_is_not_as_expected_is_a_conflict;
    "Before the batch, this unique key belongs to this record, or to none" =>
        a_check_of_a_unique_key_that_is_held_as_expected_is_met,
        a_check_of_a_unique_key_that_is_held_otherwise_is_refused;
    "Expectations and guards are about the state before the batch" =>
        checks_do_not_see_what_the_batch_writes;
    "If one is not met, nothing changes" =>
        one_unmet_check_refuses_the_whole_batch;
    "A batch without writes only checks" =>
        a_batch_of_checks_alone_changes_nothing;
}

async fn a_check_of_a_record_that_is_as_expected_is_met(mut bench: Bench) -> Outcome {
    let [there, missing, witness] = bench.keys();
    let version = bench.put(there, Facets::default(), "there").await?.version;
    let guards = [
        (there, Precondition::Present),
        (there, Precondition::Version(version)),
        (there, Precondition::Any),
        (missing, Precondition::Absent),
        (missing, Precondition::Any),
    ];
    for (key, precondition) in guards {
        let mut batch = put(witness, Precondition::Any, Facets::default());
        batch.guard(Guard::Record { key, precondition });
        bench.store.commit(batch.clone()).await?;
    }
    let mut all = delete(witness, Precondition::Present);
    for (key, precondition) in guards {
        all.guard(Guard::Record { key, precondition });
    }
    bench.store.commit(all).await?;
    same("the record written under the checks", &bench.read(witness).await?, &None)
}

async fn a_check_of_a_record_that_is_not_as_expected_is_a_conflict(mut bench: Bench) -> Outcome {
    let [there, missing, new] = bench.keys();
    let old = bench.put(there, Facets::default(), "old").await?.version;
    let version = bench.put(there, Facets::default(), "there").await?.version;
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
        let what = format!("a check that expects {precondition:?}");
        bench.refuses(&what, batch, StoreErrorKind::Conflict(key)).await?;
    }
    Ok(())
}

async fn a_check_of_a_unique_key_that_is_held_as_expected_is_met(mut bench: Bench) -> Outcome {
    let ([holder, witness], held, free) = (bench.keys(), bench.unique_key(), bench.unique_key());
    bench.put(holder, uniquely_keyed(&[&held]), "has it").await?;
    let mut batch = put(witness, Precondition::Absent, Facets::default());
    batch.guard(Guard::UniqueKey { unique_key: held, holder: Some(holder) });
    batch.guard(Guard::UniqueKey { unique_key: free, holder: None });
    bench.store.commit(batch).await?;
    let body = bench.read(witness).await?.map(|record| record.body);
    same("the record written under the checks", &body, &Some("put".into()))
}

async fn a_check_of_a_unique_key_that_is_held_otherwise_is_refused(mut bench: Bench) -> Outcome {
    let ([holder, other, new], held, free) = (bench.keys(), bench.unique_key(), bench.unique_key());
    bench.put(holder, uniquely_keyed(&[&held]), "has it").await?;
    bench.put(other, Facets::default(), "has none").await?;
    for (unique_key, holder) in
        [(&held, Some(other)), (&held, Some(new)), (&held, None), (&free, Some(other))]
    {
        let mut batch = put(new, Precondition::Absent, Facets::default());
        batch.guard(Guard::UniqueKey { unique_key: unique_key.clone(), holder });
        let taken = StoreErrorKind::UniqueKeyTaken(unique_key.clone());
        bench.refuses(&format!("a check that expects the holder {holder:?}"), batch, taken).await?;
    }
    Ok(())
}

async fn checks_do_not_see_what_the_batch_writes(mut bench: Bench) -> Outcome {
    let ([created, replaced, deleted], unique_key) = (bench.keys(), bench.unique_key());
    let version = bench.put(replaced, uniquely_keyed(&[&unique_key]), "before").await?.version;
    bench.put(deleted, Facets::default(), "before").await?;
    let mut writes = put(created, Precondition::Absent, uniquely_keyed(&[&unique_key]));
    writes
        .put(replaced, Precondition::Present, Facets::default(), "after")
        .delete(deleted, Precondition::Present);

    let mut after = writes.clone();
    after.guard(Guard::Record { key: created, precondition: Precondition::Present });
    bench.refuses("a check of a record it makes", after, StoreErrorKind::Conflict(created)).await?;
    let mut after = writes.clone();
    after.guard(Guard::Record { key: deleted, precondition: Precondition::Absent });
    bench.refuses("a check of a record it deletes", after, StoreErrorKind::Conflict(deleted)).await?;
    let mut after = writes.clone();
    after.guard(Guard::UniqueKey { unique_key: unique_key.clone(), holder: Some(created) });
    bench
        .refuses(
            "a check of a unique key it passes on",
            after,
            StoreErrorKind::UniqueKeyTaken(unique_key.clone()),
        )
        .await?;

    writes.guard(Guard::Record { key: created, precondition: Precondition::Absent });
    writes.guard(Guard::Record { key: replaced, precondition: Precondition::Version(version) });
    writes.guard(Guard::Record { key: deleted, precondition: Precondition::Present });
    writes.guard(Guard::UniqueKey { unique_key: unique_key.clone(), holder: Some(replaced) });
    bench.store.commit(writes).await?;
    same("the holder afterwards", &bench.holder(&unique_key).await?, &Some(created))
}

async fn one_unmet_check_refuses_the_whole_batch(mut bench: Bench) -> Outcome {
    let ([created, replaced, deleted, missing], unique_key) = (bench.keys(), bench.unique_key());
    bench.put(replaced, uniquely_keyed(&[&unique_key]), "before").await?;
    bench.put(deleted, Facets::default(), "before").await?;
    let mut batch = put(created, Precondition::Absent, uniquely_keyed(&[&unique_key]));
    batch
        .put(replaced, Precondition::Present, Facets::default(), "after")
        .delete(deleted, Precondition::Present);
    batch.guard(Guard::Record { key: replaced, precondition: Precondition::Present });
    batch.guard(Guard::Record { key: missing, precondition: Precondition::Present });
    batch.guard(Guard::UniqueKey { unique_key: unique_key.clone(), holder: Some(replaced) });
    bench.refuses("one unmet check of three", batch, StoreErrorKind::Conflict(missing)).await?;
    same("the holder of the unique key", &bench.holder(&unique_key).await?, &Some(replaced))
}

async fn a_batch_of_checks_alone_changes_nothing(mut bench: Bench) -> Outcome {
    let ([there, missing], unique_key) = (bench.keys(), bench.unique_key());
    let record = bench.put(there, uniquely_keyed(&[&unique_key]), "there").await?;
    let mut met = Batch::new();
    met.guard(Guard::Record { key: there, precondition: Precondition::Version(record.version) });
    met.guard(Guard::Record { key: missing, precondition: Precondition::Absent });
    met.guard(Guard::UniqueKey { unique_key: unique_key.clone(), holder: Some(there) });
    met.guard(Guard::LinkedWithin { organization: None, link: bench.link() });
    met.guard(Guard::NetworkEmpty { organization: None, network: bench.random.uuid() });
    bench.store.commit(met).await?;
    let answers = bench.store.get(&[there, missing]).await?;
    same("the records after guards that were met", &answers, &[Some(record), None])?;
    let unmet = check(Guard::Record { key: missing, precondition: Precondition::Present });
    bench.refuses("an unmet check alone", unmet, StoreErrorKind::Conflict(missing)).await?;
    let unmet = check(Guard::UniqueKey { unique_key: unique_key.clone(), holder: None });
    bench
        .refuses("an unmet check of a unique key alone", unmet, StoreErrorKind::UniqueKeyTaken(unique_key))
        .await
}
