use crate::store::{Batch, Check, Expect, Facets, StoreErrorKind, Version};
use crate::testing::{Bench, Outcome, aliased, check, delete, put, same};

crate::testing::table! { of "commit":
    "This record is as expected before the batch" =>
        a_check_of_a_record_that_is_as_expected_is_met,
        a_check_of_a_record_that_is_not_as_expected_is_a_conflict;
    "Before the batch, this alias belongs to this record, or to none" =>
        a_check_of_an_alias_that_is_held_as_expected_is_met,
        a_check_of_an_alias_that_is_held_otherwise_is_refused;
    "Expectations and checks are about the state before the batch" =>
        checks_do_not_see_what_the_batch_writes;
    "If one is not met, nothing changes" =>
        one_unmet_check_refuses_the_whole_batch;
    "A batch without writes only checks" =>
        a_batch_of_checks_alone_changes_nothing;
}

async fn a_check_of_a_record_that_is_as_expected_is_met(mut bench: Bench) -> Outcome {
    let [there, missing, witness] = bench.keys();
    let version = bench.put(there, Facets::default(), "there").await?.version;
    let checks = [
        (there, Expect::Present),
        (there, Expect::Version(version)),
        (there, Expect::Any),
        (missing, Expect::Absent),
        (missing, Expect::Any),
    ];
    for (key, expect) in checks {
        let mut batch = put(witness, Expect::Any, Facets::default());
        batch.check(Check::Record { key, expect });
        bench.store.commit(batch.clone()).await?;
    }
    let mut all = delete(witness, Expect::Present);
    for (key, expect) in checks {
        all.check(Check::Record { key, expect });
    }
    bench.store.commit(all).await?;
    same("the record written under the checks", &bench.read(witness).await?, &None)
}

async fn a_check_of_a_record_that_is_not_as_expected_is_a_conflict(mut bench: Bench) -> Outcome {
    let [there, missing, new] = bench.keys();
    let old = bench.put(there, Facets::default(), "old").await?.version;
    let version = bench.put(there, Facets::default(), "there").await?.version;
    let checks = [
        (there, Expect::Absent),
        (there, Expect::Version(old)),
        (there, Expect::Version(Version(version.0.wrapping_add(1)))),
        (missing, Expect::Present),
        (missing, Expect::Version(version)),
        (missing, Expect::Version(Version(0))),
    ];
    for (key, expect) in checks {
        let mut batch = put(new, Expect::Absent, Facets::default());
        batch.check(Check::Record { key, expect });
        let what = format!("a check that expects {expect:?}");
        bench.refuses(&what, batch, StoreErrorKind::Conflict(key)).await?;
    }
    Ok(())
}

async fn a_check_of_an_alias_that_is_held_as_expected_is_met(mut bench: Bench) -> Outcome {
    let ([holder, witness], held, free) = (bench.keys(), bench.alias(), bench.alias());
    bench.put(holder, aliased(&[&held]), "has it").await?;
    let mut batch = put(witness, Expect::Absent, Facets::default());
    batch.check(Check::Alias { alias: held, holder: Some(holder) });
    batch.check(Check::Alias { alias: free, holder: None });
    bench.store.commit(batch).await?;
    let body = bench.read(witness).await?.map(|record| record.body);
    same("the record written under the checks", &body, &Some("put".into()))
}

async fn a_check_of_an_alias_that_is_held_otherwise_is_refused(mut bench: Bench) -> Outcome {
    let ([holder, other, new], held, free) = (bench.keys(), bench.alias(), bench.alias());
    bench.put(holder, aliased(&[&held]), "has it").await?;
    bench.put(other, Facets::default(), "has none").await?;
    for (alias, holder) in [(&held, Some(other)), (&held, Some(new)), (&held, None), (&free, Some(other))] {
        let mut batch = put(new, Expect::Absent, Facets::default());
        batch.check(Check::Alias { alias: alias.clone(), holder });
        let taken = StoreErrorKind::AliasTaken(alias.clone());
        bench.refuses(&format!("a check that expects the holder {holder:?}"), batch, taken).await?;
    }
    Ok(())
}

async fn checks_do_not_see_what_the_batch_writes(mut bench: Bench) -> Outcome {
    let ([created, replaced, deleted], alias) = (bench.keys(), bench.alias());
    let version = bench.put(replaced, aliased(&[&alias]), "before").await?.version;
    bench.put(deleted, Facets::default(), "before").await?;
    let mut writes = put(created, Expect::Absent, aliased(&[&alias]));
    writes.put(replaced, Expect::Present, Facets::default(), "after").delete(deleted, Expect::Present);

    let mut after = writes.clone();
    after.check(Check::Record { key: created, expect: Expect::Present });
    bench.refuses("a check of a record it makes", after, StoreErrorKind::Conflict(created)).await?;
    let mut after = writes.clone();
    after.check(Check::Record { key: deleted, expect: Expect::Absent });
    bench.refuses("a check of a record it deletes", after, StoreErrorKind::Conflict(deleted)).await?;
    let mut after = writes.clone();
    after.check(Check::Alias { alias: alias.clone(), holder: Some(created) });
    bench
        .refuses("a check of an alias it passes on", after, StoreErrorKind::AliasTaken(alias.clone()))
        .await?;

    writes.check(Check::Record { key: created, expect: Expect::Absent });
    writes.check(Check::Record { key: replaced, expect: Expect::Version(version) });
    writes.check(Check::Record { key: deleted, expect: Expect::Present });
    writes.check(Check::Alias { alias: alias.clone(), holder: Some(replaced) });
    bench.store.commit(writes).await?;
    same("the holder afterwards", &bench.holder(&alias).await?, &Some(created))
}

async fn one_unmet_check_refuses_the_whole_batch(mut bench: Bench) -> Outcome {
    let ([created, replaced, deleted, missing], alias) = (bench.keys(), bench.alias());
    bench.put(replaced, aliased(&[&alias]), "before").await?;
    bench.put(deleted, Facets::default(), "before").await?;
    let mut batch = put(created, Expect::Absent, aliased(&[&alias]));
    batch.put(replaced, Expect::Present, Facets::default(), "after").delete(deleted, Expect::Present);
    batch.check(Check::Record { key: replaced, expect: Expect::Present });
    batch.check(Check::Record { key: missing, expect: Expect::Present });
    batch.check(Check::Alias { alias: alias.clone(), holder: Some(replaced) });
    bench.refuses("one unmet check of three", batch, StoreErrorKind::Conflict(missing)).await?;
    same("the holder of the alias", &bench.holder(&alias).await?, &Some(replaced))
}

async fn a_batch_of_checks_alone_changes_nothing(mut bench: Bench) -> Outcome {
    let ([there, missing], alias) = (bench.keys(), bench.alias());
    let record = bench.put(there, aliased(&[&alias]), "there").await?;
    let mut met = Batch::new();
    met.check(Check::Record { key: there, expect: Expect::Version(record.version) });
    met.check(Check::Record { key: missing, expect: Expect::Absent });
    met.check(Check::Alias { alias: alias.clone(), holder: Some(there) });
    met.check(Check::LinkedWithin { organization: None, link: bench.link() });
    met.check(Check::NetworkEmpty { organization: None, network: bench.random.uuid() });
    bench.store.commit(met).await?;
    let answers = bench.store.get(&[there, missing]).await?;
    same("the records after checks that were met", &answers, &[Some(record), None])?;
    let unmet = check(Check::Record { key: missing, expect: Expect::Present });
    bench.refuses("an unmet check alone", unmet, StoreErrorKind::Conflict(missing)).await?;
    let unmet = check(Check::Alias { alias: alias.clone(), holder: None });
    bench.refuses("an unmet check of an alias alone", unmet, StoreErrorKind::AliasTaken(alias)).await
}
